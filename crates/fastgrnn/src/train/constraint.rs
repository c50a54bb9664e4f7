//! The constraints that training stages put on the parameters: a support outside which they are
//! zero, and grids to which they are rounded for the gradient.
//!
//! Entries outside the support are exactly zero, and so are their moments; a gradient of zero then
//! keeps them there under every optimiser, decay and momentum included. In a `project` stage their
//! gradients are added up instead: at the next projection each competes with the one step that it
//! was held back from. Without that a projection would compare weights of many steps with the
//! first step of an optimiser that has just forgotten them, which for Adam is the same for all.
//! The paper gives a pruned entry the step of one batch instead.

use super::Config;
use super::learnt_steps;
use super::optim::Optim;
use super::timeline::{Projection, StepPlan, Timeline};
use fastgrnn_core::cells::Role;
use fastgrnn_core::net::{Layout, View};
use fastgrnn_model::quantize::{Grid, StepGrid};
use fastgrnn_model::settings::StageKind;
use serde::{Deserialize, Serialize};

/// The stages of one pass, and how much each view is to keep.
pub(super) struct StageSchedule {
    timeline: Timeline,
    /// Kept fraction of each view at the end; 1 for those that stay dense.
    targets: Vec<f64>,
}

/// The constraints on the parameters at the current batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Constraint {
    /// 1 where an entry may be other than zero; empty while all may.
    #[serde(skip)]
    pub mask: Vec<u8>,
    /// Gradients outside the support since the last projection; empty where none is to come.
    #[serde(skip)]
    pub held: Vec<f32>,
    /// The grid of each weight view, in order; empty while there are none.
    pub grids: Vec<WeightGrid>,
}

/// The grid of a weight view. In files it is its exponent, or `null` for one that is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum WeightGrid {
    /// That of bytes, chosen once.
    Fixed(Grid),
    /// That of 4 bits, whose step is a parameter.
    Learnt,
}

impl StageSchedule {
    /// The stages of `config` over `total` batches.
    pub(super) fn new(config: &Config, layout: &Layout, total: u64) -> Self {
        let target = |view: &View| if view.role == Role::Weight { config.kept(&view.name) } else { 1.0 };
        Self {
            timeline: Timeline::new(&config.training.stages, total),
            targets: layout.views().iter().map(target).collect(),
        }
    }

    /// What batch `step` does.
    pub(super) fn at(&self, step: u64) -> StepPlan {
        self.timeline.at(step)
    }

    /// Whether parameters after `done` batches are of the kind that the run is to end with. A
    /// support of the final size is not enough: the next projection may still exchange it.
    pub(super) fn is_settled(&self, done: u64) -> bool {
        done >= self.timeline.settled()
    }

    /// Moves what was held back by one step at the learning rate `lr`, keeps the largest entries
    /// of every sparse view and forgets the others, moments included.
    pub(super) fn project(
        &self,
        projection: Projection,
        constraint: &mut Constraint,
        layout: &Layout,
        params: &mut [f32],
        optim: &mut Optim,
        lr: f64,
    ) {
        let Constraint { mask, held, .. } = constraint;
        mask.resize(params.len(), 1);
        for (view, &target) in layout.views().iter().zip(&self.targets).filter(|(_, t)| **t < 1.0) {
            let (range, outside) = (view.range(), |m: &[u8], i: usize| m[i] == 0);
            let kept: Vec<u8> = mask[range.clone()].to_vec();
            let second = optim.typical_second(range.clone(), &kept);
            let step = optim.step_size(second, lr) * projection.trust();
            let values = &mut params[range.clone()];
            for i in (0..values.len()).filter(|&i| outside(&kept, i)) {
                values[i] = -step * held.get(range.start + i).unwrap_or(&0.0);
            }
            // A stage that begins anew, gradually, gives nothing back.
            let keep = kept_of(projection.keep(target), kept.len()).min(nonzero(&kept));
            largest(values, keep, &mut mask[range.clone()]);
            for i in (0..kept.len()).filter(|&i| outside(&kept, i)) {
                optim.begin(range.start + i, second);
            }
        }
        for buffer in [params, &mut optim.first, &mut optim.second] {
            buffer.iter_mut().zip(&*mask).filter(|(_, m)| **m == 0).for_each(|(v, _)| *v = 0.0);
        }
        held.clear();
    }
}

