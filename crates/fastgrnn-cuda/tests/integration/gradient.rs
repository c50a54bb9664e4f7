//! Gradients of cohorts equal those of the f64 reference.
use crate::emulated;
use fastgrnn_core::batch::{Batch, Earlier, Targets};
use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity, Scalar, Scalars};
use fastgrnn_core::net::{Loss, Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_cuda::driver::{Address, Device};
use fastgrnn_cuda::gradient::{BatchAddresses, GradientSettings, GradientStep, StepBuffers};
use fastgrnn_cuda::params::{Cohort, CohortPlan, MAX_LAYERS};
use fastgrnn_cuda::{Family, has_kernels};
use fastgrnn_testing::networks::{
    FORMS, LOSSES, ReferenceStep, kinds, lengths, network, network_of_forms, nonlinearities, off_kinks,
    soften,
};

const FULL: (Option<usize>, Option<usize>) = (None, None);
const LOW: (Option<usize>, Option<usize>) = (Some(2), Some(3));
/// Far enough from a kink that f32 rounding does not cross it.
const MARGIN: f64 = 2e-5;

/// A network with its parameters and its batch.
struct Example {
    network: Network,
    params: Vec<f32>,
    batch: Batch,
}

impl Example {
    fn new(network: Network, lengths: &[usize], loss: Loss, with_initial: bool, margin: f64) -> Self {
        let (params, batch) = off_kinks(&network, lengths, loss, with_initial, margin);
        Self { network, params, batch }
    }
}

struct Outcome {
    loss: f64,
    correct: i32,
    gradient: Vec<f32>,
    scores: Vec<f32>,
}

/// What a device computes for the networks of a cohort.
fn run(device: &Device, examples: &[Example], loss: Loss, family: Option<Family>) -> Vec<Outcome> {
    let networks: Vec<Network> = examples.iter().map(|example| example.network.clone()).collect();
    let plan = CohortPlan::new(&networks, 16, 1, |_, _| 1.0).unwrap();
    let sequences = examples.iter().map(|example| example.batch.len()).max().unwrap();
    let lengths_of = |batch: &Batch| (0..batch.len()).map(|i| batch.steps(i)).collect::<Vec<_>>();
    let steps = examples.iter().flat_map(|example| lengths_of(&example.batch)).max().unwrap() + 1;
    let (input, outputs, readout) = (networks[0].input(), networks[0].outputs, networks[0].readout);
    let rows = if readout.is_every() { steps } else { 1 };
    let (mut x, mut lengths) = (Vec::new(), Vec::new());
    let (mut classes, mut values, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut initial: Vec<Vec<f32>> = vec![Vec::new(); networks[0].layers.len()];
    for Example { network, batch, .. } in examples {
        let widths: Vec<usize> = network.layers.iter().map(|cell| cell.hidden).collect();
        let mut row = 0;
        for i in 0..sequences {
            let count = if i < batch.len() { batch.steps(i) } else { 0 };
            lengths.push(count as u32);
            let values_of = if count > 0 { batch.sequence(i) } else { &[] };
            x.extend_from_slice(values_of);
            x.resize(x.len() + (steps - count) * input, 0.0);
            weights.push(batch.weights.get(i).copied().unwrap_or(1.0));
            let mut before = 0;
            for (l, states) in initial.iter_mut().enumerate() {
                let padded = plan.places().layers[l].hidden as usize;
                let from = i * widths.iter().sum::<usize>() + before;
                let given = batch.initial.get(from..from + widths[l]).filter(|_| count > 0).unwrap_or(&[]);
                states.extend_from_slice(given);
                states.resize(states.len() + padded - given.len(), 0.0);
                before += widths[l];
            }
            for step in 0..rows {
                let is_there = count > 0 && (step < count || !readout.is_every());
                let class = match &batch.targets {
                    Targets::Class(classes) if is_there => classes[row],
                    _ => 0,
                };
                classes.push(class);
                let from: &[f32] = match &batch.targets {
                    Targets::Value(values) => values,
                    _ => &batch.soft,
                };
                let numbers =
                    from.get(row * outputs..(row + 1) * outputs).filter(|_| is_there).unwrap_or(&[]);
                values.extend_from_slice(numbers);
                values.resize(values.len() + outputs - numbers.len(), 0.0);
                row += usize::from(is_there);
            }
        }
    }
    let batch = &examples[0].batch;
    let has_classes = matches!(batch.targets, Targets::Class(_));
    let has_values = !has_classes || !batch.soft.is_empty();
    let x = device.upload(&x).unwrap();
    let lengths = device.upload(&lengths).unwrap();
    let classes = device.upload(&classes).unwrap();
    let values = device.upload(&values).unwrap();
    let weights = device.upload(&weights).unwrap();
    let has_initial = !batch.initial.is_empty();
    let initial: Vec<_> = initial.iter().map(|states| device.upload(states).unwrap()).collect();
    let mut addresses = BatchAddresses {
        x: x.address(),
        lengths: lengths.address(),
        initial: [Address::NULL; MAX_LAYERS],
        classes: if has_classes { classes.address() } else { Address::NULL },
        values: if has_values { values.address() } else { Address::NULL },
        weights: weights.address(),
        last_only: Address::NULL,
    };
    for (address, states) in addresses.initial.iter_mut().zip(&initial).filter(|_| has_initial) {
        *address = states.address();
    }

    let (batches, planned, is_normalized) = (1, 0, true);
    let settings = GradientSettings {
        loss,
        earlier: batch.earlier,
        sequences,
        steps,
        family,
        batches,
        planned,
        is_normalized,
    };
    let step = GradientStep::new(device, &plan, &networks[0], &settings).unwrap();
    let cohort = Cohort::new(device, plan).unwrap();
    let plan = cohort.plan();
    let mut parameters = device.buffer::<f32>(plan.networks() * plan.parameter_stride()).unwrap();
    for (i, example) in examples.iter().enumerate() {
        parameters.write(plan.parameters(i).start, &example.params).unwrap();
    }
    let mut packed = device.buffer(plan.networks() * plan.packed_stride()).unwrap();
    // What was there before must not matter.
    let mut padded = device.upload(&vec![f32::NAN; plan.networks() * plan.padded_stride()]).unwrap();
    let mut gradient = device.upload(&vec![f32::NAN; parameters.len()]).unwrap();
    cohort.pack(&parameters, &mut packed).unwrap();
    let buffers =
        StepBuffers { seen: &parameters, packed: &packed, padded: &mut padded, gradient: &mut gradient };
    step.launch(&cohort, buffers, None, &addresses, None).unwrap();
    let results = step.results().unwrap();
    let gradient = gradient.to_vec().unwrap();
    step.launch_scores(&packed, &addresses).unwrap();
    let scores = step.scores().to_vec().unwrap();
    let of_network = |(i, example): (usize, &Example)| {
        let mut found = Vec::new();
        for s in 0..example.batch.len() {
            let first = (i * sequences + s) * rows;
            let count = if readout.is_every() { example.batch.steps(s) } else { 1 };
            found.extend_from_slice(&scores[first * outputs..(first + count) * outputs]);
        }
        let gradient = gradient[plan.parameters(i)].to_vec();
        Outcome { loss: results[i].loss, correct: results[i].correct, gradient, scores: found }
    };
    examples.iter().enumerate().map(of_network).collect()
}

/// Compares loss, scores and each tensor's gradient with the reference's.
fn check(device: &Device, examples: &[Example], loss: Loss, family: Option<Family>) {
    for (found, Example { network, params, batch }) in
        run(device, examples, loss, family).iter().zip(examples)
    {
        let expected = ReferenceStep::new(network, params, batch, loss);
        expected.assert_near(found.loss, &found.scores, &found.gradient, &format!("{family:?}, {loss:?}"));
    }
}

#[test]
fn gradients_equal_the_reference_for_every_cell_rank_and_nonlinearity() {
    let device = emulated::device();
    for kind in kinds().filter(|&kind| has_kernels(kind)) {
        for (i, (gate, update)) in nonlinearities(kind).into_iter().enumerate().step_by(3) {
            let ranks = [FULL, LOW, (LOW.0, None), (None, LOW.1)][i % 4];
            let cell = |hidden: usize| Cell::new(kind, 5, hidden).with_nonlinearities(gate, update);
            let readout = [Readout::Last, Readout::Every][i / 3 % 2];
            let loss = LOSSES[i % 3];
            // Two networks of different widths.
            let example = |hidden: usize, count: usize| {
                let network = network(&cell(hidden), 1 + i % 2, ranks, 3, readout);
                Example::new(network, &lengths(count, 6), loss, i % 4 > 1, MARGIN)
            };
            check(&device, &[example(7, 5), example(17, 3)], loss, None);
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_every_matrix_form() {
    let device = emulated::device();
    for kind in kinds().filter(|&kind| has_kernels(kind)) {
        for (i, forms) in FORMS.into_iter().enumerate() {
            let (layers, input) = [(1, 17), (2, 5)][i % 2];
            let network = network_of_forms(&Cell::new(kind, input, 17), layers, forms, 3, Readout::Last);
            let example = Example::new(network, &lengths(9, 7), LOSSES[i % 3], i > 2, 0.0);
            check(&device, &[example], LOSSES[i % 3], None);
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_every_readout_and_loss() {
    let device = emulated::device();
    for (i, kind) in kinds().filter(|&kind| has_kernels(kind)).enumerate() {
        for readout in [Readout::Last, Readout::Every, Readout::Mean, Readout::Max] {
            let loss = LOSSES[i % 3];
            let network = network(&Cell::new(kind, 3, 7), 2, LOW, 4, readout);
            check(&device, &[Example::new(network, &lengths(11, 7), loss, true, 0.0)], loss, None);
        }
    }
}

#[test]
fn gradients_equal_the_reference_with_earlier_readings_and_targets_between_classes() {
    let device = emulated::device();
    let mut rng = Rng::new(12);
    for (loss, outputs) in [(LOSSES[0], 12), (LOSSES[0], 2), (LOSSES[1], 4), (LOSSES[1], 1)] {
        for soft in [false, true] {
            let network = network(&Cell::new(CellKind::FastGrnn, 4, 9), 1, LOW, outputs, Readout::Last);
            let mut example = Example::new(network, &lengths(13, 9), loss, false, 0.0);
            soften(&mut example.batch, outputs, 13, soft, false, &mut rng);
            example.batch.earlier = Earlier { readings: 2, every: 2 };
            check(&device, &[example], loss, None);
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_fixed_and_tied_scalars() {
    let device = emulated::device();
    let fixed = Scalar::Fixed(0.7);
    let scalars = Scalars { alpha: Scalar::Learnt, beta: Scalar::Tied, zeta: fixed, nu: fixed };
    for kind in [CellKind::FastRnn, CellKind::FastGrnn] {
        let scalars =
            if kind == CellKind::FastRnn { scalars } else { Scalars { beta: Scalar::Learnt, ..scalars } };
        let cell = Cell { scalars, ..Cell::new(kind, 3, 7) };
        let example =
            Example::new(network(&cell, 1, FULL, 3, Readout::Last), &lengths(6, 7), LOSSES[0], false, 0.0);
        check(&device, &[example], LOSSES[0], None);
    }
}

/// Shapes that the fast kernels exist for, with more sequences than a tile and longer than the rings.
fn of_fast_kernels() -> Vec<Example> {
    let cells = [
        (CellKind::FastGrnn, 3, 16),
        (CellKind::FastGrnn, 20, 30),
        (CellKind::FastGrnn, 9, 80),
        (CellKind::FastGrnnGain, 20, 30),
        (CellKind::FastGrnnGain, 9, 80),
        (CellKind::Gru, 17, 32),
        (CellKind::Lstm, 5, 32),
        (CellKind::Ugrnn, 6, 31),
        (CellKind::Rnn, 2, 32),
        (CellKind::FastRnn, 7, 32),
        (CellKind::FastRnnVector, 8, 32),
    ];
    let example = |(kind, input, hidden)| {
        let network = network(&Cell::new(kind, input, hidden), 1, FULL, 3, Readout::Last);
        Example::new(network, &lengths(11, 23), Loss::default(), true, 0.0)
    };
    cells.into_iter().map(example).collect()
}

#[test]
fn the_fast_kernels_equal_the_reference() {
    let device = emulated::device();
    for example in of_fast_kernels() {
        let examples = [example];
        for family in [Family::General, Family::Rows, Family::Tiles] {
            check(&device, &examples, Loss::default(), Some(family));
        }
    }
}

#[test]
fn more_tiles_than_multiprocessors_equal_the_reference() {
    let device = emulated::device();
    let network = network(&Cell::new(CellKind::FastGrnn, 20, 32), 1, LOW, 3, Readout::Last);
    let example =
        Example::new(network, &lengths(8 * device.multiprocessors() + 1, 9), Loss::default(), false, 0.0);
    check(&device, &[example], Loss::default(), Some(Family::Tiles));
}

#[test]
fn the_fast_kernels_equal_the_reference_under_other_layers_and_readouts() {
    let device = emulated::device();
    for family in [Family::Rows, Family::Tiles] {
        for (i, readout) in
            [Readout::Last, Readout::Every, Readout::Mean, Readout::Max].into_iter().enumerate()
        {
            let cell = Cell::new(CellKind::FastGrnn, 16, 16).with_nonlinearities(
                [Nonlinearity::Sigmoid, Nonlinearity::QuantSigm][i % 2],
                [Nonlinearity::Tanh, Nonlinearity::QuantTanh][i % 2],
            );
            let network = network(&cell, 2, LOW, 3, readout);
            let example =
                Example::new(network, &lengths(9, 11), Loss::default(), true, MARGIN * (i % 2) as f64);
            check(&device, &[example], Loss::default(), Some(family));
        }
    }
}

#[test]
fn the_order_of_threads_does_not_matter() {
    for example in of_fast_kernels() {
        let examples = [example];
        for family in [Family::General, Family::Rows, Family::Tiles] {
            let of = |device: &Device| run(device, &examples, Loss::default(), Some(family)).remove(0);
            let (up, down) = (of(&emulated::device()), of(&emulated::descending_device()));
            assert_eq!(up.gradient, down.gradient, "{family:?} {:?}", examples[0].network);
            assert_eq!((up.loss, up.correct, up.scores), (down.loss, down.correct, down.scores));
        }
    }
}

#[test]
fn a_gpu_computes_what_the_reference_does() {
    let Some(device) = emulated::gpu() else { return };
    for example in of_fast_kernels() {
        let examples = [example];
        for family in [Family::General, Family::Rows, Family::Tiles] {
            check(&device, &examples, Loss::default(), Some(family));
        }
    }
    for kind in kinds().filter(|&kind| has_kernels(kind)) {
        for ranks in [FULL, LOW] {
            let network = network(&Cell::new(kind, 9, 33), 2, ranks, 5, Readout::Last);
            // Longer sequences of such states are chaotic: f32 itself is off then.
            let example = Example::new(network, &lengths(37, 10), Loss::default(), true, 0.0);
            check(&device, &[example], Loss::default(), None);
        }
    }
}
