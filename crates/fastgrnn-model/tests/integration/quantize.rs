//! Float models made integer: what is kept, what is refused, what a file holds.

use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity, Start, WeightBits};
use fastgrnn_core::net::{InitialState, Loss, Network};
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::{Normalize, Normalizer, Sequences};
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::model::{Model, Task};
use fastgrnn_model::quantize::{
    BiasBits, IntegerModel, MatrixBits, Options, QuantizeError, StepGrid, quantize,
};
use fastgrnn_testing::networks::integer_kinds;

/// Smooth random walks with a mean and a scale of their own for each feature.
fn recordings(count: usize, steps: usize, dim: usize, seed: u64) -> Sequences {
    let mut rng = Rng::keyed(seed, &[7]);
    let mut x = Sequences::new(dim);
    for _ in 0..count {
        let mut at = vec![0.0; dim];
        let mut sequence = Vec::new();
        for _ in 0..steps {
            for (d, at) in at.iter_mut().enumerate() {
                *at = 0.9 * *at + 0.4 * rng.normal() as f32;
                sequence.push(3.0 * d as f32 + (1.0 + d as f32) * *at);
            }
        }
        x.push(&sequence);
    }
    x
}

fn model(cell: Cell, outputs: usize, x: &Sequences, seed: u64) -> Model {
    let network = Network::new(vec![cell], outputs);
    let params = network.start(Start::default(), 20, seed);
    let labels = (0..outputs).map(|k| format!("class {k}")).collect();
    let all: Vec<u32> = (0..x.len() as u32).collect();
    let normalizer = Normalizer::fit(Normalize::PerFeature, x, &all).unwrap();
    Model { normalizer, ..Model::new(network, params, Task::Classes { labels }) }
}

fn all(x: &Sequences) -> Vec<u32> {
    (0..x.len() as u32).collect()
}

#[test]
fn integers_follow_the_float_model_for_every_cell_and_nonlinearity() {
    let x = recordings(60, 40, 3, 1);
    let pairs = [
        (Nonlinearity::Sigmoid, Nonlinearity::Tanh),
        (Nonlinearity::QuantSigm, Nonlinearity::QuantTanh),
        (Nonlinearity::QuantSigm4, Nonlinearity::Tanh),
    ];
    for kind in integer_kinds() {
        for (gate, update) in pairs {
            for ranks in [(None, None), (Some(2), Some(5))] {
                let cell =
                    Cell::new(kind, 3, 12).with_ranks(ranks.0, ranks.1).with_nonlinearities(gate, update);
                let model = model(cell, 4, &x, 3);
                let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
                let float = integer.model.predict(&x, 1).unwrap();
                let (own, saturations) = integer.predict(&x, 1).unwrap();
                let furthest =
                    float.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
                assert!(furthest < 0.01, "{kind} {gate} {update} {ranks:?}: {furthest}");
                assert_eq!(saturations.total(), 0, "{kind} {:?}", saturations.rows());
                // `integer.model` has the rounded weights; this one does not.
                let unrounded = model.predict(&x, 1).unwrap();
                let furthest =
                    unrounded.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
                assert!(furthest < 0.05, "{kind} {gate} {update} {ranks:?}, unrounded: {furthest}");
            }
        }
    }
}

#[test]
fn a_file_gives_back_the_same_model_and_the_same_bits() {
    let x = recordings(20, 30, 2, 2);
    for kind in integer_kinds() {
        let cell = Cell::new(kind, 2, 9).with_ranks(None, Some(4));
        let mut model = model(cell, 3, &x, 5);
        model.initial_state = InitialState::Given(vec![0.25; 9]);
        let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
        let bytes = integer.to_bytes().unwrap();
        let again = IntegerModel::from_bytes(&bytes).unwrap();
        assert_eq!(again.image(), integer.image());
        assert_eq!(again.network, integer.network);
        assert_eq!(again.scores(&x, &all(&x), 1), integer.scores(&x, &all(&x), 3));
        assert!(matches!(AnyModel::from_bytes(&bytes), Ok(AnyModel::Integer(_))));
        let error = Model::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains("integer model"), "{error}");
        let error = IntegerModel::from_bytes(&model.to_bytes().unwrap()).unwrap_err();
        assert!(error.to_string().contains("fastgrnn quantize"), "{error}");
    }
}

