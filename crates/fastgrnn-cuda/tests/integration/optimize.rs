//! Steps of the optimiser against the formulas in f64.
use super::emulated;
use fastgrnn_core::cells::{Cell, CellKind, Role};
use fastgrnn_core::net::{Layout, Network, View};
use fastgrnn_core::rng::Rng;
use fastgrnn_cuda::driver::{Buffer, Device};
use fastgrnn_cuda::optimize::{
    Optimizer, OptimizerKind, OptimizerRoom, OptimizerSettings, Projection, StepNumbers,
};
use fastgrnn_cuda::params::{Cohort, CohortPlan, Progress, ViewGrid};

const MOMENTUM: f64 = 0.9;
const DECAY: f64 = 0.1;
/// Gains reach 127/256, which is less than where many of them start.
const GAIN_EXPONENT: i32 = 8;
const CLIP: f64 = 2.0;

/// What a step does.
#[derive(Clone, Copy)]
struct Spec {
    lr: f64,
    follow: f64,
    is_masked: bool,
    holds: bool,
    projection: Option<Projection>,
    /// The fraction bits of grids that all weights are on.
    grid: Option<i32>,
}

impl Spec {
    const DENSE: Self =
        Self { lr: 0.05, follow: 0.25, is_masked: false, holds: false, projection: None, grid: None };

    fn numbers(&self, done: u64) -> StepNumbers {
        let mut numbers = StepNumbers::new(MOMENTUM, DECAY, done, self.lr).following(self.follow as f32);
        if self.is_masked {
            numbers = numbers.masked(self.holds);
        }
        self.projection.map_or(numbers, |projection| numbers.projecting(projection))
    }
}

/// The stages dense, gradual projections, frozen and quantized, a few steps each.
fn specs() -> Vec<Spec> {
    let dense = Spec::DENSE;
    let held = Spec { is_masked: true, holds: true, lr: 0.03, ..dense };
    let frozen = Spec { is_masked: true, ..dense };
    let quantized = Spec { grid: Some(9), follow: 0.5, ..frozen };
    let projecting = |spec: Spec, progress: f64, least: f64| {
        let projection = Projection { progress, least, trust: 0.75 };
        Spec { projection: Some(projection), follow: 1.0, ..spec }
    };
    vec![
        dense,
        dense,
        projecting(dense, 0.4, 0.0),
        held,
        held,
        projecting(held, 1.0, 0.28),
        held,
        frozen,
        held,
        // It would keep more than there are.
        projecting(held, 0.1, 0.0),
        quantized,
        quantized,
    ]
}

/// The kept fraction of a view at the end.
fn target(view: &View) -> f64 {
    match view.name.as_str() {
        "layer0.w2" => 0.3,
        "layer0.u" => 0.25,
        _ => 1.0,
    }
}

/// A network with what its optimiser keeps, in f64.
#[derive(Clone, Default)]
struct Plain {
    parameters: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    average: Vec<f64>,
    held: Vec<f64>,
    mask: Vec<u8>,
}

impl Plain {
    /// The state of a network on a device.
    fn read(plan: &CohortPlan, network: usize, optimizer: &Optimizer) -> Self {
        let range = plan.parameters(network);
        let of = |buffer: &Buffer<f32>| {
            let values = buffer.to_vec().unwrap();
            values.get(range.clone()).unwrap_or(&[]).iter().map(|&value| value.into()).collect()
        };
        Self {
            parameters: of(&optimizer.parameters),
            first: of(&optimizer.first),
            second: of(&optimizer.second),
            average: of(&optimizer.average),
            held: of(&optimizer.held),
            mask: optimizer.mask.to_vec().unwrap()[range.clone()].to_vec(),
        }
    }

