//! Training on a GPU: many seeds, and networks of several sizes, at once.
//!
//! The state of each seed is on the device while its epochs run (`memory`). The host decides (`wave`): it gives every
//! network the order of its sequences and the numbers of its steps, and takes in what the epoch came to. All networks
//! train an epoch at the same time; each may be in another pass, or be finished and wait for the others. The batches are
//! those of the CPU, and so are checkpoints: either device continues what the other has begun.

mod delivery;
mod memory;
#[cfg(test)]
mod tests;
mod wave;

pub(super) use delivery::Member;
pub(super) use memory::changes;

use super::changes::lasting_settings;
use super::job::Job;
use super::observe::Observer;
use super::summary::SeedRecord;
use super::{Config, TrainError};
use fastgrnn_cuda::driver::Device;
use fastgrnn_cuda::{CudaError, padded_units};
use memory::{DeviceData, DeviceMemory};
use wave::Wave;

/// Trains all members on a GPU, as many at a time as its memory holds. Their configurations differ at most in the sizes
/// of the networks and in the numbers of the optimiser. `planned` counts the seeds that are done, too: kernels are chosen
/// by it, so that an interruption changes nothing.
pub(super) fn train<'a>(
    device: &Device,
    jobs: &mut [&mut Job<'a>],
    mut members: Vec<Member>,
    planned: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<(usize, usize, SeedRecord)>, TrainError> {
    let Some(data) = jobs.first().map(|job| job.data) else { return Ok(Vec::new()) };
    let source = DeviceData::upload(device, data)?;
    let (mut records, mut size) = (Vec::new(), members.len());
    while !members.is_empty() {
        size = size.min(members.len());
        let configs: Vec<&Config> = members[..size].iter().map(|member| jobs[member.job].config).collect();
        let memory =
            match DeviceMemory::new(device, &source, data, &configs, &jobs[members[0].job].folds, planned) {
                Err(TrainError::Cuda(CudaError::OutOfMemory { .. })) if size > 1 => {
                    size = size.div_ceil(2);
                    continue;
                }
                other => other?,
            };
        let wave: Vec<Member> = members.drain(..size).collect();
        records.extend(Wave::begin(memory, jobs, wave, observer)?.train(jobs, observer)?);
    }
    Ok(records)
}

/// The keys in which the configurations of networks that are trained at once may differ.
const OWN_KEYS: [&str; 35] = [
    "hidden",
    "rank-w",
    "rank-u",
    "form-w",
    "form-u",
    "alpha",
    "beta",
    "zeta",
    "nu",
    "start",
    "keep-w",
    "keep-u",
    "keep-head",
    "quantize",
    "input-lsb",
    "fit",
    "board",
    "max-flash",
    "max-ram",
    "max-ms",
    "stages",
    "lr",
    "schedule",
    "decay-every",
    "plateau-epochs",
    "plateau-factor",
    "warmup",
    "momentum",
    "weight-decay",
    "weight-drop",
    "clip",
    "patience",
    "seed",
    "seeds",
    "checkpoint-every",
];

/// Whether networks that are trained at once have the same value of this key.
pub(crate) fn is_shared_key(key: &str) -> bool {
    !OWN_KEYS.contains(&key)
}

/// The settings that networks which are trained at once share, as text.
pub(crate) fn shared_settings(config: &Config) -> String {
    let shared: toml::Table =
        lasting_settings(config).into_iter().filter(|(key, _)| is_shared_key(key)).collect();
    shared.to_string()
}

/// Whether the networks of two runs can be trained at once: their widths are padded to the same one, and the rest of
/// their settings is the same but for [`OWN_KEYS`].
pub(super) fn are_alike(a: &Job, b: &Job) -> bool {
    let width = |job: &Job| {
        let network = job.config.network(job.data);
        padded_units(&network.layers[0], network.hidden())
    };
    shared_settings(a.config) == shared_settings(b.config) && width(a) == width(b)
}
