//! Folders of recordings: WAV and FLAC files, one sub-folder a class.
//!
//! Unlike tables, recordings are never all in memory: they are decoded, brought to the features'
//! rate and turned into features one by one, on all cores, in the order of their names. What is
//! kept is features, and those beyond a gigabyte lie on the disk ([`Sequences`]).
//!
//! | what | where it comes from |
//! | --- | --- |
//! | classes | the sub-folders, or a manifest that lists the files, or `--words` with `unknown` drawn from the others |
//! | silence | cut from the recordings in `_background_noise_`, each cut in time: the first 60 % train, 20 % validate, 20 % test |
//! | parts | `train/`, `val/`, `test/`; or `testing_list.txt` and `validation_list.txt`; or whole speakers, where names are like `SPEAKER_nohash_0.wav`; or a random tenth to test |
//! | length | `--clip-seconds`: shorter clips get zeros in front, of longer ones the loudest part is taken; with `--window` recordings stay whole and are cut into windows |
//!
//! Draws are keyed with a seed of their own: a folder is the same set in every run.

mod cut;
mod extract;
mod job;
mod layout;
mod splits;
mod vary;

use std::path::{Path, PathBuf};

pub use extract::{Extract, Length};
pub use job::Job;
pub use splits::Lists;
pub use vary::Vary;

use super::archive::file_name;
use super::manifest::Listing;
use super::name_pattern::Patterns;
use super::names::listed;
use super::part::Part;
use super::part::RawLabels;
use super::parts::{Parts, Purpose};
use super::settings::{CLIP_SECONDS, EXTRA_SHARE};
use super::speech::{Background, Clip, Pick, Set, Split, choose};
use super::{DataError, LabelKind, Request, Sequences};
use crate::audio::AudioError;
use crate::features::Spec;
use fastgrnn_core::format::quantity;
use layout::Layout;

/// Bad files that are listed one by one.
const LISTED: usize = 50;

/// Reads the folder of recordings, or the one recording, at `path`.
pub(crate) fn read(
    path: &Path,
    listing: &Listing,
    request: &Request,
    purpose: Purpose,
) -> Result<Parts, DataError> {
    let request = &match listing.read() {
        Some(_) => request.for_listed_files(),
        None => request.clone(),
    };
    request.check_no_columns(&file_name(path))?;
    let spec = request.audio.features.unwrap_or_default();
    let reader = Reader { path, request, spec: &spec, length: length(request, &spec)? };
    let layout = Layout::of(path, purpose, &Patterns::of(request)?, listing)?;
    match purpose {
        Purpose::Unlabelled => reader.unlabelled(&layout),
        _ => reader.labelled(layout, purpose),
    }
}

/// How long the clips are made, in samples.
fn length(request: &Request, spec: &Spec) -> Result<Length, DataError> {
    if let Some(window) = request.data.window {
        return Ok(Length::AtLeast(spec.window() + window.saturating_sub(1) * spec.hop()));
    }
    let seconds = request.audio.clip_seconds.unwrap_or(CLIP_SECONDS);
    let samples = seconds * f64::from(spec.rate());
    if !(samples >= spec.window() as f64 && seconds <= 3_600.0) {
        let least = spec.window() as f64 / f64::from(spec.rate());
        let problem = format!("{seconds} s is no length for a clip; use {least} to 3600");
        return Err(DataError::Setting { key: "clip-seconds".into(), problem });
    }
    Ok(Length::Clip(samples.round() as usize))
}

fn share(key: &str, requested: Option<f64>) -> Result<f64, DataError> {
    match requested.unwrap_or(EXTRA_SHARE) {
        share if (0.0..=1_000.0).contains(&share) => Ok(share),
        share => Err(DataError::Setting {
            key: key.into(),
            problem: format!("{share} is no share of the other clips; use 0 (none) or more, such as 0.1"),
        }),
    }
}

