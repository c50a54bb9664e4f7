//! From a request to a data set: which files, which reader, which part is which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::archive::{Tree, file_name};
use super::assemble::assemble;
use super::fields::Context;
use super::manifest::{self, Listing, Manifest};
use super::names::listed;
use super::npz::Arrays;
use super::part::{Part, RawLabels};
use super::parts::{Parts, Purpose, request_for_test_part};
use super::{
    DataError, Dataset, Missing, Request, Sequences, Unlabelled, clips, convert, csv, doctor, folder, idx,
    known, npy, npz, random, test_split, texts, ts,
};
use crate::audio::is_recording;

/// Reads the data set that `request` names: a known name, or the path of a file, folder or archive.
///
/// ```
/// use fastgrnn_data::data::{Request, load};
/// let pixels = load(&Request::new("digits").with_data(|data| data.timesteps = Some(64)))?;
/// assert_eq!((pixels.train.x.max_steps(), pixels.train.x.dim()), (64, 1));
/// # Ok::<(), fastgrnn_data::data::DataError>(())
/// ```
pub fn load(request: &Request) -> Result<Dataset, DataError> {
    request.check()?;
    if let Some(data) = random::load(request) {
        return data;
    }
    if let Some(found) = known::load(request)? {
        let dim = found.parts.train.as_ref().map(|part| part.x.dim());
        let mut data = finish(request.source.clone(), found.parts, request)?;
        data.notes.extend(found.notes);
        data.suggested = found.suggested;
        // Axes are columns of the set as published.
        if dim != Some(data.train.x.dim()) {
            data.suggested.axes.clear();
        }
        return Ok(data);
    }
    let path = Path::new(&request.source);
    refuse_pipes(path)?;
    if !path.exists() {
        return Err(known::unknown(&request.source));
    }
    finish(file_name(path), read_at(path, request, Purpose::Set)?, request)
}

/// Refuses standard input, pipes and devices: the format is told by the ending of a file's name, and files
/// are read more than once.
fn refuse_pipes(path: &Path) -> Result<(), DataError> {
    let is_pipe = || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let is_input = ["-", "/dev/stdin"].map(Path::new).contains(&path) || path.starts_with("/dev/fd");
    match is_input || is_pipe() {
        true => Err(DataError::NotAFile { file: path.display().to_string() }),
        false => Ok(()),
    }
}

/// Reads the file or folder at `path`: recordings, or anything else.
fn read_at(path: &Path, request: &Request, purpose: Purpose) -> Result<Parts, DataError> {
    let mut tree = match path.is_file() && is_recording(&file_name(path)) {
        true => return clips::read(path, &Listing::None, request, purpose),
        false => open(path, request)?,
    };
    if texts::is_text(&tree, request) {
        return texts::read(&mut tree, request, purpose != Purpose::Unlabelled);
    }
    let labelled = purpose != Purpose::Unlabelled;
    let listing = Listing::of(&mut tree, &path.to_string_lossy(), request, labelled)?;
    let is_data = |name: &str| {
        format_of(name).is_some() && !is_text(name) && !is_prose(name) && !listing.is_manifest(name)
    };
    let mut names = tree.files.iter().map(|file| file.name.as_str());
    let holds_sound = match listing.read() {
        Some(manifest) => manifest.files().all(|(name, _)| is_recording(name)),
        None => names.clone().any(is_recording) && !names.any(is_data),
    };
    if path.is_dir() && holds_sound {
        return clips::read(path, &listing, request, purpose);
    }
    request.check_no_recordings(&tree.name)?;
    read(tree, &listing, request, labelled)
}

/// Reads `bytes` as if they were a file called `name`, whose ending tells its format.
///
/// ```
/// use fastgrnn_data::data::{Request, load_bytes};
/// let csv = b"0.1,0.2,up\n0.9,0.7,down\n0.2,0.3,up\n";
/// let data = load_bytes("tiny.csv", csv, &Request::default())?;
/// assert_eq!(data.train.len(), 3);
/// # Ok::<(), fastgrnn_data::data::DataError>(())
/// ```
pub fn load_bytes(name: &str, bytes: &[u8], request: &Request) -> Result<Dataset, DataError> {
    request.check()?;
    let mut tree = Tree::from_bytes(name, bytes, request.data.size_limit)?;
    if texts::is_text(&tree, request) {
        return finish(name.into(), texts::read(&mut tree, request, true)?, request);
    }
    let listing = Listing::of(&mut tree, "", request, true)?;
    finish(name.into(), read(tree, &listing, request, true)?, request)
}

