//! Batches that the kernels put together, compared with those of the CPU's code.
use crate::emulated;
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_cuda::assemble::{
    Assembler, BatchShape, Changes, DataSource, DeviceSequences, NetworkData, NormalizerKind, Sample,
    TargetSource,
};
use fastgrnn_cuda::driver::{Buffer, Device};
use fastgrnn_cuda::params::Progress;
use fastgrnn_data::data::spectral::{Sources, Spectral};
use fastgrnn_data::data::{Augment, Normalize, Normalizer, Sequences};
use std::ops::RangeInclusive;
use std::rc::Rc;

const SEQUENCES: usize = 19;
const CLASSES: usize = 4;
const SLOTS: usize = 5;
const EPOCHS: usize = 10;
const FLOOR: f32 = -2.0;

/// What the batches of a test are made from.
struct Case {
    dim: usize,
    steps: RangeInclusive<usize>,
    augment: Augment,
    spectral: Spectral,
    normalize: Normalize,
    outputs: usize,
    smoothing: f32,
    mixup: f64,
    is_weighted: bool,
    last_only: Option<u32>,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            dim: 6,
            steps: 9..=17,
            augment: Augment::default(),
            spectral: Spectral::default(),
            normalize: Normalize::PerFeature,
            outputs: CLASSES,
            smoothing: 0.0,
            mixup: 0.0,
            is_weighted: false,
            last_only: None,
        }
    }
}

/// A network of the cohort on the side of the CPU.
struct Network {
    seed: u64,
    pass: u32,
    epoch: u32,
    indices: Vec<u32>,
    order: Vec<Sample>,
    normalizer: Normalizer,
    class_weights: Vec<f32>,
}

impl Network {
    fn batches(&self) -> usize {
        self.order.len().div_ceil(SLOTS)
    }
}

/// Numbers of a batch of all networks, in the order of [`fastgrnn_cuda::assemble::DeviceBatch`].
#[derive(Debug, Default, PartialEq)]
struct Numbers {
    x: Vec<f32>,
    lengths: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
    last_only: Vec<u32>,
    soft: Vec<f32>,
}

struct Data {
    x: Sequences,
    background: Sequences,
    classes: Vec<u32>,
}

impl Data {
    /// Values like those of log-mel features, some of them silence or below it.
    fn new(case: &Case) -> Self {
        let mut rng = Rng::new(case.dim as u64);
        let mut sequences = |count: usize, steps: RangeInclusive<usize>| {
            let mut all = Sequences::new(case.dim);
            for _ in 0..count {
                let steps = steps.start() + rng.below(steps.end() - steps.start() + 1);
                let mut value = || match rng.below(12) {
                    0 => FLOOR,
                    1 => FLOOR - 3.0,
                    _ => rng.range(-1.9, 9.0) as f32,
                };
                all.push(&(0..steps * case.dim).map(|_| value()).collect::<Vec<_>>());
            }
            all
        };
        let x = sequences(SEQUENCES, case.steps.clone());
        // One recording is shorter than most sequences.
        let mut background = sequences(2, 40..=60);
        background.append(&sequences(1, 5..=5));
        let classes = (0..SEQUENCES).map(|_| rng.below(CLASSES.min(case.outputs.max(2))) as u32).collect();
        Self { x, background, classes }
    }
}

/// Three networks whose seeds, passes, epochs and training parts differ. Some sequences occur more than once.
fn networks(case: &Case, data: &Data) -> Vec<Network> {
    let settings = [(3, 0, 0, 0..13), (u64::MAX - 5, 1, 3, 4..19), (1 << 40, 0, 9, 0..11)];
    let network = |(seed, pass, epoch, part): (u64, u32, u32, std::ops::Range<u32>)| {
        let mut rng = Rng::new(seed);
        let indices: Vec<u32> = part.collect();
        let mut order: Vec<Sample> = indices.iter().map(|&index| Sample { index, repeat: 0 }).collect();
        order.extend((1..3).map(|repeat| Sample { index: indices[2], repeat }));
        rng.shuffle(&mut order);
        let class_weights = if case.is_weighted { CLASSES } else { 0 };
        Network {
            seed,
            pass,
            epoch,
            normalizer: Normalizer::fit(case.normalize, &data.x, &indices).unwrap(),
            indices,
            order,
            class_weights: (0..class_weights).map(|_| rng.range(0.2, 3.0) as f32).collect(),
        }
    };
    settings.into_iter().map(network).collect()
}

