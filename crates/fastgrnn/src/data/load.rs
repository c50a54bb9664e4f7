//! From a request to a data set: which files, which reader, which part is which.

use std::path::{Path, PathBuf};

use super::archive::{Tree, file_name};
use super::csv::Context;
use super::npz::Arrays;
use super::part::{Part, RawLabels, assemble, listed};
use super::{DataError, Dataset, Request, Sequences, Unlabelled, csv, idx, known, npy, npz, ts};

/// What a source holds.
pub(crate) struct Parts {
    pub train: Option<Part>,
    pub test: Option<Part>,
}

/// Reads the data set that `request` names: a known name, or the path of a file, folder or archive.
///
/// ```
/// use fastgrnn::data::{Request, load};
/// let pixels = load(&Request { timesteps: Some(64), ..Request::new("digits") })?;
/// assert_eq!((pixels.train.x.max_steps(), pixels.train.x.dim()), (64, 1));
/// # Ok::<(), fastgrnn::data::DataError>(())
/// ```
pub fn load(request: &Request) -> Result<Dataset, DataError> {
    if let Some(data) = known::load(request)? {
        return Ok(data);
    }
    let path = Path::new(&request.source);
    if !path.exists() {
        return Err(known::unknown(&request.source));
    }
    let tree = open(path, request)?;
    finish(file_name(path), read(tree, request, true)?, request)
}

/// Reads `bytes` as if they were a file called `name`, whose ending tells its format.
///
/// ```
/// use fastgrnn::data::{Request, load_bytes};
/// let csv = b"0.1,0.2,up\n0.9,0.7,down\n0.2,0.3,up\n";
/// let data = load_bytes("tiny.csv", csv, &Request::default())?;
/// assert_eq!(data.train.len(), 3);
/// # Ok::<(), fastgrnn::data::DataError>(())
/// ```
pub fn load_bytes(name: &str, bytes: &[u8], request: &Request) -> Result<Dataset, DataError> {
    let tree = Tree::from_bytes(name, bytes, request.size_limit)?;
    finish(name.into(), read(tree, request, true)?, request)
}

/// Reads the sequences at `path` to predict on; labels there are ignored.
///
/// `request` says how to read it, as it did when the model was trained; its `source` and `test` are
/// not used.
pub fn load_unlabelled(path: &Path, request: &Request) -> Result<Unlabelled, DataError> {
    let parts = read(open(path, request)?, request, false)?;
    let part = parts.test.or(parts.train);
    let part = part.ok_or_else(|| nothing(&file_name(path), &[]))?.shaped(request)?;
    let ids = part.ids.unwrap_or_else(|| (0..part.x.len()).map(|i| i.to_string()).collect());
    Ok(Unlabelled { x: part.x, ids, features: part.features, notes: part.notes })
}

/// Joins parts and the test set that the request names apart.
pub(crate) fn finish(name: String, mut parts: Parts, request: &Request) -> Result<Dataset, DataError> {
    let train = parts.train.take().ok_or_else(|| DataError::NoLabels {
        file: name.clone(),
        hint: "there is a test part in it but no training part".into(),
    })?;
    let train = train.shaped(request)?;
    let mut note = None;
    if let Some(path) = &request.test {
        if parts.test.is_some() {
            note = Some(format!("--test replaces the test part of {name}"));
        }
        let like = like(request, &train);
        let found = read(open(path, request)?, &like, true)?;
        parts.test = found.test.or(found.train);
    }
    let test = parts.test.map(|test| test.shaped(request)).transpose()?;
    let mut data = assemble(name, train, test, request)?;
    data.notes.extend(note);
    Ok(data)
}

/// The request for a test part: the training part's features by name, in its order.
fn like(request: &Request, train: &Part) -> Request {
    let mut like = request.clone();
    if let Some(features) = &train.features {
        like.columns = features.clone();
    }
    like
}

/// Opens a path; an IDX file of images brings its labels along.
fn open(path: &Path, request: &Request) -> Result<Tree, DataError> {
    let mut tree = Tree::open(path, request.size_limit)?;
    let Some(labels) = idx::labels_name(&file_name(path)).filter(|_| path.is_file()) else {
        return Ok(tree);
    };
    let plain = labels.trim_end_matches(".gz").trim_end_matches(".xz").to_string();
    let beside = [labels.clone(), plain.clone(), format!("{plain}.gz"), format!("{plain}.xz")];
    let found: Option<PathBuf> =
        beside.iter().map(|name| path.with_file_name(name)).find(|path| path.is_file());
    if let Some(found) = found.filter(|_| tree.files.len() == 1 && idx::is_idx(&plain)) {
        tree.files.append(&mut Tree::open(&found, request.size_limit)?.files);
    }
    Ok(tree)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Ts,
    Npz,
    Npy,
    Idx,
    Csv,
}