/// Reads the sequences at `path` to predict on; labels there are ignored.
///
/// `request` says how to read it, as it did when the model was trained; its `source` and `test` are
/// not used.
pub fn load_unlabelled(path: &Path, request: &Request) -> Result<Unlabelled, DataError> {
    request.check()?;
    if let Some(input) = path.to_str().and_then(|source| random::load_unlabelled(source, request)) {
        return input;
    }
    refuse_pipes(path)?;
    let mut parts = read_at(path, request, Purpose::Unlabelled)?;
    match (&mut parts.train, parts.validation.take()) {
        (Some(train), Some(validation)) => train.append(validation)?,
        (None, validation) => parts.train = validation,
        _ => {}
    }
    let number = |part: &mut Part, prefix: &str| {
        let count = part.x.len();
        let ids = part.ids.take().unwrap_or_else(|| (0..count).map(|i| i.to_string()).collect());
        part.ids = Some(ids.into_iter().map(|id| format!("{prefix}{id}")).collect());
        (part.y, part.group, part.recording) = (RawLabels::None, None, None);
    };
    let shape = |part: Part| part.shaped(request);
    let part = match (parts.train.map(shape).transpose()?, parts.test.map(shape).transpose()?) {
        (Some(mut train), Some(mut test)) => {
            number(&mut train, "train:");
            number(&mut test, "test:");
            let counts = format!("{} training and {} test", train.x.len(), test.x.len());
            train.append(test)?;
            train.notes.push(format!("{} holds {counts} sequences; both are here", file_name(path)));
            train
        }
        (train, test) => {
            let mut part = train.or(test).ok_or_else(|| nothing(&file_name(path), &[]))?;
            number(&mut part, "");
            part
        }
    };
    let note = compare_features(&part, request)?;
    let ids = part.ids.unwrap_or_default();
    let notes = part.notes.into_iter().chain(note).collect();
    Ok(Unlabelled { x: part.x, ids, features: part.features, notes })
}

/// Refuses features that the model knows by other names or in another order.
///
/// Columns that were chosen by hand may be called otherwise: then it returns a note.
fn compare_features(part: &Part, request: &Request) -> Result<Option<String>, DataError> {
    let expected = request.expect.as_ref().and_then(|expect| expect.features.as_ref());
    let (Some(found), Some(expected)) = (&part.features, expected) else { return Ok(None) };
    if found == expected || found.len() != expected.len() {
        return Ok(None);
    }
    let is_chosen = !request.data.chosen_columns().is_empty() && !request.inherited.columns;
    if is_chosen && !found.iter().all(|name| expected.contains(name)) {
        let (found, expected) = (listed(found), listed(expected));
        return Ok(Some(format!("the columns {found} were taken for the model's {expected}")));
    }
    Err(DataError::Features { file: part.file.clone(), found: listed(found), expected: listed(expected) })
}

/// Joins parts and the test set that the request names apart.
fn finish(name: String, parts: Parts, request: &Request) -> Result<Dataset, DataError> {
    let mut parts = parts.with_validation_joined()?;
    // A model can be evaluated on a validation part alone.
    if parts.train.is_none() && request.expect.is_some() {
        parts.train = parts.validation.take();
    }
    let train = match (parts.train.take(), &parts.test) {
        (Some(train), _) => train.shaped(request)?,
        // A model can be evaluated on a test part alone.
        (None, Some(test)) if request.expect.is_some() => {
            let mut none = Part::new(&test.file, Sequences::new(test.x.dim()), RawLabels::None);
            none.features = test.features.clone();
            none
        }
        _ => {
            let hint = "there is no training part in it, only a part for validation or testing".into();
            return Err(DataError::NoLabels { file: name, hint });
        }
    };
    let mut note = None;
    if let Some(path) = &request.test {
        if parts.test.is_some() {
            note = Some(format!("`test` replaces the test part of {name}"));
        }
        refuse_pipes(path)?;
        let like = request_for_test_part(request, &train);
        let found = read_at(path, &like, Purpose::Part)?;
        let found = found.test.or(found.train).or(found.validation);
        parts.test = Some(found.ok_or_else(|| nothing(&file_name(path), &[]))?);
    }
    let test = parts.test.map(|test| test.shaped(request)).transpose()?;
    let mut notes: Vec<String> = note.into_iter().collect();
    for part in std::iter::once(&train).chain(&test) {
        notes.extend(compare_features(part, request)?);
    }
    let mut data = assemble(name, train, test, request)?;
    data.notes.extend(notes);
    let inherits = request.expect.is_some() && data.test.is_some();
    // Texts were split before their vocabulary was made.
    let is_split = inherits || data.train.x.has_tokens();
    if let Some(share) = request.data.test_split.filter(|share| *share > 0.0 && !is_split) {
        data = test_split::split_off(data, share, request.data.test_split_by, request.split_seed)?;
    }
    let is_own = request.expect.as_ref().is_some_and(|expect| expect.is_training_data);
    let is_split_again = request.data.test_split.is_some_and(|share| share > 0.0) && request.test.is_none();
    if is_own && is_split_again && data.test.is_some() {
        let name = &data.name;
        data.notes
            .push(format!("{name} has the name of the training data, so it is split as in the training"));
    }
    // A model was trained: its data was examined then.
    if request.expect.is_none() {
        data.findings.extend(doctor::examine(&data));
    }
    Ok(data)
}

