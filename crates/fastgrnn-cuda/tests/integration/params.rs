//! Packing and pulling back against a plain version in f64.
use super::emulated;
use fastgrnn_core::cells::{CELLS, Cell, CellKind, CellMatrix, MatrixForm, Scalar, ScalarName, WeightBits};
use fastgrnn_core::net::{Embedding, Layout, Network};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_cuda::driver::Device;
use fastgrnn_cuda::has_kernels;
use fastgrnn_cuda::params::{
    Cohort, CohortError, CohortPlan, DropSettings, Dropped, LayerPlaces, Progress, ViewGrid,
};

const SHARE: f64 = 0.3;
const PASS: u64 = 1;
/// A number that no kernel writes.
const UNTOUCHED: f32 = 777.0;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A layer with a form of W, which makes it square if that is diagonal, and one of U, which only cells that read their
/// state have.
fn cell(kind: CellKind, input: usize, hidden: usize, w: MatrixForm, u: MatrixForm) -> Cell {
    let hidden = if w == MatrixForm::Diagonal { input } else { hidden };
    let u = if kind.declaration().reads_state { u } else { MatrixForm::Absent };
    Cell::new(kind, input, hidden).with_forms(w, u)
}

fn with_scalars(mut cell: Cell, mode: usize) -> Cell {
    let scalars = &mut cell.scalars;
    match mode {
        0 => {}
        1 => {
            (scalars.alpha, scalars.beta) = (Scalar::Fixed(0.25), Scalar::Fixed(1.0));
            (scalars.zeta, scalars.nu) = (Scalar::Fixed(0.75), Scalar::Fixed(0.0));
        }
        _ => {
            scalars.nu = Scalar::Fixed(0.5);
            if cell.kind == CellKind::FastRnn {
                scalars.beta = Scalar::Tied;
            }
        }
    }
    cell
}

/// Cohorts of two networks that differ in widths, forms and scalars, for a cell.
fn cohorts(kind: CellKind) -> Vec<[Network; 2]> {
    use MatrixForm::{Absent, Diagonal, Full, LowRank};
    let forms =
        [(Full, Full), (LowRank(2), LowRank(3)), (Diagonal, Diagonal), (Full, Absent), (LowRank(4), Full)];
    let stacked = |mode: usize, hidden: [usize; 2], [first, second]: [(MatrixForm, MatrixForm); 2]| {
        let first = with_scalars(cell(kind, 5, hidden[0], first.0, first.1), mode);
        let second = with_scalars(cell(kind, first.hidden, hidden[1], second.0, second.1), (mode + 1) % 3);
        let network = Network::new(vec![first, second], 3);
        network.check().unwrap();
        network
    };
    let mut cohorts: Vec<_> = (0..forms.len())
        .map(|i| {
            let at = |k: usize| forms[(i + k) % forms.len()];
            [stacked(i % 3, [6, 9], [at(0), at(1)]), stacked((i + 1) % 3, [11, 4], [at(2), at(0)])]
        })
        .collect();
    if matches!(kind, CellKind::FastGrnn | CellKind::Gru) {
        // Matrices of several patches, and ranks, too.
        let wide = [(LowRank(4), LowRank(34)), (LowRank(33), Full)];
        cohorts.push([stacked(0, [37, 70], wide), stacked(2, [45, 40], [wide[0], (Full, LowRank(7))])]);
    }
    cohorts
}

/// The parameters of a network by name.
struct Named<'a> {
    network: &'a Network,
    layout: Layout,
    values: &'a [f64],
}

impl<'a> Named<'a> {
    fn new(network: &'a Network, values: &'a [f64]) -> Self {
        Self { network, layout: network.layout(), values }
    }

    fn get(&self, name: &str) -> Option<&[f64]> {
        self.layout.view(name).map(|view| &self.values[view.range()])
    }

