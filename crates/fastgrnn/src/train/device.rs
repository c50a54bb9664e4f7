//! Where networks are trained: on the CPU or on a GPU.

use super::observe::Observer;
use super::{Config, Optimizer, TrainError};
use fastgrnn_core::net::InitialState;
use fastgrnn_core::settings::Setting;
use fastgrnn_cuda::assemble::mixup_bytes;
use fastgrnn_cuda::driver::Device;
use fastgrnn_cuda::params::CohortPlan;
use fastgrnn_cuda::{CudaError, MAX_HIDDEN, MAX_LAYERS, head_bytes, layer_bytes};
use fastgrnn_data::data::{Dataset, Labels, Normalize};
use std::fmt;
use std::str::FromStr;

/// The most sequences of a batch on a GPU.
const MOST_SEQUENCES: usize = 65_535;
/// The most values of a sequence on a GPU.
const MOST_VALUES: usize = 1 << 27;

/// What networks are trained on. Batches and draws are the same everywhere; sums are rounded differently on a GPU.
///
/// ```
/// use fastgrnn::train::DeviceChoice;
/// assert_eq!("cuda:1".parse(), Ok(DeviceChoice::Cuda(1)));
/// assert_eq!(DeviceChoice::default(), DeviceChoice::Cpu);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this number.
    Cuda(usize),
    /// The first GPU where there is one that can train the network, else the CPU.
    Auto,
}