fn max_steps(case: &Case) -> usize {
    case.steps.end() + case.spectral.lead_in
}

/// One sequence as the training code on the CPU makes it.
fn sequence(case: &Case, data: &Data, network: &Network, sample: Sample) -> Vec<f32> {
    let (pass, epoch) = (u64::from(network.pass), u64::from(network.epoch));
    let key = [stream::AUGMENT, pass, epoch, u64::from(sample.index), u64::from(sample.repeat)];
    let mut rng = Rng::keyed(network.seed, &key[..if sample.repeat == 0 { 4 } else { 5 }]);
    let lead_in = case.spectral.lead_in * (2 * epoch as usize).min(EPOCHS) / EPOCHS;
    let spectral = Spectral { lead_in, ..case.spectral };
    let from = Sources {
        background: Some(&data.background),
        floor: FLOOR,
        sequences: &data.x,
        indices: &network.indices,
    };
    let mut values = data.x.get(sample.index as usize).to_vec();
    case.augment.before(&mut values, case.dim, &mut rng);
    spectral.before(&mut values, case.dim, from, &mut rng);
    network.normalizer.apply(&mut values, case.dim).unwrap();
    case.augment.after(&mut values, &mut rng);
    spectral.after(&mut values, case.dim, &mut rng);
    values
}

/// The share of each class in the target of a sequence of `class`.
fn shares(case: &Case, class: u32) -> Vec<f32> {
    let each = case.smoothing / case.outputs.max(2) as f32;
    let is_wanted = |k: usize| if case.outputs == 1 { class == 1 } else { class as usize == k };
    (0..case.outputs).map(|k| each + if is_wanted(k) { 1.0 - case.smoothing } else { 0.0 }).collect()
}

/// Batch `number` of a network as the training code on the CPU makes it, padded to the slots.
fn expected(case: &Case, data: &Data, network: &Network, number: usize) -> Numbers {
    let (n, batches) = (network.order.len(), network.batches());
    let range = if number < batches { number * n / batches..(number + 1) * n / batches } else { 0..0 };
    let width = max_steps(case) * case.dim;
    let mut rows: Vec<Vec<f32>> = Vec::new();
    let mut batch = Numbers::default();
    for sample in &network.order[range] {
        let mut values = sequence(case, data, network, *sample);
        let class = data.classes[sample.index as usize];
        batch.lengths.push((values.len() / case.dim) as u32);
        values.resize(width, 0.0);
        rows.push(values);
        batch.targets.push(class);
        batch.weights.push(if case.is_weighted { network.class_weights[class as usize] } else { 1.0 });
        batch.last_only.push(u32::from(case.last_only == Some(class)));
        batch.soft.extend(shares(case, class));
    }
    if case.mixup > 0.0 {
        let key = [stream::MIXUP, u64::from(network.pass), u64::from(network.epoch), number as u64];
        mix(case, &mut batch, &mut rows, &mut Rng::keyed(network.seed, &key));
    }
    rows.resize(SLOTS, vec![0.0; width]);
    batch.x = rows.concat();
    batch.lengths.resize(SLOTS, 0);
    batch.targets.resize(SLOTS, 0);
    batch.weights.resize(SLOTS, 0.0);
    batch.last_only.resize(SLOTS, 0);
    batch.soft.resize(SLOTS * case.outputs, 0.0);
    if case.last_only.is_none() {
        batch.last_only.clear();
    }
    if case.smoothing == 0.0 && case.mixup == 0.0 {
        batch.soft.clear();
    }
    batch
}