    /// An entry of W or U of a layer.
    fn entry(&self, layer: usize, matrix: &CellMatrix, row: usize, column: usize) -> f64 {
        let of = |suffix: &str| self.get(&format!("layer{layer}.{}{suffix}", matrix.letter)).unwrap();
        let hidden = self.network.layers[layer].hidden;
        match matrix.form {
            MatrixForm::Full => of("")[row * matrix.cols + column],
            MatrixForm::LowRank(rank) => {
                (0..rank).map(|r| of("1")[row * rank + r] * of("2")[column * rank + r]).sum()
            }
            MatrixForm::Diagonal if row % hidden == column => of("")[row],
            MatrixForm::Diagonal | MatrixForm::Absent => 0.0,
        }
    }

    /// α, β, ζ or ν of a layer as its cell uses it, or an entry of a vector.
    fn point(&self, layer: usize, name: &str, is_raw: bool, unit: usize) -> f64 {
        match self.network.layers[layer].scalars.mode(name) {
            Scalar::Fixed(value) if is_raw => value.into(),
            Scalar::Tied if is_raw => 1.0 - self.point(layer, "alpha", true, 0),
            _ => {
                let value = self.get(&format!("layer{layer}.{name}")).map_or(0.0, |values| values[unit]);
                if is_raw { sigmoid(value) } else { value }
            }
        }
    }
}

/// Where the numbers of a layer's W and U are: (by columns, by rows, blocks, columns).
fn matrices(cell: &Cell, places: &LayerPlaces) -> [(CellMatrix, [i32; 4]); 2] {
    let LayerPlaces { hidden, input, w_blocks, u_blocks, w, u, w_rows, u_rows, .. } = *places;
    [(cell.w(), [w, w_rows, w_blocks, input]), (cell.u(), [u, u_rows, u_blocks, hidden])]
}

/// The padded buffer of a network; NaN where nothing has a place.
fn packed(plan: &CohortPlan, network: &Network, values: &[f64]) -> Vec<f64> {
    let named = Named::new(network, values);
    let mut out = vec![f64::NAN; plan.packed_stride()];
    for (layer, cell) in network.layers.iter().enumerate() {
        let places = &plan.places().layers[layer];
        let hidden = places.hidden as usize;
        for (matrix, numbers) in matrices(cell, places) {
            let [by_columns, by_rows, blocks, columns] = numbers.map(|number| number as usize);
            let rows = blocks * hidden;
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let (block, unit) = (row / hidden, row % hidden);
                let is_own = unit < cell.hidden && column < matrix.cols;
                let own = block * cell.hidden + unit;
                let value = if is_own { named.entry(layer, &matrix, own, column) } else { 0.0 };
                out[by_columns + column * rows + row] = value;
                out[by_rows + row * columns + column] = value;
            }
        }
        let declared = cell.kind.declaration().pointwise;
        for (i, vector) in declared.iter().filter(|point| point.is_vector).enumerate() {
            for unit in 0..hidden {
                out[places.vectors as usize + i * hidden + unit] = match unit < cell.hidden {
                    true => named.point(layer, vector.name, vector.through_sigmoid(), unit),
                    false => 0.0,
                };
            }
        }
        for (i, scalar) in ScalarName::ALL.iter().enumerate() {
            let is_there = declared.iter().any(|point| point.name == scalar.name() && !point.is_vector);
            out[places.scalars as usize + i] =
                if is_there { named.point(layer, scalar.name(), true, 0) } else { 0.0 };
        }
    }
    let (head, own) = (plan.places().head, network.hidden());
    let hidden = head.hidden as usize;
    for output in 0..network.outputs {
        for unit in 0..hidden {
            let weights = named.get("head.w").unwrap();
            out[head.w as usize + output * hidden + unit] =
                if unit < own { weights[output * own + unit] } else { 0.0 };
        }
        out[head.b as usize + output] = named.get("head.b").unwrap()[output];
    }
    out
}