impl DeviceChoice {
    /// Whether it means a GPU, on this machine.
    pub fn is_gpu(self) -> bool {
        match self {
            Self::Cpu => false,
            Self::Cuda(_) => true,
            Self::Auto => Device::open(0).is_ok(),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().map(Self::Cuda).ok();
        let found = match text {
            "cpu" => Some(Self::Cpu),
            "cuda" => Some(Self::Cuda(0)),
            "auto" => Some(Self::Auto),
            _ => text.strip_prefix("cuda:").and_then(number),
        };
        found.ok_or_else(|| "use cpu, cuda, cuda:N with the number of a GPU, or auto".to_owned())
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// The GPU that all of `configs` are to be trained on; nothing for the CPU.
pub(super) fn open(
    choice: DeviceChoice,
    configs: &[&Config],
    data: &Dataset,
    observer: &mut dyn Observer,
) -> Result<Option<Device>, TrainError> {
    let found = find(choice, configs, data)?;
    match &found {
        FoundDevice::Cpu => {}
        FoundDevice::NoGpu(why) => observer.note(&format!("training on the CPU: {why}")),
        FoundDevice::Gpu(device) => observer.note(&format!("training on the GPU {}", device.name())),
    }
    Ok(match found {
        FoundDevice::Gpu(device) => Some(device),
        FoundDevice::Cpu | FoundDevice::NoGpu(_) => None,
    })
}

/// Whether `choice` means a GPU that trains all of `configs`.
pub(crate) fn is_gpu_used(
    choice: DeviceChoice,
    configs: &[&Config],
    data: &Dataset,
    observer: &mut dyn Observer,
) -> Result<bool, TrainError> {
    if let DeviceChoice::Cuda(_) = choice {
        // Whether it can is found when they are trained.
        return Ok(true);
    }
    Ok(match find(choice, configs, data)? {
        FoundDevice::Gpu(_) => true,
        FoundDevice::Cpu => false,
        FoundDevice::NoGpu(why) => {
            observer.note(&format!("training on the CPU: {why}"));
            false
        }
    })
}

/// For each network, whether `choice` means a GPU that trains it. Others are trained on the CPU.
pub(crate) fn are_trained_on_gpu(
    choice: DeviceChoice,
    all: &[(&Config, &Dataset)],
) -> Result<Vec<bool>, TrainError> {
    let device = match choice {
        DeviceChoice::Cpu => None,
        DeviceChoice::Cuda(number) => Some(Device::open(number)?),
        DeviceChoice::Auto => Device::open(0).ok(),
    };
    let is_on_gpu = |(config, data): &(&Config, &Dataset)| {
        device.as_ref().is_some_and(|device| unsupported(config, data, device).is_none())
    };
    Ok(all.iter().map(is_on_gpu).collect())
}

/// What trains.
enum FoundDevice {
    /// The CPU, as was asked for.
    Cpu,
    /// The CPU, for this reason.
    NoGpu(String),
    Gpu(Device),
}

fn find(choice: DeviceChoice, configs: &[&Config], data: &Dataset) -> Result<FoundDevice, TrainError> {
    let usable = |number: usize| {
        let device = Device::open(number)?;
        match configs.iter().find_map(|config| unsupported(config, data, &device)) {
            None => Ok(device),
            Some(what) => Err(TrainError::Unsupported { what }),
        }
    };
    Ok(match choice {
        DeviceChoice::Cpu => FoundDevice::Cpu,
        DeviceChoice::Cuda(number) => FoundDevice::Gpu(usable(number)?),
        DeviceChoice::Auto => match usable(0) {
            Ok(device) => FoundDevice::Gpu(device),
            Err(error) => FoundDevice::NoGpu(reason(&error)),
        },
    })
}

/// Why the CPU is used, without advice to use it.
fn reason(error: &TrainError) -> String {
    match error {
        TrainError::Unsupported { what } => what.clone(),
        TrainError::Cuda(CudaError::NoDriver { .. }) => "there is no driver of an NVIDIA GPU".to_owned(),
        TrainError::Cuda(CudaError::NoGpu) => "there is no NVIDIA GPU".to_owned(),
        other => other.to_string(),
    }
}

/// What keeps a GPU from training `config`.
fn unsupported(config: &Config, data: &Dataset, device: &Device) -> Option<String> {
    let training = &config.training;
    if data.text.is_some() || matches!(data.train.y, Labels::Sets { .. } | Labels::Next) {
        return Some(
            "networks that read texts, and networks with several labels, are trained on the CPU".to_owned(),
        );
    }
    if training.optimizer == Optimizer::Rsg {
        return Some("`optimizer = rsg` is not supported on a GPU".to_owned());
    }
    let shares = [
        ("input-dropout", training.input_dropout),
        ("layer-dropout", training.layer_dropout),
        ("output-dropout", training.output_dropout),
        ("activation-penalty", training.activation_penalty),
        ("temporal-penalty", training.temporal_penalty),
    ];
    if let Some((key, share)) = shares.into_iter().find(|(_, share)| share.is_some_and(|share| share > 0.0)) {
        return Some(format!("`{key} = {}` is not supported on a GPU", Setting::text(&share.unwrap_or(0.0))));
    }
    if training.teacher.is_some() {
        return Some("`teacher` is not supported on a GPU".to_owned());
    }
    if config.parameters.initial_state != InitialState::Zero {
        return Some("an `initial-state` other than zero is not supported on a GPU".to_owned());
    }
    if super::cohort::changes(config, data).has_shared_columns() {
        return Some("`axes` that share a column are not supported on a GPU".to_owned());
    }
    if let Some(layer) = config.network.input_layer {
        return Some(format!("`input-layer = {layer}` is not supported on a GPU"));
    }
    if !fastgrnn_cuda::has_kernels(config.network.cell) {
        return Some(format!("`cell = {}` is not supported on a GPU", config.network.cell));
    }
    if config.orthogonal_u().is_some() {
        return Some(format!("`form-u = {}` is not supported on a GPU", config.network.form_u));
    }
    let (network, x) = (config.network(data), &data.train.x);
    if config.preparation.normalize == Normalize::PerCoordinate && x.min_steps() != x.max_steps() {
        return Some("`normalize = per-coordinate` needs sequences of one length".to_owned());
    }
    if network.layers.len() > MAX_LAYERS {
        return Some(format!("`layers = {}`: a GPU trains at most {MAX_LAYERS}", network.layers.len()));
    }
    if network.hidden() > MAX_HIDDEN {
        return Some(format!("`hidden = {}`: a GPU trains at most {MAX_HIDDEN} units", network.hidden()));
    }
    if training.batch > MOST_SEQUENCES {
        return Some(format!(
            "`batch = {}`: a GPU trains at most {MOST_SEQUENCES} at a time",
            training.batch
        ));
    }
    let most = device.block_memory();
    let slots = training.batch.min(config.epoch_size(x.len()));
    if training.mixup.unwrap_or(0.0) > 0.0 && mixup_bytes(slots) > most {
        return Some(format!("`batch = {}` with `mixup` is too large for this GPU", training.batch));
    }
    if head_bytes(&network) > most {
        return Some(format!("{} outputs are too many for this GPU", network.outputs));
    }
    if layer_bytes(&network) > most {
        return Some(format!("{} features are too many for this GPU", x.dim()));
    }
    if training.weight_drop.unwrap_or(0.0) > 0.0 {
        let plan = CohortPlan::new(std::slice::from_ref(&network), 1, 1, |_, _| 1.0);
        if plan.is_ok_and(|plan| plan.drop_bytes() > most) {
            return Some("`weight-drop` of so many recurrent entries is too large for this GPU".to_owned());
        }
    }
    let steps = x.max_steps() + config.preparation.augment.lead_in;
    if steps.saturating_mul(x.dim()) > MOST_VALUES {
        return Some(format!("sequences of {steps} steps with {} features are too large for a GPU", x.dim()));
    }
    if (0..x.len()).map(|i| x.steps(i) as u64).sum::<u64>() > u64::from(u32::MAX) {
        return Some("the data set has too many steps for a GPU".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Recipe;
    use fastgrnn_data::data::{Examples, Sequences};
    use fastgrnn_testing::emulator;

    #[test]
    fn a_gpu_refuses_an_input_layer_and_says_so() {
        if !emulator::is_available() {
            return;
        }
        let device = Device::with_library(emulator::library(), 0).unwrap();
        let mut x = Sequences::new(2);
        (0..8).for_each(|i| x.push(&[i as f32; 12]));
        let names = vec!["low".to_owned(), "high".to_owned()];
        let index = vec![0, 0, 0, 0, 1, 1, 1, 1];
        let data = Dataset::new("levels", Examples::new(x, Labels::Class { index, names }));
        let recipe = Recipe::default().with(|r| {
            r.source.dataset = Some("levels".into());
            r.preparation.val_split = Some(0.25);
        });
        let why = |recipe: &Recipe| unsupported(&recipe.resolve(&data).unwrap(), &data, &device);
        assert_eq!(why(&recipe), None);
        let layer = "frames=3,stride=2,units=4,activation=relu";
        let with_layer = recipe.with(|r| r.network.input_layer = Some(layer.parse().unwrap()));
        let expected = format!("`input-layer = {layer}` is not supported on a GPU");
        assert_eq!(why(&with_layer), Some(expected));
    }

    #[test]
    fn texts_name_devices_and_are_what_devices_are_called() {
        for text in ["cpu", "cuda", "cuda:3", "auto"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        assert_eq!("cuda:0".parse(), Ok(DeviceChoice::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA"] {
            assert!(text.parse::<DeviceChoice>().unwrap_err().contains("cuda:N"), "{text}");
        }
    }
}
