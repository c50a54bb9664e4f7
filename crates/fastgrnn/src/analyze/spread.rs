//! What values of several sequences come to.

use serde::Serialize;

/// Figures of several values. Each may be infinite, which JSON shows as null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The value in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The figures of all values that are numbers; nothing without any. ∞ is larger than all others, and makes the mean
    /// infinite.
    ///
    /// ```
    /// use fastgrnn::analyze::Spread;
    /// let spread = Spread::of([3.0, 1.0, 9.0, 7.0].into_iter()).unwrap();
    /// assert_eq!((spread.mean, spread.median, spread.min, spread.max), (5.0, 5.0, 1.0, 9.0));
    /// let spread = Spread::of([f64::INFINITY, 1.0, 3.0].into_iter()).unwrap();
    /// assert_eq!((spread.median, spread.min), (3.0, 1.0));
    /// assert!(spread.mean == f64::INFINITY && spread.max == f64::INFINITY);
    /// assert_eq!(Spread::of([f64::NAN].into_iter()), None);
    /// ```
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        Some(Self { mean: sorted.iter().sum::<f64>() / sorted.len() as f64, median, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_values_count_in_medians_means_and_extremes() {
        let of = |values: &[f64]| Spread::of(values.iter().copied()).unwrap();
        let inf = f64::INFINITY;
        assert_eq!(of(&[1.0, inf, inf, 2.0]).median, inf);
        assert_eq!(of(&[1.0, inf, inf]).median, inf);
        assert_eq!(of(&[5.0, inf, 4.0, 3.0]), Spread { mean: inf, median: 4.5, min: 3.0, max: inf });
        assert_eq!(of(&[-inf, 4.0, 3.0]), Spread { mean: -inf, median: 3.0, min: -inf, max: 4.0 });
        let json = serde_json::to_value(of(&[inf, 1.0, 2.0])).unwrap();
        assert_eq!(json, serde_json::json!({"mean": null, "median": 2.0, "min": 1.0, "max": null}));
    }
}
