//! From recordings to features: many files, all cores, one order.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::super::speech::{Background, Pick};
use super::super::{DataError, ReadUnit, Watch};
use super::cut::to_length;
use super::job::Job;
use super::vary::Vary;
use crate::audio::{self, Audio, AudioError, Resampler};
use crate::features::{Front, Spec};

/// Recordings that are decoded before the first of them is handed on.
const BATCH: usize = 256;

/// Bytes of files in such a batch; one file may have more.
const BATCH_BYTES: u64 = 64 << 20;

/// How many samples a clip is made to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Exactly these.
    Clip(usize),
    /// These or more.
    AtLeast(usize),
}

/// Where jobs take recordings from, and how they become features.
pub struct Extract<'a> {
    /// The recordings, by their index in a [`Pick`].
    pub paths: &'a [PathBuf],
    /// Noise to cut clips from.
    pub background: Option<&'a Background>,
    /// The features to compute.
    pub spec: &'a Spec,
    /// How long clips become.
    pub length: Length,
    /// The most bytes of a file.
    pub limit: u64,
    /// How varied copies differ from their recording.
    pub vary: &'a Vary,
    /// Called with the progress.
    pub watch: Option<&'a Watch>,
}

type Features = Result<Vec<f32>, AudioError>;

impl Extract<'_> {
    /// Hands the features of every job to `take`, in the order of `jobs`.
    pub fn run(
        &self,
        jobs: &[Job],
        take: &mut dyn FnMut(&Job, Features) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let resamplers = Mutex::new(HashMap::new());
        let (mut rest, mut done) = (jobs, 0);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(self.batch(rest));
            rest = after;
            let share = batch.len().div_ceil(threads);
            let results: Vec<Vec<Features>> = std::thread::scope(|scope| {
                let work = |jobs: &'_ [Job]| {
                    let mut front = Front::new(self.spec);
                    jobs.iter().map(|job| self.features(job, &mut front, &resamplers)).collect()
                };
                let workers: Vec<_> =
                    batch.chunks(share).map(|jobs| scope.spawn(move || work(jobs))).collect();
                workers
                    .into_iter()
                    .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            });
            for (job, features) in batch.iter().zip(results.into_iter().flatten()) {
                take(job, features)?;
            }
            done += batch.len();
            self.watch.inspect(|watch| watch.tell(ReadUnit::Recordings, done as u64, jobs.len() as u64));
        }
        Ok(())
    }

    /// How many of `jobs` to take on at once.
    fn batch(&self, jobs: &[Job]) -> usize {
        let mut bytes = 0;
        let size = |job: &Job| match job.pick {
            Pick::Clip(i) => std::fs::metadata(&self.paths[i]).map_or(0, |file| file.len()),
            Pick::Noise(_) => 0,
        };
        let fits = jobs.iter().take(BATCH).take_while(|job| {
            bytes += size(job);
            bytes <= BATCH_BYTES
        });
        fits.count().max(1)
    }

    fn features(&self, job: &Job, front: &mut Front, resamplers: &Resamplers) -> Features {
        let samples = match (&job.pick, self.background) {
            (Pick::Clip(i), _) => self.samples(&self.paths[*i], resamplers)?,
            (Pick::Noise(k), Some(noise)) => noise.clip(job.split, *k).to_vec(),
            (Pick::Noise(_), None) => Vec::new(),
        };
        let mut samples = match self.length {
            Length::Clip(length) => to_length(samples, length),
            Length::AtLeast(least) if samples.len() < least => to_length(samples, least),
            Length::AtLeast(_) => samples,
        };
        if job.copy > 0 {
            self.vary.apply(&mut samples, job, self.spec.rate(), self.background);
        }
        let mut rows = Vec::with_capacity(self.spec.frames(samples.len()) * self.spec.dim());
        front.push(&samples, &mut |row| rows.extend_from_slice(row));
        front.finish(&mut |row| rows.extend_from_slice(row));
        Ok(rows)
    }

    /// The recording at `path`, at the features' rate.
    fn samples(&self, path: &Path, resamplers: &Resamplers) -> Result<Vec<i16>, AudioError> {
        if let Ok(file) = std::fs::metadata(path)
            && file.len() > self.limit
        {
            let (file, limit) = (path.display().to_string(), format!("{} bytes (`size-limit`)", self.limit));
            return Err(AudioError::TooLong { file, limit });
        }
        let audio = audio::read(path)?;
        let rate = self.spec.rate();
        if audio.rate == rate {
            return Ok(audio.to_i16());
        }
        let resampler = {
            let mut known = resamplers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let made = known.entry(audio.rate).or_insert_with(|| Arc::new(Resampler::new(audio.rate, rate)));
            Arc::clone(made)
        };
        if resampler.length(audio.samples.len()) > audio::MAX_SAMPLES {
            let (file, limit) = (path.display().to_string(), format!("{} samples", audio::MAX_SAMPLES));
            return Err(AudioError::TooLong { file, limit });
        }
        Ok(Audio { rate, samples: resampler.apply(&audio.samples) }.to_i16())
    }
}

/// The weights for each rate met so far.
type Resamplers = Mutex<HashMap<u32, Arc<Resampler>>>;
