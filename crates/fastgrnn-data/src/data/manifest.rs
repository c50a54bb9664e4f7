//! A manifest: a table that lists the files of a folder with their labels.
//!
//! Its columns are recognised by name, or by the keys `id-col` (the file), `label-col` and
//! `group-col`. Each file of the manifest must lie in the folder, and none may be listed twice.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::archive::{Tree, plain_name};
use super::columns::{GROUP_NAMES, LABEL_NAMES};
use super::folder_names::part_called;
use super::names::listed;
use super::speech::Split;
use super::{DataError, Request, csv};

/// Names of the column with the path of a file, in any case.
const FILE_NAMES: [&str; 9] =
    ["file", "files", "filename", "file_name", "filepath", "file_path", "path", "recording", "audio"];

/// Names of the column with the label, in any case, beside those in tables of recordings.
const MORE_LABEL_NAMES: [&str; 2] = ["category", "word"];

/// Names of the column with the group, in any case, beside those in tables of recordings.
const MORE_GROUP_NAMES: [&str; 5] = ["speaker", "speaker_id", "person", "user", "participant"];

/// Names of the column with the part, in any case.
const PART_NAMES: [&str; 4] = ["part", "split", "set", "subset"];

/// Names of files that may be a manifest, without their ending.
const MANIFEST_NAMES: [&str; 8] =
    ["manifest", "label", "labels", "metadata", "meta", "annotations", "files", "index"];

/// What a manifest says about one file.
pub(crate) struct ListedFile {
    pub label: String,
    pub group: Option<String>,
    /// The part, if the manifest has a column of parts.
    pub part: Option<Split>,
}

/// The files that a manifest lists.
pub(crate) struct Manifest {
    /// What to call it in messages.
    pub name: String,
    /// Its path in the folder; `None` if it lies elsewhere.
    entry: Option<String>,
    files: BTreeMap<String, ListedFile>,
    /// Which columns were taken for what.
    pub note: String,
    /// Whether it has a column of parts.
    pub has_parts: bool,
}

/// Whether files of a folder are listed in a manifest.
pub(crate) enum Listing {
    /// There is none.
    None,
    /// A file of the folder is one, but labels are not taken from it.
    Unused(String),
    /// Labels are taken from it.
    Read(Manifest),
}

impl Listing {
    /// The manifest of `tree`, which was opened at `folder`. Without labels to read, or without a
    /// request for one, a manifest in the folder is only recognised.
    pub fn of(tree: &mut Tree, folder: &str, request: &Request, labelled: bool) -> Result<Self, DataError> {
        // A file on its own lists nothing.
        if matches!(&tree.files[..], [only] if only.name == plain_name(&tree.name)) {
            return Ok(Self::None);
        }
        let Some(path) = &request.data.manifest else {
            return Ok(recognised(tree).map_or(Self::None, Self::Unused));
        };
        let entry = entry_of(tree, folder, path);
        match (entry, labelled) {
            (Some(entry), false) => Ok(Self::Unused(tree.files[entry].name.clone())),
            (Some(entry), true) => {
                let name = tree.files[entry].name.clone();
                let bytes = tree.read(entry)?;
                Manifest::read(&name, Some(&name), &bytes, tree, request).map(Self::Read)
            }
            (None, false) => Ok(recognised(tree).map_or(Self::None, Self::Unused)),
            // Other data than that of the training may be laid out otherwise.
            (None, true) if request.inherited.manifest && (path.is_relative() || !path.is_file()) => {
                Ok(recognised(tree).map_or(Self::None, Self::Unused))
            }
            (None, true) if path.is_file() => {
                let mut file = Tree::open(path, request.data.size_limit)?;
                if file.files.len() != 1 {
                    return Err(not_there(tree, path));
                }
                let bytes = file.read(0)?;
                Manifest::read(&file.name, None, &bytes, tree, request).map(Self::Read)
            }
            (None, true) => Err(not_there(tree, path)),
        }
    }

    /// The manifest that labels are taken from.
    pub fn read(&self) -> Option<&Manifest> {
        match self {
            Self::Read(manifest) => Some(manifest),
            _ => None,
        }
    }

    /// The manifest in the folder that labels are not taken from.
    pub fn unused(&self) -> Option<&str> {
        match self {
            Self::Unused(name) => Some(name),
            _ => None,
        }
    }