/// The flat gradient by what the network sees, given the padded one.
fn pulled_back(plan: &CohortPlan, network: &Network, seen: &[f64], padded: &[f32]) -> Vec<f64> {
    let (layout, named) = (network.layout(), Named::new(network, seen));
    let mut out = vec![f64::NAN; layout.len()];
    let mut add = |name: &str, i: usize, value: f64| {
        let place = &mut out[layout.view(name).unwrap().offset + i];
        *place = if place.is_nan() { value } else { *place + value };
    };
    for (layer, cell) in network.layers.iter().enumerate() {
        let places = &plan.places().layers[layer];
        let hidden = places.hidden as usize;
        for (matrix, numbers) in matrices(cell, places) {
            let [by_columns, _, blocks, _] = numbers.map(|number| number as usize);
            let name = |suffix: &str| format!("layer{layer}.{}{suffix}", matrix.letter);
            for (row, column) in (0..matrix.rows).flat_map(|row| (0..matrix.cols).map(move |c| (row, c))) {
                let padded_row = row / cell.hidden * hidden + row % cell.hidden;
                if blocks == 0 {
                    continue;
                }
                let g = f64::from(padded[by_columns + column * blocks * hidden + padded_row]);
                match matrix.form {
                    MatrixForm::Full => add(&name(""), row * matrix.cols + column, g),
                    MatrixForm::LowRank(rank) => {
                        let (first, second) =
                            (named.get(&name("1")).unwrap(), named.get(&name("2")).unwrap());
                        for r in 0..rank {
                            add(&name("1"), row * rank + r, g * second[column * rank + r]);
                            add(&name("2"), column * rank + r, g * first[row * rank + r]);
                        }
                    }
                    MatrixForm::Diagonal if row % cell.hidden == column => add(&name(""), row, g),
                    MatrixForm::Diagonal | MatrixForm::Absent => {}
                }
            }
        }
        let scalar = |name: &str| {
            let place = ScalarName::ALL.iter().position(|scalar| scalar.name() == name).unwrap();
            f64::from(padded[places.scalars as usize + place])
        };
        let mut vectors = 0;
        for point in cell.kind.declaration().pointwise {
            let name = format!("layer{layer}.{}", point.name);
            let vector = vectors;
            vectors += usize::from(point.is_vector);
            for unit in 0..named.get(&name).map_or(0, <[f64]>::len) {
                let mut g = match point.is_vector {
                    true => f64::from(padded[places.vectors as usize + vector * hidden + unit]),
                    false => scalar(point.name),
                };
                if point.name == "alpha" && cell.scalars.beta == Scalar::Tied && !point.is_vector {
                    g -= scalar("beta");
                }
                let value = named.point(layer, point.name, point.through_sigmoid(), unit);
                add(&name, unit, if point.through_sigmoid() { g * value * (1.0 - value) } else { g });
            }
        }
    }
    let (head, own) = (plan.places().head, network.hidden());
    for output in 0..network.outputs {
        for unit in 0..own {
            let g = padded[(head.w + output as i32 * head.hidden) as usize + unit];
            add("head.w", output * own + unit, g.into());
        }
        add("head.b", output, padded[head.b as usize + output].into());
    }
    out
}

/// What a step multiplies each parameter of a network with.
fn factors(network: &Network, seed: u64, step: u64) -> Vec<f64> {
    let layout = network.layout();
    let mut rng = Rng::keyed(seed, &[stream::WEIGHT_DROP, PASS, step]);
    let mut factors = vec![1.0; layout.len()];
    for view in layout.views().iter().filter(|view| view.name.contains(".u")) {
        for i in view.range() {
            let kept = (1.0 / (1.0 - SHARE)) as f32;
            factors[i] = if rng.uniform() < SHARE { 0.0 } else { kept.into() };
        }
    }
    factors
}

/// Values of all networks, as their flat buffers hold them.
fn joined(plan: &CohortPlan, values: &[Vec<f32>]) -> Vec<f32> {
    let mut all = vec![UNTOUCHED; plan.networks() * plan.parameter_stride()];
    values.iter().enumerate().for_each(|(i, values)| all[plan.parameters(i)].copy_from_slice(values));
    all
}

fn normals(rng: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| rng.normal() as f32).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

fn plan(networks: &[Network]) -> CohortPlan {
    CohortPlan::new(networks, 8, 4, |_, _| 1.0).unwrap()
}

/// What the kernels make of parameters and a padded gradient.
#[derive(PartialEq)]
struct Made {
    packed: Vec<u32>,
    gradient: Vec<u32>,
}