    fn step(&mut self, layout: &Layout, kind: OptimizerKind, spec: &Spec, done: u64, gradient: &[f32]) {
        if !spec.is_masked {
            self.mask.fill(1);
        }
        let is_kept = |mask: &[u8], i: usize| mask[i] != 0;
        let squares = (0..gradient.len()).filter(|&i| is_kept(&self.mask, i));
        let norm = squares.map(|i| f64::from(gradient[i]).powi(2)).sum::<f64>().sqrt();
        let factor = if norm > CLIP { CLIP / norm } else { 1.0 };
        let t = done as i32 + 1;
        for view in layout.views() {
            let decay = if view.role == Role::Weight { DECAY } else { 0.0 };
            for i in view.range() {
                let mut g = f64::from(gradient[i]) * factor;
                if !is_kept(&self.mask, i) {
                    self.held[i] = if spec.holds { self.held[i] + g } else { 0.0 };
                    g = 0.0;
                }
                let p = self.parameters[i];
                self.parameters[i] = match kind {
                    OptimizerKind::Sgd => p - spec.lr * (g + decay * p),
                    OptimizerKind::Nesterov => {
                        let g = g + decay * p;
                        self.first[i] = MOMENTUM * self.first[i] + g;
                        p - spec.lr * (g + MOMENTUM * self.first[i])
                    }
                    OptimizerKind::Adam | OptimizerKind::AdamW => {
                        let is_coupled = kind == OptimizerKind::Adam;
                        let g = if is_coupled { g + decay * p } else { g };
                        let shrink = if is_coupled { 1.0 } else { 1.0 - spec.lr * decay };
                        self.first[i] = MOMENTUM * self.first[i] + (1.0 - MOMENTUM) * g;
                        self.second[i] = 0.999 * self.second[i] + 0.001 * g * g;
                        let m = self.first[i] / (1.0 - MOMENTUM.powi(t));
                        let v = self.second[i] / (1.0 - 0.999f64.powi(t));
                        p * shrink - spec.lr * m / (v.sqrt() + 1e-8)
                    }
                };
            }
        }
        if let Some(projection) = spec.projection {
            layout.views().iter().filter(|view| target(view) < 1.0).for_each(|view| {
                self.project(view, projection, spec.lr, t);
            });
        }
        if let Some(exponent) = spec.grid {
            let limit = 127.0 * f64::from(-exponent).exp2();
            for view in layout.views().iter().filter(|view| view.role == Role::Weight) {
                self.parameters[view.range()].iter_mut().for_each(|p| *p = p.clamp(-limit, limit));
            }
        }
        for view in layout.views().iter().filter(|view| view.role == Role::Gain) {
            let limit = 127.0 * f64::from(-GAIN_EXPONENT).exp2();
            self.parameters[view.range()].iter_mut().for_each(|p| *p = p.clamp(-limit, limit));
        }
        for (average, p) in self.average.iter_mut().zip(&self.parameters) {
            *average += spec.follow * (p - *average);
        }
    }

    fn project(&mut self, view: &View, projection: Projection, lr: f64, t: i32) {
        let Projection { progress, least, trust } = projection;
        let kept: Vec<usize> = view.range().filter(|&i| self.mask[i] != 0).collect();
        let outside: Vec<usize> = view.range().filter(|&i| self.mask[i] == 0).collect();
        let seconds = |i: &usize| self.second.get(*i).unwrap_or(&0.0);
        let typical = kept.iter().map(seconds).sum::<f64>() / kept.len() as f64;
        let unbiased = typical / (1.0 - 0.999f64.powi(t));
        let step = if self.second.is_empty() { lr } else { lr / (unbiased.sqrt() + 1e-8) };
        for &i in &outside {
            self.parameters[i] = -step * f64::from(trust) * self.held[i];
            if let Some(second) = self.second.get_mut(i) {
                *second = typical;
            }
        }
        let end = target(view).max(least);
        let fraction = end + (1.0 - end) * (1.0 - progress).powi(3);
        let keep = ((fraction * view.len() as f64 - 1e-9).ceil() as usize).min(kept.len());
        let mut order: Vec<usize> = view.range().collect();
        order.sort_by(|&a, &b| self.parameters[b].abs().total_cmp(&self.parameters[a].abs()).then(a.cmp(&b)));
        for (place, &i) in order.iter().enumerate() {
            self.mask[i] = u8::from(place < keep);
            self.held[i] = 0.0;
            if place >= keep {
                for values in [&mut self.parameters, &mut self.first, &mut self.second] {
                    values.get_mut(i..=i).into_iter().for_each(|value| value.fill(0.0));
                }
            }
        }
    }

