//! Seeded random numbers whose values never change between releases.
//!
//! Results must be the same bits for the same seed, so the generator (xoshiro256++ seeded through
//! SplitMix64) and every derived distribution are fixed here instead of following a dependency.
//! Streams are *keyed*: what sample 17 of epoch 3 draws depends on those numbers alone, never on
//! how many draws came before, so augmentation is the same on any thread and after any resume.
//!
//! ```
//! use fastgrnn_core::rng::Rng;
//! let mut a = Rng::keyed(7, &[3, 17]);
//! let mut b = Rng::keyed(7, &[3, 17]);
//! assert_eq!(a.next_u64(), b.next_u64());
//! assert_ne!(Rng::keyed(7, &[3, 18]).next_u64(), Rng::keyed(7, &[3, 17]).next_u64());
//! ```

/// A deterministic stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

fn splitmix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self::keyed(seed, &[])
    }

    /// An independent stream for each combination of `seed` and `key`.
    pub fn keyed(seed: u64, key: &[u64]) -> Self {
        let mut x = seed;
        let mut mixed = splitmix(&mut x);
        for &k in key {
            x = mixed ^ k.wrapping_mul(0xD1B5_4A32_D192_ED03);
            mixed = splitmix(&mut x);
        }
        let mut s = mixed;
        Self { state: std::array::from_fn(|_| splitmix(&mut s)) }
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A uniform index below `n`; `n` must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// A standard normal value: the first of a pair.
    pub fn normal(&mut self) -> f64 {
        self.normal_pair().0
    }

    /// Two independent standard normal values (Box-Muller).
    pub fn normal_pair(&mut self) -> (f64, f64) {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        (radius * cos, radius * sin)
    }

    /// A value from the symmetric beta distribution, between 0 and 1; `alpha` must be above 0.
    pub fn beta(&mut self, alpha: f64) -> f64 {
        let (a, b) = (self.log_gamma_variate(alpha), self.log_gamma_variate(alpha));
        1.0 / (1.0 + (b - a).exp())
    }

    /// The logarithm of a gamma variate of shape `alpha`, by Marsaglia and Tsang's rejection. In
    /// logarithms, because for small shapes the variate itself is 0 to machine precision.
    fn log_gamma_variate(&mut self, alpha: f64) -> f64 {
        // Their method is for shapes from 1; U^(1/alpha) brings the next shape down to this one.
        let d = alpha + 1.0 - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            let u = 1.0 - self.uniform();
            if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return (d * v).ln() + (1.0 - self.uniform()).ln() / alpha;
            }
        }
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// First keys of a seed's streams: one for each use, so that no two uses share draws. Results
/// depend on them; they never change.
pub mod stream {
    /// Starting values of parameters.
    pub const START: u64 = 1;
    /// Order of the sequences in an epoch.
    pub const SHUFFLE: u64 = 2;
    /// Random initial states.
    pub const INITIAL: u64 = 3;
    /// Augmentation.
    pub const AUGMENT: u64 = 4;
    /// Random sequences.
    pub const RANDOM_DATA: u64 = 5;
    /// Their labels.
    pub const RANDOM_LABEL: u64 = 6;
    /// Random models.
    pub const RANDOM_MODEL: u64 = 7;
    /// Rounds of a class that an epoch draws from.
    pub const DEAL: u64 = 8;
    /// Draws that make up the speech sets.
    pub const SPEECH: u64 = 9;
    /// Streams to listen to.
    pub const LISTEN: u64 = 10;
    /// Partners and parts of mixed sequences.
    pub const MIXUP: u64 = 11;
    /// Masks of dropout.
    pub const DROPOUT: u64 = 12;
    /// Entries of matrices that are dropped.
    pub const WEIGHT_DROP: u64 = 13;
    /// Text that a language model writes.
    pub const GENERATE: u64 = 14;
    /// The step after which a training ends.
    pub const STOP: u64 = 15;
    /// Splits for testing.
    pub const TEST_SPLIT: u64 = 0x7e57;
    /// Validation splits.
    pub const SPLIT: u64 = 0x5b17;
    /// Folds of cross-validation.
    pub const FOLDS: u64 = 0xf01d;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let mut rng = Rng::new(1);
        let n = 100_000;
        let draws: Vec<f64> = (0..n / 2).map(|_| rng.normal_pair()).flat_map(|(a, b)| [a, b]).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn beta_has_mean_one_half_and_the_variance_of_its_parameter() {
        for alpha in [0.1, 0.4, 1.0, 3.0] {
            let mut rng = Rng::new(2);
            let draws: Vec<f64> = (0..40_000).map(|_| rng.beta(alpha)).collect();
            assert!(draws.iter().all(|v| (0.0..=1.0).contains(v)));
            let mean = draws.iter().sum::<f64>() / 4e4;
            let variance = draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 4e4;
            let expected = 1.0 / (4.0 * (2.0 * alpha + 1.0));
            assert!((mean - 0.5).abs() < 0.01, "{alpha}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.03, "{alpha}: {variance}, not {expected}");
        }
        assert!((0..100).all(|i| Rng::new(i).beta(1e-4).is_finite()));
    }

    #[test]
    fn first_values_are_pinned() {
        let mut rng = Rng::keyed(0, &[1]);
        let values = [rng.next_u64(), rng.next_u64()];
        assert_eq!(values, PINNED);
    }

    const PINNED: [u64; 2] = [8_630_948_078_612_952_295, 12_095_805_979_797_885_141];
}