/// Opens a path; an IDX file of images brings its labels along.
fn open(path: &Path, request: &Request) -> Result<Tree, DataError> {
    let mut tree = Tree::open_watched(path, request.data.size_limit, request.watch.as_ref())?;
    let Some(labels) = idx::labels_name(&file_name(path)).filter(|_| path.is_file()) else {
        return Ok(tree);
    };
    let plain = labels.trim_end_matches(".gz").trim_end_matches(".xz").to_string();
    let beside = [labels.clone(), plain.clone(), format!("{plain}.gz"), format!("{plain}.xz")];
    let found: Option<PathBuf> =
        beside.iter().map(|name| path.with_file_name(name)).find(|path| path.is_file());
    if let Some(found) = found.filter(|_| tree.files.len() == 1 && idx::is_idx(&plain)) {
        tree.files.append(&mut Tree::open(&found, request.data.size_limit)?.files);
    }
    Ok(tree)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FileFormat {
    Ts,
    Npz,
    Npy,
    Idx,
    Csv,
}

fn format_of(name: &str) -> Option<FileFormat> {
    let lower = name.to_ascii_lowercase();
    match lower.rsplit('.').next() {
        _ if idx::is_idx(&lower) => Some(FileFormat::Idx),
        Some("ts") => Some(FileFormat::Ts),
        Some("npz") => Some(FileFormat::Npz),
        Some("npy") => Some(FileFormat::Npy),
        Some("csv" | "tsv" | "txt" | "data") if lower.contains('.') => Some(FileFormat::Csv),
        _ => None,
    }
}

/// Whether a file is one that people write beside data.
fn is_prose(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    ["readme", "license", "licence"].iter().any(|word| base.starts_with(word))
}

fn is_text(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".txt")
}

/// Drops what people write beside data: readme files, and any `.txt` where other data lies. What is
/// no readme file is remembered as skipped, as is a file of no known format.
fn leave_out_texts(tree: &mut Tree) {
    let is_data = |name: &str| format_of(name).is_some() && !is_text(name) && !is_prose(name);
    let other_data = tree.files.iter().any(|f| is_data(&f.name));
    let is_read = |name: &str| format_of(name).is_some() && !(other_data && is_text(name));
    let skipped = tree.files.iter().filter(|f| !is_prose(&f.name) && !is_read(&f.name));
    tree.skipped.extend(skipped.map(|f| f.name.clone()));
    tree.skipped.sort();
    tree.files.retain(|f| !(is_prose(&f.name) || (other_data && is_text(&f.name))));
}

fn nothing(name: &str, files: &[String]) -> DataError {
    if let Some(advice) = files.iter().find_map(|file| convert::advice(file)) {
        return advice;
    }
    if matches!(files, [file] if file == name) {
        return DataError::UnknownFormat { file: name.into() };
    }
    let found = if files.is_empty() { "nothing".into() } else { listed(files) };
    DataError::NoDataFile { file: name.into(), found }
}

/// Reads what lies in `tree`, whatever its layout, and says what was not read.
fn read(mut tree: Tree, listing: &Listing, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let mut parts = match listing.read() {
        Some(manifest) => read_listed(&mut tree, manifest, request)?,
        None => {
            leave_out_texts(&mut tree);
            leave_out_manifest(&mut tree, listing, request, labelled)?;
            read_layout(&mut tree, request, labelled)?
        }
    };
    if !tree.skipped.is_empty() {
        parts.note(format!("not read: {}", listed(&tree.skipped)));
    }
    Ok(parts)
}

