//! The grid that a weight tensor's bytes stand on: multiples of a power of two.
//!
//! ```
//! use fastgrnn_model::quantize::Grid;
//! let grid = Grid::of(&[0.5, -0.25, 0.1]);
//! assert_eq!(grid, Grid { exponent: 7 });
//! assert_eq!((grid.byte(0.5), grid.byte(0.1)), (64, 13));
//! assert_eq!(grid.value(13), 13.0 / 128.0);
//! ```

use fastgrnn_core::cells::GAIN_BITS;
use serde::{Deserialize, Serialize};

/// The values `byte · 2^−exponent` for bytes from −127 to 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grid {
    /// Fraction bits of a byte; negative for steps larger than 1.
    pub exponent: i32,
}

impl Grid {
    /// The finest grid that is of use: a step of 2^−20.
    pub const FINEST: i32 = 20;
    /// The coarsest grid: a step of 2^8.
    pub const COARSEST: i32 = -8;
    /// The grid of the gains of gates.
    pub const OF_GAINS: Self = Self { exponent: GAIN_BITS as i32 };
    /// The largest byte; −128 is not used, so that a grid is symmetric.
    const LARGEST: f32 = 127.0;

    /// The grid with the least squared error for `values`: it may clip the largest of them if
    /// that serves the others better. Values on a grid already keep exactly what they are.
    pub fn of(values: &[f32]) -> Self {
        let largest = values.iter().fold(0f32, |top, v| top.max(v.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self { exponent: 7 };
        }
        let widest = (Self::FINEST.min((Self::LARGEST / largest).log2().floor() as i32)).max(Self::COARSEST);
        let error =
            |grid: Self| -> f64 { values.iter().map(|&v| f64::from(v - grid.nearest(v)).powi(2)).sum() };
        let finer = (widest + 1..=(widest + 2).min(Self::FINEST)).map(|exponent| Self { exponent });
        let mut best = (Self { exponent: widest }, error(Self { exponent: widest }));
        for grid in finer {
            let error = error(grid);
            if error < best.1 {
                best = (grid, error);
            }
        }
        best.0
    }

    /// The byte of the grid's value nearest to `value`; ties go to the even byte.
    pub fn byte(self, value: f32) -> i8 {
        let scaled = value * (self.exponent as f32).exp2();
        scaled.round_ties_even().clamp(-Self::LARGEST, Self::LARGEST) as i8
    }

    /// What a byte stands for.
    pub fn value(self, byte: i8) -> f32 {
        f32::from(byte) * (-self.exponent as f32).exp2()
    }

    /// The grid's value nearest to `value`.
    pub fn nearest(self, value: f32) -> f32 {
        self.value(self.byte(value))
    }

    /// The largest value on the grid.
    pub fn limit(self) -> f32 {
        Self::LARGEST * (-self.exponent as f32).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_on_a_grid_stay_what_they_are() {
        for exponent in [-3, 0, 5, 9] {
            let grid = Grid { exponent };
            let values: Vec<f32> = [-127i8, -90, -3, 0, 1, 64, 127].map(|b| grid.value(b)).to_vec();
            let found = Grid::of(&values);
            assert!(values.iter().all(|&v| found.nearest(v) == v), "{exponent} {found:?}");
        }
    }

    #[test]
    fn one_far_value_is_clipped_for_the_sake_of_the_others() {
        let mut values = vec![0.006; 5_000];
        values.push(1.01);
        assert_eq!(Grid::of(&values), Grid { exponent: 7 });
        assert!(Grid::of(&values[..1]).exponent >= 14);
    }

    #[test]
    fn nothing_and_extremes_have_a_grid() {
        assert_eq!(Grid::of(&[]).exponent, 7);
        assert_eq!(Grid::of(&[f32::INFINITY]).exponent, 7);
        assert_eq!(Grid::of(&[1e30]).exponent, Grid::COARSEST);
        assert_eq!(Grid::of(&[1e-30]).exponent, Grid::FINEST);
        assert_eq!(Grid::of(&[1e30]).byte(1e30), 127);
    }
}
