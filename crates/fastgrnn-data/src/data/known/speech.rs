//! `google30`, `google12` and `wakeword:<word>`: spoken words of Speech Commands v0.01.

use std::path::{Path, PathBuf};

use super::super::clips::{self, Extract, Job, Length, Vary};
use super::super::part::Part;
use super::super::part::RawLabels;
use super::super::parts::Parts;
use super::super::speech::{
    Archive, Background, COMMANDS, Clip, FILTERS, FRAMES, NOISE, Pick, Set, Split, choose,
};
use super::super::{DataError, Request, Sequences};
use super::set::{Found, KnownSpec, is_whole, no_axes};
use crate::features;

/// The word of a set called `wakeword:<word>`.
pub(super) fn wake_word(source: &str) -> Option<&str> {
    source.strip_prefix("wakeword:")
}

const COMMON: KnownSpec = KnownSpec {
    name: "",
    description: "",
    licence: "CC BY 4.0 (Speech Commands v0.01, Warden)",
    sizes: [57_886, 6_835, FRAMES, FILTERS, 30],
    places: &["speech_commands", "speech_commands_v0.01"],
    marker: "index.csv|testing_list.txt",
    fetch: "Speech Commands v0.01 (64,721 recordings of 30 words; speech_commands_v0.01.tar.gz, unpacked), or its log-mel features 'logmel_u8.npy.xz' and 'index.csv.gz', packed from the repository DanchooKim/dtw-speech-recognition at 2542944f, where you have them,",
    checksums: &[
        ("logmel_u8.npy.xz", "8a91619b5a355507d55aee420bc0617a2754245aa4c6209d54b6cbadaff78d6d"),
        ("index.csv.gz", "b0f93d511b2333dcf5fb63e8b03be54579ce5a579998db5c84544bf1219d5810"),
    ],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read: read30,
};

pub(super) const GOOGLE30: KnownSpec =
    KnownSpec { name: "google30", description: "30 spoken words, 32 log-mel filters at 100 Hz", ..COMMON };

pub(super) const GOOGLE12: KnownSpec = KnownSpec {
    name: "google12",
    description: "ten spoken commands, silence and unknown words, 32 log-mel filters at 100 Hz",
    sizes: [25_339, 3_081, FRAMES, FILTERS, 12],
    read: read12,
    ..COMMON
};

pub(super) const WAKEWORD: KnownSpec = KnownSpec {
    name: "wakeword:<word>",
    description: "one of the 30 words (such as wakeword:marvin) against the others and noise",
    sizes: [60_440, 6_835, FRAMES, FILTERS, 2],
    read: read_wake,
    ..COMMON
};

fn read30(folder: &Path, request: &Request) -> Result<Found, DataError> {
    read(folder, request, &Set::Words)
}

fn read12(folder: &Path, request: &Request) -> Result<Found, DataError> {
    read(folder, request, &Set::Commands(COMMANDS.map(str::to_owned).to_vec()))
}

fn read_wake(folder: &Path, request: &Request) -> Result<Found, DataError> {
    let word = wake_word(&request.source).unwrap_or_default();
    read(folder, request, &Set::WakeWord(word.to_owned()))
}

/// Where the background recordings lie: beside the words, or beside their FLAC copies.
fn noise_folder(folder: &Path) -> Option<PathBuf> {
    let places = [folder.join(NOISE), folder.join("flac").join(NOISE)];
    places.into_iter().find(|path| path.is_dir())
}

/// The clips of the folder: their features, or their audio.
enum Source {
    Archive(Archive),
    Audio { clips: Vec<Clip>, paths: Vec<PathBuf>, spec: features::Spec },
}

impl Source {
    fn open(folder: &Path, request: &Request) -> Result<Self, DataError> {
        if Archive::is_in(folder) {
            let spec = features::Spec::default();
            if let Some(requested) = request.audio.features.as_ref().filter(|requested| **requested != spec) {
                let problem = format!(
                    "{requested}, but the archive holds {spec}; other features need the recordings themselves"
                );
                return Err(DataError::Setting { key: "features".into(), problem });
            }
            return Archive::open(folder, request.data.size_limit).map(Self::Archive);
        }
        let (clips, paths) = clips::speech(folder)?;
        let spec = request.audio.features.unwrap_or_default();
        Ok(Self::Audio { clips, paths, spec })
    }

