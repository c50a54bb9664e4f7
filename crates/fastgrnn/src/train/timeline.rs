//! Assigns the batches of a run to its stages, as a pure function of the batch number.

use fastgrnn_model::settings::{Stage, StageKind, Stages};

/// The stages of a run laid out over its batches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timeline {
    stages: Vec<Stage>,
    /// First batch of each stage, then the number of batches.
    starts: Vec<u64>,
}

/// What one batch does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepPlan {
    /// The kind of its stage.
    pub kind: StageKind,
    /// What a projection after this batch aims at; `None` between projections.
    pub projection: Option<Projection>,
}

/// How much a projection keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Projection {
    /// How far a gradual stage has come, from 0 to 1; 1 for all others.
    pub progress: f64,
    /// The least fraction to keep.
    pub least: f64,
    /// Batches since the projection before.
    every: u64,
}

/// Batches for which the gradient of an entry that does not move may be taken for constant.
const TRUSTED: u64 = 15;

impl Projection {
    /// How much of the sum of gradients since the projection before makes a step.
    pub(super) fn trust(&self) -> f32 {
        TRUSTED.min(self.every) as f32 / self.every as f32
    }

    /// The kept fraction of a matrix that is to end at `target`: a cubic fall from 1, fast while
    /// there is much to spare.
    pub(super) fn keep(&self, target: f64) -> f64 {
        let target = target.max(self.least);
        target + (1.0 - target) * (1.0 - self.progress).powi(3)
    }
}

impl Timeline {
    /// Lays `stages` over `total` batches. Each gets at least one, the first ones first, so that
    /// rounding never drops a stage that others rely on.
    pub(super) fn new(stages: &Stages, total: u64) -> Self {
        let sum: f64 = stages.0.iter().map(|s| s.share).sum();
        let (mut starts, mut done) = (vec![0], 0.0);
        for (i, stage) in stages.0.iter().enumerate() {
            done += stage.share / sum;
            let (previous, left) = (starts[i], (stages.0.len() - 1 - i) as u64);
            let end = (done * total as f64).round() as u64;
            starts.push(end.min(total.saturating_sub(left)).max(previous + 1).min(total));
        }
        Self { stages: stages.0.clone(), starts }
    }

    /// Batches after which parameters are of the kind that the run is to end with: the last
    /// `project` stage is over, and a `quantized` one, if there is any, has begun.
    pub(super) fn settled(&self) -> u64 {
        let settles = self.stages.iter().enumerate().map(|(i, stage)| match stage.kind {
            StageKind::Project { .. } => self.starts[i + 1],
            StageKind::Quantized => self.starts[i] + 1,
            StageKind::Dense | StageKind::Frozen => 0,
        });
        settles.max().unwrap_or(0)
    }

    /// What batch `step` does, from 0. Beyond the end it is the last stage's.
    pub(super) fn at(&self, step: u64) -> StepPlan {
        let last = self.stages.len() - 1;
        let index = self.starts[1..].iter().position(|&end| step < end).unwrap_or(last);
        let (kind, start) = (self.stages[index].kind, self.starts[index]);
        let projection = match kind {
            StageKind::Project { every, keep, gradual } if (step - start).is_multiple_of(every) => {
                let (done, of) =
                    ((step - start) / every + 1, (self.starts[index + 1] - start).div_ceil(every));
                let progress = if gradual { (done as f64 / of as f64).min(1.0) } else { 1.0 };
                Some(Projection { progress, least: keep.unwrap_or(0.0), every })
            }
            _ => None,
        };
        StepPlan { kind, projection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(text: &str, total: u64) -> Timeline {
        Timeline::new(&text.parse().unwrap(), total)
    }

    #[test]
    fn thirds_of_the_batches_are_dense_projected_and_frozen() {
        let timeline = timeline("dense:1/3,project:1/3,frozen:1/3", 90);
        let names: Vec<&str> = (0..90).map(|s| timeline.at(s).kind.name()).collect();
        assert!(names[..30].iter().all(|n| *n == "dense"));
        assert!(names[30..60].iter().all(|n| *n == "project"));
        assert!(names[60..].iter().all(|n| *n == "frozen"));
        let projections: Vec<u64> = (0..90).filter(|&s| timeline.at(s).projection.is_some()).collect();
        assert_eq!(projections, [30, 45]);
        assert_eq!(timeline.at(1_000).kind, StageKind::Frozen);
    }

    #[test]
    fn a_gradual_stage_falls_to_its_target_and_reaches_it_with_its_last_projection() {
        let timeline = timeline("project:1:every=10:gradual", 35);
        let kept: Vec<f64> = (0..35).filter_map(|s| timeline.at(s).projection).map(|p| p.keep(0.2)).collect();
        assert_eq!(kept.len(), 4);
        assert!(kept.windows(2).all(|pair| pair[1] < pair[0]), "{kept:?}");
        assert!((kept[0] - (0.2 + 0.8 * 0.421875)).abs() < 1e-12);
        assert_eq!(kept[3], 0.2);
    }

    #[test]
    fn a_stage_may_stop_on_the_way() {
        let timeline = timeline("project:1/2:keep=0.5,project:1/2", 10);
        assert_eq!(timeline.at(0).projection.unwrap().keep(0.3), 0.5);
        assert_eq!(timeline.at(0).projection.unwrap().keep(0.8), 0.8);
        assert_eq!(timeline.at(5).projection.unwrap().keep(0.3), 0.3);
    }

    #[test]
    fn a_run_is_settled_once_its_last_projecting_stage_is_over_and_grids_are_there() {
        for (text, settled) in [
            ("dense:1", 0),
            ("project:1", 60),
            ("dense:1/3,project:1/3,frozen:1/3", 40),
            ("project:1/3:keep=0.5,dense:1/3,project:1/6,frozen:1/6", 50),
            ("dense:1/3,project:1/3,frozen:1/6,quantized:1/6", 51),
            ("dense:1/2,quantized:1/2", 31),
            ("project:1/2,quantized:1/2", 31),
        ] {
            assert_eq!(timeline(text, 60).settled(), settled, "{text}");
        }
    }

    #[test]
    fn no_stage_is_lost_to_rounding_and_the_first_ones_come_first() {
        let of = |total| {
            let timeline = timeline("dense:0.98,project:0.01,frozen:0.01", total);
            (0..total).map(|s| timeline.at(s).kind.name()).collect::<Vec<_>>()
        };
        assert_eq!(of(3), ["dense", "project", "frozen"]);
        assert_eq!(of(2), ["dense", "project"]);
        assert_eq!(of(1), ["dense"]);
    }
}