fn format_of(name: &str) -> Option<Format> {
    let lower = name.to_ascii_lowercase();
    match lower.rsplit('.').next() {
        _ if idx::is_idx(&lower) => Some(Format::Idx),
        Some("ts") => Some(Format::Ts),
        Some("npz") => Some(Format::Npz),
        Some("npy") => Some(Format::Npy),
        Some("csv" | "tsv" | "txt" | "data") if lower.contains('.') => Some(Format::Csv),
        _ => None,
    }
}

/// Drops what people write beside data: readme files, and any `.txt` where other data lies.
fn leave_out_texts(tree: &mut Tree) {
    let is_prose = |name: &str| {
        let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        ["readme", "license", "licence"].iter().any(|word| base.starts_with(word))
    };
    let is_txt = |name: &str| name.to_ascii_lowercase().ends_with(".txt");
    let is_data = |name: &str| format_of(name).is_some() && !is_txt(name) && !is_prose(name);
    let other_data = tree.files.iter().any(|f| is_data(&f.name));
    tree.files.retain(|f| !is_prose(&f.name) && !(other_data && is_txt(&f.name)));
}

fn nothing(name: &str, files: &[String]) -> DataError {
    let found = if files.is_empty() { "nothing".into() } else { listed(files) };
    DataError::Unsupported {
        file: name.into(),
        problem: format!(
            "no data file in it; .csv, .tsv, .npz, .npy, .ts and IDX files are read, also inside .gz, .xz, .tar and .zip (found: {found})"
        ),
    }
}

/// Reads what lies in `tree`, whatever its layout.
fn read(mut tree: Tree, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    leave_out_texts(&mut tree);
    let names: Vec<String> = tree.files.iter().map(|f| f.name.clone()).collect();
    let of = |format| -> Vec<usize> {
        (0..names.len()).filter(|&i| format_of(&names[i]) == Some(format)).collect()
    };
    let all: Vec<usize> = (0..names.len()).filter(|&i| format_of(&names[i]).is_some()).collect();
    if all.is_empty() {
        return Err(nothing(&tree.name, &names));
    }
    if all.len() == 1 {
        return single(&mut tree, all[0], request, labelled);
    }
    if !of(Format::Idx).is_empty() {
        return idx_pairs(&mut tree, &of(Format::Idx), labelled);
    }
    for format in [Format::Ts, Format::Npz, Format::Csv] {
        if let Some(parts) = train_and_test(&mut tree, &of(format), request, labelled)? {
            return Ok(parts);
        }
    }
    if !of(Format::Npy).is_empty() {
        return npy_files(&mut tree, &of(Format::Npy));
    }
    let tables = of(Format::Csv);
    if tables.len() == all.len() {
        return folder_of_tables(&mut tree, &tables, request, labelled);
    }
    let files: Vec<String> = all.iter().map(|&i| names[i].clone()).collect();
    Err(DataError::Unsupported {
        file: tree.name,
        problem: format!(
            "several data files and no *_TRAIN / *_TEST among them; name one of {}",
            listed(&files)
        ),
    })
}

/// Reads one file of `tree`.
fn single(tree: &mut Tree, index: usize, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let name = tree.files[index].name.clone();
    let bytes = tree.read(index)?;
    let train = match format_of(&name) {
        Some(Format::Npz) => return npz::read(&name, &bytes, request.size_limit),
        Some(Format::Ts) => ts::read(&name, &bytes, labelled)?,
        Some(Format::Idx) => idx::part((&name, &bytes), None)?,
        Some(Format::Npy) => {
            let array = npy::read(&name, &bytes)?;
            Part::new(&name, array.sequences()?, RawLabels::None)
        }
        _ => csv::read(&name, &bytes, Context::alone(request, labelled))?,
    };
    if labelled && train.y == RawLabels::None {
        let hint = match format_of(&name) {
            Some(Format::Npy) => {
                "one NPY array has none; put x.npy and y.npy into a folder, or both into an .npz"
            }
            Some(Format::Idx) => {
                "no IDX file of labels lies beside it (…-labels-idx1-ubyte for …-images-idx3-ubyte)"
            }
            _ => "its header says that there are none",
        };
        return Err(DataError::NoLabels { file: name, hint: hint.into() });
    }
    Ok(Parts { train: Some(train), test: None })
}