    fn check(&self, found: &Self, is_masked: bool, what: &str) {
        let close = |name: &str, found: &[f64], expected: &[f64], least: f64| {
            assert_eq!(found.len(), expected.len(), "{what}: {name}");
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                let error = (found - expected).abs();
                assert!(
                    error <= 1e-6 * expected.abs() + least,
                    "{what}: {name} {i} is {found}, not {expected}"
                );
            }
        };
        if is_masked {
            let wrong = (0..self.mask.len()).find(|&i| found.mask[i] != self.mask[i]);
            assert_eq!(wrong, None, "{what}: an entry with another mask");
        }
        close("parameter", &found.parameters, &self.parameters, 3e-7);
        close("first moment", &found.first, &self.first, 3e-8);
        close("second moment", &found.second, &self.second, 1e-12);
        close("average", &found.average, &self.average, 3e-7);
        close("held gradient", &found.held, &self.held, 3e-6);
    }
}

fn networks() -> [Network; 2] {
    // The second one has several chunks.
    [9, 64].map(|hidden| {
        let cell = Cell::new(CellKind::FastGrnnGain, 5, hidden).with_ranks(Some(3), None);
        Network::new(vec![cell], 3)
    })
}

/// A cohort with an optimiser of its networks, which start from numbers of which many are equal.
fn cohort(
    device: &Device,
    networks: &[Network],
    kind: OptimizerKind,
    clip: f64,
    steps: usize,
) -> (Cohort, Optimizer) {
    let plan = CohortPlan::new(networks, 8, 1, |_, view| target(view)).unwrap();
    let cohort = Cohort::new(device, plan.clone()).unwrap();
    let settings = vec![OptimizerSettings::new(kind, MOMENTUM, DECAY, clip); networks.len()];
    let room = OptimizerRoom { steps, has_average: true, projects: true };
    let mut optimizer = Optimizer::new(device, &cohort, kind, &settings, room).unwrap();
    for network in 0..networks.len() {
        let range = plan.parameters(network);
        let values: Vec<f32> = (0..range.len()).map(|i| 0.17 * ((i * 7 % 9) as f32 - 4.0) + 0.01).collect();
        optimizer.parameters.write(range.start, &values).unwrap();
        optimizer.average.write(range.start, &values).unwrap();
    }
    (cohort, optimizer)
}

/// A gradient of a step of which many entries are equal.
fn gradient(step: usize, len: usize, rng: &mut Rng) -> Vec<f32> {
    let values: Vec<f32> = (0..15).map(|_| 0.1 * rng.normal() as f32).collect();
    (0..len).map(|i| values[i % 5 + 5 * (i / 11 % 3)] * (1.0 + 0.1 * step as f32)).collect()
}

/// The bits of everything that an optimiser keeps.
fn bits(optimizer: &Optimizer) -> Vec<u32> {
    let Optimizer { parameters, first, second, average, held, mask, .. } = optimizer;
    let numbers = [parameters, first, second, average, held].into_iter();
    let numbers = numbers.flat_map(|buffer| buffer.to_vec().unwrap().into_iter().map(f32::to_bits));
    numbers.chain(mask.to_vec().unwrap().into_iter().map(u32::from)).collect()
}

/// Runs all stages; `check` gets the state before and after each step of each network, and what it did.
fn drive(
    device: &Device,
    kind: OptimizerKind,
    mut check: impl FnMut(usize, usize, &Spec, &[f32], Plain, &Plain),
) -> Vec<u32> {
    let (networks, specs) = (networks(), specs());
    let (cohort, mut optimizer) = cohort(device, &networks, kind, CLIP, specs.len());
    let plan = cohort.plan();
    let rows: Vec<_> = specs.iter().enumerate().map(|(done, spec)| spec.numbers(done as u64)).collect();
    (0..networks.len()).for_each(|network| optimizer.plan_steps(network, &rows).unwrap());
    let plain = device.record(|| optimizer.step(&cohort, None, false)).unwrap();
    let projecting = device.record(|| optimizer.step(&cohort, None, true)).unwrap();
    let mut rng = Rng::new(5);
    for (number, spec) in specs.iter().enumerate() {
        let mut before = Vec::new();
        for (i, network) in networks.iter().enumerate() {
            let layout = network.layout();
            let mut gradient = gradient(number, layout.len(), &mut rng);
            let state = Plain::read(plan, i, &optimizer);
            // Some entries outside the support want back.
            for entry in (0..layout.len()).filter(|&entry| spec.holds && state.mask[entry] == 0) {
                gradient[entry] *= if entry % 13 == 5 { 300.0 } else { 1.0 };
            }
            optimizer.gradient.write(plan.parameters(i).start, &gradient).unwrap();
            before.push((state, gradient));
            for (place, view) in layout.views().iter().enumerate() {
                let grid = match view.role {
                    Role::Weight => spec.grid.map_or(ViewGrid::default(), ViewGrid::of_exponent),
                    // A limit without a grid, at every step.
                    Role::Gain => ViewGrid::reach_of_exponent(GAIN_EXPONENT),
                    _ => continue,
                };
                optimizer.grids.write(i * plan.view_stride() + place, &[grid]).unwrap();
            }
        }
        device.run(if spec.projection.is_some() { &projecting } else { &plain }).unwrap();
        let progress = optimizer.progress.to_vec().unwrap();
        let done = Progress { step: number as u64 + 1, batch: number as i32 + 1, status: 0 };
        assert_eq!(progress, [done; 2]);
        for (i, (before, gradient)) in before.into_iter().enumerate() {
            check(i, number, spec, &gradient, before, &Plain::read(plan, i, &optimizer));
        }
    }
    bits(&optimizer)
}