/// The model with entries of 4 bits everywhere.
fn with_4_bits(model: &Model) -> Model {
    let four = WeightBits::Four;
    let has_u = model.network.layers[0].kind.declaration().reads_state;
    let u = if has_u { four } else { WeightBits::Eight };
    model.with_bits(MatrixBits { w: four, u, head: four }).unwrap()
}

#[test]
fn integers_of_4_bits_follow_the_float_model_of_their_values() {
    let x = recordings(60, 40, 3, 1);
    for kind in integer_kinds() {
        for ranks in [(None, None), (Some(2), Some(5)), (Some(3), None)] {
            let cell = Cell::new(kind, 3, 13).with_ranks(ranks.0, ranks.1);
            let model = with_4_bits(&model(cell, 4, &x, 3));
            for bias_bits in [BiasBits::Eight, BiasBits::Sixteen] {
                let options = Options { bias_bits: Some(bias_bits), ..Options::default() };
                let integer = quantize(&model, &x, &all(&x), &options).unwrap();
                for (matrix, step) in model.network.layout().stepped() {
                    let step = StepGrid::of_log_step(model.params[step.offset]);
                    let values = &integer.model.params[matrix.range()];
                    let expected = model.params[matrix.range()].iter().map(|&v| step.nearest(v));
                    assert!(values.iter().copied().eq(expected), "{kind} {}", matrix.name);
                }
                let float = integer.model.predict(&x, 1).unwrap();
                let (own, saturations) = integer.predict(&x, 1).unwrap();
                let furthest =
                    float.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
                assert!(furthest < 0.01, "{kind} {ranks:?} {bias_bits:?}: {furthest}");
                assert_eq!(saturations.total(), 0, "{kind} {:?}", saturations.rows());
            }
        }
    }
}

