//! Folders of tables: one sub-folder a class, or recordings side by side.
//!
//! Each file is a recording whose rows are time steps. Where every file lies in a folder of its
//! own kind, that folder's name is the class; otherwise the label is a column, or a manifest lists
//! the files with their labels. Folders `train`, `val` and `test` around them make parts.

use std::collections::{BTreeMap, HashSet};

use super::archive::Tree;
use super::fields::Context;
use super::folder_names::{Nested, part_called};
use super::manifest::Manifest;
use super::name_pattern::Patterns;
use super::names::listed;
use super::part::Part;
use super::parts::{Parts, request_for_test_part};
use super::recordings::label_kind;
use super::speech::Split;
use super::{DataError, ReadUnit, Request, clocks, csv, missing};

/// A table in a folder: where it is, and what its path or a manifest says about it.
struct FolderTable {
    index: usize,
    class: Option<String>,
    group: Option<String>,
    part: Split,
}

/// Tables in class folders (under `train` and `test` or not), or recordings side by side.
pub(crate) fn read(
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
    let part_of = |path: &[&str]| {
        let folder = path.get(depth).filter(|_| path.len() >= depth + 2)?;
        part_called(folder)
    };
    let has_parts = paths.iter().all(|path| part_of(path).is_some());
    let inner = depth + usize::from(has_parts);
    let patterns = Patterns::of(request)?;
    let nested = Nested::of(&paths, inner).filter(|_| patterns.label.is_none());
    let has_classes = nested.is_none() && paths.iter().all(|path| path.len() == inner + 2);
    let flat = paths.iter().all(|path| path.len() == inner + 1);
    if !has_classes && !flat && nested.is_none() && patterns.label.is_none() {
        let beside = paths.iter().find(|path| part_of(path).is_none()).map(|path| path[depth]);
        let problem = match beside {
            Some(other) if paths.iter().any(|path| part_of(path).is_some()) => format!(
                "'{other}' lies beside the folders train, val and test, and only these are read; move it into train, or out of the way"
            ),
            _ => {
                let names: Vec<String> = files.iter().map(|&i| tree.files[i].name.clone()).collect();
                let listed = listed(&names);
                let why = match paths.iter().all(|path| path.len() == paths[0].len()) {
                    true => "its folders do not tell which of their names are classes",
                    false => "its files lie at different depths",
                };
                format!(
                    "{why}; put each file into a folder named after its class, or give `label-from` ({listed})"
                )
            }
        };
        return Err(DataError::Unsupported { file: tree.name.clone(), problem });
    }
    if labelled && has_classes {
        refuse_lost_classes(tree, &paths, inner, has_parts)?;
    }
    let mut tables = Vec::new();
    for (path, &index) in paths.iter().zip(files) {
        let name = tree.files[index].name.as_str();
        let class = match (&patterns.label, &nested) {
            (Some(pattern), _) => Some(pattern.find(name)?),
            (None, Some(nested)) => Some(path[nested.class].to_string()),
            (None, None) => has_classes.then(|| path[inner].to_string()),
        };
        let group = match (&patterns.group, &nested) {
            (Some(pattern), _) => Some(pattern.find(name)?),
            (None, nested) => nested.as_ref().map(|nested| path[nested.group].to_string()),
        };
        tables.push(FolderTable {
            index,
            class,
            group,
            part: part_of(path).filter(|_| has_parts).unwrap_or(Split::Train),
        });
    }
    let note = nested.map(|nested| nested.note(&paths));
    let mut parts = read_tables(tree, &tables, request, labelled)?;
    note.into_iter().for_each(|note| parts.note(note));
    Ok(parts)
}

/// Reads the tables that a manifest lists.
pub(crate) fn read_listed(
    tree: &mut Tree,
    manifest: &Manifest,
    request: &Request,
) -> Result<Parts, DataError> {
    let mut tables = Vec::new();
    for (index, file) in tree.files.iter().enumerate() {
        if let Some(listed) = manifest.get(&file.name) {
            tables.push(FolderTable {
                index,
                class: Some(listed.label.clone()),
                group: listed.group.clone(),
                part: listed.part.unwrap_or(Split::Train),
            });
        }
    }
    let mut parts = read_tables(tree, &tables, &request.for_listed_files(), true)?;
    parts.note(manifest.note.clone());
    Ok(parts)
}

/// Reads tables into the parts that they belong to.
fn read_tables(
    tree: &mut Tree,
    tables: &[FolderTable],
    request: &Request,
    labelled: bool,
) -> Result<Parts, DataError> {
    let of = |part: Split| tables.iter().filter(|table| table.part == part).collect::<Vec<_>>();
    let train = join(tree, &of(Split::Train), request, labelled)?;
    let like = train.as_ref().map_or_else(|| request.clone(), |train| request_for_test_part(request, train));
    let validation = join(tree, &of(Split::Validation), &like, labelled)?;
    let test = join(tree, &of(Split::Test), &like, labelled)?;
    Ok(Parts { train, validation, test })
}

