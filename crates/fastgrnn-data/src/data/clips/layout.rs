//! Which recordings a folder holds, and what their places say about them.

use std::path::Path;

use super::super::DataError;
use super::super::archive::{Tree, file_name};
use super::super::folder_names::{Nested, part_called};
use super::super::manifest::{self, Listing, Manifest};
use super::super::name_pattern::Patterns;
use super::super::names::listed;
use super::super::parts::Purpose;
use super::super::speech::{Clip, NOISE, Split};
use crate::audio::is_recording;

/// A recording and what its path says.
pub(super) struct File {
    /// Its path in the folder.
    pub name: String,
    /// The class: the folder it lies in, or what a manifest says.
    pub word: String,
    /// `word/file`: what lists and the rules about speakers go by.
    pub key: String,
    /// The part, where folders name parts.
    pub part: Option<Split>,
    /// Who speaks, where a folder, a pattern or a manifest tells.
    pub group: Option<String>,
}

impl File {
    /// Who speaks, where the name tells.
    pub fn speaker(&self) -> Option<&str> {
        if self.group.is_some() {
            return self.group.as_deref();
        }
        let base = self.key.rsplit('/').next().unwrap_or(&self.key);
        base.split_once("_nohash_").map(|(speaker, _)| speaker)
    }

    /// What no split may part: the speaker, or the recording alone.
    pub fn group(&self) -> &str {
        self.speaker().unwrap_or(&self.name)
    }
}

fn sort(files: &mut [File]) {
    files.sort_by(|a, b| (&a.key, a.part, &a.name).cmp(&(&b.key, b.part, &b.name)));
}

/// The recordings of a folder.
#[derive(Default)]
pub(super) struct Layout {
    /// Sorted by key, then by part.
    pub files: Vec<File>,
    /// Paths of the background recordings.
    pub noise: Vec<String>,
    /// Whether folders name the parts.
    pub has_parts: bool,
    /// The folder inside the one given that everything lies in, with a `/` at its end; mostly empty.
    pub prefix: String,
    skipped: Vec<String>,
    /// What was decided about classes and groups.
    decisions: Vec<String>,
}