/// Reads the tables that a manifest lists.
fn read_listed(tree: &mut Tree, manifest: &Manifest, request: &Request) -> Result<Parts, DataError> {
    let is_table = |name: &str| format_of(name) == Some(FileFormat::Csv);
    if let Some((other, _)) = manifest.files().find(|(name, _)| !is_table(name)) {
        return Err(DataError::Unsupported {
            file: manifest.name.clone(),
            problem: format!(
                "'{other}' is listed and is no CSV file; a manifest lists CSV files, or the WAV and FLAC files of a folder"
            ),
        });
    }
    let mut parts = folder::read_listed(tree, manifest, request)?;
    let names = tree.files.iter().map(|file| file.name.as_str()).filter(|name| !is_prose(name));
    manifest.unlisted(names).into_iter().for_each(|note| parts.note(note));
    Ok(parts)
}

/// Drops a manifest from tables that get their labels elsewhere, or need none. It is no recording.
fn leave_out_manifest(
    tree: &mut Tree,
    listing: &Listing,
    request: &Request,
    labelled: bool,
) -> Result<(), DataError> {
    let Some(name) = listing.unused() else { return Ok(()) };
    if labelled && request.data.label_from.is_none() {
        return Err(manifest::not_named(&tree.name, name));
    }
    tree.files.retain(|file| file.name != name);
    tree.skipped.push(name.into());
    Ok(())
}

fn read_layout(tree: &mut Tree, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let names: Vec<String> = tree.files.iter().map(|f| f.name.clone()).collect();
    let of = |format| -> Vec<usize> {
        (0..names.len()).filter(|&i| format_of(&names[i]) == Some(format)).collect()
    };
    let all: Vec<usize> = (0..names.len()).filter(|&i| format_of(&names[i]).is_some()).collect();
    if all.is_empty() {
        return Err(nothing(&tree.name, &names));
    }
    if all.len() == 1 {
        return single(tree, all[0], request, labelled);
    }
    if !of(FileFormat::Idx).is_empty() {
        request.check_no_columns(&tree.name)?;
        request.check_no_patterns(&tree.name)?;
        skip_others(tree, &all, &of(FileFormat::Idx));
        return idx_pairs(tree, &of(FileFormat::Idx), labelled);
    }
    for format in [FileFormat::Ts, FileFormat::Npz, FileFormat::Csv] {
        if let Some((parts, read)) = parts_by_name(tree, &of(format), request, labelled)? {
            skip_others(tree, &all, &read);
            return Ok(parts);
        }
    }
    if !of(FileFormat::Npy).is_empty() {
        request.check_no_columns(&tree.name)?;
        request.check_no_patterns(&tree.name)?;
        let npy = of(FileFormat::Npy);
        skip_others(tree, &all, &npy);
        return npy_files(tree, &npy, request.data.missing);
    }
    let tables = of(FileFormat::Csv);
    if tables.len() == all.len() {
        return folder::read(tree, &tables, request, labelled);
    }
    let files: Vec<String> = all.iter().map(|&i| names[i].clone()).collect();
    let what = "data files, and none is called *_TRAIN or *_TEST";
    Err(DataError::SeveralFiles { file: tree.name.clone(), what, names: listed(&files) })
}

/// Reads one file of `tree`.
fn single(tree: &mut Tree, index: usize, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let name = tree.files[index].name.clone();
    request.check_no_patterns(&name)?;
    let bytes = tree.read(index)?;
    if format_of(&name) != Some(FileFormat::Csv) {
        request.check_no_columns(&name)?;
    }
    let train = match format_of(&name) {
        Some(FileFormat::Npz) => {
            return npz::read(&name, &bytes, request.data.size_limit, request.data.missing);
        }
        Some(FileFormat::Ts) => ts::read(&name, &bytes, labelled, request.data.missing)?,
        Some(FileFormat::Idx) => idx::part((&name, &bytes), None)?,
        Some(FileFormat::Npy) => {
            let array = npy::read(&name, &bytes)?;
            Part::new(&name, array.sequences()?, RawLabels::None)
        }
        _ => csv::read(&name, &bytes, Context::alone(request, labelled))?,
    };
    if labelled && train.y == RawLabels::None && !train.x.is_empty() {
        let hint = match format_of(&name) {
            Some(FileFormat::Npy) => {
                "one NPY array has none; put x.npy and y.npy into a folder, or both into an .npz"
            }
            Some(FileFormat::Idx) => {
                "no IDX file of labels lies beside it (…-labels-idx1-ubyte for …-images-idx3-ubyte)"
            }
            _ => "its header says that there are none",
        };
        return Err(DataError::NoLabels { file: name, hint: hint.into() });
    }
    Ok(Parts { train: Some(train), ..Parts::default() })
}

