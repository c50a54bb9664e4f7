//! Formats that are not read, and the line of Python that converts each.

use super::DataError;

/// The error for a file of a format that is not read; `None` if there is nothing to say about it.
pub(crate) fn advice(name: &str) -> Option<DataError> {
    let base = name.rsplit('/').next().unwrap_or(name);
    let (stem, ending) = base.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let pandas =
        |read: &str| format!("import pandas; pandas.{read}('{base}').to_csv('{stem}.csv', index=False)");
    let sensors = "pandas.DataFrame(p['values'], columns=[s['name'] for s in p['sensors']])";
    let convert = match ending.as_str() {
        "xlsx" | "xls" | "ods" => pandas("read_excel"),
        "parquet" => pandas("read_parquet"),
        "feather" | "arrow" => pandas("read_feather"),
        "h5" | "hdf5" | "hdf" => pandas("read_hdf"),
        "pkl" | "pickle" => pandas("read_pickle"),
        "jsonl" | "ndjson" => {
            format!("import pandas; pandas.read_json('{base}', lines=True).to_csv('{stem}.csv', index=False)")
        }
        // Edge Impulse calls its files LABEL.HASH.json.
        "json" if stem.contains('.') => format!(
            "import json, pandas; p = json.load(open('{base}'))['payload']; {sensors}.to_csv('{stem}.csv', index=False)"
        ),
        "json" => pandas("read_json"),
        "cbor" => format!(
            "import cbor2, pandas; p = cbor2.load(open('{base}', 'rb'))['payload']; {sensors}.to_csv('{stem}.csv', index=False)"
        ),
        "mat" => format!(
            "import numpy, scipy.io; m = scipy.io.loadmat('{base}'); numpy.savez('{stem}.npz', x=m['x'], y=m['y'].ravel())"
        ),
        "arff" => format!(
            "import pandas, scipy.io.arff; pandas.DataFrame(scipy.io.arff.loadarff('{base}')[0]).to_csv('{stem}.csv', index=False)"
        ),
        _ => return None,
    };
    Some(DataError::NotRead { file: name.into(), ending, convert })
}