impl Layout {
    /// Lists the folder at `path`, or the one file there.
    pub fn of(
        path: &Path,
        purpose: Purpose,
        patterns: &Patterns,
        listing: &Listing,
    ) -> Result<Self, DataError> {
        if path.is_file() {
            return Self::single(path, purpose);
        }
        let tree = Tree::open(path, 0)?;
        let (names, mut skipped): (Vec<String>, Vec<String>) =
            tree.files.into_iter().map(|file| file.name).partition(|name| is_recording(name));
        skipped.extend(tree.skipped);
        skipped.sort();
        let (noise, names): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| name.split('/').rev().nth(1) == Some(NOISE));
        // Names in messages and lists are text; such a file could not be opened by it.
        let is_lost = |name: &&String| name.contains('\u{fffd}') && !path.join(name.as_str()).exists();
        if let Some(lost) = names.iter().chain(&noise).find(is_lost) {
            let problem = format!("the name of '{lost}' is not valid UTF-8; rename the file or its folder");
            return Err(DataError::Unsupported { file: file_name(path), problem });
        }
        if purpose == Purpose::Unlabelled {
            let plain =
                |name: String| File { key: name.clone(), word: String::new(), name, part: None, group: None };
            let files = names.into_iter().chain(noise).map(plain).collect();
            return Ok(Self { files, skipped, ..Self::default() });
        }
        if let Some(manifest) = listing.read() {
            return Self::listed(manifest, &names, noise, skipped);
        }
        let paths: Vec<Vec<&str>> = names.iter().map(|name| name.split('/').collect()).collect();
        // Folders around everything say nothing.
        let mut depth = 0;
        let wrapped = |depth: usize| {
            paths.iter().all(|p| {
                p.len() > depth + 2 && p[depth] == paths[0][depth] && part_called(p[depth]).is_none()
            })
        };
        while !paths.is_empty() && wrapped(depth) {
            depth += 1;
        }
        let has_parts =
            !paths.is_empty() && paths.iter().all(|p| p.len() > depth + 2 && part_called(p[depth]).is_some());
        let inner = depth + usize::from(has_parts);
        let wrong = |problem: String| Err(DataError::Unsupported { file: file_name(path), problem });
        let flat = paths.iter().find(|p| p.len() < inner + 2).filter(|_| patterns.label.is_none());
        if let (Some(_), Some(manifest)) = (flat, listing.unused()) {
            return Err(manifest::not_named(&file_name(path), manifest));
        }
        if let Some(flat) = flat {
            return wrong(format!(
                "'{}' lies in no folder that says what it is; put each recording into a folder named after its class, or give `label-from`",
                flat.join("/")
            ));
        }
        let is_part = |p: &&Vec<&str>| part_called(p[depth]).is_some() && p.len() > depth + 2;
        if let (false, Some(_)) = (has_parts, paths.iter().find(is_part)) {
            let other = paths.iter().find(|p| part_called(p[depth]).is_none()).map_or("", |p| p[depth]);
            return wrong(format!(
                "'{other}' lies beside the folders train, val and test, and only these are read; move it into train, or out of the way"
            ));
        }
        let prefix: String =
            paths.first().map_or(String::new(), |p| p[..depth].iter().map(|f| format!("{f}/")).collect());
        let nested = Nested::of(&paths, inner).filter(|_| patterns.label.is_none());
        let class = nested.as_ref().map_or(inner, |nested| nested.class);
        for empty in &tree.empty {
            let folder: Vec<&str> = empty.split('/').collect();
            if class == inner && folder.len() == inner + 1 && empty.starts_with(&prefix) {
                return Err(DataError::EmptyClass { file: file_name(path), class: folder[inner].into() });
            }
        }
        let file = |(name, p): (&String, &Vec<&str>)| -> Result<File, DataError> {
            let word = match &patterns.label {
                Some(pattern) => pattern.find(name)?,
                None => p[class].into(),
            };
            let key = match &patterns.label {
                Some(_) => format!("{word}/{}", p[p.len() - 1]),
                None => [&[p[class]], &p[inner..class], &p[class + 1..]].concat().join("/"),
            };
            let group = match (&patterns.group, &nested) {
                (Some(pattern), _) => Some(pattern.find(name)?),
                (None, nested) => nested.as_ref().map(|nested| p[nested.group].into()),
            };
            let part = if has_parts { part_called(p[depth]) } else { None };
            Ok(File { name: name.clone(), word, key, part, group })
        };
        let mut files: Vec<File> = names.iter().zip(&paths).map(file).collect::<Result<_, _>>()?;
        sort(&mut files);
        if files.is_empty() {
            let hint =
                "only background recordings are in it; add a folder of recordings for each class".into();
            return Err(DataError::Empty { file: file_name(path), hint });
        }
        let layout = Self {
            files,
            noise,
            has_parts,
            prefix,
            skipped,
            decisions: nested.map(|nested| nested.note(&paths)).into_iter().collect(),
        };
        match listing.unused().filter(|_| layout.words().len() == 1) {
            Some(manifest) => Err(manifest::not_named(&file_name(path), manifest)),
            None => Ok(layout),
        }
    }

    /// The recordings among `names` that a manifest lists.
    fn listed(
        manifest: &Manifest,
        names: &[String],
        noise: Vec<String>,
        skipped: Vec<String>,
    ) -> Result<Self, DataError> {
        let mut files = Vec::new();
        for (name, listed) in manifest.files() {
            let word = listed.label.clone();
            if word.contains('/') {
                let problem = format!(
                    "the label '{word}' of '{name}' has a '/' in it, which names of classes of recordings cannot have; write it differently"
                );
                return Err(DataError::Unsupported { file: manifest.name.clone(), problem });
            }
            let (key, group) = (format!("{word}/{name}"), listed.group.clone());
            files.push(File { name: name.into(), word, key, part: listed.part, group });
        }
        sort(&mut files);
        let mut layout = Self { files, noise, has_parts: manifest.has_parts, ..Self::default() };
        layout.skipped = skipped.into_iter().filter(|name| !manifest.is_entry(name)).collect();
        layout.decisions.push(manifest.note.clone());
        layout.decisions.extend(manifest.unlisted(names.iter().map(String::as_str)));
        Ok(layout)
    }

    fn single(path: &Path, purpose: Purpose) -> Result<Self, DataError> {
        if purpose != Purpose::Unlabelled {
            let hint = "one recording has no class; name a folder with one sub-folder of recordings a class";
            return Err(DataError::NoLabels { file: file_name(path), hint: hint.into() });
        }
        // Joining nothing to a path leaves a slash at its end, so the file is called from its folder.
        let name = file_name(path);
        let files = vec![File { key: name.clone(), word: String::new(), name, part: None, group: None }];
        Ok(Self { files, ..Self::default() })
    }

    /// The folders, sorted.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.files.iter().map(|file| file.word.clone()).collect();
        words.sort();
        words.dedup();
        words
    }

    /// Whether file names tell speakers.
    pub fn has_speakers(&self) -> bool {
        let told = self.files.iter().filter(|file| file.speaker().is_some()).count();
        told * 2 > self.files.len()
    }

    /// What a person should know about decisions, and about files that were not read.
    pub fn notes(&self) -> Vec<String> {
        let is_known = |name: &&String| {
            let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
            let known = ["readme", "license", "licence", "testing_list.txt", "validation_list.txt"];
            known.iter().any(|known| base.starts_with(known))
        };
        let unread: Vec<String> = self.skipped.iter().filter(|name| !is_known(name)).cloned().collect();
        let unread = (!unread.is_empty()).then(|| format!("not read: {}", listed(&unread)));
        self.decisions.iter().cloned().chain(unread).collect()
    }
}

/// The clips of `files`, as the rules about speech sets take them.
pub(super) fn clips(files: &[File], split: impl Fn(usize) -> Split) -> Vec<Clip> {
    let clip = |(i, file): (usize, &File)| Clip { file: file.key.clone(), split: split(i) };
    files.iter().enumerate().map(clip).collect()
}
