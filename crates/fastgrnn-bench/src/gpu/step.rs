//! Our side on a GPU: networks, random batches in device memory, and a recorded training step.

use super::options::GpuCase;
use crate::BenchError;
use crate::shape::Shape;
use fastgrnn_core::batch::Earlier;
use fastgrnn_core::cells::{CellKind, Start};
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_core::rng::Rng;
use fastgrnn_cuda::CudaError;
use fastgrnn_cuda::driver::{Address, Buffer, Device, Graph};
use fastgrnn_cuda::gradient::{BatchAddresses, GradientSettings, GradientStep, StepBuffers};
use fastgrnn_cuda::params::{Cohort, CohortPlan, MAX_LAYERS};
use std::time::Duration;

/// Units are padded to a multiple of this, as the kernels need it; features are not padded.
const UNITS: usize = 16;

/// A training step of networks of one cell, without the optimiser: parameters are packed, the gradient of the batch
/// is computed and pulled back to the parameters.
pub(super) struct DeviceStep {
    device: Device,
    graph: Graph,
    step: GradientStep,
    // The graph reads and writes these by their addresses.
    _cohort: Cohort,
    _weights: [Buffer<f32>; 3],
    _gradient: Buffer<f32>,
    _batch: (Buffer<f32>, Buffer<u32>, Buffer<u32>),
}

/// The random batch of a network.
struct RandomBatch {
    /// `[sequences][steps][input]`
    x: Vec<f32>,
    classes: Vec<u32>,
}

impl RandomBatch {
    fn new(shape: &Shape) -> Self {
        let mut rng = Rng::new(0);
        let count = shape.batch * shape.steps * shape.input;
        Self {
            x: (0..count).map(|_| rng.normal() as f32).collect(),
            classes: (0..shape.batch).map(|_| rng.below(shape.classes) as u32).collect(),
        }
    }
}

fn start(network: &Network, shape: &Shape, seed: usize) -> Vec<f32> {
    network.start(Start::default(), shape.steps, seed as u64)
}

impl DeviceStep {
    /// Records the step of a cell and runs it once. The networks have parameters of their own, and equal batches at
    /// places of their own.
    pub(super) fn new(device: &Device, case: &GpuCase, kind: CellKind) -> Result<Self, BenchError> {
        let (shape, count) = (&case.shape, case.networks);
        let network = shape.network(kind, false);
        network.check()?;
        let plan = CohortPlan::new(&vec![network.clone(); count], UNITS, 1, |_, _| 1.0)?;
        let settings = GradientSettings {
            loss: Loss::SoftmaxCrossEntropy,
            earlier: Earlier::default(),
            sequences: shape.batch,
            steps: shape.steps,
            family: None,
            batches: 1,
            planned: case.networks,
            is_normalized: true,
        };
        let step = GradientStep::new(device, &plan, &network, &settings)?;
        let cohort = Cohort::new(device, plan)?;
        let plan = cohort.plan();

        let batch = RandomBatch::new(shape);
        let mut x = device.buffer(count * batch.x.len())?;
        let mut classes = device.buffer(count * shape.batch)?;
        let lengths = device.upload(&vec![shape.steps as u32; count * shape.batch])?;
        let mut parameters = device.buffer(count * plan.parameter_stride())?;
        for i in 0..count {
            x.write(i * batch.x.len(), &batch.x)?;
            classes.write(i * shape.batch, &batch.classes)?;
            parameters.write(plan.parameters(i).start, &start(&network, shape, i))?;
        }
        let addresses = BatchAddresses {
            x: x.address(),
            lengths: lengths.address(),
            initial: [Address::NULL; MAX_LAYERS],
            classes: classes.address(),
            values: Address::NULL,
            weights: Address::NULL,
            last_only: Address::NULL,
        };

        let mut packed = device.buffer(count * plan.packed_stride())?;
        let mut padded = device.buffer(count * plan.padded_stride())?;
        let mut gradient = device.buffer(parameters.len())?;
        let graph = device.record(|| {
            cohort.pack(&parameters, &mut packed)?;
            let (padded, gradient) = (&mut padded, &mut gradient);
            let buffers = StepBuffers { seen: &parameters, packed: &packed, padded, gradient };
            step.launch(&cohort, buffers, None, &addresses, None)
        })?;
        let ours = Self {
            device: device.clone(),
            graph,
            step,
            _cohort: cohort,
            _weights: [parameters, packed, padded],
            _gradient: gradient,
            _batch: (x, lengths, classes),
        };
        ours.replay(1)?;
        let losses = ours.step.results()?.into_iter().map(|result| result.loss);
        match losses.enumerate().find(|(_, loss)| !loss.is_finite()) {
            Some((network, loss)) => Err(BenchError::Loss { network, loss }),
            None => Ok(ours),
        }
    }

