//! A cohort learns what the engine for the CPU learns, batch by batch.
use crate::emulated;
use fastgrnn_core::batch::{Batch, Earlier, Targets};
use fastgrnn_core::cells::{Cell, CellKind, Start};
use fastgrnn_core::net::{Loss, Network, Readout};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_cuda::assemble::{
    Assembler, BatchShape, Changes, DataSource, DeviceSequences, NetworkData, NormalizerKind, Sample,
    TargetSource,
};
use fastgrnn_cuda::driver::Device;
use fastgrnn_cuda::gradient::{BatchResult, GradientSettings, GradientStep};
use fastgrnn_cuda::optimize::{Optimizer, OptimizerKind, OptimizerRoom, OptimizerSettings, StepNumbers};
use fastgrnn_cuda::params::{Cohort, CohortPlan, Progress};
use fastgrnn_cuda::trainer::{Parameters, Trainer};
use fastgrnn_data::data::Augment;
use fastgrnn_engine::engine::{Engine, Gradient};
use std::rc::Rc;

const SEQUENCES: usize = 30;
const STEPS: usize = 12;
const INPUT: usize = 3;
const CLASSES: usize = 3;
const BATCHES: usize = 4;
const EPOCHS: usize = 3;
const RATE: f64 = 0.02;
const NOISE: f32 = 0.2;

/// A data set: the class is in the sign and the frequency of a wave.
fn data() -> (Vec<Vec<f32>>, Vec<u32>) {
    let mut rng = Rng::new(4);
    let classes: Vec<u32> = (0..SEQUENCES as u32).map(|i| i % CLASSES as u32).collect();
    let value = |class: u32, t: usize, k: usize, rng: &mut Rng| {
        ((t * (class as usize + 1)) as f32 * 0.4 + k as f32).sin() + 0.3 * rng.normal() as f32
    };
    let sequence = |&class: &u32| {
        (0..STEPS * INPUT).map(|j| value(class, j / INPUT, j % INPUT, &mut rng)).collect::<Vec<f32>>()
    };
    (classes.iter().map(sequence).collect(), classes)
}

fn order(seed: u64, epoch: usize) -> Vec<Sample> {
    let mut order: Vec<Sample> = (0..SEQUENCES as u32).map(|index| Sample { index, repeat: 0 }).collect();
    Rng::keyed(seed, &[stream::SHUFFLE, 0, epoch as u64]).shuffle(&mut order);
    order
}

fn networks() -> Vec<Network> {
    let cell = |hidden: usize, rank: usize| {
        Cell::new(CellKind::FastGrnn, INPUT, hidden).with_ranks(Some(2), Some(rank))
    };
    [(10, 4), (14, 7), (10, 3)].map(|(hidden, rank)| Network::new(vec![cell(hidden, rank)], CLASSES)).to_vec()
}

fn seed_of(network: usize) -> u64 {
    7 + network as u64
}

fn start(network: &Network, seed: u64) -> Vec<f32> {
    network.start(Start::default(), STEPS, seed)
}