    fn clips(&self) -> &[Clip] {
        match self {
            Self::Archive(archive) => archive.clips(),
            Self::Audio { clips, .. } => clips,
        }
    }

    fn spec(&self) -> features::Spec {
        match self {
            Self::Archive(_) => features::Spec::default(),
            Self::Audio { spec, .. } => *spec,
        }
    }

    /// The features of `jobs`, in their order.
    fn features(
        &self,
        jobs: &[Job],
        background: Option<&Background>,
        request: &Request,
    ) -> Result<Sequences, DataError> {
        let mut x = Sequences::new(self.spec().dim());
        match self {
            Self::Archive(archive) => {
                for job in jobs {
                    match (&job.pick, background) {
                        (Pick::Clip(i), _) => x.push(&archive.features(*i)),
                        (Pick::Noise(k), Some(noise)) => {
                            let mut silence = noise.silence(job.split, *k);
                            Archive::rounded(&mut silence);
                            x.push(&silence);
                        }
                        (Pick::Noise(_), None) => {}
                    }
                }
            }
            Self::Audio { paths, spec, .. } => {
                let (length, vary) = (Length::Clip(spec.rate() as usize), &Vary::none());
                let (limit, watch) = (request.data.size_limit, request.watch.as_ref());
                let extract = Extract { paths, background, spec, length, limit, vary, watch };
                extract.run(jobs, &mut |_, features| {
                    x.push(&features?);
                    Ok(())
                })?;
            }
        }
        Ok(x)
    }
}

fn read(folder: &Path, request: &Request, set: &Set) -> Result<Found, DataError> {
    let source = Source::open(folder, request)?;
    let clips = source.clips();
    if let Set::WakeWord(word) = set
        && !clips.iter().any(|clip| clip.word() == word)
    {
        let (words, _) = choose(&Set::Words, clips, Split::Train);
        return Err(DataError::UnknownWord { word: word.to_string(), known: words.join(", ") });
    }
    let spec = source.spec();
    let background = match noise_folder(folder) {
        Some(noise) => Some(Background::open(&noise, &spec)?),
        None => None,
    };
    let build = |splits: &[Split]| -> Result<(Part, usize), DataError> {
        let (mut jobs, mut names, mut first_of_last) = (Vec::new(), Vec::new(), 0);
        for &split in splits {
            let (classes, picks) = choose(set, clips, split);
            first_of_last = jobs.len();
            for (pick, class) in picks {
                match (&pick, &background, set) {
                    (Pick::Noise(_), None, Set::WakeWord(_)) => continue,
                    (Pick::Noise(_), None, _) => {
                        let hint = "background recordings, which its silence is cut from, were expected in _background_noise_".into();
                        return Err(DataError::Empty { file: folder.display().to_string(), hint });
                    }
                    _ => jobs.push(Job { pick, class, split, copy: 0 }),
                }
            }
            names = classes;
        }
        let labels = jobs.iter().map(|job| names[job.class].clone()).collect();
        let x = source.features(&jobs, background.as_ref(), request)?;
        let mut part = Part::new(request.source.clone(), x, RawLabels::Text(labels));
        let name = |job: &Job| match job.pick {
            Pick::Clip(i) => (clips[i].file.clone(), clips[i].speaker().to_owned()),
            Pick::Noise(k) => (format!("{NOISE}/{k}"), NOISE.to_owned()),
        };
        let (ids, groups) = jobs.iter().map(name).unzip();
        part.classes = Some(names);
        (part.ids, part.group) = (Some(ids), Some(groups));
        Ok((part, first_of_last))
    };
    let (mut train, first) = build(&[Split::Train, Split::Validation])?;
    train.validation = Some((first as u32..train.x.len() as u32).collect());
    train.background = background.as_ref().map(|noise| noise.frames(Split::Train));
    train.audio = Some(spec);
    let (test, _) = build(&[Split::Test])?;
    Ok(Found::new(Parts { train: Some(train), test: Some(test), ..Parts::default() }, Vec::new()))
}
