//! Bringing inputs to mean 0 and deviation 1, with numbers learnt from the training part alone.
//!
//! Per feature (the default) a model can stream and take sequences of any length. Per coordinate,
//! each time step of each feature has its own mean and deviation, as in the paper's own code; such
//! a model is tied to one length.
//!
//! ```
//! use fastgrnn_data::data::{Normalize, Normalizer, Sequences};
//! let mut x = Sequences::new(1);
//! x.push(&[1.0, 3.0]);
//! let normalizer = Normalizer::fit(Normalize::PerFeature, &x, &[0])?;
//! let mut sequence = [1.0, 3.0];
//! normalizer.apply(&mut sequence, 1)?;
//! assert_eq!(sequence, [-1.0, 1.0]);
//! # Ok::<(), fastgrnn_data::data::DataError>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{DataError, Sequences};

/// Over what a mean and a deviation are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// One mean and deviation for each feature, over all steps.
    #[default]
    PerFeature,
    /// One for each feature of each step; needs sequences of one length.
    PerCoordinate,
    /// Inputs stay as they are.
    None,
}

/// Means and scales: `x` becomes `(x - mean) * scale`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Normalizer {
    /// Over what they were taken.
    pub mode: Normalize,
    /// Mean of each feature or coordinate; empty for [`Normalize::None`].
    pub mean: Vec<f32>,
    /// One over the deviation of each; 1 where a feature never changes.
    pub scale: Vec<f32>,
}

impl Normalizer {
    /// Learns means and scales from the sequences of `x` at `indices`.
    pub fn fit(mode: Normalize, x: &Sequences, indices: &[u32]) -> Result<Self, DataError> {
        let width = match mode {
            Normalize::None => return Ok(Self { mode, ..Self::default() }),
            Normalize::PerFeature => x.dim(),
            Normalize::PerCoordinate => common_length(x, indices)? * x.dim(),
        };
        let rows = || indices.iter().flat_map(|&i| x.get(i as usize).chunks_exact(width.max(1)));
        let count = rows().count().max(1) as f64;
        let mut mean = vec![0f64; width];
        for row in rows() {
            for (m, &v) in mean.iter_mut().zip(row) {
                *m += f64::from(v);
            }
        }
        mean.iter_mut().for_each(|m| *m /= count);
        // A second pass, because the sum of squares of a large constant cancels badly.
        let mut variance = vec![0f64; width];
        for row in rows() {
            for ((s, m), &v) in variance.iter_mut().zip(&mean).zip(row) {
                *s += (f64::from(v) - m).powi(2);
            }
        }
        let scale = variance.iter().zip(&mean).map(|(s, m)| scale_of((s / count).sqrt(), *m));
        Ok(Self { mode, scale: scale.collect(), mean: mean.iter().map(|&m| m as f32).collect() })
    }

    /// Checks that sequences of `steps` steps of `dim` features fit.
    pub fn check(&self, steps: usize, dim: usize) -> Result<(), DataError> {
        let expected = self.mean.len();
        match self.mode {
            Normalize::PerFeature if dim != expected => Err(DataError::DimMismatch {
                file: "input".into(),
                found: dim,
                expected,
                other: "the data the normalisation was learnt from".into(),
                is_table: false,
            }),
            Normalize::PerCoordinate if steps * dim != expected => {
                Err(DataError::UnequalLengths { expected: expected / dim.max(1), found: steps })
            }
            _ => Ok(()),
        }
    }

    /// Normalises one sequence of `dim` features a step in place.
    pub fn apply(&self, sequence: &mut [f32], dim: usize) -> Result<(), DataError> {
        self.check(sequence.len() / dim.max(1), dim)?;
        if self.mode != Normalize::None {
            for row in sequence.chunks_exact_mut(self.mean.len().max(1)) {
                for ((v, m), s) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                    *v = (*v - m) * s;
                }
            }
        }
        Ok(())
    }
}

/// One over the deviation, or 1 where what varies is only rounding.
fn scale_of(deviation: f64, mean: f64) -> f32 {
    let scale = (1.0 / deviation) as f32;
    if deviation > 1e-7 * mean.abs() && scale.is_finite() { scale } else { 1.0 }
}

fn common_length(x: &Sequences, indices: &[u32]) -> Result<usize, DataError> {
    let Some(&first) = indices.first() else { return Ok(0) };
    let expected = x.steps(first as usize);
    match indices.iter().map(|&i| x.steps(i as usize)).find(|&steps| steps != expected) {
        Some(found) => Err(DataError::UnequalLengths { expected, found }),
        None => Ok(expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Sequences {
        let mut x = Sequences::new(2);
        x.push(&[1.0, 5.0, 3.0, 5.0]);
        x.push(&[5.0, 5.0, 7.0, 5.0]);
        x.push(&[1e6, 1e6]);
        x
    }

    #[test]
    fn chosen_sequences_get_mean_zero_and_deviation_one_per_feature() {
        let n = Normalizer::fit(Normalize::PerFeature, &two(), &[0, 1]).unwrap();
        assert_eq!(n.mean, [4.0, 5.0]);
        assert_eq!(n.scale, [(1.0 / 5f64.sqrt()) as f32, 1.0]);
    }

    #[test]
    fn a_constant_feature_becomes_zero() {
        let n = Normalizer::fit(Normalize::PerFeature, &two(), &[0, 1]).unwrap();
        let mut sequence = [4.0, 5.0];
        n.apply(&mut sequence, 2).unwrap();
        assert_eq!(sequence, [0.0, 0.0]);
    }

    #[test]
    fn a_large_offset_does_not_swamp_a_small_deviation() {
        let mut x = Sequences::new(1);
        x.push(&[100_000.0, 100_001.0]);
        let n = Normalizer::fit(Normalize::PerFeature, &x, &[0]).unwrap();
        assert_eq!((n.mean[0], n.scale[0]), (100_000.5, 2.0));
    }

    #[test]
    fn per_coordinate_learns_each_step_and_refuses_other_lengths() {
        let n = Normalizer::fit(Normalize::PerCoordinate, &two(), &[0, 1]).unwrap();
        assert_eq!(n.mean, [3.0, 5.0, 5.0, 5.0]);
        let mut long = [0.0; 6];
        let error = n.apply(&mut long, 2).unwrap_err();
        assert!(matches!(error, DataError::UnequalLengths { expected: 2, found: 3 }));
        let error = Normalizer::fit(Normalize::PerCoordinate, &two(), &[0, 2]).unwrap_err();
        assert!(error.to_string().contains("use per-feature"), "{error}");
    }

    #[test]
    fn another_number_of_features_is_an_error() {
        let n = Normalizer::fit(Normalize::PerFeature, &two(), &[0]).unwrap();
        assert!(n.apply(&mut [0.0; 3], 3).is_err());
    }

    #[test]
    fn none_leaves_values_alone_and_survives_a_round_trip() {
        let n = Normalizer::fit(Normalize::None, &two(), &[0, 1]).unwrap();
        let mut sequence = [7.0, 8.0];
        n.apply(&mut sequence, 2).unwrap();
        assert_eq!(sequence, [7.0, 8.0]);
        let json = serde_json::to_string(&n).unwrap();
        assert_eq!(json, r#"{"mode":"none","mean":[],"scale":[]}"#);
        assert_eq!(serde_json::from_str::<Normalizer>(&json).unwrap(), n);
    }
}