/// Whether a file name says that it is the training or the test part.
fn says(name: &str, part: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let stem = base.split_once('.').map_or(base.as_str(), |(stem, _)| stem);
    stem.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '-']))
}

fn train_and_test(
    tree: &mut Tree,
    files: &[usize],
    request: &Request,
    labelled: bool,
) -> Result<Option<Parts>, DataError> {
    let saying =
        |part| -> Vec<usize> { files.iter().copied().filter(|&i| says(&tree.files[i].name, part)).collect() };
    let (train, test) = (saying("train"), saying("test"));
    for (found, part) in [(&train, "training"), (&test, "test")] {
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|&i| tree.files[i].name.clone()).collect();
            return Err(DataError::Unsupported {
                file: tree.name.clone(),
                problem: format!("several {part} files; name one of {}", listed(&names)),
            });
        }
    }
    let Some(&train) = train.first() else { return Ok(None) };
    let mut parts = single(tree, train, request, labelled)?;
    if let (Some(&test), Some(train)) = (test.first(), &parts.train) {
        let found = single(tree, test, &like(request, train), labelled)?;
        parts.test = found.test.or(found.train);
    }
    Ok(Some(parts))
}

fn npy_files(tree: &mut Tree, files: &[usize]) -> Result<Parts, DataError> {
    let mut arrays = Arrays { file: tree.name.clone(), arrays: Default::default() };
    for &i in files {
        let name = tree.files[i].name.to_lowercase();
        let key = name.rsplit('/').next().unwrap_or(&name).trim_end_matches(".npy").to_string();
        arrays.arrays.insert(key, tree.read(i)?);
    }
    arrays.parts()
}

fn idx_pairs(tree: &mut Tree, files: &[usize], labelled: bool) -> Result<Parts, DataError> {
    let names: Vec<String> = tree.files.iter().map(|f| f.name.clone()).collect();
    let mut parts = Parts { train: None, test: None };
    for &i in files {
        let Some(labels_name) = idx::labels_name(&names[i]) else { continue };
        let Some(labels) = names.iter().position(|name| *name == labels_name) else {
            if labelled {
                let hint = format!("{labels_name} does not lie beside it");
                return Err(DataError::NoLabels { file: names[i].clone(), hint });
            }
            continue;
        };
        let (images, labels) = (tree.read(i)?, tree.read(labels)?);
        let part = idx::part((&names[i], &images), Some((&labels_name, &labels)))?;
        let base = names[i].rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let is_test = base.starts_with("t10k") || base.contains("test");
        let slot = if is_test { &mut parts.test } else { &mut parts.train };
        if slot.replace(part).is_some() {
            return Err(DataError::Unsupported {
                file: tree.name.clone(),
                problem: format!("several IDX pairs; name one file of {}", listed(&names)),
            });
        }
    }
    if parts.train.is_none() && parts.test.is_none() {
        return Err(nothing(&tree.name, &names));
    }
    Ok(parts)
}

/// A table in a folder: where it is, and the class its folder names.
struct Table {
    index: usize,
    class: Option<String>,
    is_test: bool,
}

/// Tables in class folders (under `train` and `test` or not), or recordings side by side.
fn folder_of_tables(
    tree: &mut Tree,
    files: &[usize],
    request: &Request,
    labelled: bool,
) -> Result<Parts, DataError> {
    let paths: Vec<Vec<&str>> = files.iter().map(|&i| tree.files[i].name.split('/').collect()).collect();
    // Folders around everything (an archive often has one) say nothing.
    let mut depth = 0;
    let wrapped = |depth: usize| paths.iter().all(|p| p.len() > depth + 2 && p[depth] == paths[0][depth]);
    while wrapped(depth) {
        depth += 1;
    }
    let part_of = |path: &[&str]| match path.get(depth)?.to_ascii_lowercase().as_str() {
        "train" | "training" if path.len() > depth + 1 => Some(false),
        "test" | "testing" if path.len() > depth + 1 => Some(true),
        _ => None,
    };
    let has_parts = paths.iter().all(|path| part_of(path).is_some());
    let inner = depth + usize::from(has_parts);
    let has_classes = paths.iter().all(|path| path.len() == inner + 2);
    let flat = paths.iter().all(|path| path.len() == inner + 1);
    if !has_classes && !flat {
        let names: Vec<String> = files.iter().map(|&i| tree.files[i].name.clone()).collect();
        return Err(DataError::Unsupported {
            file: tree.name.clone(),
            problem: format!(
                "its files lie at different depths; put each into a folder named after its class ({})",
                listed(&names)
            ),
        });
    }
    let mut tables = Vec::new();
    for (path, &index) in paths.iter().zip(files) {
        let class = has_classes.then(|| path[inner].to_string());
        tables.push(Table { index, class, is_test: has_parts && part_of(path) == Some(true) });
    }
    if labelled
        && has_classes
        && let Some(empty) = tree.empty.iter().find(|folder| folder.split('/').count() == inner + 1)
    {
        let class = empty.rsplit('/').next().unwrap_or(empty).to_string();
        return Err(DataError::EmptyClass { file: tree.name.clone(), class });
    }
    let (test, train): (Vec<Table>, Vec<Table>) = tables.into_iter().partition(|t| t.is_test);
    let train = join(tree, &train, request, labelled)?;
    let like = train.as_ref().map_or_else(|| request.clone(), |train| like(request, train));
    let test = join(tree, &test, &like, labelled)?;
    Ok(Parts { train, test })
}