#[test]
fn a_file_of_4_bits_gives_back_the_same_model_and_wrong_ones_are_refused() {
    let x = recordings(20, 30, 2, 2);
    let cell = Cell::new(CellKind::FastGrnn, 2, 9).with_ranks(None, Some(4));
    let model = with_4_bits(&model(cell, 3, &x, 5));
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    let bytes = integer.to_bytes().unwrap();
    let again = IntegerModel::from_bytes(&bytes).unwrap();
    assert_eq!((again.image(), &again.network), (integer.image(), &integer.network));
    assert_eq!(again.to_bytes().unwrap(), bytes);
    // The float model of the same values is made integer again, and nothing changes.
    let twice = quantize(&integer.model, &x, &all(&x), &Options::default()).unwrap();
    for (a, b) in integer.network.matrices().zip(twice.network.matrices()) {
        assert_eq!(a.entries, b.entries);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Of the same length each, so that the rest of the file stays where it is.
    for (from, to, what) in [
        (r#"\"bits_u\":4"#, r#"\"bits_u\":8"#, "a step for layer0.u1, whose entries have 8 bits"),
        (r#"\"bits_w\":4"#, r#"\"bits_w\":3"#, "a matrix entry of 3 bits"),
        (r#"\"bias_bits\":8"#, r#"\"bias_bits\":9"#, "a bias of 9 bits"),
        (r#"{\"step\":0."#, r#"{\"step\":-."#, ""),
        (r#"{\"step\":0."#, r#"{\"step\":0e"#, "outside 1e-7 to 4096"),
        (r#"{\"step\":0"#, r#"{\"stop\":0"#, ""),
    ] {
        let at = text.find(from).unwrap_or_else(|| panic!("{from} in {text}"));
        let at = text[..at].len() - text[..at].matches('\u{FFFD}').count() * 2;
        let mut changed = bytes.clone();
        assert_eq!(&changed[at..at + from.len()], from.as_bytes());
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        let error = IntegerModel::from_bytes(&changed).expect_err(to).to_string();
        assert!(error.contains(what), "{to}: {error}");
    }
}

#[test]
fn a_later_format_is_refused_politely() {
    let x = recordings(5, 10, 1, 3);
    let model = model(Cell::new(CellKind::FastGrnn, 1, 4), 2, &x, 1);
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    let bytes = integer.to_bytes().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains(r#"\"format\":2"#));
    let at = bytes.windows(12).position(|w| w == br#"\"format\":2"#).unwrap();
    let mut later = bytes.clone();
    later[at + 11] = b'9';
    let error = AnyModel::from_bytes(&later).unwrap_err();
    assert!(error.to_string().contains("update fastgrnn"), "{error}");
}

#[test]
fn sizes_add_up_to_the_image() {
    let x = recordings(10, 20, 3, 4);
    for kind in integer_kinds() {
        for gate in [Nonlinearity::Sigmoid, Nonlinearity::QuantSigm] {
            let cell = Cell::new(kind, 3, 10)
                .with_ranks(Some(2), Some(3))
                .with_nonlinearities(gate, Nonlinearity::QuantTanh);
            let mut model = model(cell, 2, &x, 2);
            // A sparse first factor, so that indices exist.
            let has_u = kind.declaration().reads_state;
            let name = if has_u { "layer0.u1" } else { "layer0.w1" };
            let view = model.network.layout().view(name).unwrap().range();
            model.params[view].iter_mut().enumerate().filter(|(i, _)| i % 5 != 0).for_each(|(_, v)| *v = 0.0);
            let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
            let s = integer.sizes();
            let sum = s.weights + s.indices + s.scales + s.biases + s.head + s.table + s.header;
            assert_eq!(sum, s.total);
            assert_eq!(s.total, integer.image().len());
            // Magic to outputs' meaning; a layer's codes and sizes; a byte a matrix, absent or not.
            assert_eq!(s.header, 15 + 10 + if has_u { 5 } else { 4 }, "{kind}");
            assert!(s.indices > 0 && s.bytes_as_in_paper < s.total);
        }
    }
}

#[test]
fn a_given_lsb_takes_raw_counts() {
    // A 12-bit converter: counts 0 to 4095, 0.8 mV each.
    let mut x = Sequences::new(1);
    for i in 0..30 {
        let volts: Vec<f32> = (0..25).map(|t| 0.000_8 * ((i * 131 + t * 57) % 4096) as f32).collect();
        x.push(&volts);
    }
    let model = model(Cell::new(CellKind::FastGrnn, 1, 8), 2, &x, 9);
    let options = Options { input_lsb: Some(vec![0.000_8]), ..Options::default() };
    let integer = quantize(&model, &x, &all(&x), &options).unwrap();
    let mut counts = Vec::new();
    integer.counts(x.get(3), &mut counts);
    let expected: Vec<i16> = (0..25).map(|t| ((3 * 131 + t * 57) % 4096) as i16).collect();
    assert_eq!(counts, expected);
    let (float, own) = (integer.model.predict(&x, 1).unwrap(), integer.predict(&x, 1).unwrap().0);
    let furthest = float.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
    assert!(furthest < 0.01, "{furthest}");
}

#[test]
fn few_counts_with_a_mean_between_two_of_them_lose_nothing() {
    let mut x = Sequences::new(2);
    let mut rng = Rng::keyed(1, &[1]);
    for _ in 0..40 {
        let mut sequence = Vec::new();
        for _ in 0..20 {
            sequence.push(if rng.uniform() < 0.3 { 1.0 } else { 0.0 });
            sequence.push(if rng.uniform() < 0.5 { 16.0 } else { 3.0 });
        }
        x.push(&sequence);
    }
    let model = model(Cell::new(CellKind::Gru, 2, 8), 2, &x, 4);
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    assert_eq!(integer.network.input.lsb, [1.0, 1.0]);
    let (float, own) = (model.predict(&x, 1).unwrap(), integer.predict(&x, 1).unwrap().0);
    let furthest = float.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
    assert!(furthest < 0.02, "{furthest}");
}

#[test]
fn flags_dead_channels_and_counts_of_a_sensor_stand_side_by_side() {
    let mut rng = Rng::keyed(2, &[1]);
    let mut x = Sequences::new(4);
    for _ in 0..40 {
        let mut sequence = Vec::new();
        for _ in 0..20 {
            let flag = if rng.uniform() < 0.5 { 1.0 } else { 0.0 };
            // A flag, a 16-bit sensor, a channel that is off, a value in small units.
            sequence.extend([flag, (4_000.0 * rng.normal()).round() as f32, 0.0, 1e-3 * rng.normal() as f32]);
        }
        x.push(&sequence);
    }
    let model = model(Cell::new(CellKind::FastGrnn, 4, 8), 2, &x, 4);
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    assert_eq!(integer.network.input.lsb[..3], [1.0, 1.0, 1.0]);
    let (float, own) = (integer.model.predict(&x, 1).unwrap(), integer.predict(&x, 1).unwrap().0);
    let furthest = float.values.iter().zip(&own.values).fold(0f32, |top, (a, b)| top.max((a - b).abs()));
    assert!(furthest < 0.01, "{furthest}");
}

#[test]
fn a_state_to_start_from_has_room_even_if_no_later_one_is_as_large() {
    let x = recordings(10, 20, 1, 6);
    let mut model = model(Cell::new(CellKind::Rnn, 1, 6), 2, &x, 1);
    model.initial_state = InitialState::Given(vec![3.0]);
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    let layer = &integer.network.layers[0];
    assert_eq!(f32::from(layer.start[0]) / (layer.shifts.state as f32).exp2(), 3.0);
}

#[test]
fn a_state_of_another_model_is_an_error_not_a_panic() {
    let narrow = recordings(3, 5, 2, 1);
    let wide = recordings(3, 5, 4, 1);
    let lstm = model(Cell::new(CellKind::Lstm, 2, 2), 2, &narrow, 1);
    let gru = model(Cell::new(CellKind::Gru, 4, 2), 2, &wide, 1);
    let lstm = quantize(&lstm, &narrow, &all(&narrow), &Options::default()).unwrap();
    let gru = quantize(&gru, &wide, &all(&wide), &Options::default()).unwrap();
    let (lstm, gru) = (lstm.view(), gru.view());
    assert_eq!((lstm.memory_len(), lstm.scratch_len()), (gru.memory_len(), gru.scratch_len()));
    let (mut memory, mut scratch) = (vec![0; lstm.memory_len()], vec![0; lstm.scratch_len()]);
    let mut state = lstm.start(&mut memory, &mut scratch).unwrap();
    assert!(gru.step(&mut state, &[0; 4]).is_err());
    assert!(gru.reset(&mut state).is_err());
}

#[test]
fn what_integers_cannot_do_is_said() {
    let x = recordings(5, 10, 2, 3);
    let good = model(Cell::new(CellKind::FastGrnn, 2, 4), 2, &x, 1);
    let refuse = |model: &Model, options: &Options| {
        quantize(model, &x, &all(&x), options).map(|_| ()).unwrap_err().to_string()
    };
    let lsb = |values: &[f32]| Options { input_lsb: Some(values.to_vec()), ..Options::default() };
    assert!(refuse(&good, &lsb(&[1.0, 1.0, 1.0])).contains("3 values of `input-lsb` for 2 features"));
    assert!(refuse(&good, &lsb(&[1.0, -1.0])).contains("feature 1"));
    assert!(refuse(&good, &lsb(&[1e-6, 1.0])).contains("use at least"));
    assert!(refuse(&good, &lsb(&[1e-3, 100.0])).contains("counts of `input-lsb = 100`"));
    let mut tiny = good.clone();
    tiny.params.iter_mut().for_each(|v| *v *= 1e-6);
    assert!(refuse(&tiny, &Options::default()).contains("too small for bytes"));
    let random = Model { initial_state: InitialState::Random, ..good.clone() };
    assert!(refuse(&random, &Options::default()).contains("`initial-state = zero`"));
    let mut relu = good.clone();
    relu.network.layers[0].gate = Nonlinearity::Relu;
    assert!(refuse(&relu, &Options::default()).contains("fastgrnn with relu gates"));
    let coordinates = Normalizer::fit(Normalize::PerCoordinate, &x, &all(&x)).unwrap();
    let tied = Model { normalizer: coordinates, ..good.clone() };
    assert!(refuse(&tied, &Options::default()).contains("per-feature"));
    assert!(matches!(quantize(&good, &x, &[], &Options::default()), Err(QuantizeError::NoData)));
    let narrow = recordings(5, 10, 1, 3);
    let error = quantize(&good, &narrow, &[0], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("1 features"), "{error}");
    let wide = recordings(3, 4, 600, 3);
    let wide_model = model(Cell::new(CellKind::Rnn, 600, 4), 2, &wide, 1);
    let error = quantize(&wide_model, &wide, &[0], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("at most 511"), "{error}");
}

#[test]
fn a_state_that_outgrows_its_scale_saturates_and_is_counted() {
    let x = recordings(10, 20, 1, 6);
    let mut model = model(Cell::new(CellKind::FastGrnn, 1, 6), 2, &x, 1);
    // ζ and ν near 1, and a gate that keeps everything: h grows by up to 1 a step.
    let layout = model.network.layout();
    for name in ["layer0.zeta", "layer0.nu"] {
        model.params[layout.view(name).unwrap().range()].fill(6.0);
    }
    model.params[layout.view("layer0.b_z").unwrap().range()].fill(8.0);
    model.params[layout.view("layer0.b_h").unwrap().range()].fill(3.0);
    let integer = quantize(&model, &x, &all(&x), &Options::default()).unwrap();
    assert_eq!(integer.predict(&x, 1).unwrap().1.total(), 0);
    let mut long = Sequences::new(1);
    long.push(&(0..2_000).map(|i| (i as f32 * 0.1).sin()).collect::<Vec<_>>());
    let (_, saturations) = integer.predict(&long, 1).unwrap();
    let rows = saturations.rows();
    assert!(rows.iter().any(|r| r.place == "state" && r.count > 1_000), "{rows:?}");
}

#[test]
fn scores_mean_what_the_loss_says() {
    let x = recordings(20, 10, 1, 8);
    let binary = {
        let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 5)], 1);
        let params = network.start(Start::default(), 10, 1);
        let labels = vec!["no".to_string(), "yes".to_string()];
        Model { loss: Loss::BinaryCrossEntropy, ..Model::new(network, params, Task::Classes { labels }) }
    };
    let integer = quantize(&binary, &x, &all(&x), &Options::default()).unwrap();
    let (float, own) = (integer.model.predict(&x, 1).unwrap(), integer.predict(&x, 1).unwrap().0);
    assert_eq!(float.classes, own.classes);
    let network = Network::new(vec![Cell::new(CellKind::Lstm, 1, 5)], 2);
    let params = network.start(Start::default(), 10, 1);
    let task = Task::Values { mean: vec![10.0, -4.0], scale: vec![2.0, 3.0] };
    let values = Model::new(network, params, task);
    let integer = quantize(&values, &x, &all(&x), &Options::default()).unwrap();
    let (float, own) = (values.predict(&x, 1).unwrap(), integer.predict(&x, 1).unwrap().0);
    assert!(own.classes.is_empty());
    assert!(float.values.iter().zip(&own.values).all(|(a, b)| (a - b).abs() < 0.05));
}

#[test]
fn gains_are_rounded_and_cut_off_and_calibration_sees_those_that_are_stored() {
    let x = recordings(30, 30, 3, 2);
    let with_gains = |gains: [f32; 4]| {
        let mut model = model(Cell::new(CellKind::FastGrnnGain, 3, 4), 3, &x, 5);
        let range = model.network.layout().view("layer0.gamma").unwrap().range();
        model.params[range].copy_from_slice(&gains);
        quantize(&model, &x, &all(&x), &Options::default()).unwrap()
    };
    let integer = with_gains([1.01, -0.5, 40.0, -40.0]);
    assert_eq!(integer.network.layers[0].gains, [32, -16, 127, -127]);
    let most = 127.0 / 32.0;
    assert_eq!(integer.image(), with_gains([1.0, -0.5, most, -most]).image());
}

#[test]
fn with_gains_of_1_the_integers_are_those_of_fastgrnn() {
    let x = recordings(30, 30, 3, 2);
    let plain = model(Cell::new(CellKind::FastGrnn, 3, 6), 3, &x, 5);
    let mut gained = model(Cell::new(CellKind::FastGrnnGain, 3, 6), 3, &x, 5);
    let (from, to) = (plain.network.layout(), gained.network.layout());
    for view in from.views() {
        let range = to.view(&view.name).unwrap().range();
        gained.params[range].copy_from_slice(&plain.params[view.range()]);
    }
    let [plain, gained] =
        [plain, gained].map(|model| quantize(&model, &x, &all(&x), &Options::default()).unwrap());
    assert_eq!(gained.predict(&x, 1).unwrap().0.values, plain.predict(&x, 1).unwrap().0.values);
    // A gain is a byte.
    assert_eq!(gained.image().len(), plain.image().len() + 6);
    assert_eq!(gained.sizes().biases, plain.sizes().biases + 6);
}