impl Constraint {
    /// Applies the constraints of the stage that a batch belongs to, before its gradient. `average` is that of the
    /// parameters; empty where there is none.
    pub(super) fn begin_stage(
        &mut self,
        kind: StageKind,
        layout: &Layout,
        params: &mut [f32],
        average: &mut [f32],
    ) {
        if kind.projects() {
            self.held.resize(self.mask.len(), 0.0);
        } else {
            self.held.clear();
        }
        match kind {
            StageKind::Dense => self.mask.clear(),
            StageKind::Quantized if self.grids.is_empty() => self.set_grids(layout, params, average),
            _ => {}
        }
    }

    /// Chooses the grids of the weights as they are. Steps that are learnt get their first values, those of the average
    /// from its own weights.
    pub(super) fn set_grids(&mut self, layout: &Layout, params: &mut [f32], average: &mut [f32]) {
        layout.start_steps(params);
        if !average.is_empty() {
            layout.start_steps(average);
        }
        self.grids = grids(layout, params);
    }

    /// Turns the gradient by the parameters that the network sees into that by the parameters, where steps are learnt.
    pub(super) fn pull_back(&self, layout: &Layout, params: &[f32], gradient: &mut [f32]) {
        match self.grids.is_empty() {
            true => learnt_steps::clear(layout, gradient),
            false => learnt_steps::pull_back(layout, params, gradient),
        }
    }

    /// Moves the gradient of entries outside the support to `outside`.
    pub(super) fn mask_gradient(&self, gradient: &mut [f32], outside: &mut Vec<f32>) {
        outside.clear();
        outside.resize(self.mask.len(), 0.0);
        for ((g, &m), out) in gradient.iter_mut().zip(&self.mask).zip(outside) {
            if m == 0 {
                *out = std::mem::take(g);
            }
        }
    }

    /// Adds up the gradients that [`mask_gradient`](Self::mask_gradient) took out, with the same scale as
    /// the rest of the gradient.
    pub(super) fn accumulate_masked(&mut self, outside: &[f32], factor: f32) {
        self.held.iter_mut().zip(outside).for_each(|(held, g)| *held += factor * g);
    }

    /// Keeps weights within the reach of their grids, and gains within that of their bytes at any time. A step that is
    /// learnt moves to weights out of its reach.
    pub(super) fn clamp(&self, layout: &Layout, params: &mut [f32]) {
        for (view, grid) in fixed(layout, &self.grids) {
            params[view.range()].iter_mut().for_each(|w| *w = w.clamp(-grid.limit(), grid.limit()));
        }
    }

    /// The parameters as the network sees them: on their grids, where there are some.
    pub(super) fn effective_params<'a>(
        &self,
        layout: &Layout,
        params: &'a [f32],
        rounded: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        if self.grids.is_empty() {
            return params;
        }
        rounded.clear();
        rounded.extend_from_slice(params);
        round(layout, &self.grids, rounded);
        rounded
    }
}

/// What is stored in bytes: matrices, and the vectors of tokens.
pub(super) fn weights(layout: &Layout) -> impl Iterator<Item = &View> {
    layout.views().iter().filter(|view| matches!(view.role, Role::Weight | Role::Embedding))
}

/// The views with a grid that stays, and that grid. The grid of gains is always the same.
fn fixed<'a>(layout: &'a Layout, grids: &'a [WeightGrid]) -> impl Iterator<Item = (&'a View, Grid)> {
    let of_weight = |(view, grid): (&'a View, &WeightGrid)| match grid {
        WeightGrid::Fixed(grid) => Some((view, *grid)),
        WeightGrid::Learnt => None,
    };
    let gains = layout.views().iter().filter(|view| view.role == Role::Gain);
    weights(layout).zip(grids).filter_map(of_weight).chain(gains.map(|view| (view, Grid::OF_GAINS)))
}