    /// The microseconds of a step in each of some blocks that take about `block`. The GPU runs steps for twice as
    /// long before, so that its clocks are those of work.
    pub(super) fn run(&self, block: Duration, blocks: usize) -> Result<Vec<f64>, CudaError> {
        let wanted = 1e3 * block.as_secs_f64();
        let (mut count, mut warm) = (1, 0.0);
        loop {
            let ms = self.replay(count)?;
            warm += ms;
            let fit = (wanted * count as f64 / ms).ceil();
            if warm >= 2.0 * wanted {
                count = (fit as usize).max(1);
                break;
            }
            count = (fit as usize).clamp(1, 2 * count);
        }
        (0..blocks).map(|_| Ok(1e3 * self.replay(count)? / count as f64)).collect()
    }

    /// The milliseconds of some steps.
    fn replay(&self, count: usize) -> Result<f64, CudaError> {
        let start = self.device.event()?;
        for _ in 0..count {
            self.device.run(&self.graph)?;
        }
        Ok(f64::from(self.device.event()?.since(&start)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::batch::{Batch, Targets};
    use fastgrnn_engine::engine::{Engine, Gradient};

    #[test]
    fn the_step_is_that_of_the_cpu() {
        if !fastgrnn_testing::emulator::is_available() {
            return;
        }
        let device = Device::with_library(fastgrnn_testing::emulator::library(), 0).unwrap();
        let shape =
            Shape { steps: 5, input: 3, hidden: 6, classes: 3, batch: 4, ..Shape::from_name("har").unwrap() };
        for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm] {
            let case = GpuCase { shape, networks: 2, cells: vec![kind] };
            let step = DeviceStep::new(&device, &case, kind).unwrap();
            let times = step.run(Duration::from_micros(100), 3).unwrap();
            assert!(times.len() == 3 && times.iter().all(|us| *us > 0.0), "{times:?}");

            let random = RandomBatch::new(&shape);
            let mut batch = Batch::new(shape.input);
            random.x.chunks(shape.steps * shape.input).for_each(|sequence| batch.push(sequence));
            batch.targets = Targets::Class(random.classes);
            let network = shape.network(kind, false);
            let found = step._gradient.to_vec().unwrap();
            let results = step.step.results().unwrap();
            for (i, result) in results.iter().enumerate() {
                let mut expected = Gradient::new(&network);
                let loss = Engine::new(&network, 1)
                    .unwrap()
                    .gradient(&start(&network, &shape, i), &batch, Loss::SoftmaxCrossEntropy, &mut expected)
                    .unwrap()
                    .loss;
                assert!((result.loss - loss).abs() < 1e-5 * loss, "{kind} {i}: {} {loss}", result.loss);
                let found = &found[step._cohort.plan().parameters(i)];
                for (found, expected) in found.iter().zip(&expected.values) {
                    assert!((found - expected).abs() < 1e-5, "{kind} {i}: {found} {expected}");
                }
            }
        }
    }
}