impl Made {
    fn new(device: &Device, plan: &CohortPlan, parameters: &[Vec<f32>], padded: &[f32], drops: bool) -> Self {
        let cohort = Cohort::new(device, plan.clone()).unwrap();
        let networks = plan.networks();
        let progress: Vec<_> =
            (0..networks as u64).map(|i| Progress { step: 3 + i, ..Progress::default() }).collect();
        let settings: Vec<_> = (0..networks as u64).map(|i| DropSettings::new(40 + i, PASS, SHARE)).collect();
        let settings = device.upload(&settings).unwrap();
        let mut drawn = device.buffer(networks * plan.drawn_stride()).unwrap();
        cohort.draw(&device.upload(&progress).unwrap(), &settings, &mut drawn).unwrap();
        let dropped = drops.then_some(Dropped { settings: &settings, drawn: &drawn });
        let grids = device.buffer(networks * plan.view_stride()).unwrap();
        let untouched = |len: usize| device.upload(&vec![UNTOUCHED; len]).unwrap();
        let parameters = device.upload(&joined(plan, parameters)).unwrap();
        let mut seen = untouched(parameters.len());
        let (mut packed, mut gradient) =
            (untouched(networks * plan.packed_stride()), untouched(parameters.len()));
        cohort.see(&parameters, &grids, dropped, &mut seen).unwrap();
        cohort.pack(&seen, &mut packed).unwrap();
        let padded = device.upload(padded).unwrap();
        cohort.pull_back(&seen, &packed, &padded, dropped, &mut gradient).unwrap();
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
        Self { packed: bits(packed.to_vec().unwrap()), gradient: bits(gradient.to_vec().unwrap()) }
    }

    fn packed(&self, plan: &CohortPlan, network: usize) -> Vec<f32> {
        let stride = plan.packed_stride();
        self.packed[network * stride..(network + 1) * stride]
            .iter()
            .map(|&bits| f32::from_bits(bits))
            .collect()
    }

    fn gradient(&self, plan: &CohortPlan, network: usize) -> Vec<f32> {
        self.gradient[plan.parameters(network)].iter().map(|&bits| f32::from_bits(bits)).collect()
    }
}

fn close(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        assert!(error <= 2e-5 * (1.0 + expected.abs()), "{what} at {i}: {found} is not {expected}");
    }
}

fn check_cohort(devices: &[Device; 2], networks: &[Network], drops: bool) {
    let plan = plan(networks);
    let mut rng = Rng::keyed(1, &[plan.packed_stride() as u64]);
    let parameters: Vec<_> =
        networks.iter().map(|network| normals(&mut rng, network.layout().len())).collect();
    let padded = normals(&mut rng, networks.len() * plan.padded_stride());
    let made = Made::new(&devices[0], &plan, &parameters, &padded, drops);
    let descending = Made::new(&devices[1], &plan, &parameters, &padded, drops);
    assert!(made == descending, "both orders give the same bits");

    for (i, network) in networks.iter().enumerate() {
        let what = format!("network {i} of {:?}", network.layers);
        let factors = match drops {
            true => factors(network, 40 + i as u64, 3 + i as u64),
            false => vec![1.0; network.layout().len()],
        };
        let times = |values: Vec<f64>| values.iter().zip(&factors).map(|(v, f)| v * f).collect::<Vec<_>>();
        let seen = times(wide(&parameters[i]));
        let expected = packed(&plan, network, &seen);
        let found = made.packed(&plan, i);
        for place in (0..expected.len()).filter(|&place| expected[place].is_nan()) {
            assert_eq!(found[place], UNTOUCHED, "{what} at {place}");
        }
        let places: Vec<_> = (0..expected.len()).filter(|&place| !expected[place].is_nan()).collect();
        let of_places = |values: &[f32]| places.iter().map(|&place| values[place]).collect::<Vec<_>>();
        let expected: Vec<_> = places.iter().map(|&place| expected[place]).collect();
        close(&of_places(&found), &expected, &what);
        let own = &padded[i * plan.padded_stride()..(i + 1) * plan.padded_stride()];
        let gradient = made.gradient(&plan, i);
        close(&gradient, &times(pulled_back(&plan, network, &seen, own)), &what);
    }

    // Along a direction, the product of the padded gradient with the padded buffer changes as the flat gradient says.
    const REACH: f32 = 0.01;
    let directions: Vec<_> = parameters.iter().map(|values| normals(&mut rng, values.len())).collect();
    let packed_at = |reach: f32| {
        let moved = |(values, direction): (&Vec<f32>, &Vec<f32>)| {
            values.iter().zip(direction).map(|(value, d)| value + reach * d).collect()
        };
        let moved: Vec<Vec<f32>> = parameters.iter().zip(&directions).map(moved).collect();
        Made::new(&devices[0], &plan, &moved, &padded, drops)
    };
    let (above, below) = (packed_at(REACH), packed_at(-REACH));
    for (i, direction) in directions.iter().enumerate() {
        let own = &padded[i * plan.padded_stride()..(i + 1) * plan.padded_stride()];
        let (above, below) = (above.packed(&plan, i), below.packed(&plan, i));
        let changes = above.iter().zip(&below).map(|(a, b)| f64::from(a - b) / f64::from(2.0 * REACH));
        let along: f64 = own.iter().zip(changes).map(|(g, change)| f64::from(*g) * change).sum();
        let gradient = made.gradient(&plan, i);
        let products = gradient.iter().zip(direction).map(|(g, d)| f64::from(*g) * f64::from(*d));
        let (expected, size) = (products.clone().sum::<f64>(), products.map(|p| p * p).sum::<f64>().sqrt());
        assert!((along - expected).abs() < 2e-4 * (1.0 + size), "{along} is not {expected}, of {size}");
    }
}