/// The grid of each weight view.
fn grids(layout: &Layout, params: &[f32]) -> Vec<WeightGrid> {
    let grid = |view: &View| match layout.stepped().any(|(matrix, _)| matrix == view) {
        true => WeightGrid::Learnt,
        false => WeightGrid::Fixed(Grid::of(&params[view.range()])),
    };
    weights(layout).map(grid).collect()
}

/// Moves every weight and gain to the nearest value of its grid, or of the best one where training had none. Steps of
/// matrices of 4 bits are what they are.
pub(super) fn round_to_grid(layout: &Layout, trained: &[WeightGrid], params: &mut [f32]) {
    match trained {
        [] => round(layout, &grids(layout, params), params),
        trained => round(layout, trained, params),
    }
}

fn round(layout: &Layout, grids: &[WeightGrid], params: &mut [f32]) {
    for (view, grid) in fixed(layout, grids) {
        params[view.range()].iter_mut().for_each(|w| *w = grid.nearest(*w));
    }
    round_to_steps(layout, params);
}

/// Moves every weight of 4 bits to the nearest value that its step gives.
pub(super) fn round_to_steps(layout: &Layout, params: &mut [f32]) {
    for (matrix, step) in layout.stepped() {
        let grid = StepGrid::of_log_step(params[step.offset]);
        params[matrix.range()].iter_mut().for_each(|w| *w = grid.nearest(*w));
    }
}

/// Gives every matrix of 4 bits the step with a small error for its values, where training had none.
pub(super) fn fit_steps(layout: &Layout, params: &mut [f32]) {
    for (matrix, step) in layout.stepped() {
        params[step.offset] = StepGrid::of(&params[matrix.range()]).step.ln();
    }
}

fn nonzero(mask: &[u8]) -> usize {
    mask.iter().filter(|&&m| m != 0).count()
}

/// ⌈s·n⌉, where a product that is whole but for the rounding of s counts as whole.
fn kept_of(fraction: f64, n: usize) -> usize {
    ((fraction * n as f64 - 1e-9).ceil().max(1.0) as usize).min(n)
}

