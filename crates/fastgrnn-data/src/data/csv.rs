//! CSV: one row a time step, or one row a sequence.
//!
//! With an id column, a window, or a folder of files, a row is a time step and its columns are
//! features. Otherwise a row is a sequence and its columns are time steps of one feature. The
//! reader looks at the first rows to tell header, separator, label and time columns; each decision
//! that leaves a column out is a note for people. Every row is then parsed once.

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::columns::{Columns, Role};
use super::fields::{Context, number, text};
use super::part::Part;
use super::recordings::{RecordingRows, label_kind};
use super::{DataError, LabelKind, Request};

/// Rows looked at before deciding what each column is.
const SAMPLE: usize = 1000;

/// A file as rows, before they become sequences.
pub(crate) struct CsvTable {
    file: String,
    pub rows: RecordingRows,
    columns: Columns,
    /// Whether a row is a time step.
    steps: bool,
}

/// Reads one file.
pub(crate) fn read(file: &str, bytes: &[u8], context: Context) -> Result<Part, DataError> {
    let table = table(file, bytes, context)?;
    let (kind, note) = label_kind(&[&table.rows], context.request);
    let mut part = table.into_part(context.request, kind)?;
    part.notes.extend(note);
    Ok(part)
}

/// Parses one file.
pub(crate) fn table(file: &str, bytes: &[u8], context: Context) -> Result<CsvTable, DataError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let separator = separator(bytes);
    let sample = sample(file, bytes, separator)?;
    let Some(first) = sample.first() else {
        let hint = "at least one row was expected".into();
        return Err(DataError::Empty { file: file.into(), hint });
    };
    let columns = Columns::decide(file, first, &sample, context)?;
    let (request, dim) = (context.request, columns.features.len());
    let as_the_model = request.data.timesteps.is_none()
        && request.expect.as_ref().is_some_and(|expect| {
            expect.dim == dim && (!context.labelled || dim > 1 || expect.features.is_some())
        });
    let steps = context.steps
        || request.data.window.is_some()
        || columns.count(Role::Id) > 0
        || columns.lost_id
        || as_the_model;
    if let Some(time) = columns.time.as_ref().filter(|_| !steps) {
        return Err(DataError::UnassignedRows { file: file.into(), time: time.clone() });
    }
    let mut rows = parse(file, bytes, separator, &columns)?;
    if rows.lines.is_empty() {
        let hint = "only a header, no rows".into();
        return Err(DataError::Empty { file: file.into(), hint });
    }
    rows.class = context.class.map(str::to_string);
    Ok(CsvTable { file: file.into(), rows, columns, steps })
}

impl CsvTable {
    /// The names of the features, where the header names them and rows are time steps.
    pub fn features(&self) -> Option<Vec<String>> {
        let names = || self.columns.features.iter().map(|&i| self.columns.names[i].clone()).collect();
        (self.steps && self.columns.has_header).then(names)
    }

    /// Joins and cuts the rows.
    pub fn into_part(mut self, request: &Request, kind: LabelKind) -> Result<Part, DataError> {
        let (features, file) = (self.features(), self.file);
        let mut notes = std::mem::take(&mut self.columns.notes);
        let mut part = if self.steps {
            self.rows.into_recordings(&file, request, kind)?
        } else {
            let width = self.columns.features.len();
            notes.push(format!(
                "each row is one sequence of {width} steps; for rows as time steps use `id-col` or `window`"
            ));
            if let Some(expect) = &request.expect
                && expect.steps > 0
                && expect.dim * expect.steps != width
            {
                let steps = expect.dim * expect.steps;
                notes.push(format!(
                    "the model was trained on sequences of up to {steps} values, here are {width}"
                ));
            }
            self.rows.into_sequences(&file)
        };
        part.features = features;
        part.notes.splice(..0, notes);
        Ok(part)
    }
}

/// The separator that stands in the first line: a semicolon or tab if there is one, else a comma.
fn separator(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or(b"");
    let outside_quotes = |wanted: u8| {
        let mut quoted = false;
        line.iter().any(|&b| {
            quoted ^= b == b'"';
            !quoted && b == wanted
        })
    };
    *b";\t".iter().find(|&&s| outside_quotes(s)).unwrap_or(&b',')
}

fn reader(bytes: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(Trim::All)
        .from_reader(bytes)
}

fn corrupt(file: &str, error: &csv::Error) -> DataError {
    let place = error.position().map_or("start".into(), |p| format!("line {}", p.line()));
    DataError::Corrupt { file: file.into(), place, problem: error.to_string() }
}

fn sample(file: &str, bytes: &[u8], separator: u8) -> Result<Vec<ByteRecord>, DataError> {
    let records = reader(bytes, separator).into_byte_records();
    records.take(SAMPLE).map(|r| r.map_err(|e| corrupt(file, &e))).collect()
}

/// Parses every row.
fn parse(file: &str, bytes: &[u8], separator: u8, columns: &Columns) -> Result<RecordingRows, DataError> {
    let find = |role| columns.roles.iter().position(|&r| r == role);
    let (label, group, id) = (find(Role::Label), find(Role::Group), find(Role::Id));
    let mut rows = RecordingRows::new(columns.features.len());
    let mut reader = reader(bytes, separator);
    let mut record = ByteRecord::new();
    let mut first = true;
    while reader.read_byte_record(&mut record).map_err(|e| corrupt(file, &e))? {
        let line = record.position().map_or(0, csv::Position::line);
        let (expected, found) = (columns.names.len(), record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.into(), line, expected, found });
        }
        if std::mem::take(&mut first) && columns.has_header {
            continue;
        }
        for &i in &columns.features {
            let value = number(&record[i]).filter(|v| v.is_finite());
            rows.values.push(value.ok_or_else(|| bad_cell(file, line, &columns.names[i], &record[i]))?);
        }
        for (column, names, what) in [
            (label, &mut rows.labels, "label"),
            (group, &mut rows.groups, "group"),
            (id, &mut rows.ids, "id"),
        ] {
            let Some(column) = column else { continue };
            if record[column].is_empty() {
                let problem = format!("the {what} (column '{}') is empty", columns.names[column]);
                return Err(DataError::Corrupt { file: file.into(), place: format!("line {line}"), problem });
            }
            names.push(&record[column]);
        }
        rows.lines.push(line);
    }
    Ok(rows)
}

fn bad_cell(file: &str, line: u64, column: &str, cell: &[u8]) -> DataError {
    let (file, value) = (file.to_string(), text(cell));
    if cell.is_empty() || number(cell).is_some() {
        let value = if value.is_empty() { "(empty)".into() } else { value };
        DataError::NotFinite { file, place: format!("line {line}, column '{column}'"), value }
    } else {
        DataError::NotANumber { file, line, column: format!("'{column}'"), value }
    }
}