/// The results and the parameters of each network after its last step, on a device.
fn on_device(device: &Device) -> (Vec<Vec<BatchResult>>, Vec<Vec<f32>>, Vec<f32>) {
    let networks = networks();
    let (sequences, classes) = data();
    let cohort = Cohort::new(device, CohortPlan::new(&networks, 16, 1, |_, _| 1.0).unwrap()).unwrap();
    let settings = vec![OptimizerSettings::new(OptimizerKind::Adam, 0.9, 1e-3, 1.0); networks.len()];
    let room = OptimizerRoom { steps: BATCHES, has_average: true, projects: false };
    let mut optimizer = Optimizer::new(device, &cohort, OptimizerKind::Adam, &settings, room).unwrap();
    for (i, network) in networks.iter().enumerate() {
        let parameters = start(network, seed_of(i));
        let at = cohort.plan().parameters(i).start;
        optimizer.parameters.write(at, &parameters).unwrap();
        optimizer.average.write(at, &parameters).unwrap();
    }
    let slots = SEQUENCES.div_ceil(BATCHES);
    let shape = |slots: usize| BatchShape {
        networks: networks.len(),
        slots,
        max_steps: STEPS,
        outputs: CLASSES,
        epoch_size: SEQUENCES,
        epochs: EPOCHS,
    };
    let source = DeviceSequences::upload(device, INPUT, sequences.iter().map(|s| &s[..])).unwrap();
    let source = Rc::new(source);
    let targets =
        || TargetSource::Classes { index: &classes, count: CLASSES, is_weighted: false, last_only: None };
    let assembler = |slots: usize, batches: usize, changes: &Changes, optimizer: &Optimizer| {
        let (sequences, normalizer) = (Rc::clone(&source), NormalizerKind::None);
        let source = DataSource { sequences, background: None, targets: targets(), normalizer };
        let mut assembler =
            Assembler::new(device, source, shape(slots), changes, &optimizer.progress).unwrap();
        for i in 0..networks.len() {
            let seed = seed_of(i);
            let (mean, scale, class_weights, indices) = (&[][..], &[][..], &[][..], &[][..]);
            let its = NetworkData { seed, pass: 0, indices, batches, mean, scale, class_weights };
            assembler.set_network(device, i, &its).unwrap();
        }
        assembler
    };
    let changes = Changes { noise: NOISE, ..Changes::default() };
    let batches = assembler(slots, BATCHES, &changes, &optimizer);
    let mut all = assembler(slots, BATCHES, &Changes::default(), &optimizer);
    let settings = |sequences: usize, batches: usize| GradientSettings {
        loss: Loss::SoftmaxCrossEntropy,
        earlier: Earlier::default(),
        sequences,
        steps: STEPS,
        family: None,
        batches,
        planned: 0,
        is_normalized: true,
    };
    let step = |sequences, batches| {
        GradientStep::new(device, cohort.plan(), &networks[0], &settings(sequences, batches)).unwrap()
    };
    let gradient = step(slots, BATCHES);
    let mut trainer = Trainer::new(device, cohort, optimizer, batches, gradient, false, None).unwrap();
    let mut results = Vec::new();
    for epoch in 0..EPOCHS {
        for i in 0..networks.len() {
            trainer.batches.set_epoch(i, epoch as u32, &order(seed_of(i), epoch)).unwrap();
        }
        let numbers = |batch: usize| {
            let done = (epoch * BATCHES + batch) as u64;
            StepNumbers::new(0.9, 1e-3, done, RATE).following(0.1)
        };
        let rows: Vec<StepNumbers> = (0..BATCHES).map(numbers).collect();
        (0..networks.len()).for_each(|i| trainer.optimizer.plan_steps(i, &rows).unwrap());
        to_first_batch(&mut trainer);
        trainer.run_batches(&[false; BATCHES]).unwrap();
        results.extend(trainer.results().unwrap().chunks(networks.len()).map(<[_]>::to_vec));
    }
    let progress = trainer.progress().unwrap();
    assert!(progress.iter().all(|p| p.step == (EPOCHS * BATCHES) as u64 && p.status == 0), "{progress:?}");
    let parameters = trainer.optimizer.parameters.to_vec().unwrap();
    let plan = trainer.cohort().plan();
    let parameters = (0..networks.len()).map(|i| parameters[plan.parameters(i)].to_vec()).collect();
    // The scores of all sequences in their order, for the parameters as they are.
    let in_order: Vec<Sample> = (0..SEQUENCES as u32).map(|index| Sample { index, repeat: 0 }).collect();
    (0..networks.len()).for_each(|i| all.set_epoch(i, 0, &in_order).unwrap());
    let mut scores_of = |which: Parameters| {
        trainer.prepare_scores(which).unwrap();
        let mut scores = vec![Vec::new(); networks.len()];
        for batch in 0..BATCHES {
            let now: Vec<_> = progress.iter().map(|p| Progress { batch: batch as i32, ..*p }).collect();
            trainer.optimizer.progress.write(0, &now).unwrap();
            let found = trainer.scores(&all).unwrap();
            let sequences = (batch + 1) * SEQUENCES / BATCHES - batch * SEQUENCES / BATCHES;
            for (of, row) in scores.iter_mut().zip(found.scores.chunks(slots * CLASSES)) {
                of.extend_from_slice(&row[..sequences * CLASSES]);
            }
            assert!(found.losses.chunks(slots).all(|of| of[..sequences].iter().all(|loss| *loss > 0.0)));
        }
        scores.concat()
    };
    let scores = scores_of(Parameters::Current);
    assert_ne!(scores, scores_of(Parameters::Average));
    (results, parameters, scores)
}