/// The rule of mixup: partners are a random order of the batch, and the own part is the larger one of a draw from the
/// beta distribution and its rest.
fn mix(case: &Case, batch: &mut Numbers, rows: &mut [Vec<f32>], rng: &mut Rng) {
    let mut partners: Vec<usize> = (0..rows.len()).collect();
    rng.shuffle(&mut partners);
    let (old_rows, old_soft, old_weights) = (rows.to_vec(), batch.soft.clone(), batch.weights.clone());
    for (i, &other) in partners.iter().enumerate() {
        let part = rng.beta(case.mixup);
        let own = part.max(1.0 - part) as f32;
        let blend = |value: f32, other: f32| own * value + (1.0 - own) * other;
        rows[i].iter_mut().zip(&old_rows[other]).for_each(|(value, &from)| *value = blend(*value, from));
        for k in 0..case.outputs {
            let at = i * case.outputs + k;
            batch.soft[at] = blend(old_soft[at], old_soft[other * case.outputs + k]);
        }
        if case.is_weighted {
            batch.weights[i] = blend(old_weights[i], old_weights[other]);
        }
    }
}

fn changes(case: &Case) -> Changes {
    let (augment, spectral) = (&case.augment, &case.spectral);
    Changes {
        rotate: augment.rotate,
        amplitude: augment.scale,
        axes: augment.axes.clone(),
        noise: augment.noise,
        shift: augment.shift,
        gap: augment.gap,
        crop: augment.crop,
        pixels: augment.pixels,
        image: augment.image.unwrap_or((0, 0)),
        gain: spectral.gain,
        background: spectral.background,
        ratio: (spectral.snr_low, spectral.snr_high),
        floor: FLOOR,
        lead_in: spectral.lead_in,
        frequency_masks: (spectral.freq_masks, spectral.freq_width),
        time_masks: (spectral.time_masks, spectral.time_width),
        smoothing: case.smoothing,
        mixup: case.mixup,
    }
}

fn upload(device: &Device, x: &Sequences) -> Rc<DeviceSequences> {
    Rc::new(DeviceSequences::upload(device, x.dim(), (0..x.len()).map(|i| x.get(i))).unwrap())
}

fn assembler(
    device: &Device,
    case: &Case,
    data: &Data,
    networks: &[Network],
    targets: TargetSource<'_>,
    progress: &Buffer<Progress>,
) -> Assembler {
    let kind = match case.normalize {
        Normalize::None => NormalizerKind::None,
        Normalize::PerFeature => NormalizerKind::PerFeature,
        Normalize::PerCoordinate => NormalizerKind::PerCoordinate { steps: *case.steps.end() },
    };
    let shape = BatchShape {
        networks: networks.len(),
        slots: SLOTS,
        max_steps: max_steps(case),
        outputs: case.outputs,
        epoch_size: networks.iter().map(|network| network.order.len()).max().unwrap(),
        epochs: EPOCHS,
    };
    let (sequences, background) = (upload(device, &data.x), Some(upload(device, &data.background)));
    let source = DataSource { sequences, background, targets, normalizer: kind };
    let mut assembler = Assembler::new(device, source, shape, &changes(case), progress).unwrap();
    for (i, network) in networks.iter().enumerate() {
        let its = NetworkData {
            seed: network.seed,
            pass: network.pass,
            indices: &network.indices,
            batches: network.batches(),
            mean: &network.normalizer.mean,
            scale: &network.normalizer.scale,
            class_weights: &network.class_weights,
        };
        assembler.set_network(device, i, &its).unwrap();
        assembler.set_epoch(i, network.epoch, &network.order).unwrap();
    }
    assembler
}

/// Lets all networks be at a batch.
fn at_batch(progress: &mut Buffer<Progress>, batch: u32) {
    let all = vec![Progress { batch: batch as i32, ..Progress::default() }; progress.len()];
    progress.write(0, &all).unwrap();
}

/// The batches that the kernels make, one after the other, from launches that were recorded once.
fn assembled(device: &Device, case: &Case, data: &Data, networks: &[Network], batches: u32) -> Vec<Numbers> {
    let (index, last_only) = (&data.classes[..], case.last_only);
    let classes = TargetSource::Classes { index, count: CLASSES, is_weighted: case.is_weighted, last_only };
    let mut progress = device.buffer(networks.len()).unwrap();
    let assembler = assembler(device, case, data, networks, classes, &progress);
    let graph = device.record(|| assembler.launch(device)).unwrap();
    let mut made = Vec::new();
    for number in 0..batches {
        at_batch(&mut progress, number);
        device.run(&graph).unwrap();
        let batch = assembler.batch();
        made.push(Numbers {
            x: batch.x.to_vec().unwrap(),
            lengths: batch.lengths.to_vec().unwrap(),
            targets: batch.targets.to_vec().unwrap(),
            weights: batch.weights.to_vec().unwrap(),
            last_only: batch.last_only.to_vec().unwrap(),
            soft: batch.soft.to_vec().unwrap(),
        });
        assert!(batch.target_values.is_empty());
    }
    made
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{what}, at {at}: {a} instead of {b}");
    }
}

