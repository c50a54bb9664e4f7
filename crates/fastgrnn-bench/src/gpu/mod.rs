//! How fast a training step is on an NVIDIA GPU, for one network and for many at once, and against PyTorch.
//!
//! A step is forward, loss, backward and the gradient of the parameters, without the optimiser, on random data that is
//! in the GPU's memory. Either side records its step as a CUDA graph and replays it; CUDA's events measure blocks of
//! replays. In each row ours comes first, then PyTorch, then ours again.

mod options;
mod peer;
mod report;
mod step;

pub use options::{GPU_SIZES, GpuCase, GpuOptions};
pub use report::{Basis, GpuReport, GpuRow, PeerTime, TorchVersions};

use crate::BenchError;
use crate::python;
use fastgrnn_core::cells::CellKind;
use fastgrnn_cuda::driver::Device;
use peer::GpuTorch;
use report::median;
use std::process::{Command, Stdio};
use std::time::Instant;
use step::DeviceStep;

/// The most networks that PyTorch trains at once, each on a stream of its own.
const STREAMS: usize = 16;

/// Whether a GPU can be used.
pub fn gpu_opens(device: usize) -> bool {
    Device::open(device).is_ok()
}

/// Measures training steps on a GPU; `progress` is told what happens, line by line.
///
/// ```no_run
/// use fastgrnn_bench::GpuOptions;
/// let report = fastgrnn_bench::train_on_gpu(&GpuOptions::default(), &mut |line| eprintln!("{line}")).unwrap();
/// println!("{report}");
/// ```
pub fn train_on_gpu(options: &GpuOptions, progress: &mut dyn FnMut(&str)) -> Result<GpuReport, BenchError> {
    let deadline = Instant::now() + options.budget;
    let device = match &options.library {
        Some(path) => Device::with_library(path, options.device)?,
        None => Device::open(options.device)?,
    };
    let mut torch = match options.against_torch {
        true => {
            let python = python::with_torch(options.python.as_deref(), deadline, progress)?;
            progress("starting PyTorch");
            Some(GpuTorch::start(python, options, deadline)?)
        }
        false => None,
    };
    let mut report = GpuReport {
        device: format!("cuda:{}", options.device),
        gpu: device.name().to_owned(),
        driver: driver_version(),
        torch: torch.as_ref().map(|torch| torch.versions.clone()),
        rows: Vec::new(),
    };
    let mut failure = None;
    for case in &options.cases {
        progress(&case_name(case));
        for (row, error) in measure(&device, options, case, torch.as_mut())? {
            failure = failure.or(error);
            report.rows.push(row);
        }
    }
    // Compiling takes most of the time: what the ratios need comes first.
    if let Some(torch) = &mut torch {
        add_loops(options, torch, &mut report, progress);
    }
    match failure {
        Some(failure) if report.rows.iter().all(|row| row.us.is_none()) => Err(failure),
        _ => Ok(report),
    }
}

/// One of our cells in a case.
struct Turns {
    cell: CellKind,
    step: Result<DeviceStep, BenchError>,
    /// Microseconds of its blocks.
    blocks: Vec<f64>,
}

impl Turns {
    fn run(&mut self, options: &GpuOptions) {
        let Ok(step) = &self.step else { return };
        match step.run(options.block, options.blocks) {
            Ok(times) => self.blocks.extend(times),
            Err(error) => self.step = Err(error.into()),
        }
    }
}

/// The rows of a case, with the error of those that failed: ours, cuDNN, and ours again.
fn measure(
    device: &Device,
    options: &GpuOptions,
    case: &GpuCase,
    torch: Option<&mut GpuTorch>,
) -> Result<Vec<(GpuRow, Option<BenchError>)>, BenchError> {
    let mut sides = Vec::new();
    for &cell in &case.cells {
        let step = match DeviceStep::new(device, case, cell) {
            // Memory may be enough for the other rows.
            Err(error @ (BenchError::Cuda(_) | BenchError::Loss { .. })) => Err(error),
            other => Ok(other?),
        };
        sides.push(Turns { cell, step, blocks: Vec::new() });
    }
    sides.iter_mut().for_each(|side| side.run(options));
    let peers = torch.map(|torch| cudnn_times(case, torch));
    sides.iter_mut().for_each(|side| side.run(options));
    let row = |Turns { cell, step, blocks }: Turns| {
        let (blocks, error) = match step {
            Ok(_) => (blocks, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let why = error.as_ref().map(BenchError::to_string);
        (GpuRow::new(case, cell, peers.as_deref(), blocks, why), error)
    };
    Ok(sides.into_iter().map(row).collect())
}

fn case_name(case: &GpuCase) -> String {
    format!("{}: {} x {} sequences", case.shape.name, case.networks, case.shape.batch)
}

/// cuDNN's times for the networks of a case. Many networks are trained one after the other, or on streams.
fn cudnn_times(case: &GpuCase, torch: &mut GpuTorch) -> Vec<PeerTime> {
    let streams = case.networks.min(STREAMS);
    let mut peers = Vec::new();
    for (cell, name) in [(CellKind::Gru, "cuDNN GRU"), (CellKind::Lstm, "cuDNN LSTM")] {
        if case.networks == 1 {
            peers.push(peer_time(case, torch, cell, 1, name.to_owned()));
        } else {
            peers.push(peer_time(case, torch, cell, 1, format!("{name}, in turn")));
            peers.push(peer_time(case, torch, cell, streams, format!("{name}, {streams} streams")));
        }
    }
    peers
}

fn peer_time(
    case: &GpuCase,
    torch: &mut GpuTorch,
    cell: CellKind,
    networks: usize,
    name: String,
) -> PeerTime {
    let (us, why) = match torch.run(case, cell, networks) {
        Ok(mut blocks) => {
            blocks.sort_by(f64::total_cmp);
            let times_as_many = case.networks as f64 / networks as f64;
            (median(&blocks).map(|us| us * times_as_many), None)
        }
        Err(error) => (None, Some(error.to_string())),
    };
    let basis = if networks == case.networks { Basis::Measured } else { Basis::Scaled };
    PeerTime { name, cell, measured_networks: networks, us, basis, why }
}

/// Adds PyTorch's FastGRNN to the rows of single ones.
fn add_loops(
    options: &GpuOptions,
    torch: &mut GpuTorch,
    report: &mut GpuReport,
    progress: &mut dyn FnMut(&str),
) {
    let rows_of = options.cases.iter().flat_map(|case| case.cells.iter().map(move |&cell| (case, cell)));
    for (row, (case, cell)) in report.rows.iter_mut().zip(rows_of) {
        if case.networks == 1 && cell == CellKind::FastGrnn {
            progress(&format!("{}: compiling PyTorch's FastGRNN", case_name(case)));
            let time = peer_time(case, torch, cell, 1, "PyTorch FastGRNN".to_owned());
            row.peers.get_or_insert_default().push(time);
        }
    }
}

/// What `nvidia-smi` says.
fn driver_version() -> Option<String> {
    let output = Command::new("nvidia-smi")
        .args(["--query-gpu=driver_version", "--format=csv,noheader"])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}