#[test]
fn every_form_of_every_cell_is_packed_and_pulled_back() {
    let devices = [emulated::device(), emulated::descending_device()];
    for declaration in CELLS.iter().filter(|declaration| has_kernels(declaration.kind)) {
        for (i, networks) in cohorts(declaration.kind).iter().enumerate() {
            check_cohort(&devices, networks, i % 2 == 1);
        }
    }
}

#[test]
fn one_network_of_one_layer_is_a_cohort() {
    let devices = [emulated::device(), emulated::descending_device()];
    let cell = Cell::new(CellKind::FastGrnn, 3, 8).with_ranks(Some(2), Some(8));
    for drops in [false, true] {
        check_cohort(&devices, &[Network::new(vec![cell.clone()], 40)], drops);
    }
}

#[test]
fn dropped_entries_are_those_of_the_stream() {
    // From a part of one chunk to many, with networks of different lengths in a cohort.
    let networks: Vec<_> =
        [3, 12, 60, 75].map(|hidden| Network::new(vec![Cell::new(CellKind::Gru, 2, hidden)], 2)).into();
    let plan = plan(&networks);
    let progress: Vec<_> = [0, 7, 1 << 40, 12].map(|step| Progress { step, ..Progress::default() }).into();
    let seeds = [0, 3, u64::MAX, 1 << 50];
    let settings: Vec<_> = seeds.map(|seed| DropSettings::new(seed, PASS, SHARE)).into();
    for device in [emulated::device(), emulated::descending_device()] {
        let cohort = Cohort::new(&device, plan.clone()).unwrap();
        let mut drawn = device.buffer(networks.len() * plan.drawn_stride()).unwrap();
        let (on_device, settings) = (device.upload(&progress).unwrap(), device.upload(&settings).unwrap());
        cohort.draw(&on_device, &settings, &mut drawn).unwrap();
        let drawn = drawn.to_vec().unwrap();
        for (i, network) in networks.iter().enumerate() {
            let factors = factors(network, seeds[i], progress[i].step);
            let recurrent = network.layout().view("layer0.u").unwrap().range();
            for (draw, factor) in factors[recurrent].iter().enumerate() {
                let is_dropped = drawn[i * plan.drawn_stride() + draw / 32] >> (draw % 32) & 1 == 1;
                assert_eq!(is_dropped, *factor == 0.0, "draw {draw} of network {i}");
            }
        }
    }
}