/// Marks the `keep` entries of largest magnitude; of equal ones those that come first.
fn largest(values: &[f32], keep: usize, mask: &mut [u8]) {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    let size = |i: u32| values[i as usize].abs();
    if keep < values.len() {
        order.select_nth_unstable_by(keep, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
    }
    mask.fill(0);
    order[..keep].iter().for_each(|&i| mask[i as usize] = 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Choice, Optimizer, Stages};
    use fastgrnn_core::cells::{Cell, CellKind, WeightBits};
    use fastgrnn_core::net::Network;
    use fastgrnn_core::rng::Rng;

    fn layout() -> Layout {
        let cell = Cell::new(CellKind::FastGrnn, 5, 7).with_ranks(Some(3), None);
        Network::new(vec![cell], 3).layout()
    }

    fn schedule(stages: &str, total: u64, targets: impl Fn(&str) -> f64) -> StageSchedule {
        let stages: Stages = stages.parse().unwrap();
        StageSchedule {
            timeline: Timeline::new(&stages, total),
            targets: layout().views().iter().map(|v| targets(&v.name)).collect(),
        }
    }

    fn sparse(name: &str) -> f64 {
        match name {
            "layer0.w1" | "layer0.w2" => 0.3,
            "layer0.u" => 0.25,
            _ => 1.0,
        }
    }

    #[test]
    fn exactly_the_largest_stay_and_the_first_of_equal_ones() {
        let mut mask = [9; 6];
        largest(&[0.5, -2.0, 0.5, 0.0, -0.5, 1.0], 4, &mut mask);
        assert_eq!(mask, [1, 1, 1, 0, 0, 1]);
        largest(&[0.0; 6], 2, &mut mask);
        assert_eq!(mask, [1, 1, 0, 0, 0, 0]);
        largest(&[1.0; 6], 6, &mut mask);
        assert_eq!(mask, [1; 6]);
    }

    #[test]
    fn kept_counts_round_up_but_not_for_the_rounding_of_the_fraction() {
        assert_eq!(kept_of(0.07, 100), 7);
        assert_eq!((kept_of(0.3, 10), kept_of(0.31, 10)), (3, 4));
        assert_eq!((kept_of(1e-12, 10), kept_of(1.0, 10)), (1, 10));
    }

    /// Drives a schedule with random gradients and calls `check` after every batch.
    fn drive(
        schedule: &StageSchedule,
        total: u64,
        optimizer: Optimizer,
        mut check: impl FnMut(u64, StepPlan, &Constraint, &[f32], &Optim),
    ) {
        let layout = layout();
        let mut rng = Rng::keyed(3, &[1]);
        let mut params: Vec<f32> = (0..layout.len()).map(|_| 0.1 * rng.normal() as f32).collect();
        let mut optim = Optim::new(optimizer, 0.9, 0.1, layout.len());
        let (mut constraint, mut rounded, mut outside) = (Constraint::default(), Vec::new(), Vec::new());
        for step in 0..total {
            let now = schedule.at(step);
            constraint.begin_stage(now.kind, &layout, &mut params, &mut []);
            let seen = constraint.effective_params(&layout, &params, &mut rounded);
            assert_eq!(seen.len(), params.len());
            let mut gradient: Vec<f32> = (0..layout.len()).map(|_| rng.normal() as f32).collect();
            constraint.mask_gradient(&mut gradient, &mut outside);
            constraint.accumulate_masked(&outside, 1.0);
            optim.step(&layout, &mut params, &gradient, 0.2);
            if let Some(projection) = now.projection {
                schedule.project(projection, &mut constraint, &layout, &mut params, &mut optim, 0.2);
            }
            constraint.clamp(&layout, &mut params);
            check(step, now, &constraint, &params, &optim);
        }
    }

    #[test]
    fn at_every_batch_the_support_holds_and_what_is_pruned_has_no_moments() {
        let layout = layout();
        for optimizer in Optimizer::all() {
            let schedule = schedule("dense:1/4,project:1/4:every=5,frozen:1/4,quantized:1/4", 80, sparse);
            let (mut before, mut changed) = (Vec::new(), 0);
            drive(&schedule, 80, optimizer, |step, now, constraint, params, optim| {
                assert_eq!(constraint.mask.is_empty(), step < 20, "{step}");
                assert_eq!(constraint.grids.is_empty(), step < 60, "{step}");
                if step < 20 {
                    return;
                }
                if now.projection.is_none() {
                    assert_eq!(constraint.mask, before, "{optimizer} {step}");
                }
                changed += usize::from(!before.is_empty() && constraint.mask != before);
                before.clone_from(&constraint.mask);
                for (view, &target) in layout.views().iter().zip(&schedule.targets) {
                    let mask = &constraint.mask[view.range()];
                    assert_eq!(nonzero(mask), kept_of(target, view.len()), "{} {step}", view.name);
                }
                for i in (0..params.len()).filter(|&i| constraint.mask[i] == 0) {
                    assert_eq!(params[i], 0.0);
                    assert!(optim.first.get(i).is_none_or(|&m| m == 0.0), "{optimizer} {step}");
                    assert!(optim.second.get(i).is_none_or(|&v| v == 0.0), "{optimizer} {step}");
                }
            });
            assert!(changed > 0, "projections must be able to change the support: {optimizer}");
        }
    }

    #[test]
    fn an_entry_with_a_steady_gradient_comes_back_and_one_with_noise_does_not() {
        let layout = layout();
        let schedule = schedule("project:1:every=10", 20, |name| if name == "layer0.u" { 0.5 } else { 1.0 });
        let range = layout.view("layer0.u").unwrap().range();
        let (steady, noisy) = (range.end - 1, range.end - 2);
        for optimizer in [Optimizer::Nesterov, Optimizer::Adam, Optimizer::AdamW] {
            let mut params = vec![0.2; layout.len()];
            (params[steady], params[noisy]) = (0.0, 0.0);
            let mut optim = Optim::new(optimizer, 0.9, 0.0, layout.len());
            let (mut constraint, mut outside) = (Constraint::default(), Vec::new());
            for step in 0..11 {
                let now = schedule.at(step);
                constraint.begin_stage(now.kind, &layout, &mut params, &mut []);
                let sign = if step % 2 == 0 { 1.0 } else { -1.0 };
                let mut gradient = vec![0.01 * sign; layout.len()];
                (gradient[steady], gradient[noisy]) = (-5.0, 5.0 * sign);
                constraint.mask_gradient(&mut gradient, &mut outside);
                constraint.accumulate_masked(&outside, 1.0);
                optim.step(&layout, &mut params, &gradient, 0.01);
                if let Some(projection) = now.projection {
                    schedule.project(projection, &mut constraint, &layout, &mut params, &mut optim, 0.01);
                }
            }
            assert_eq!((constraint.mask[steady], constraint.mask[noisy]), (1, 0), "{optimizer}");
            assert!(params[steady] > 0.2, "it has moved against its gradient");
        }
    }

    #[test]
    fn a_gradual_support_only_shrinks_and_is_settled_at_its_final_size() {
        let layout = layout();
        let schedule = schedule("dense:1/4,project:1/2:every=4:gradual,frozen:1/4", 40, sparse);
        let mut last = usize::MAX;
        drive(&schedule, 40, Optimizer::Adam, |step, _, constraint, _, _| {
            assert_eq!(schedule.is_settled(step + 1), step >= 29);
            if step >= 10 {
                assert!(nonzero(&constraint.mask) <= last);
                last = nonzero(&constraint.mask);
            }
            for (view, &target) in layout.views().iter().zip(&schedule.targets).filter(|_| step >= 29) {
                let mask = &constraint.mask[view.range()];
                assert_eq!(nonzero(mask), kept_of(target, mask.len()), "{}", view.name);
            }
        });
    }

    #[test]
    fn weights_are_seen_on_grids_that_stay_and_stay_within_their_reach() {
        let layout = layout();
        let schedule = schedule("dense:1/2,quantized:1/2", 20, |_| 1.0);
        let mut fixed: Option<Vec<WeightGrid>> = None;
        drive(&schedule, 20, Optimizer::Adam, |step, _, constraint, params, _| {
            assert_eq!(schedule.is_settled(step + 1), step >= 10);
            if step < 10 {
                return;
            }
            assert_eq!(fixed.get_or_insert_with(|| constraint.grids.clone()), &constraint.grids);
            let mut rounded = Vec::new();
            let seen = constraint.effective_params(&layout, params, &mut rounded);
            for (view, grid) in weights(&layout).zip(&constraint.grids) {
                let WeightGrid::Fixed(grid) = grid else { panic!("{} has 8 bits", view.name) };
                for i in view.range() {
                    assert!(params[i].abs() <= grid.limit());
                    assert_eq!(seen[i], grid.nearest(params[i]));
                }
            }
            let bias = layout.view("head.b").unwrap().range();
            assert_eq!(seen[bias.clone()], params[bias]);
        });
    }

    #[test]
    fn gains_stay_within_their_bytes_and_are_seen_on_their_grid() {
        let layout = Network::new(vec![Cell::new(CellKind::FastGrnnGain, 2, 3)], 2).layout();
        let gains = layout.view("layer0.gamma").unwrap().range();
        let mut params = vec![0.3; layout.len()];
        params[gains.clone()].copy_from_slice(&[7.0, -5.0, 1.01]);
        let mut constraint = Constraint::default();
        constraint.clamp(&layout, &mut params);
        assert_eq!(params[gains.clone()], [127.0 / 32.0, -127.0 / 32.0, 1.01]);
        let mut rounded = Vec::new();
        assert_eq!(constraint.effective_params(&layout, &params, &mut rounded)[gains.end - 1], 1.01);
        constraint.begin_stage(StageKind::Quantized, &layout, &mut params, &mut []);
        let seen = constraint.effective_params(&layout, &params, &mut rounded);
        assert_eq!(seen[gains], [127.0 / 32.0, -127.0 / 32.0, 1.0]);
    }

    #[test]
    fn rounded_parameters_find_their_grids_again() {
        for layout in [layout(), four_bits()] {
            let mut rng = Rng::keyed(5, &[]);
            let mut params: Vec<f32> = (0..layout.len()).map(|_| rng.normal() as f32).collect();
            fit_steps(&layout, &mut params);
            round_to_grid(&layout, &[], &mut params);
            let mut again = params.clone();
            round_to_grid(&layout, &[], &mut again);
            assert_eq!(again, params);
        }
    }

    /// A network of which W and the head have 4 bits.
    fn four_bits() -> Layout {
        let cell = Cell::new(CellKind::FastGrnn, 5, 7).with_ranks(Some(3), None);
        let cell = cell.with_bits(WeightBits::Four, WeightBits::Eight);
        Network { bits_head: WeightBits::Four, ..Network::new(vec![cell], 3) }.layout()
    }

    #[test]
    fn steps_begin_with_their_stage_and_are_learnt_from_then_on() {
        let layout = four_bits();
        let steps: Vec<(View, usize)> = layout.stepped().map(|(m, step)| (m.clone(), step.offset)).collect();
        assert_eq!(steps.len(), 3);
        let mut rng = Rng::keyed(6, &[]);
        let mut params: Vec<f32> = (0..layout.len()).map(|_| rng.normal() as f32).collect();
        let mut average: Vec<f32> = params.iter().map(|p| 0.5 * p).collect();
        let mut constraint = Constraint::default();
        constraint.begin_stage(StageKind::Dense, &layout, &mut params, &mut average);
        let mut gradient = vec![1.0; layout.len()];
        constraint.pull_back(&layout, &params, &mut gradient);
        assert!(steps.iter().all(|(_, at)| gradient[*at] == 0.0), "nothing is rounded yet");
        assert_eq!(gradient.iter().filter(|g| **g == 1.0).count(), layout.count());

        constraint.begin_stage(StageKind::Quantized, &layout, &mut params, &mut average);
        for (matrix, at) in &steps {
            assert_eq!(params[*at], WeightBits::first_log_step(&params[matrix.range()]), "{}", matrix.name);
            assert!((params[*at] - average[*at] - 2f32.ln()).abs() < 1e-5, "the average has its own");
        }
        let learnt: Vec<bool> = constraint.grids.iter().map(|grid| *grid == WeightGrid::Learnt).collect();
        assert_eq!(learnt, [true, true, false, true]);

        // As from a checkpoint, after steps of the optimiser.
        let text = serde_json::to_string(&constraint).unwrap();
        let mut constraint: Constraint = serde_json::from_str(&text).unwrap();
        steps.iter().for_each(|(_, at)| params[*at] -= 1.5);
        let before = params.clone();
        constraint.begin_stage(StageKind::Quantized, &layout, &mut params, &mut average);
        assert_eq!(params, before, "the stage has begun already");
        let mut rounded = Vec::new();
        let seen = constraint.effective_params(&layout, &params, &mut rounded).to_vec();
        let mut gradient = vec![1.0; layout.len()];
        constraint.pull_back(&layout, &params, &mut gradient);
        constraint.clamp(&layout, &mut params);
        for (matrix, at) in &steps {
            let grid = StepGrid::of_log_step(before[*at]);
            assert_ne!(gradient[*at], 0.0);
            for i in matrix.range() {
                assert_eq!(seen[i], grid.nearest(before[i]));
                assert_eq!(gradient[i], if grid.reaches(before[i]) { 1.0 } else { 0.0 });
                assert_eq!(params[i], before[i], "weights stay where they are");
            }
            assert!(matrix.range().any(|i| !grid.reaches(before[i])), "{}: all are in reach", matrix.name);
        }
    }
}
