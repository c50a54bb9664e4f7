//! Why data cannot be used, with what to try next.

use std::path::{Path, PathBuf};

use fastgrnn_core::format::quantity;

/// Why data could not be read, split, normalised or written.
///
/// The message names the file, the place, the wrong value and what to try. Settings are named by
/// their keys, in backticks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recording that cannot be read.
    #[error(transparent)]
    Audio(#[from] crate::audio::AudioError),
    /// A recording of a folder that cannot be read.
    #[error("{0} (`skip-bad` skips such files and lists them)")]
    Recording(crate::audio::AudioError),
    /// A wake word that the recordings do not have.
    #[error("'{word}' is not one of the words: {known}")]
    UnknownWord {
        /// The word.
        word: String,
        /// The words of the recordings.
        known: String,
    },
    /// Neither a known name nor a path.
    #[error("'{source_name}' is neither a known data set nor a file or folder; known sets: {known}")]
    UnknownSource {
        /// The name.
        source_name: String,
        /// The known names.
        known: String,
    },
    /// A known data set whose files are not there.
    #[error("{}. {fetch}", missing_set(name, folder.as_deref()))]
    MissingSet {
        /// The set.
        name: String,
        /// The folder it was looked for in; `None` if no data folder is set.
        folder: Option<PathBuf>,
        /// What to download, its checksum, where to put it.
        fetch: String,
    },
    /// A file that ends too early.
    #[error(
        "{file}: the file ends too early: {what} needs {expected} bytes, {found} are left; copy or download it again"
    )]
    Truncated {
        /// The file.
        file: String,
        /// What was being read.
        what: String,
        /// Bytes needed.
        expected: u64,
        /// Bytes there.
        found: u64,
    },
    /// A folder without the text that a language model is trained on.
    #[error(
        "{file} has no text to train on (found: {found}); a folder for `task = lm` has the files train.txt, \
         valid.txt and test.txt, or give a single text file"
    )]
    NoText {
        /// The folder.
        file: String,
        /// What is in it.
        found: String,
    },
    /// A file that breaks the rules of its format.
    #[error("{file}: {place}: {problem}")]
    Corrupt {
        /// The file.
        file: String,
        /// Where in the file.
        place: String,
        /// What is wrong and what to try.
        problem: String,
    },
    /// A file of a known set that is not what it should be.
    #[error("{file}: the file is not the one expected (sha256 {found}, expected {expected}): {problem}")]
    Checksum {
        /// The file.
        file: String,
        /// The checksum it should have.
        expected: String,
        /// The checksum it has.
        found: String,
        /// What went wrong on reading it.
        problem: String,
    },
    /// A folder or archive without a file that can be read.
    #[error(
        "{file}: no data file in it; .csv, .tsv, .npz, .npy, .ts and IDX files are read, also inside .gz, .xz, .tar and .zip, and folders of .wav and .flac files (found: {found})"
    )]
    NoDataFile {
        /// The folder or archive.
        file: String,
        /// What is in it instead.
        found: String,
    },
    /// A file of a format that is not read, although a line of Python converts it.
    #[error("{file}: .{ending} files are not read; convert it with Python: {convert}")]
    NotRead {
        /// The file.
        file: String,
        /// How its name ends.
        ending: String,
        /// The line of Python.
        convert: String,
    },
    /// Standard input, a pipe or a device.
    #[error(
        "{file}: standard input, pipes and devices are not read, because the ending of a file's name tells its format; save the data to a file first, such as data.csv"
    )]
    NotAFile {
        /// What was named.
        file: String,
    },
    /// A single file of a format that is not known.
    #[error(
        "{file}: the ending of its name tells no format that is read; .csv, .tsv, .npz, .npy, .ts and IDX files are, also inside .gz, .xz, .tar and .zip, and folders of .wav and .flac files"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// Several columns of text that nothing says the purpose of.
    #[error(
        "{file}: the columns {columns} hold text, not numbers; leave them out with `drop`, or name them with `label-col`, `id-col` or `group-col`"
    )]
    TextColumns {
        /// The file.
        file: String,
        /// The columns.
        columns: String,
    },
    /// A folder or archive with several files that could be meant.
    #[error("{file}: several {what}; name one of {names}")]
    SeveralFiles {
        /// The folder or archive.
        file: String,
        /// What there are several of.
        what: &'static str,
        /// Their names.
        names: String,
    },
    /// Rows that are time steps, without a column that says which belong together.
    #[error(
        "{file}: column '{time}' looks like time, so rows look like time steps, but no column says which belong together: name the column that identifies a sequence with `id-col`, or cut windows with `window`; if each row is a sequence, use `drop = {time}`"
    )]
    UnassignedRows {
        /// The file.
        file: String,
        /// The column that looks like time.
        time: String,
    },
    /// A file of a kind, or with a content, that is not supported.
    #[error("{file}: {problem}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is not supported and what is.
        problem: String,
    },
    /// Nothing in it.
    #[error("{file}: no data in it; {hint}")]
    Empty {
        /// The file.
        file: String,
        /// What was expected.
        hint: String,
    },
    /// A row with more or fewer columns than the others.
    #[error(
        "{file}, line {line}: expected {}, found {found}; every row needs the same number", quantity(*expected as u64, "column")
    )]
    Ragged {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Columns expected.
        expected: usize,
        /// Columns found.
        found: usize,
    },
    /// A cell that is not a number.
    #[error(
        "{file}, line {line}, column {column}: '{value}' is not a number; leave the column out with `drop`, or name it with `label-col`, `id-col` or `group-col`"
    )]
    NotANumber {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Name or number of the column.
        column: String,
        /// What stands there.
        value: String,
    },
    /// A missing, infinite or undefined value.
    #[error("{file}, {place}: {}; {advice}", not_finite(value))]
    NotFinite {
        /// The file.
        file: String,
        /// Row and column, or sequence, step and feature.
        place: String,
        /// What stands there.
        value: String,
        /// What to try.
        advice: &'static str,
    },
    /// A feature that has no value at all in a sequence, so that nothing can be filled in.
    #[error(
        "{file}, {place}: every value of {feature} is missing, so `missing = {missing}` has nothing to fill in; leave the sequence or the feature out"
    )]
    AllMissing {
        /// The file.
        file: String,
        /// The sequence.
        place: String,
        /// The feature.
        feature: String,
        /// How missing values are filled in.
        missing: super::Missing,
    },
    /// A named column that is not there.
    #[error("{file}: there is no column '{column}'; columns: {known}")]
    UnknownColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns there are.
        known: String,
    },
    /// No label, where one is needed.
    #[error("{file}: no labels: {hint}")]
    NoLabels {
        /// The file.
        file: String,
        /// How to name them.
        hint: String,
    },
    /// A label outside the declared or known range.
    #[error("{file}, {place}: label '{label}' is not one of {known}; correct it, or add it to the classes")]
    LabelOutOfRange {
        /// The file.
        file: String,
        /// Where it stands.
        place: String,
        /// The label.
        label: String,
        /// The labels allowed.
        known: String,
    },
    /// A test label that no training sequence has.
    #[error(
        "{file}, {place}: label '{label}' does not occur in the training data, whose classes are {known}; correct it, or leave the sequence out"
    )]
    UnseenLabel {
        /// The test file.
        file: String,
        /// Which sequence.
        place: String,
        /// The label.
        label: String,
        /// The classes of the training data.
        known: String,
    },
    /// A label that is not one of the classes of the model that the data is read for.
    #[error(
        "{file}, {place}: label '{label}' is not a class of the model; the classes of the data set are {found}, those of the model {known}; use data with the classes of the model, or a model that was trained on this data set, or correct the label if it is a mistake"
    )]
    OtherClasses {
        /// The file.
        file: String,
        /// The first sequence with such a label.
        place: String,
        /// The label.
        label: String,
        /// The classes of the data set.
        found: String,
        /// The classes of the model.
        known: String,
    },
    /// A class without members.
    #[error("{file}: class '{class}' has no sequences; add some, or remove it from the class list")]
    EmptyClass {
        /// The file or folder.
        file: String,
        /// The class.
        class: String,
    },
    /// Only one class.
    #[error(
        "{file}: every sequence has the class '{class}'; a classifier needs at least two classes{}", right_column(column.as_deref())
    )]
    OneClass {
        /// The file.
        file: String,
        /// The class.
        class: String,
        /// The column with the labels, if they come from one.
        column: Option<String>,
    },
    /// Training and test data that do not fit together.
    #[error(
        "{file}: {} a step, but {expected} in {other}; {}", quantity(*found as u64, "feature"), same_features(*is_table)
    )]
    DimMismatch {
        /// The file that differs.
        file: String,
        /// Features found.
        found: usize,
        /// Features expected.
        expected: usize,
        /// What it should match.
        other: String,
        /// Whether the file is a table, of which columns can be chosen.
        is_table: bool,
    },
    /// Features called otherwise, or in another order, than those of the model.
    #[error(
        "{file}: its features are {found}, but the model reads {expected}; name them as the model does, or choose them in its order with `columns`"
    )]
    Features {
        /// The file.
        file: String,
        /// The features found.
        found: String,
        /// The model's.
        expected: String,
    },
    /// More classes than can be meant.
    #[error(
        "{file}: {classes} classes among {} (such as '{example}'), but there may be {limit}{}; `labels = value` takes numbers as values", quantity(*n as u64, "sequence"), right_column(column.as_deref())
    )]
    TooManyClasses {
        /// The file.
        file: String,
        /// Distinct labels.
        classes: usize,
        /// Sequences.
        n: usize,
        /// One of the labels.
        example: String,
        /// How many classes there may be.
        limit: String,
        /// The column with the labels, if they come from one.
        column: Option<String>,
    },
    /// Two columns of one name.
    #[error(
        "{file}: columns {first} and {second} are both called '{name}'; rename one, or leave one out by its number (`drop = {second}`)"
    )]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The first of them, counted from 0.
        first: usize,
        /// The second.
        second: usize,
    },
    /// More data than allowed.
    #[error("{file}: more than {limit} bytes; raise the limit with `size-limit` if you trust it")]
    TooLarge {
        /// The file or archive.
        file: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// An archive entry that points outside the archive.
    #[error("{file}: entry '{entry}' has an absolute path or leads outside the archive; it is not opened")]
    UnsafePath {
        /// The archive.
        file: String,
        /// The entry.
        entry: String,
    },
    /// A sequence that cannot be re-blocked.
    #[error(
        "`timesteps = {timesteps}` does not divide sequence {sequence}: {steps} steps of {dim} features are {} values", steps * dim
    )]
    Timesteps {
        /// Steps of a sequence after cutting.
        timesteps: usize,
        /// The sequence, counted from 0.
        sequence: usize,
        /// Its steps.
        steps: usize,
        /// Its features.
        dim: usize,
    },
    /// Sequences of different lengths where equal ones are needed.
    #[error(
        "per-coordinate normalisation needs sequences of one length, found {found} steps after {expected}; use per-feature"
    )]
    UnequalLengths {
        /// Steps expected.
        expected: usize,
        /// Steps found.
        found: usize,
    },
    /// A split that cannot be made.
    #[error("cannot split off a validation part: {0}")]
    Split(#[from] super::split_problem::SplitProblem),
    /// A test part that cannot be split off.
    #[error("cannot split off a test part: {0}")]
    TestSplit(super::split_problem::SplitProblem),
    /// A setting that needs another one.
    #[error("`{key} = {value}` needs `{needs}`")]
    Needs {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The key that is missing.
        needs: &'static str,
    },
    /// A setting about recordings for data that is not recordings.
    #[error("`{key} = {value}` is for a folder of WAV or FLAC files, and {file} is not one; leave it out")]
    NotRecordings {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The data.
        file: String,
    },
    /// A setting about CSV files for data that is none.
    #[error("`{key} = {value}` is for CSV files, and {file} is not one; leave it out")]
    NotATable {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The data.
        file: String,
    },
    /// Random data described in a way that makes no sense.
    #[error("{source_name}: {problem}")]
    RandomSource {
        /// The description, such as `random:100`.
        source_name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A finding that stops a training.
    #[error("{}: {}; {}; `allow = {}` goes on without that", .0.code, .0.message, .0.remedy, .0.code)]
    Finding(super::Finding),
    /// A setting with a value that this data does not allow.
    #[error("`{key}`: {problem}")]
    Setting {
        /// The key.
        key: String,
        /// What is wrong with its value.
        problem: String,
    },
}

fn right_column(column: Option<&str>) -> String {
    column.map_or(String::new(), |column| {
        format!(" (is '{column}' the right column for labels? `label-col` names another)")
    })
}

fn same_features(is_table: bool) -> &'static str {
    match is_table {
        true => "choose the same ones with `columns` or `drop`",
        false => "both need the same features",
    }
}

fn not_finite(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            format!("value {value} is larger than 32-bit floating-point numbers can be")
        }
        _ => format!("value {value} is not finite"),
    }
}

fn missing_set(name: &str, folder: Option<&Path>) -> String {
    let set = "set the environment variable FASTGRNN_DATA or `data-dir` to the folder with your data sets";
    match folder {
        Some(folder) => {
            format!("the files of '{name}' are not in {}; if they are elsewhere, {set}", folder.display())
        }
        None => format!("the files of '{name}' cannot be found, because no data folder is set; {set}"),
    }
}