/// All networks go on with the first batch of an epoch.
fn to_first_batch(trainer: &mut Trainer) {
    let now: Vec<Progress> =
        trainer.progress().unwrap().iter().map(|progress| Progress { batch: 0, ..*progress }).collect();
    trainer.optimizer.progress.write(0, &now).unwrap();
}

/// The losses of the batches of a network and its parameters and scores after them, by the engine for the CPU.
fn on_cpu(network: &Network, seed: u64) -> (Vec<f64>, Vec<f32>, Vec<f32>) {
    let (sequences, classes) = data();
    let mut engine = Engine::new(network, 1).unwrap();
    let mut parameters = start(network, seed);
    let decayed: Vec<bool> = network
        .layout()
        .views()
        .iter()
        .flat_map(|view| vec![view.role == fastgrnn_core::cells::Role::Weight; view.len()])
        .collect();
    let (mut first, mut second) = (vec![0f64; parameters.len()], vec![0f64; parameters.len()]);
    let mut gradient = Gradient::new(network);
    let augment = Augment { noise: NOISE, ..Augment::default() };
    let mut losses = Vec::new();
    for epoch in 0..EPOCHS {
        let order = order(seed, epoch);
        for number in 0..BATCHES {
            let mut batch = Batch::new(INPUT);
            let mut targets = Vec::new();
            for sample in &order[number * SEQUENCES / BATCHES..(number + 1) * SEQUENCES / BATCHES] {
                let mut x = sequences[sample.index as usize].clone();
                let key = [stream::AUGMENT, 0, epoch as u64, u64::from(sample.index)];
                augment.after(&mut x, &mut Rng::keyed(seed, &key));
                batch.push(&x);
                targets.push(classes[sample.index as usize]);
            }
            batch.targets = Targets::Class(targets);
            let step =
                engine.gradient(&parameters, &batch, Loss::SoftmaxCrossEntropy, &mut gradient).unwrap();
            losses.push(step.loss);
            let norm = gradient.values.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            let factor = if norm > 1.0 { 1.0 / norm } else { 1.0 };
            let t = losses.len() as i32;
            for i in 0..parameters.len() {
                let p = f64::from(parameters[i]);
                let g = f64::from(gradient.values[i]) * factor + if decayed[i] { 1e-3 * p } else { 0.0 };
                first[i] = 0.9 * first[i] + 0.1 * g;
                second[i] = 0.999 * second[i] + 0.001 * g * g;
                let (m, v) = (first[i] / (1.0 - 0.9f64.powi(t)), second[i] / (1.0 - 0.999f64.powi(t)));
                parameters[i] = (p - RATE * m / (v.sqrt() + 1e-8)) as f32;
            }
        }
    }
    let mut batch = Batch::new(INPUT);
    sequences.iter().for_each(|sequence| batch.push(sequence));
    let mut scores = Vec::new();
    engine.forward(&parameters, &batch, &mut scores).unwrap();
    (losses, parameters, scores)
}

#[test]
fn a_cohort_learns_what_the_cpu_learns() {
    assert_eq!(networks()[0].readout, Readout::Last);
    let (results, parameters, scores) = on_device(&emulated::device());
    for (i, network) in networks().iter().enumerate() {
        let (losses, expected, expected_scores) = on_cpu(network, seed_of(i));
        assert!(losses[losses.len() - 1] < 0.9 * losses[0], "it learns: {losses:?}");
        for (batch, (found, loss)) in results.iter().map(|all| all[i]).zip(&losses).enumerate() {
            assert!((found.loss - loss).abs() < 1e-4 * loss, "network {i}, batch {batch}: {found:?} {loss}");
        }
        let far = parameters[i].iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 2e-3, "network {i}: {far}");
        let found = &scores[i * SEQUENCES * CLASSES..][..SEQUENCES * CLASSES];
        let far = found.iter().zip(&expected_scores).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-2, "network {i}: {far}");
    }
}

#[test]
fn a_gpu_learns_what_the_cpu_learns() {
    let Some(device) = emulated::gpu() else { return };
    let (results, _, _) = on_device(&device);
    for (i, network) in networks().iter().enumerate() {
        let (losses, _, _) = on_cpu(network, seed_of(i));
        for (found, loss) in results.iter().map(|all| all[i]).zip(&losses) {
            assert!((found.loss - loss).abs() < 1e-3 * loss, "network {i}: {found:?} {loss}");
        }
    }
}
