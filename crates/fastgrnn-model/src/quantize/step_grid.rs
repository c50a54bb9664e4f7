//! The grid of a matrix whose entries have 4 bits: multiples of a step of any size.
//!
//! ```
//! use fastgrnn_model::quantize::StepGrid;
//! let grid = StepGrid { step: 0.3 };
//! assert_eq!((grid.entry(0.7), grid.entry(9.0), grid.entry(-9.0)), (2, 7, -8));
//! assert_eq!(grid.nearest(0.7), 0.6);
//! ```

use fastgrnn_core::cells::WeightBits;

/// The values `entry · step` for entries from −8 to 7.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepGrid {
    /// What an entry of 1 is worth; above 0.
    pub step: f32,
}

impl StepGrid {
    /// The largest entry.
    pub const LARGEST: f32 = WeightBits::LARGEST_OF_FOUR;
    /// The smallest entry.
    pub const SMALLEST: f32 = -WeightBits::LARGEST_OF_FOUR - 1.0;
    /// Steps that are tried between those at which all values, or only a quarter of the largest, are in reach.
    const TRIED: i32 = 64;

    /// Steps that an integer model may have.
    pub const STEPS: std::ops::RangeInclusive<f32> = 1e-7..=4096.0;

    /// The grid whose step has this logarithm.
    pub fn of_log_step(log_step: f32) -> Self {
        Self { step: log_step.exp() }
    }

    /// A grid with a small squared error for `values`, for those that were not trained on one.
    pub fn of(values: &[f32]) -> Self {
        let largest = values.iter().fold(0f32, |top, v| top.max(v.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self::of_log_step(WeightBits::first_log_step(&[]));
        }
        let error =
            |grid: Self| -> f64 { values.iter().map(|&v| f64::from(v - grid.nearest(v)).powi(2)).sum() };
        let widest = largest / Self::LARGEST;
        let grid = |i: i32| Self { step: widest * (-2.0 * i as f32 / Self::TRIED as f32).exp2() };
        let mut best = (grid(0), error(grid(0)));
        for grid in (1..=Self::TRIED).map(grid) {
            let error = error(grid);
            if error < best.1 {
                best = (grid, error);
            }
        }
        best.0
    }

    /// The entry whose value is nearest to `value`; ties go to the even entry.
    pub fn entry(self, value: f32) -> i8 {
        (value / self.step).round_ties_even().clamp(Self::SMALLEST, Self::LARGEST) as i8
    }

    /// What an entry stands for.
    pub fn value(self, entry: i8) -> f32 {
        f32::from(entry) * self.step
    }

    /// The grid's value nearest to `value`.
    pub fn nearest(self, value: f32) -> f32 {
        self.value(self.entry(value))
    }

    /// Whether `value` is within the reach of the entries.
    pub fn reaches(self, value: f32) -> bool {
        (Self::SMALLEST..=Self::LARGEST).contains(&(value / self.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_on_a_grid_stay_what_they_are() {
        let grid = StepGrid { step: 0.037 };
        for entry in -8..=7 {
            assert_eq!(grid.entry(grid.value(entry)), entry);
        }
    }

    #[test]
    fn a_step_with_a_small_error_is_found() {
        let values: Vec<f32> = (0..1000).map(|i| ((i * 37 % 1000) as f32 / 1000.0 - 0.5).powi(3)).collect();
        let error = |grid: StepGrid| values.iter().map(|v| (v - grid.nearest(*v)).powi(2)).sum::<f32>();
        let found = error(StepGrid::of(&values));
        for step in [0.003, 0.006, 0.01, 0.0125, 0.015, 0.018, 0.03] {
            assert!(found <= 1.02 * error(StepGrid { step }), "{step}");
        }
    }

    #[test]
    fn nothing_and_extremes_have_a_grid() {
        for values in [&[][..], &[0.0], &[f32::INFINITY], &[1e30, -1.0], &[1e-30]] {
            let grid = StepGrid::of(values);
            assert!(grid.step > 0.0 && grid.step.is_finite(), "{values:?}");
        }
    }
}