/// Compares the batches of a case with those of the CPU, and the two orders of threads with each other. Returns the
/// lengths of the sequences.
fn check(case: &Case) -> Vec<u32> {
    let data = Data::new(case);
    let networks = networks(case, &data);
    // One batch more than any network has.
    let batches = networks.iter().map(Network::batches).max().unwrap() as u32 + 1;
    let made = assembled(&emulated::device(), case, &data, &networks, batches);
    let descending = assembled(&emulated::descending_device(), case, &data, &networks, batches);
    let mut lengths = Vec::new();
    for (number, batch) in made.iter().enumerate() {
        let mut all = Numbers::default();
        for network in &networks {
            let its = expected(case, &data, network, number);
            all.x.extend(its.x);
            all.lengths.extend(its.lengths);
            all.targets.extend(its.targets);
            all.weights.extend(its.weights);
            all.last_only.extend(its.last_only);
            all.soft.extend(its.soft);
        }
        assert_eq!(batch.lengths, all.lengths, "batch {number}");
        assert_eq!(batch.targets, all.targets, "batch {number}");
        assert_eq!(batch.last_only, all.last_only, "batch {number}");
        assert_close(&batch.x, &all.x, &format!("inputs of batch {number}"));
        assert_close(&batch.weights, &all.weights, &format!("weights of batch {number}"));
        assert_close(&batch.soft, &all.soft, &format!("shares of batch {number}"));
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let floats = |batch: &Numbers| [bits(&batch.x), bits(&batch.weights), bits(&batch.soft)];
        assert_eq!(
            floats(batch),
            floats(&descending[number]),
            "the order of threads matters in batch {number}"
        );
        assert_eq!(batch.lengths, descending[number].lengths);
        lengths.extend(all.lengths);
    }
    lengths
}

fn sensors() -> Augment {
    Augment { axes: vec![[0, 1, 2], [3, 4, 5]], ..Augment::default() }
}

fn noisy() -> Spectral {
    Spectral { background: 0.7, snr_low: -3.0, snr_high: 12.0, ..Spectral::default() }
}

#[test]
fn sequences_are_gathered_and_normalised() {
    let lengths = check(&Case::default());
    assert!(lengths.contains(&0), "the last batch of some networks is past their end");
    check(&Case { normalize: Normalize::None, ..Case::default() });
    check(&Case { normalize: Normalize::PerCoordinate, steps: 12..=12, ..Case::default() });
    check(&Case { dim: 1, steps: 100..=300, ..Case::default() });
    check(&Case { dim: 200, steps: 3..=4, ..Case::default() });
}

#[test]
fn sensors_are_rotated_and_scaled() {
    check(&Case { augment: Augment { rotate: 0.4, ..sensors() }, ..Case::default() });
    check(&Case { augment: Augment { scale: 0.3, ..sensors() }, ..Case::default() });
    // Factors that would turn the signal around.
    check(&Case { augment: Augment { scale: 5.0, rotate: 2.0, ..sensors() }, ..Case::default() });
    let apart = vec![[5, 0, 2], [1, 6, 3]];
    let augment = Augment { axes: apart, rotate: 0.5, scale: 0.2, ..Augment::default() };
    check(&Case { dim: 8, augment, ..Case::default() });
}

#[test]
fn noise_is_drawn_for_every_value() {
    let augment = Augment { noise: 0.3, ..Augment::default() };
    // An odd number of values, one chunk and less, and more than one tile.
    for (dim, steps) in [(1, 3..=33), (3, 5..=5), (8, 2..=2), (7, 290..=301)] {
        check(&Case { dim, steps, augment: augment.clone(), ..Case::default() });
    }
}

#[test]
fn sequences_are_moved_in_time() {
    for gap in [None, Some(-1.5)] {
        for shift in [3, 40] {
            check(&Case { augment: Augment { shift, gap, ..Augment::default() }, ..Case::default() });
        }
        let augment = Augment { shift: 2, gap, ..Augment::default() };
        check(&Case { steps: 1..=2, augment, ..Case::default() });
    }
}