#[test]
fn weights_are_seen_on_their_grids_and_biases_as_they_are() {
    let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 3, 40)], 2);
    let (layout, plan) = (network.layout(), plan(&[network.clone(), network.clone()]));
    let device = emulated::device();
    let cohort = Cohort::new(&device, plan.clone()).unwrap();
    let mut rng = Rng::new(3);
    let mut parameters: Vec<Vec<f32>> = (0..2).map(|_| normals(&mut rng, layout.len())).collect();
    // Between two values of a grid, and beyond its ends.
    let first = layout.view("layer0.w").unwrap().offset;
    parameters[0][first..first + 6].copy_from_slice(&[
        0.5 / 64.0,
        1.5 / 64.0,
        -0.5 / 64.0,
        -2.5 / 64.0,
        9.0,
        -9.0,
    ]);
    let exponents = [[6, 20, 2], [-8, 3, 7]];
    let mut grids = vec![ViewGrid::default(); 2 * plan.view_stride()];
    let weights = || layout.views().iter().enumerate().filter(|(_, view)| view.cols > 1);
    for (i, exponents) in exponents.iter().enumerate() {
        for ((number, _), &exponent) in weights().zip(exponents) {
            grids[i * plan.view_stride() + number] = ViewGrid::of_exponent(exponent);
        }
    }
    let mut seen = device.buffer(2 * plan.parameter_stride()).unwrap();
    let (on_device, grids) =
        (device.upload(&joined(&plan, &parameters)).unwrap(), device.upload(&grids).unwrap());
    cohort.see(&on_device, &grids, None, &mut seen).unwrap();
    let seen = seen.to_vec().unwrap();
    for (i, exponents) in exponents.iter().enumerate() {
        let mut expected = parameters[i].clone();
        for ((_, view), &exponent) in weights().zip(exponents) {
            let step = (-exponent as f32).exp2();
            for value in &mut expected[view.range()] {
                *value = (*value / step).round_ties_even().clamp(-127.0, 127.0) * step;
            }
        }
        assert_ne!(expected, parameters[i]);
        assert_eq!(seen[plan.parameters(i)], expected);
    }
}

#[test]
fn networks_that_cannot_be_trained_together_are_named() {
    let of = |kind, hidden| Network::new(vec![Cell::new(kind, 3, hidden)], 2);
    let error = |networks: &[Network]| CohortPlan::new(networks, 8, 1, |_, _| 1.0).err();
    let (gru, lstm) = (of(CellKind::Gru, 4), of(CellKind::Lstm, 4));
    assert_eq!(error(&[]), Some(CohortError::Empty));
    assert_eq!(error(&[gru.clone(), of(CellKind::Gru, 9)]), None);
    assert_eq!(error(&[gru.clone(), gru.clone(), lstm]), Some(CohortError::Unlike { network: 2 }));
    let more_outputs = Network { outputs: 3, ..gru.clone() };
    assert_eq!(error(&[gru.clone(), more_outputs]), Some(CohortError::Unlike { network: 1 }));
    let tokens = Network { embedding: Some(Embedding { vocabulary: 5, tied: false }), ..gru.clone() };
    assert_eq!(error(&[tokens]), Some(CohortError::Tokens { network: 0 }));
    let pairs = of(CellKind::Eurnn, 4);
    assert!(!has_kernels(CellKind::Eurnn));
    assert_eq!(error(&[pairs]), Some(CohortError::Cell { network: 0, cell: CellKind::Eurnn }));
    let deep = Network::new(vec![Cell::new(CellKind::Rnn, 2, 2); 9], 2);
    assert_eq!(error(&[deep]), Some(CohortError::Layers { network: 0, layers: 9 }));
}

/// Networks with matrices of 4 bits, some of which are dropped from, and one without.
fn stepped() -> [Network; 2] {
    let cell = Cell::new(CellKind::FastGrnn, 5, 9).with_ranks(Some(3), Some(4));
    let four = cell.clone().with_bits(WeightBits::Four, WeightBits::Four);
    let four = Network { bits_head: WeightBits::Four, ..Network::new(vec![four], 3) };
    [four, Network::new(vec![cell], 3)]
}