/// Refuses a class folder in which no table lies: its class would vanish from the data in silence.
fn refuse_lost_classes(
    tree: &Tree,
    paths: &[Vec<&str>],
    inner: usize,
    has_parts: bool,
) -> Result<(), DataError> {
    let has_table: HashSet<&[&str]> = paths.iter().map(|path| &path[..=inner]).collect();
    let parts: HashSet<&str> = paths.iter().map(|path| path[inner - usize::from(has_parts)]).collect();
    let (file, prefix) = (tree.name.clone(), &paths[0][..inner - usize::from(has_parts)]);
    // A folder beside those of the parts is no class.
    let is_inside = |path: &[&str]| {
        path.starts_with(prefix)
            && (!has_parts || path.get(inner - 1).is_some_and(|part| parts.contains(part)))
    };
    for empty in &tree.empty {
        let path: Vec<&str> = empty.split('/').collect();
        if path.len() == inner + 1 && is_inside(&path) && !has_table.contains(&path[..]) {
            return Err(DataError::EmptyClass { file, class: path[inner].into() });
        }
    }
    for skipped in &tree.skipped {
        let path: Vec<&str> = skipped.split('/').collect();
        if path.len() > inner + 1 && is_inside(&path) && !has_table.contains(&path[..=inner]) {
            return Err(DataError::Unsupported {
                file,
                problem: format!(
                    "the folder '{}' holds no table that can be read (but {skipped}); give its files the same format and ending as those of the other classes, or remove the folder",
                    path[..=inner].join("/")
                ),
            });
        }
    }
    Ok(())
}

/// The features that all tables have, in the order of the first, and what to tell about the others;
/// `None` if all have the same.
fn shared_features(
    tree: &Tree,
    tables: &[&FolderTable],
    request: &Request,
    labelled: bool,
) -> Result<Option<(Vec<String>, String)>, DataError> {
    let mut first: Option<Vec<String>> = None;
    // In how many files each feature is.
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for table in tables {
        let class = table.class.as_deref().filter(|_| labelled);
        let context = Context { request, labelled, class, steps: true };
        let name = &tree.files[table.index].name;
        let Some(features) = csv::features_in(name, &tree.head(table.index), context) else {
            return Ok(None);
        };
        for feature in &features {
            *files.entry(feature.clone()).or_insert(0) += 1;
        }
        first.get_or_insert(features);
    }
    let (first, all) = (first.unwrap_or_default(), tables.len());
    if files.values().all(|&count| count == all) {
        return Ok(None);
    }
    let lacking = files.iter().filter(|(_, count)| **count < all);
    let lacking: Vec<String> =
        lacking.map(|(name, count)| format!("'{name}' (not in {})", all - count)).collect();
    let shared: Vec<String> = first.into_iter().filter(|name| files[name] == all).collect();
    if shared.is_empty() {
        let problem =
            format!("its {all} files have no feature column that all of them share: {}", listed(&lacking));
        return Err(DataError::Unsupported { file: tree.name.clone(), problem });
    }
    let note = format!("columns that not all {all} files have were left out: {}", listed(&lacking));
    Ok(Some((shared, note)))
}

/// Reads tables one after the other into one part; each is at least one recording of its own.
fn join(
    tree: &mut Tree,
    tables: &[&FolderTable],
    request: &Request,
    labelled: bool,
) -> Result<Option<Part>, DataError> {
    let given = request;
    let mut request = request.clone();
    let mut parsed = Vec::new();
    let mut shared_note = None;
    if request.data.chosen_columns().is_empty()
        && request.expect.is_none()
        && let Some((features, note)) = shared_features(tree, tables, &request, labelled)?
    {
        request.data.columns = Some(features);
        request.inherited.columns = true;
        shared_note = Some(note);
    }
    for table in tables {
        let name = tree.files[table.index].name.clone();
        let bytes = tree.read(table.index)?;
        let class = table.class.as_deref().filter(|_| labelled);
        let group = table.group.clone();
        let table = csv::table(&name, &bytes, Context { request: &request, labelled, class, steps: true })?;
        if parsed.is_empty()
            && let Some(features) = table.features()
        {
            request.data.columns = Some(features);
            request.inherited.columns = true;
        }
        parsed.push((name, group, table));
        if let Some(watch) = &request.watch {
            watch.tell(ReadUnit::Files, parsed.len() as u64, tables.len() as u64);
        }
    }
    let findings = clocks::leave_out(parsed.iter_mut().map(|(_, _, table)| table.parts()).collect(), given);
    let rows: Vec<_> = parsed.iter().map(|(_, _, table)| &table.rows).collect();
    let (kind, note) = label_kind(&rows, &request);
    let mut missing = BTreeMap::new();
    for (name, count) in parsed.iter().flat_map(|(_, _, table)| table.missing()) {
        *missing.entry(name).or_insert(0) += count;
    }
    let mut joined: Option<Part> = None;
    for (name, group, table) in parsed {
        let mut part = table.into_part(&request, kind)?;
        if !labelled {
            part.group = None;
        }
        if let Some(group) = group.filter(|_| labelled) {
            part.group = Some(vec![group; part.x.len()]);
        }
        part.ids = Some(match part.ids {
            Some(ids) => ids.into_iter().map(|id| format!("{name}:{id}")).collect(),
            None => vec![name; part.x.len()],
        });
        match &mut joined {
            None => joined = Some(part),
            Some(joined) if joined.x.is_empty() => {
                part.notes.splice(..0, joined.notes.drain(..));
                *joined = part;
            }
            Some(joined) => joined.append(part)?,
        }
    }
    if let Some(joined) = &mut joined {
        joined.file = tree.name.clone();
        joined.notes.extend(shared_note);
        joined.notes.extend(missing::note(&missing, request.data.missing));
        joined.notes.extend(note);
        joined.findings.splice(..0, findings);
    }
    Ok(joined)
}
