//! Where a model of two classes decides for the positive one: the threshold of its score.
//!
//! The threshold is no rule of its own but part of the head: an offset is taken off the positive
//! class's bias, so that the largest score is the thresholded decision on every target, float or
//! integer, and neither image nor generated code knows about it. What a model keeps beside its
//! parameters, [`Decision`], is for people.
//!
//! An offset is chosen by F1 on validation data ([`best_cut`]): the harmonic mean of precision and
//! recall says how well a rare class is found, where accuracy would praise a model that never
//! finds it.

use serde::{Deserialize, Serialize};

/// The positive class and the threshold that lies in the head already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The class to be found: one of the model's two labels.
    pub positive: String,
    /// The probability of that class, as training understood it, above which the model decides
    /// for it; 0.5 where nothing was chosen. The model's own probabilities are measured from
    /// there: they are above one half where it decides for the class.
    pub threshold: f64,
}

impl Decision {
    /// Decides for `positive` where it is the more probable class.
    pub fn even(positive: impl Into<String>) -> Self {
        Self { positive: positive.into(), threshold: 0.5 }
    }
}

/// A place to cut sorted margins in two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// What to take off the margins, so that those of the positives are above 0.
    pub offset: f64,
    /// F1 of the class at this place.
    pub f1: f64,
}

/// The cut with the highest F1; of equals the one with most room. `between` gives the offset to
/// use between two margins, or none if there is none strictly between them. Nothing where no cut
/// finds a positive.
pub fn best_cut(
    margins: &[f64],
    positive: &[bool],
    between: impl Fn(f64, f64) -> Option<f64>,
) -> Option<Cut> {
    let mut order: Vec<usize> = (0..margins.len().min(positive.len())).collect();
    order.sort_by(|&a, &b| margins[b].total_cmp(&margins[a]));
    let (first, last) = (*order.first()?, *order.last()?);
    let support = order.iter().filter(|&&i| positive[i]).count();
    let mut best: Option<(Cut, f64)> = None;
    let mut hits = 0;
    for (k, &i) in order.iter().enumerate() {
        hits += usize::from(positive[i]);
        let high = margins[i];
        // Below the last there is room without end, which is no merit.
        let (low, room) = match order.get(k + 1) {
            Some(&next) => (margins[next], high - margins[next]),
            None => (high - (margins[first] - margins[last]).max(2.0), 0.0),
        };
        let f1 = 2.0 * hits as f64 / (support + k + 1) as f64;
        let better = best.is_none_or(|(cut, most)| f1 > cut.f1 || (f1 == cut.f1 && room > most));
        if hits > 0
            && better
            && let Some(offset) = between(low, high)
        {
            best = Some((Cut { offset, f1 }, room));
        }
    }
    best.map(|(cut, _)| cut)
}

/// Between two floats: midway.
pub(super) fn midway(low: f64, high: f64) -> Option<f64> {
    let middle = low + (high - low) / 2.0;
    (low < middle && middle < high).then_some(middle)
}

/// The probability at which an offset decides.
pub fn threshold(offset: f64) -> f64 {
    1.0 / (1.0 + (-offset).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cut_is_that_of_a_search_over_all_places() {
        let mut rng = fastgrnn_core::rng::Rng::new(4);
        for n in [1, 2, 5, 40] {
            let margins: Vec<f64> = (0..n).map(|_| (rng.normal() * 4.0).round() / 4.0).collect();
            let truth: Vec<bool> = margins.iter().map(|m| rng.normal() < *m - 0.5).collect();
            let f1 = |offset: f64| {
                let found = |m: &f64| *m > offset;
                let hits = margins.iter().zip(&truth).filter(|(m, t)| **t && found(m)).count();
                let taken = margins.iter().filter(|m| found(m)).count();
                2.0 * hits as f64 / (taken + truth.iter().filter(|t| **t).count()).max(1) as f64
            };
            let most = (-50..50).map(|k| f1(f64::from(k) / 8.0 + 0.06)).fold(0.0, f64::max);
            match best_cut(&margins, &truth, midway) {
                Some(cut) => assert_eq!((cut.f1, f1(cut.offset)), (most, most), "{n}"),
                None => assert_eq!(most, 0.0, "{n}"),
            }
        }
    }

    #[test]
    fn of_equal_cuts_the_one_with_most_room_is_taken() {
        // One positive at 3: any cut below it and above 1 is perfect.
        let cut = best_cut(&[3.0, 1.0, 0.5], &[true, false, false], midway).unwrap();
        assert_eq!(cut, Cut { offset: 2.0, f1: 1.0 });
        // Cutting after 4 or after 1 gives 2/3 both; below 4 there is more room.
        let cut = best_cut(&[4.0, 1.0, 0.9, 0.0], &[true, false, true, false], midway).unwrap();
        assert_eq!(cut.f1, 0.8, "all three");
        assert_eq!(best_cut(&[1.0, 2.0], &[false, false], midway), None);
        assert_eq!(best_cut(&[], &[], midway), None);
    }
}
