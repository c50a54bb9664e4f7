//! Which points are worth their bytes.

use super::TrainedCandidate;

/// How good a point is on validation: the figure that training compares by, or for regression the
/// loss turned round.
fn quality(point: &TrainedCandidate) -> f64 {
    point.val.as_ref().map_or(f64::NEG_INFINITY, |s| point.metric.of(s).unwrap_or(-s.loss))
}

/// Marks the points that no other beats on validation with as few bytes or fewer.
pub fn mark_front(points: &mut [TrainedCandidate]) {
    let all: Vec<(usize, f64)> = points.iter().map(|p| (p.bytes, quality(p))).collect();
    for (i, point) in points.iter_mut().enumerate() {
        let (bytes, own) = all[i];
        let beaten = all.iter().enumerate().any(|(k, &(b, q))| {
            let as_good = b <= bytes && q >= own;
            // Of two that are the same the first is on the front.
            as_good && (b < bytes || q > own || k < i)
        });
        point.front = !beaten;
    }
}

/// The point of a cell (of any cell without one) within `budget` bytes that is best on validation;
/// of equal ones the smallest.
pub fn best<'a>(
    points: &'a [TrainedCandidate],
    budget: usize,
    cell: Option<&str>,
) -> Option<&'a TrainedCandidate> {
    let fits = |p: &&TrainedCandidate| p.bytes <= budget && cell.is_none_or(|cell| p.cell == cell);
    points.iter().filter(fits).max_by(|a, b| {
        let (qa, qb) = (quality(a), quality(b));
        qa.total_cmp(&qb).then(b.bytes.cmp(&a.bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::metrics::{Metric, Scores};
    use std::path::PathBuf;

    fn point(cell: &str, bytes: usize, accuracy: f64) -> TrainedCandidate {
        let val = Scores { accuracy: Some(accuracy), ..Scores::default() };
        TrainedCandidate {
            name: String::new(),
            cell: cell.into(),
            hidden: 1,
            rank_w: None,
            rank_u: None,
            sparsity_w: 1.0,
            sparsity_u: 1.0,
            budget: bytes,
            bytes_analytic: bytes,
            bytes,
            nnz: 0,
            metric: Metric::Accuracy,
            val: Some(val),
            test: None,
            test_sd: None,
            test_float: None,
            front: false,
            model: PathBuf::new(),
            run: PathBuf::new(),
        }
    }

    #[test]
    fn the_front_holds_what_is_best_for_its_bytes() {
        let mut points = vec![
            point("gru", 900, 0.90),
            point("lstm", 950, 0.88),
            point("gru", 1_800, 0.95),
            point("lstm", 1_800, 0.95),
            point("gru", 2_000, 0.94),
        ];
        mark_front(&mut points);
        assert_eq!(points.iter().map(|p| p.front).collect::<Vec<_>>(), [true, false, true, false, false]);
    }

    #[test]
    fn the_best_within_a_budget_is_chosen_on_validation() {
        let points = [point("gru", 900, 0.90), point("gru", 1_000, 0.90), point("lstm", 2_000, 0.97)];
        assert_eq!(best(&points, 1_024, None).unwrap().bytes, 900);
        assert_eq!(best(&points, 2_048, None).unwrap().cell, "lstm");
        assert_eq!(best(&points, 2_048, Some("gru")).unwrap().bytes, 900);
        assert!(best(&points, 100, None).is_none());
    }

    #[test]
    fn points_are_compared_by_the_figure_that_training_chose_by() {
        let of = |bytes, accuracy, f1| {
            let val = Some(Scores { f1: Some(f1), accuracy: Some(accuracy), ..Scores::default() });
            TrainedCandidate { metric: Metric::F1, val, ..point("gru", bytes, accuracy) }
        };
        // The first never finds the rare class.
        let mut points = [of(100, 0.98, 0.0), of(100, 0.97, 0.8), of(200, 0.99, 0.7)];
        assert_eq!(best(&points, 300, None), Some(&points[1]));
        mark_front(&mut points);
        assert_eq!(points.map(|p| p.front), [false, true, false]);
    }
}