/// Checks each step of all stages, and returns the bits of what the optimiser keeps after them.
fn check_all(kind: OptimizerKind) -> Vec<u32> {
    let networks = networks();
    let (mut returned, mut limited) = (0, 0);
    let bits = drive(&emulated::device(), kind, |network, number, spec, gradient, before, after| {
        let layout = networks[network].layout();
        let mut expected = before.clone();
        expected.step(&layout, kind, spec, number as u64, gradient);
        let has_support = spec.is_masked || spec.projection.is_some();
        expected.check(after, has_support, &format!("step {number} of network {network}"));
        let u = layout.view("layer0.u").unwrap().range();
        let kept = after.mask[u.clone()].iter().filter(|&&kept| kept != 0).count();
        match number {
            2 => assert!(kept > u.len() / 3 && kept < u.len()),
            // A fraction of 0.28, not of the target.
            5.. => assert_eq!(kept, (0.28 * u.len() as f64).ceil() as usize),
            _ => {}
        }
        let returns = |i: &usize| spec.is_masked && before.mask[*i] == 0 && after.mask[*i] != 0;
        returned += u.clone().filter(returns).count();
        let limit = spec.grid.map_or(f64::NAN, |exponent| 127.0 * f64::from(-exponent).exp2());
        limited += u.filter(|&i| after.parameters[i].abs() == limit).count();
    });
    assert!(returned > 0, "entries must be able to come back");
    assert!(limited > 0, "weights must reach the end of their grid");
    bits
}

#[test]
fn gradient_descent_follows_its_formula_in_all_stages() {
    check_all(OptimizerKind::Sgd);
}

#[test]
fn nesterov_follows_its_formula_in_all_stages() {
    check_all(OptimizerKind::Nesterov);
}

#[test]
fn adam_follows_its_formula_in_all_stages() {
    check_all(OptimizerKind::Adam);
}

#[test]
fn adam_with_decoupled_decay_follows_its_formula_in_all_stages() {
    let ascending = check_all(OptimizerKind::AdamW);
    let descending = drive(&emulated::descending_device(), OptimizerKind::AdamW, |_, _, _, _, _, _| {});
    assert!(ascending == descending, "threads in any order give the same bits");
}

/// The mask of U after a projection of these magnitudes that keeps a quarter.
fn kept_of(values: impl Fn(usize) -> f32) -> Vec<usize> {
    let (device, networks) = (emulated::device(), networks());
    let (cohort, mut optimizer) = cohort(&device, &networks[..1], OptimizerKind::Sgd, 0.0, 1);
    let u = networks[0].layout().view("layer0.u").unwrap().range();
    let values: Vec<f32> = (0..u.len()).map(values).collect();
    optimizer.parameters.write(u.start, &values).unwrap();
    // A learning rate of 0: what is projected are the parameters as they are.
    let projection = Projection { progress: 1.0, least: 0.0, trust: 1.0 };
    let numbers = Spec { lr: 0.0, follow: 1.0, projection: Some(projection), ..Spec::DENSE }.numbers(0);
    optimizer.plan_steps(0, &[numbers]).unwrap();
    optimizer.step(&cohort, None, true).unwrap();
    let after = Plain::read(cohort.plan(), 0, &optimizer);
    let kept: Vec<usize> = (0..u.len()).filter(|i| after.mask[u.start + i] != 0).collect();
    for (i, value) in values.iter().enumerate() {
        let expected = if kept.contains(&i) { f64::from(*value) } else { 0.0 };
        assert_eq!(after.parameters[u.start + i], expected);
        assert_eq!(after.average[u.start + i], expected);
    }
    assert!(after.mask[u.end..].iter().all(|&kept| kept == 1), "views that stay dense are in the support");
    kept
}