    /// Whether the file called `name` is the manifest.
    pub fn is_manifest(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Unused(manifest) => manifest == name,
            Self::Read(manifest) => manifest.is_entry(name),
        }
    }
}

/// The error for a folder whose labels are in a manifest that the request does not name.
pub(crate) fn not_named(folder: &str, manifest: &str) -> DataError {
    let hint = format!("'{manifest}' lists its files; `manifest = {manifest}` takes the labels from there");
    DataError::NoLabels { file: folder.into(), hint }
}

fn not_there(tree: &Tree, path: &Path) -> DataError {
    let problem = format!("there is no file '{}' in {}", path.display(), tree.name);
    DataError::Setting { key: "manifest".into(), problem }
}

/// The file of `tree`, opened at `folder`, that `path` means.
fn entry_of(tree: &Tree, folder: &str, path: &Path) -> Option<usize> {
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let inside = || {
        let (path, folder) = (absolute(path)?, absolute(Path::new(folder))?);
        path.strip_prefix(folder).ok().map(Path::to_path_buf)
    };
    let position = |path: &Path| {
        let name = inside_of("", &path.to_string_lossy())?;
        tree.files.iter().position(|file| file.name == name || file.name == plain_name(&name))
    };
    position(path).or_else(|| position(&inside()?))
}

/// The file at the top of `tree` that is called like a manifest and lists another file.
fn recognised(tree: &Tree) -> Option<String> {
    let depth = |name: &str| name.split('/').count();
    let top = tree.files.iter().map(|file| depth(&file.name)).min()?;
    let is_called_so = |name: &str| {
        let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let ends_well = [".csv", ".tsv", ".txt"].iter().find_map(|ending| base.strip_suffix(ending));
        ends_well.is_some_and(|stem| MANIFEST_NAMES.contains(&stem))
    };
    let mut known: Option<KnownFiles> = None;
    for (i, file) in tree.files.iter().enumerate() {
        if depth(&file.name) != top || !is_called_so(&file.name) {
            continue;
        }
        let Ok(rows) = csv::text_rows(&file.name, &tree.head(i)) else { continue };
        let Some((header, rows)) = rows.split_first() else { continue };
        let Some(column) = named(&header.cells, &FILE_NAMES) else { continue };
        let known = known.get_or_insert_with(|| KnownFiles::of(tree));
        let lists = |row: &csv::TextRow| {
            let found = inside_of(folder_of(&file.name), &row.cells[column]);
            found.is_some_and(|path| matches!(known.find(&path, &row.cells[column]), Ok(Some(_))))
        };
        if rows.iter().any(lists) {
            return Some(file.name.clone());
        }
    }
    None
}

/// The first column whose name is one of `names`, in the order of `names`.
fn named(header: &[String], names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| header.iter().position(|cell| cell.trim().eq_ignore_ascii_case(name)))
}

/// The folder that the file called `name` lies in, with a `/` at its end; empty at the top.
fn folder_of(name: &str) -> &str {
    name.rfind('/').map_or("", |end| &name[..=end])
}

