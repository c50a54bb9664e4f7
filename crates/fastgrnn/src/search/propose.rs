//! Which points of a space are tried next.
//!
//! The model-based proposer is a tree-structured Parzen estimator (Bergstra et al. 2011): what was tried is divided into
//! the best quarter and the rest, each setting gets a density of both, and of several points drawn from the density of
//! the best the one is taken at which it is largest in relation to the other. It learns from the trials of the highest
//! rung that has enough of them, as Falkner et al. (2018) do.

use super::space::{Dimension, Point, Values};
use fastgrnn_core::choice;
use fastgrnn_core::rng::Rng;

choice! {
    /// How points are proposed.
    Proposer {
        /// By a model of the trials so far.
        Tpe = "tpe",
        /// Evenly at random.
        #[default]
        Random = "random",
    }
}

/// What a trial came to.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub point: Point,
    pub rung: usize,
    /// Larger is better; lowest for a training that diverged.
    pub quality: Quality,
}

/// How good a trial is: its score, then its loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quality {
    /// The figure by which epochs are compared; nothing for numbers, or where the training diverged.
    pub score: Option<f64>,
    pub loss: f64,
}

impl Quality {
    /// Of a training that diverged.
    pub const WORST: Self = Self { score: None, loss: f64::INFINITY };

    /// The better one first.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let score = |q: &Self| q.score.unwrap_or(f64::NEG_INFINITY);
        score(other).total_cmp(&score(self)).then(self.loss.total_cmp(&other.loss))
    }
}

/// Share of the observations that are good.
const GOOD_SHARE: f64 = 0.25;
/// Fewest observations that the model learns from.
const LEAST_OBSERVATIONS: usize = 6;
/// Points that are drawn for one that is proposed.
const DRAWN: usize = 24;
/// Share of the points that are proposed evenly at random all the same.
const EVEN_SHARE: f64 = 0.2;
/// The least width of a kernel, as a share of the range.
const LEAST_WIDTH: f64 = 0.08;

/// The densities of a dimension.
struct Density<'a> {
    values: &'a Values,
    good: Vec<f64>,
    rest: Vec<f64>,
}

/// What a proposer knows.
pub(super) struct Model<'a> {
    densities: Vec<Density<'a>>,
    is_learnt: bool,
}

impl<'a> Model<'a> {
    /// What `observations` teach.
    pub fn new(proposer: Proposer, dimensions: &'a [Dimension], observations: &[Observation]) -> Self {
        let of_rung = |rung: usize| -> Vec<&Observation> {
            observations.iter().filter(|observation| observation.rung == rung).collect()
        };
        let highest = observations.iter().map(|observation| observation.rung).max().unwrap_or(0);
        let least = LEAST_OBSERVATIONS.max(dimensions.len() + 2);
        let enough = (0..=highest).rev().map(of_rung).find(|found| found.len() >= least);
        let mut known = enough.unwrap_or_else(|| of_rung(0));
        known.sort_by(|a, b| a.quality.compare(&b.quality));
        let is_learnt = proposer == Proposer::Tpe && known.len() >= LEAST_OBSERVATIONS;
        let good = (known.len() as f64 * GOOD_SHARE).ceil() as usize;
        let (good, rest) = known.split_at(good.min(known.len()));
        let column = |of: &[&Observation], d: usize| of.iter().map(|o| o.point[d]).collect();
        let density = |(d, dimension): (usize, &'a Dimension)| Density {
            values: &dimension.values,
            good: column(good, d),
            rest: column(rest, d),
        };
        Self { densities: dimensions.iter().enumerate().map(density).collect(), is_learnt }
    }

    /// A point. The coordinates that `fixed` holds stay as they are.
    pub fn propose(&self, fixed: &[Option<f64>], rng: &mut Rng) -> Point {
        if !self.is_learnt || rng.uniform() < EVEN_SHARE {
            return self.draw(fixed, |density| density.values.draw(rng));
        }
        let mut best: Option<(f64, Point)> = None;
        for _ in 0..DRAWN {
            let point = self.draw(fixed, |density| density.draw_good(rng));
            let gain = self.densities.iter().zip(&point).zip(fixed).filter(|(_, fixed)| fixed.is_none());
            let gain: f64 = gain.map(|((density, &at), _)| density.log_ratio(at)).sum();
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                best = Some((gain, point));
            }
        }
        best.map(|(_, point)| point).unwrap_or_default()
    }

    fn draw(&self, fixed: &[Option<f64>], mut of: impl FnMut(&Density) -> f64) -> Point {
        self.densities
            .iter()
            .zip(fixed)
            .map(|(density, fixed)| fixed.unwrap_or_else(|| of(density)))
            .collect()
    }
}

