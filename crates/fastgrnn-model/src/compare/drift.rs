//! How far two runs of states are apart, step by step.

use super::walk::Value;
use serde::Serialize;

/// Points of a series; longer sequences share a point between neighbouring steps.
const MOST_POINTS: usize = 512;

/// The distance of one layer's states over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The layer, from 0.
    pub layer: usize,
    /// Which state: `h`, or an LSTM's `c`.
    pub value: &'static str,
    /// Root mean square of the first model's states, over everything followed.
    pub scale: f64,
    /// Mean absolute difference.
    pub mean: f64,
    /// Largest absolute difference.
    pub max: f64,
    /// `mean` as a share of `scale`.
    pub relative: f64,
    /// The series over time.
    pub points: Vec<DriftPoint>,
}

/// The distance at one step, or over a few neighbouring ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DriftPoint {
    /// The step, from 1; the last one where several share the point.
    pub step: usize,
    /// Sequences and steps that it covers.
    pub n: u64,
    /// Mean absolute difference.
    pub mean: f64,
    /// Largest absolute difference.
    pub max: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    steps: u64,
    absolute: f64,
    largest: f64,
}

/// Gathers distances.
pub(super) struct Follower {
    values: Vec<Value>,
    /// Steps that share a point.
    width: usize,
    last: usize,
    /// One row a value.
    sums: Vec<Vec<Sums>>,
    /// Of the first model's states, squared.
    squares: Vec<f64>,
}

impl Follower {
    pub(super) fn new(values: Vec<Value>, steps: usize) -> Self {
        let width = steps.div_ceil(MOST_POINTS).max(1);
        let sums = vec![vec![Sums::default(); steps.div_ceil(width)]; values.len()];
        let squares = vec![0.0; values.len()];
        Self { values, width, last: steps, sums, squares }
    }

    /// Takes in the states of one sequence, a row a step.
    pub(super) fn see(&mut self, a: &[f32], b: &[f32]) {
        let entries: usize = self.values.iter().map(|v| v.entries).sum();
        for (step, (mut a, mut b)) in a.chunks_exact(entries).zip(b.chunks_exact(entries)).enumerate() {
            for (v, value) in self.values.iter().enumerate() {
                let (own_a, own_b);
                ((own_a, a), (own_b, b)) = (a.split_at(value.entries), b.split_at(value.entries));
                let sums = &mut self.sums[v][step / self.width];
                sums.steps += 1;
                for (a, b) in own_a.iter().zip(own_b) {
                    let distance = (f64::from(*a) - f64::from(*b)).abs();
                    sums.absolute += distance;
                    sums.largest = sums.largest.max(distance);
                    self.squares[v] += f64::from(*a).powi(2);
                }
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Drift> {
        let parts = self.values.iter().zip(&self.sums).zip(&self.squares);
        parts.map(|((value, sums), squares)| self.drift(value, sums, *squares)).collect()
    }

    fn drift(&self, value: &Value, sums: &[Sums], squares: f64) -> Drift {
        let entries = value.entries.max(1) as f64;
        let mean = |absolute: f64, steps: u64| absolute / (steps.max(1) as f64 * entries);
        let points = sums.iter().enumerate().map(|(i, s)| DriftPoint {
            step: ((i + 1) * self.width).min(self.last),
            n: s.steps,
            mean: mean(s.absolute, s.steps),
            max: s.largest,
        });
        let steps: u64 = sums.iter().map(|s| s.steps).sum();
        let all = mean(sums.iter().map(|s| s.absolute).sum(), steps);
        let scale = (squares / (steps.max(1) as f64 * entries)).sqrt();
        Drift {
            layer: value.layer,
            value: value.name,
            scale,
            mean: all,
            max: sums.iter().fold(0.0, |top, s| top.max(s.largest)),
            relative: if scale > 0.0 { all / scale } else { 0.0 },
            points: points.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_kept_by_step_and_value() {
        let values =
            vec![Value { layer: 0, name: "h", entries: 2 }, Value { layer: 1, name: "h", entries: 1 }];
        let mut follower = Follower::new(values, 2);
        follower.see(&[3.0, -3.0, 1.0, 3.0, 3.0, 1.0], &[3.0, -3.0, 1.0, 2.0, 3.0, -1.0]);
        follower.see(&[3.0, 3.0, 1.0], &[3.5, 3.0, 1.0]);
        let drift = follower.finish();
        assert_eq!((drift[0].scale, drift[0].max), (3.0, 1.0));
        assert_eq!(drift[0].points[0], DriftPoint { step: 1, n: 2, mean: 0.125, max: 0.5 });
        assert_eq!(drift[0].points[1], DriftPoint { step: 2, n: 1, mean: 0.5, max: 1.0 });
        assert_eq!((drift[1].mean, drift[1].relative), (2.0 / 3.0, 2.0 / 3.0));
    }

    #[test]
    fn long_sequences_share_points_and_lose_no_step() {
        let mut follower = Follower::new(vec![Value { layer: 0, name: "h", entries: 1 }], 1_300);
        let (a, mut b) = (vec![0.0; 1_300], vec![0.0; 1_300]);
        b[1_299] = 7.0;
        follower.see(&a, &b);
        let drift = follower.finish().remove(0);
        assert!(drift.points.len() <= MOST_POINTS);
        assert_eq!(drift.points.iter().map(|p| p.n).sum::<u64>(), 1_300);
        let last = drift.points.last().unwrap();
        assert_eq!((last.step, last.max), (1_300, 7.0));
    }
}