#[test]
fn matrices_of_4_bits_are_seen_on_their_steps_and_their_gradient_goes_through_the_rounding() {
    for device in [emulated::device(), emulated::descending_device()] {
        check_steps(&device);
    }
}

fn check_steps(device: &Device) {
    let networks = stepped();
    let (plan, layout) = (plan(&networks), networks[0].layout());
    let cohort = Cohort::new(device, plan.clone()).unwrap();
    let mut rng = Rng::keyed(8, &[]);
    let mut parameters: Vec<Vec<f32>> =
        networks.iter().map(|network| normals(&mut rng, network.layout().len())).collect();
    layout.start_steps(&mut parameters[0]);
    layout.stepped().for_each(|(_, step)| parameters[0][step.offset] -= 0.9);
    let mut grids = vec![ViewGrid::default(); plan.networks() * plan.view_stride()];
    for (number, view) in layout.views().iter().enumerate() {
        if layout.stepped().any(|(matrix, _)| matrix == view) {
            grids[number] = ViewGrid::LEARNT;
        }
    }
    let progress: Vec<_> = (0..2).map(|i| Progress { step: 3 + i, ..Progress::default() }).collect();
    let settings: Vec<_> = (0..2).map(|i| DropSettings::new(40 + i, PASS, SHARE)).collect();
    let settings = device.upload(&settings).unwrap();
    let mut drawn = device.buffer(plan.networks() * plan.drawn_stride()).unwrap();
    cohort.draw(&device.upload(&progress).unwrap(), &settings, &mut drawn).unwrap();
    let flat = device.upload(&joined(&plan, &parameters)).unwrap();
    let gradient = normals(&mut rng, flat.len());
    for (is_learnt, drops) in [(true, false), (true, true), (false, false)] {
        let grids = if is_learnt { grids.clone() } else { vec![ViewGrid::default(); grids.len()] };
        let grids = device.upload(&grids).unwrap();
        let dropped = drops.then_some(Dropped { settings: &settings, drawn: &drawn });
        let mut seen = device.upload(&vec![UNTOUCHED; flat.len()]).unwrap();
        let mut pulled = device.upload(&gradient).unwrap();
        cohort.see(&flat, &grids, dropped, &mut seen).unwrap();
        cohort.pull_back_steps(&flat, &grids, &mut pulled).unwrap();
        let (seen, pulled) = (seen.to_vec().unwrap(), pulled.to_vec().unwrap());
        let kept = if drops { factors(&networks[0], 40, 3) } else { vec![1.0; layout.len()] };
        let mut outside = 0;
        for view in layout.views() {
            let Some((_, step)) = layout.stepped().find(|(matrix, _)| *matrix == view) else { continue };
            let size = f64::from(parameters[0][step.offset]).exp();
            let mut sum = 0.0;
            for i in view.range() {
                let (w, g) = (f64::from(parameters[0][i]), f64::from(gradient[i]));
                let value = (w / size).round_ties_even().clamp(-8.0, 7.0) * size;
                let is_in_reach = (-8.0..=7.0).contains(&(w / size));
                outside += usize::from(!is_in_reach);
                let expected = kept[i] * if is_learnt { value } else { w };
                assert!((f64::from(seen[i]) - expected).abs() < 1e-5, "{} {i}", view.name);
                let expected = if is_learnt && !is_in_reach { 0.0 } else { gradient[i] };
                assert_eq!(pulled[i], expected, "{} {i}", view.name);
                sum += g * if is_in_reach { value - w } else { value };
            }
            let expected = if is_learnt { sum / (7.0 * view.len() as f64).sqrt() } else { 0.0 };
            assert!((f64::from(pulled[step.offset]) - expected).abs() < 1e-5, "{}", step.name);
        }
        assert!(outside > 5, "{outside} are out of reach");
        let other = plan.parameters(1);
        assert_eq!(pulled[other.clone()], gradient[other.clone()], "a network without steps stays as it is");
        assert!(drops || seen[other] == parameters[1]);
    }
}