impl Density<'_> {
    /// A coordinate from the density of the good ones. One more of them, which could be anywhere, stands for what was not
    /// tried.
    fn draw_good(&self, rng: &mut Rng) -> f64 {
        let chosen = rng.below(self.good.len() + 1);
        match (self.good.get(chosen), self.values) {
            (None, _) => self.values.draw(rng),
            (Some(&at), Values::List(_)) => at,
            (Some(&at), Values::Range(_)) => reflected(at + width(&self.good) * rng.normal()),
        }
    }

    /// The logarithm of the density of the good ones over that of the rest.
    fn log_ratio(&self, at: f64) -> f64 {
        (self.density(&self.good, at) / self.density(&self.rest, at)).ln()
    }

    fn density(&self, known: &[f64], at: f64) -> f64 {
        let sum: f64 = match self.values {
            Values::List(list) => {
                known.iter().filter(|&&other| other == at).count() as f64 + 1.0 / list.len() as f64
            }
            Values::Range(_) => {
                let width = width(known);
                // What would fall outside of the range is reflected at its ends.
                let kernel = |center: f64| {
                    let bump = |x: f64| (-0.5 * (x / width).powi(2)).exp();
                    (bump(at - center) + bump(at + center) + bump(2.0 - at - center))
                        / (width * (2.0 * std::f64::consts::PI).sqrt())
                };
                known.iter().map(|&center| kernel(center)).sum::<f64>() + 1.0
            }
        };
        sum / (known.len() + 1) as f64
    }
}

/// The width of the kernels at some places between 0 and 1, by Scott's rule.
fn width(places: &[f64]) -> f64 {
    let n = places.len().max(1) as f64;
    let mean = places.iter().sum::<f64>() / n;
    let deviation = (places.iter().map(|at| (at - mean).powi(2)).sum::<f64>() / n).sqrt();
    (1.06 * deviation * n.powf(-0.2)).max(LEAST_WIDTH)
}

/// A place that fell outside of 0 to 1, reflected at the end.
fn reflected(at: f64) -> f64 {
    let at = at.abs() % 2.0;
    if at > 1.0 { 2.0 - at } else { at }
}

#[cfg(test)]
mod tests {
    use super::super::space::Range;
    use super::*;
    use toml::Value;

    fn dimensions() -> Vec<Dimension> {
        let range = Range { from: 0.0, to: 1.0, is_log: false, is_whole: false };
        let list = (0..4).map(Value::Integer).collect();
        vec![
            Dimension { name: "x".into(), values: Values::Range(range) },
            Dimension { name: "y".into(), values: Values::List(list) },
        ]
    }

    /// Best at x = 0.3 and y = 2.
    fn score(point: &[f64]) -> f64 {
        1.0 - (point[0] - 0.3).powi(2) - if point[1] == 2.0 { 0.0 } else { 0.3 }
    }

    fn observe(point: Point) -> Observation {
        let quality = Quality { score: Some(score(&point)), loss: 0.0 };
        Observation { point, rung: 0, quality }
    }

    /// The mean score of the last of 40 trials.
    fn course(proposer: Proposer, seed: u64) -> f64 {
        let dimensions = dimensions();
        let mut known: Vec<Observation> = Vec::new();
        for i in 0..40 {
            let model = Model::new(proposer, &dimensions, &known);
            let point = model.propose(&[None, None], &mut Rng::keyed(seed, &[i]));
            assert!((0.0..=1.0).contains(&point[0]) && (0.0..4.0).contains(&point[1]));
            known.push(observe(point));
        }
        known[20..].iter().map(|o| o.quality.score.unwrap()).sum::<f64>() / 20.0
    }

    #[test]
    fn the_model_learns_where_trials_are_good() {
        let mean = |proposer| (0..20).map(|seed| course(proposer, seed)).sum::<f64>() / 20.0;
        let (tpe, random) = (mean(Proposer::Tpe), mean(Proposer::Random));
        assert!(tpe > random + 0.1, "{tpe} against {random}");
    }

    #[test]
    fn fixed_coordinates_stay() {
        let dimensions = dimensions();
        let known: Vec<Observation> =
            (0..20).map(|i| observe(vec![i as f64 / 20.0, (i % 4) as f64])).collect();
        let model = Model::new(Proposer::Tpe, &dimensions, &known);
        for seed in 0..50 {
            assert_eq!(model.propose(&[None, Some(3.0)], &mut Rng::new(seed))[1], 3.0);
        }
    }

    #[test]
    fn trainings_that_diverged_are_the_worst() {
        let of = |score| Quality { score, loss: 1.0 };
        let mut all = [Quality::WORST, of(Some(0.2)), of(None), of(Some(0.9))];
        all.sort_by(Quality::compare);
        assert_eq!(all, [of(Some(0.9)), of(Some(0.2)), of(None), Quality::WORST]);
    }
}