/// The path `written` in the folder `base`; `None` if it leads out of everything.
fn inside_of(base: &str, written: &str) -> Option<String> {
    let has_drive = matches!(written.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if has_drive || written.starts_with(['/', '\\']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(written.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The files of a tree by their paths, by the ends of these, and without the endings of names.
struct KnownFiles<'a> {
    names: Vec<&'a str>,
    exact: HashMap<&'a str, usize>,
    ends: HashMap<&'a str, Vec<usize>>,
    stems: HashMap<&'a str, Vec<usize>>,
}

impl<'a> KnownFiles<'a> {
    fn of(tree: &'a Tree) -> Self {
        let names: Vec<&str> = tree.files.iter().map(|file| file.name.as_str()).collect();
        let (mut exact, mut ends, mut stems) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (i, name) in names.iter().enumerate() {
            exact.insert(*name, i);
            let starts = std::iter::once(0).chain(name.match_indices('/').map(|(at, _)| at + 1));
            for start in starts {
                let end = &name[start..];
                ends.entry(end).or_insert_with(Vec::new).push(i);
                if let Some((stem, _)) = end.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')) {
                    stems.entry(stem).or_insert_with(Vec::new).push(i);
                }
            }
        }
        Self { names, exact, ends, stems }
    }

    /// The file at `path`, or else the only one whose path ends as `written` says, with or without its
    /// ending; several such files are an error that lists them.
    fn find(&self, path: &str, written: &str) -> Result<Option<&'a str>, Vec<String>> {
        let plain = plain_name(path);
        if let Some(&i) = self.exact.get(path).or_else(|| self.exact.get(plain.as_str())) {
            return Ok(Some(self.names[i]));
        }
        let Some(end) = inside_of("", written).map(|end| plain_name(&end)) else { return Ok(None) };
        match self.ends.get(end.as_str()).or_else(|| self.stems.get(end.as_str())).map(Vec::as_slice) {
            Some([only]) => Ok(Some(self.names[*only])),
            Some(several) => Err(several.iter().map(|&i| self.names[i].to_string()).collect()),
            None => Ok(None),
        }
    }
}

/// Which column of a manifest says what.
struct ManifestColumns {
    file: usize,
    label: usize,
    group: Option<usize>,
    part: Option<usize>,
}

impl ManifestColumns {
    fn of(name: &str, header: &[String], request: &Request) -> Result<Self, DataError> {
        let asked = |key: &Option<String>, is_inherited: bool| -> Result<Option<usize>, DataError> {
            let Some(column) = key else { return Ok(None) };
            let number = || column.parse().ok().filter(|&i| i < header.len());
            match header.iter().position(|cell| cell == column).or_else(number) {
                None if !is_inherited => Err(DataError::UnknownColumn {
                    file: name.into(),
                    column: column.clone(),
                    known: listed(header),
                }),
                found => Ok(found),
            }
        };
        let (data, inherited) = (&request.data, request.inherited);
        let file = asked(&data.id_col, inherited.id_col)?.or_else(|| named(header, &FILE_NAMES));
        let label = asked(&data.label_col, inherited.label_col)?
            .or_else(|| named(header, &LABEL_NAMES))
            .or_else(|| named(header, &MORE_LABEL_NAMES));
        let group = asked(&data.group_col, inherited.group_col)?
            .or_else(|| named(header, &GROUP_NAMES))
            .or_else(|| named(header, &MORE_GROUP_NAMES));
        let part = named(header, &PART_NAMES).filter(|part| Some(*part) != label && Some(*part) != group);
        let Some(file) = file else {
            return Err(DataError::Unsupported {
                file: name.into(),
                problem: format!(
                    "no column of this manifest is called file, filename, path or recording; its first line must name the columns (found: {}), and `id-col` says which one holds the files",
                    listed(header)
                ),
            });
        };
        let is_free = |i: &usize| *i != file && Some(*i) != group && Some(*i) != part;
        let mut rest = (0..header.len()).filter(is_free);
        let only = rest.next().filter(|_| rest.next().is_none());
        let Some(label) = label.or(only) else {
            let hint = format!("name the manifest's column with `label-col` (columns: {})", listed(header));
            return Err(DataError::NoLabels { file: name.into(), hint });
        };
        Ok(Self { file, label, group, part })
    }

    fn note(&self, name: &str, header: &[String]) -> String {
        let mut note = format!(
            "files are listed in {name}: column '{}' names them, column '{}' is their label",
            header[self.file], header[self.label]
        );
        for (column, what) in [(self.group, "group"), (self.part, "part")] {
            note += &column.map_or(String::new(), |i| format!(", column '{}' their {what}", header[i]));
        }
        note
    }
}

impl Manifest {
    /// Understands `bytes`, the manifest called `name`, which lies in `tree` under `entry`.
    fn read(
        name: &str,
        entry: Option<&str>,
        bytes: &[u8],
        tree: &Tree,
        request: &Request,
    ) -> Result<Self, DataError> {
        let rows = csv::text_rows(name, bytes)?;
        let Some((header, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
            let hint =
                "a manifest has a line that names its columns, such as file,label, and a line for each file";
            return Err(DataError::Empty { file: name.into(), hint: hint.into() });
        };
        let columns = ManifestColumns::of(name, &header.cells, request)?;
        let known = KnownFiles::of(tree);
        let base = entry.map_or("", folder_of);
        let mut files: BTreeMap<String, ListedFile> = BTreeMap::new();
        let mut lines: HashMap<&str, u64> = HashMap::new();
        for row in rows {
            let wrong = |problem: String| DataError::Corrupt {
                file: name.into(),
                place: format!("line {}", row.line),
                problem,
            };
            let cell = |column: usize, what: &str| match row.cells[column].trim() {
                "" => Err(wrong(format!("the {what} (column '{}') is empty", header.cells[column]))),
                text => Ok(text),
            };
            let written = cell(columns.file, "file")?;
            let path = inside_of(base, written).ok_or_else(|| {
                wrong(format!(
                    "'{written}' leads out of {}; write the path of the file in that folder",
                    tree.name
                ))
            })?;
            let found = known.find(&path, written).map_err(|several| {
                wrong(format!("'{written}' may mean several files; write one of {}", listed(&several)))
            })?;
            let found = found.filter(|found| Some(*found) != entry).ok_or_else(|| {
                wrong(format!("there is no file '{written}' in {}; correct the line or remove it", tree.name))
            })?;
            if let Some(first) = lines.insert(found, row.line) {
                return Err(wrong(format!(
                    "'{written}' was listed in line {first} already; a file has one label, so remove one of the lines"
                )));
            }
            let part = match columns.part {
                None => None,
                Some(column) => {
                    let text = cell(column, "part")?;
                    Some(
                        part_called(text)
                            .ok_or_else(|| wrong(format!("'{text}' is no part; use train, val or test")))?,
                    )
                }
            };
            let label = cell(columns.label, "label")?.to_string();
            let group = columns.group.map(|column| cell(column, "group").map(str::to_string)).transpose()?;
            files.insert(found.into(), ListedFile { label, group, part });
        }
        Ok(Self {
            name: name.into(),
            entry: entry.map(str::to_string),
            files,
            note: columns.note(name, &header.cells),
            has_parts: columns.part.is_some(),
        })
    }

    /// The files with what is said about them, by their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &ListedFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// What is said about the file at this path.
    pub fn get(&self, name: &str) -> Option<&ListedFile> {
        self.files.get(name)
    }

    /// Whether the file of the folder at this path is the manifest.
    pub fn is_entry(&self, name: &str) -> bool {
        self.entry.as_deref() == Some(name)
    }

    /// What to tell about those of `names` that are not listed.
    pub fn unlisted<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let is_missing = |name: &&str| !self.files.contains_key(*name) && !self.is_entry(name);
        let names: Vec<String> = names.filter(is_missing).map(str::to_string).collect();
        (!names.is_empty())
            .then(|| format!("not read, because {} does not list them: {}", self.name, listed(&names)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_meant_in_the_folder_of_the_manifest() {
        assert_eq!(inside_of("meta/", "../rec/a.wav").as_deref(), Some("rec/a.wav"));
        assert_eq!(inside_of("", r".\rec\a.wav").as_deref(), Some("rec/a.wav"));
        for out in ["../a.wav", "/a.wav", r"C:\a.wav", "a/../../b.wav", r"\\host\a"] {
            assert_eq!(inside_of("", out), None, "{out}");
        }
    }

    proptest! {
        /// Whatever a manifest says, it names files of the folder or is refused.
        #[test]
        fn any_manifest_lists_files_that_are_there_or_is_refused(
            header in prop::sample::select(vec!["file,label", "path;class;subject", "file,label,split", "a,b", ""]),
            rows in "((a|rec/a|\\.\\./a|/b|b\\.csv|c|\"|\\PC)[,;](x|y| |1)([,;](s|train|test|))?\n){0,6}",
            entry: bool,
        ) {
            let zip = {
                use std::io::Write;
                let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
                for name in ["rec/a.csv", "b.csv", "other/a.csv", "labels.csv"] {
                    writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
                    writer.write_all(b"x\n1\n").unwrap();
                }
                writer.finish().unwrap().into_inner()
            };
            let tree = Tree::from_bytes("s.zip", &zip, 1 << 20).unwrap();
            let entry = entry.then_some("labels.csv");
            let text = format!("{header}\n{rows}");
            if let Ok(manifest) = Manifest::read("labels.csv", entry, text.as_bytes(), &tree, &Request::default()) {
                for (name, file) in manifest.files() {
                    prop_assert!(tree.files.iter().any(|known| known.name == name));
                    prop_assert!(!file.label.is_empty());
                }
            }
        }
    }
}