/// Reads tables one after the other into one part; each is at least one recording of its own.
fn join(
    tree: &mut Tree,
    tables: &[Table],
    request: &Request,
    labelled: bool,
) -> Result<Option<Part>, DataError> {
    let mut joined: Option<Part> = None;
    let mut request = request.clone();
    for table in tables {
        let name = tree.files[table.index].name.clone();
        let bytes = tree.read(table.index)?;
        let class = table.class.as_deref().filter(|_| labelled);
        let context = Context { request: &request, labelled, class, steps: true };
        let mut part = csv::read(&name, &bytes, context)?;
        part.ids = Some(match part.ids {
            Some(ids) => ids.into_iter().map(|id| format!("{name}:{id}")).collect(),
            None => vec![name; part.x.len()],
        });
        match &mut joined {
            None => {
                request = like(&request, &part);
                joined = Some(part);
            }
            Some(joined) if joined.x.is_empty() => {
                part.notes.splice(..0, joined.notes.drain(..));
                *joined = part;
            }
            Some(joined) => append(joined, part)?,
        }
    }
    if let Some(joined) = &mut joined {
        joined.file = tree.name.clone();
    }
    Ok(joined)
}

fn append(joined: &mut Part, part: Part) -> Result<(), DataError> {
    if part.x.dim() != joined.x.dim() {
        return Err(DataError::DimMismatch {
            file: part.file,
            found: part.x.dim(),
            expected: joined.x.dim(),
            other: joined.file.clone(),
        });
    }
    for note in part.notes {
        if !joined.notes.contains(&note) {
            joined.notes.push(note);
        }
    }
    if part.x.is_empty() {
        return Ok(());
    }
    append_sequences(&mut joined.x, &part.x);
    match (&mut joined.y, part.y) {
        (RawLabels::Text(all), RawLabels::Text(more)) => all.extend(more),
        (RawLabels::Number { values: all, .. }, RawLabels::Number { values: more, .. }) => {
            all.extend(more);
        }
        (RawLabels::None, RawLabels::None) => {}
        (RawLabels::Text(all), RawLabels::Number { values, .. }) => {
            all.extend(values.iter().map(f64::to_string));
        }
        (all, RawLabels::Text(more)) => {
            let mut text = match all {
                RawLabels::Number { values, .. } => values.iter().map(f64::to_string).collect(),
                _ => Vec::new(),
            };
            text.extend(more);
            *all = RawLabels::Text(text);
        }
        _ => {
            let hint = "some files of the folder have labels and some have none".into();
            return Err(DataError::NoLabels { file: part.file, hint });
        }
    }
    match (&mut joined.group, part.group) {
        (Some(all), Some(more)) => all.extend(more),
        (all, _) => *all = None,
    }
    if let (Some(all), Some(more)) = (&mut joined.ids, part.ids) {
        all.extend(more);
    }
    if let (Some(all), Some(more)) = (&mut joined.recording, part.recording) {
        let next = all.last().map_or(0, |last| last + 1);
        all.extend(more.iter().map(|r| r + next));
    }
    Ok(())
}

fn append_sequences(all: &mut Sequences, more: &Sequences) {
    let end = all.offsets[all.offsets.len() - 1];
    all.values.extend_from_slice(&more.values);
    all.offsets.extend(more.offsets[1..].iter().map(|offset| offset + end));
}