#[test]
fn sequences_are_cropped() {
    for crop in [0.01, 0.5, 0.93] {
        let augment = Augment { crop, ..Augment::default() };
        let lengths = check(&Case { steps: 16..=16, augment: augment.clone(), ..Case::default() });
        assert!(lengths.iter().any(|&steps| steps > 0 && steps < 16), "{lengths:?}");
        check(&Case { steps: 1..=3, augment, ..Case::default() });
    }
}

#[test]
fn images_are_moved() {
    for (dim, steps) in [(1, 30), (5, 6), (6, 5), (10, 3)] {
        for pixels in [1, 8] {
            let augment = Augment { pixels, image: Some((6, 5)), ..Augment::default() };
            check(&Case { dim, steps: steps..=steps, augment, ..Case::default() });
        }
    }
    // Sequences of another size are no images.
    let augment = Augment { pixels: 2, image: Some((3, 4)), noise: 0.1, ..Augment::default() };
    check(&Case { dim: 2, steps: 5..=7, augment, ..Case::default() });
    let augment = Augment { pixels: 2, image: Some((10, 6)), rotate: 0.3, shift: 2, crop: 0.6, ..sensors() };
    check(&Case { steps: 10..=10, augment, ..Case::default() });
}

#[test]
fn motion_data_is_changed_in_all_ways_at_once() {
    let axes = vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]];
    let augment = Augment { axes, rotate: 0.3, scale: 0.1, noise: 0.1, crop: 0.7, ..Augment::default() };
    let lengths = check(&Case { dim: 9, steps: 128..=128, augment, ..Case::default() });
    assert!(lengths.iter().any(|&steps| steps > 0 && steps < 128), "{lengths:?}");
}

#[test]
fn the_level_of_recordings_is_changed() {
    check(&Case { spectral: Spectral { gain: 2.0, ..Spectral::default() }, ..Case::default() });
}

#[test]
fn a_lead_in_grows_with_the_epoch() {
    let spectral = Spectral { lead_in: 25, ..Spectral::default() };
    let lengths = check(&Case { spectral, steps: 7..=9, ..Case::default() });
    assert!(lengths.iter().any(|&steps| steps > 20), "{lengths:?}");
}

#[test]
fn background_noise_is_mixed_in() {
    check(&Case { spectral: noisy(), ..Case::default() });
    check(&Case { spectral: Spectral { background: 1.0, ..noisy() }, steps: 1..=80, ..Case::default() });
}

#[test]
fn filters_and_frames_are_hidden() {
    let filters = Spectral { freq_masks: 2, freq_width: 3, ..Spectral::default() };
    let frames = Spectral { time_masks: 3, time_width: 30, ..Spectral::default() };
    check(&Case { spectral: filters, ..Case::default() });
    check(&Case { spectral: frames, ..Case::default() });
    let both = Spectral { freq_masks: 1, freq_width: 2, ..frames };
    check(&Case { spectral: both, augment: Augment { noise: 0.2, ..Augment::default() }, ..Case::default() });
}

#[test]
fn recordings_are_changed_in_all_ways_at_once() {
    let augment = Augment { shift: 10, gap: Some(FLOOR), noise: 0.05, ..Augment::default() };
    let spectral = Spectral {
        gain: 1.5,
        lead_in: 40,
        freq_masks: 2,
        freq_width: 5,
        time_masks: 2,
        time_width: 12,
        ..noisy()
    };
    let lengths = check(&Case { dim: 32, steps: 90..=99, augment, spectral, ..Case::default() });
    assert!(lengths.iter().any(|&steps| steps > 99), "{lengths:?}");
}

#[test]
fn classes_have_weights_and_some_count_at_their_last_step_alone() {
    check(&Case { is_weighted: true, last_only: Some(2), ..Case::default() });
}

#[test]
fn targets_are_smoothed() {
    check(&Case { smoothing: 0.2, ..Case::default() });
    check(&Case { smoothing: 0.3, outputs: 1, is_weighted: true, ..Case::default() });
}