struct Reader<'a> {
    path: &'a Path,
    request: &'a Request,
    spec: &'a Spec,
    length: Length,
}

/// Features of a part of the set, in the order of its picks.
struct Built {
    part: Part,
    bad: Vec<AudioError>,
}

impl Reader<'_> {
    fn unlabelled(&self, layout: &Layout) -> Result<Parts, DataError> {
        let jobs: Vec<Job> = (0..layout.files.len()).map(|i| Job::of(Pick::Clip(i), Split::Train)).collect();
        let mut built = self.build(layout, None, &jobs, |_| String::new(), &Vary::none())?;
        built.part.y = RawLabels::None;
        self.mention(&mut built)?;
        Ok(Parts { train: Some(built.part), ..Parts::default() })
    }

    fn labelled(&self, layout: Layout, purpose: Purpose) -> Result<Parts, DataError> {
        let request = self.request;
        let copies =
            if request.expect.is_none() && purpose == Purpose::Set { request.audio_copies } else { 0 };
        let split = splits::split(&layout, self.path, request, purpose)?;
        let clip = match self.length {
            Length::Clip(samples) | Length::AtLeast(samples) => samples,
        };
        let silence = share("silence-share", request.audio.silence_share)?;
        let mut bad = Vec::new();
        let background = match &layout.noise {
            noise if noise.is_empty() || silence == 0.0 && copies == 0 => None,
            noise => {
                let paths = noise.iter().map(|name| self.root().join(name));
                Some(Background::of(paths, self.spec, clip, request.data.skip_bad.then_some(&mut bad))?)
            }
        };
        let (words, unknown) = (self.words(&layout)?, share("unknown-share", request.audio.unknown_share)?);
        let silence = if background.is_some() { silence } else { 0.0 };
        let set = Set::Folder { words, unknown, silence };
        let vary = Vary { copies, low: request.snr_low, high: request.snr_high };
        let jobs = |of: Split| {
            let (classes, picks) = choose(&set, &split.clips, of);
            let job = |(pick, class): (Pick, usize)| Job { pick, class, split: of, copy: 0 };
            (classes, picks.into_iter().map(job).collect::<Vec<Job>>())
        };
        let background = background.as_ref();
        let (classes, mut train) = jobs(Split::Train);
        train.extend(vary.copies(&train));
        let name = |job: &Job| classes[job.class].clone();
        let build = |jobs: &[Job]| self.build(&layout, background, jobs, name, &vary);
        let test = match jobs(Split::Test).1 {
            none if none.is_empty() => None,
            test => Some(build(&test)?),
        };
        if purpose == Purpose::Part {
            let mut test = test.ok_or_else(|| self.empty("no recordings found"))?;
            self.mention(&mut test)?;
            return Ok(Parts { test: Some(test.part), ..Parts::default() });
        }
        let mut built = build(&train)?;
        if split.has_validation {
            let first = built.part.x.len() as u32;
            let validation = build(&jobs(Split::Validation).1)?;
            built.part.append(validation.part)?;
            built.bad.extend(validation.bad);
            built.part.validation = Some((first..built.part.x.len() as u32).collect());
        }
        let test = test.map(|test| {
            built.bad.extend(test.bad);
            test.part
        });
        built.bad.extend(bad);
        self.mention(&mut built)?;
        let mut train = built.part;
        train.background = background.map(|noise| noise.frames(Split::Train));
        train.notes.extend(split.notes);
        train.notes.extend(layout.notes());
        if request.expect.is_none() {
            let RawLabels::Text(labels) = &train.y else {
                return Ok(Parts { train: Some(train), test, ..Parts::default() });
            };
            if let Some(empty) = classes.iter().find(|class| !labels.contains(class)) {
                return Err(DataError::EmptyClass { file: train.file, class: empty.clone() });
            }
            train.classes = Some(classes);
        }
        Ok(Parts { train: Some(train), test, ..Parts::default() })
    }

    fn empty(&self, hint: &str) -> DataError {
        DataError::Empty { file: file_name(self.path), hint: hint.into() }
    }

    /// The folder that names of files are meant in.
    fn root(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if self.path.is_file() => folder,
            _ => self.path,
        }
    }

    /// The requested words. Each must be there.
    fn words(&self, layout: &Layout) -> Result<Option<Vec<String>>, DataError> {
        let requested = self.request.audio.chosen_words();
        if let Some(word) = requested.iter().find(|word| !layout.files.iter().any(|file| file.word == **word))
        {
            let problem = format!("there is no class '{word}'; classes: {}", listed(&layout.words()));
            return Err(DataError::Setting { key: "words".into(), problem });
        }
        Ok((!requested.is_empty()).then(|| requested.to_vec()))
    }

    /// Computes the features of `jobs`.
    fn build(
        &self,
        layout: &Layout,
        background: Option<&Background>,
        jobs: &[Job],
        class: impl Fn(&Job) -> String,
        vary: &Vary,
    ) -> Result<Built, DataError> {
        let paths: Vec<PathBuf> = layout.files.iter().map(|file| self.root().join(&file.name)).collect();
        let extract = Extract {
            paths: &paths,
            background,
            spec: self.spec,
            length: self.length,
            limit: self.request.data.size_limit,
            vary,
            watch: self.request.watch.as_ref(),
        };
        let (mut x, mut y, mut ids, mut groups) =
            (Sequences::new(self.spec.dim()), Vec::new(), Vec::new(), Vec::new());
        let mut bad = Vec::new();
        extract.run(jobs, &mut |job, features| {
            match features {
                Ok(features) => x.push(&features),
                Err(error) if self.request.data.skip_bad => {
                    bad.push(error);
                    return Ok(());
                }
                Err(error) => return Err(DataError::Recording(error)),
            }
            y.push(class(job));
            let (id, group) = match job.pick {
                Pick::Clip(i) => (layout.files[i].name.clone(), layout.files[i].group().to_owned()),
                Pick::Noise(k) => (format!("{}/{k}", super::speech::NOISE), super::speech::NOISE.to_owned()),
            };
            ids.push(id);
            groups.push(group);
            Ok(())
        })?;
        let mut part = Part::new(file_name(self.path), x, RawLabels::Text(y));
        part.kind = LabelKind::Class;
        part.ids = Some(ids);
        part.group = layout.has_speakers().then_some(groups);
        part.audio = Some(*self.spec);
        Ok(Built { part, bad })
    }

    /// Lists the files that were left out.
    fn mention(&self, built: &mut Built) -> Result<(), DataError> {
        let bad = &built.bad;
        if bad.is_empty() {
            return Ok(());
        }
        if built.part.x.is_empty() {
            let hint =
                format!("none of its {} recordings can be read, the first because {}", bad.len(), bad[0]);
            return Err(DataError::Empty { file: file_name(self.path), hint });
        }
        let notes = &mut built.part.notes;
        notes.push(format!("left out {} that cannot be read:", quantity(bad.len() as u64, "recording")));
        notes.extend(bad.iter().take(LISTED).map(|error| format!("  {error}")));
        if bad.len() > LISTED {
            notes.push(format!("  … and {} more", bad.len() - LISTED));
        }
        Ok(())
    }
}

/// The clips of a folder of Speech Commands, with their parts, and where each lies.
pub fn speech(folder: &Path) -> Result<(Vec<Clip>, Vec<PathBuf>), DataError> {
    let request = Request::default();
    let layout = Layout::of(folder, Purpose::Set, &Patterns::of(&request)?, &Listing::None)?;
    let parted = splits::split(&layout, folder, &request, Purpose::Set)?;
    let paths = layout.files.iter().map(|file| folder.join(&file.name)).collect();
    Ok((parted.clips, paths))
}