#[test]
fn exactly_the_largest_stay_and_the_first_of_equal_ones() {
    // A quarter of 81 entries is 21.
    let first: Vec<usize> = (0..21).collect();
    assert_eq!(kept_of(|_| 0.0), first);
    assert_eq!(kept_of(|i| if i % 2 == 0 { -0.5 } else { 0.5 }), first);
    let expected: Vec<usize> = [0, 3, 5, 8].into_iter().chain(9..24).chain([70, 80]).collect();
    let large = |i: usize| [0, 3, 5, 8, 70, 80].contains(&i);
    let found = kept_of(|i| match i {
        _ if large(i) => -1.0 - i as f32,
        9.. => 0.25,
        _ => 1e-30 * i as f32,
    });
    assert_eq!(found, expected);
    // Neighbouring numbers, down to the smallest difference.
    let found = kept_of(|i| f32::from_bits(1.0f32.to_bits() + i as u32 * 37 % 81));
    let expected: Vec<usize> = (0..81).filter(|i| i * 37 % 81 >= 60).collect();
    assert_eq!(found, expected);
    let found = kept_of(|i| f32::from_bits(i as u32 * 37 % 81));
    assert_eq!(found, expected, "denormal numbers have an order, too");
}

#[test]
fn a_network_that_is_not_finite_stops_and_the_others_go_on() {
    let device = emulated::device();
    let networks = vec![networks()[0].clone(); 5];
    let (cohort, mut optimizer) = cohort(&device, &networks, OptimizerKind::Nesterov, 0.0, 3);
    let plan = cohort.plan();
    let losses = device.upload(&[1.0, 2.0, 1.0, f64::INFINITY, 1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0]).unwrap();
    for network in 0..5 {
        let len = plan.parameters(network).len();
        let mut gradient = vec![0.5f32; len];
        match network {
            2 => gradient[len - 1] = f32::NAN,
            4 => gradient[7] = 3e38,
            _ => {}
        }
        let rows = [0, 1, 2].map(|done| Spec { lr: 10.0, ..Spec::DENSE }.numbers(done));
        optimizer.plan_steps(network, &rows).unwrap();
        optimizer.gradient.write(plan.parameters(network).start, &gradient).unwrap();
    }
    let before = optimizer.parameters.to_vec().unwrap();
    optimizer.step(&cohort, Some(&losses), false).unwrap();
    let state = |step: u64, status: i32| Progress { step, batch: step as i32, status };
    let stopped = |step: u64| {
        let (loss, norm, parameter) = (Progress::LOSS, Progress::NORM, Progress::PARAMETER);
        [state(step, 0), state(0, loss), state(0, norm), state(0, loss), state(0, parameter)]
    };
    assert_eq!(optimizer.progress.to_vec().unwrap(), stopped(1));
    let after = optimizer.parameters.to_vec().unwrap();
    assert_eq!(after[plan.parameters(2)], before[plan.parameters(2)], "a gradient of NaN moves nothing");
    optimizer.step(&cohort, None, false).unwrap();
    assert_eq!(optimizer.progress.to_vec().unwrap(), stopped(2));
    let later = optimizer.parameters.to_vec().unwrap();
    for network in 0..5 {
        let range = plan.parameters(network);
        let is_same = (range.clone()).all(|i| after[i].to_bits() == later[i].to_bits());
        assert_eq!(is_same, network != 0, "{network}");
    }
    // The table has three rows.
    optimizer.step(&cohort, None, false).unwrap();
    let last = bits(&optimizer);
    optimizer.step(&cohort, None, false).unwrap();
    assert_eq!(bits(&optimizer), last);
    assert_eq!(optimizer.progress.to_vec().unwrap(), stopped(3));
}