/// Whether a file name says that it is the training or the test part.
fn says(name: &str, part: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let stem = base.split_once('.').map_or(base.as_str(), |(stem, _)| stem);
    stem.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '-']))
}

/// The parts that names of files tell, such as `walk_TRAIN.csv`, and which files these are.
fn parts_by_name(
    tree: &mut Tree,
    files: &[usize],
    request: &Request,
    labelled: bool,
) -> Result<Option<(Parts, Vec<usize>)>, DataError> {
    let saying = |tree: &Tree, parts: &[&str]| -> Vec<usize> {
        let says_one = |&i: &usize| parts.iter().any(|part| says(&tree.files[i].name, part));
        files.iter().copied().filter(says_one).collect()
    };
    let named = [
        (saying(tree, &["train"]), "training files"),
        (saying(tree, &["val", "valid", "validation"]), "validation files"),
        (saying(tree, &["test"]), "test files"),
    ];
    for (found, part) in &named {
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|&i| tree.files[i].name.clone()).collect();
            return Err(DataError::SeveralFiles {
                file: tree.name.clone(),
                what: part,
                names: listed(&names),
            });
        }
    }
    let [(train, _), (validation, _), (test, _)] = &named;
    let Some(&first) = train.first() else { return Ok(None) };
    let mut parts = single(tree, first, request, labelled)?;
    if let Some(train) = &parts.train {
        let like = request_for_test_part(request, train);
        let mut read = |found: &[usize]| -> Result<Option<Part>, DataError> {
            let Some(&file) = found.first() else { return Ok(None) };
            let found = single(tree, file, &like, labelled)?;
            Ok(found.test.or(found.train).or(found.validation))
        };
        let (validation, test) = (read(validation)?, read(test)?);
        parts.validation = validation.or(parts.validation);
        parts.test = test.or(parts.test);
    }
    Ok(Some((parts, [&train[..], validation, test].concat())))
}

/// Remembers the files among `all` that are not `read`.
fn skip_others(tree: &mut Tree, all: &[usize], read: &[usize]) {
    let unread = all.iter().filter(|i| !read.contains(i)).map(|&i| tree.files[i].name.clone());
    let unread: Vec<String> = unread.collect();
    tree.skipped.extend(unread);
    tree.skipped.sort();
}

fn npy_files(tree: &mut Tree, files: &[usize], missing: Missing) -> Result<Parts, DataError> {
    let mut arrays = BTreeMap::new();
    for &i in files {
        let name = tree.files[i].name.to_lowercase();
        let key = name.rsplit('/').next().unwrap_or(&name).trim_end_matches(".npy").to_string();
        arrays.insert(key, tree.read(i)?);
    }
    Arrays::new(&tree.name, arrays, missing).parts()
}

fn idx_pairs(tree: &mut Tree, files: &[usize], labelled: bool) -> Result<Parts, DataError> {
    let names: Vec<String> = tree.files.iter().map(|f| f.name.clone()).collect();
    let mut parts = Parts::default();
    for &i in files {
        let Some(labels_name) = idx::labels_name(&names[i]) else { continue };
        let labels = names.iter().position(|name| *name == labels_name);
        if labels.is_none() && labelled {
            let hint = format!("{labels_name} does not lie beside it");
            return Err(DataError::NoLabels { file: names[i].clone(), hint });
        }
        let (images, labels) = (tree.read(i)?, labels.map(|l| tree.read(l)).transpose()?);
        let labels = labels.as_deref().map(|labels| (labels_name.as_str(), labels));
        let part = idx::part((&names[i], &images), labels)?;
        let base = names[i].rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let is_test = base.starts_with("t10k") || base.contains("test");
        let slot = if is_test { &mut parts.test } else { &mut parts.train };
        if slot.replace(part).is_some() {
            let (file, what) = (tree.name.clone(), "pairs of IDX files");
            return Err(DataError::SeveralFiles { file, what, names: listed(&names) });
        }
    }
    if parts.train.is_none() && parts.test.is_none() {
        return Err(nothing(&tree.name, &names));
    }
    Ok(parts)
}