#[test]
fn sequences_are_mixed_with_their_partners() {
    let case = |mixup, smoothing, is_weighted| {
        let augment = Augment { noise: 0.1, shift: 2, ..Augment::default() };
        Case { steps: 11..=11, augment, mixup, smoothing, is_weighted, ..Case::default() }
    };
    check(&case(0.2, 0.1, true));
    check(&case(1.0, 0.0, false));
    check(&case(0.01, 0.0, true));
    check(&Case { outputs: 1, ..case(30.0, 0.1, true) });
}

/// Parts of a large batch need more draws than the kernel has in memory at a time.
#[test]
fn many_sequences_are_mixed() {
    const COUNT: usize = 700;
    let mut x = Sequences::new(1);
    (0..COUNT).for_each(|i| x.push(&[i as f32]));
    let device = emulated::device();
    let classes = vec![0; COUNT];
    let targets = TargetSource::Classes { index: &classes, count: 1, is_weighted: false, last_only: None };
    let shape =
        BatchShape { networks: 1, slots: COUNT, max_steps: 1, outputs: 1, epoch_size: COUNT, epochs: 1 };
    let changes = Changes { mixup: 0.3, ..Changes::default() };
    let (sequences, normalizer) = (upload(&device, &x), NormalizerKind::None);
    let source = DataSource { sequences, background: None, targets, normalizer };
    let progress = device.buffer(1).unwrap();
    let mut assembler = Assembler::new(&device, source, shape, &changes, &progress).unwrap();
    let (mean, scale, class_weights) = (&[][..], &[][..], &[][..]);
    let network = NetworkData { seed: 5, pass: 0, indices: &[], batches: 1, mean, scale, class_weights };
    assembler.set_network(&device, 0, &network).unwrap();
    let order: Vec<Sample> = (0..COUNT as u32).map(|index| Sample { index, repeat: 0 }).collect();
    assembler.set_epoch(0, 7, &order).unwrap();
    assembler.launch(&device).unwrap();
    let mut rng = Rng::keyed(5, &[stream::MIXUP, 0, 7, 0]);
    let mut partners: Vec<usize> = (0..COUNT).collect();
    rng.shuffle(&mut partners);
    let mixed = |(i, &other): (usize, &usize)| {
        let part = rng.beta(0.3);
        let own = part.max(1.0 - part) as f32;
        own * i as f32 + (1.0 - own) * other as f32
    };
    let expected: Vec<f32> = partners.iter().enumerate().map(mixed).collect();
    assert_close(&assembler.batch().x.to_vec().unwrap(), &expected, "inputs");
}

#[test]
fn values_are_targets_of_all_networks_or_of_each() {
    let case = Case { outputs: 3, ..Case::default() };
    let data = Data::new(&case);
    let networks = networks(&case, &data);
    let device = emulated::device();
    let values: Vec<f32> = (0..networks.len() * SEQUENCES * 3).map(|i| i as f32).collect();
    for (given, stride) in [(&values[..SEQUENCES * 3], 0), (&values[..], SEQUENCES * 3)] {
        let mut progress = device.buffer(networks.len()).unwrap();
        let assembler = assembler(&device, &case, &data, &networks, TargetSource::Values(given), &progress);
        at_batch(&mut progress, 1);
        assembler.launch(&device).unwrap();
        let batch = assembler.batch();
        assert!(batch.targets.is_empty() && batch.soft.is_empty());
        let found = batch.target_values.to_vec().unwrap();
        for (i, (network, its)) in networks.iter().zip(found.chunks(SLOTS * 3)).enumerate() {
            let (n, batches) = (network.order.len(), network.batches());
            let samples = &network.order[n / batches..2 * n / batches];
            let row = |sample: &Sample| values[i * stride + sample.index as usize * 3..][..3].to_vec();
            let mut expected: Vec<f32> = samples.iter().flat_map(row).collect();
            expected.resize(SLOTS * 3, 0.0);
            assert_eq!(its, expected);
        }
    }
}

#[test]
fn sensors_that_share_columns_are_noticed() {
    let sharing = |axes: Vec<[usize; 3]>| Changes { axes, ..Changes::default() }.has_shared_columns();
    assert!(sharing(vec![[0, 1, 2], [2, 3, 4]]));
    assert!(!sharing(vec![[0, 1, 2], [5, 3, 4]]));
}
