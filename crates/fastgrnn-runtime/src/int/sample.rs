//! Drawing the next token of a text from scores (section 10).

use super::decision::{eleven_bits, exponential};

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// 256 / temperature, between [`Draw::LEAST`] and [`Draw::MOST`], or 0 for the most probable token.
    pub sharpness: u16,
    /// How many of the most probable tokens may be drawn; 0 for all.
    pub most: u16,
}

impl Draw {
    /// The least sharpness but 0: a temperature of 16.
    pub const LEAST: u16 = 16;
    /// The largest sharpness: a temperature of 1/16.
    pub const MOST: u16 = 4096;
}

/// Draws tokens; the same seed draws the same tokens from the same scores, on every machine.
///
/// ```
/// use fastgrnn_runtime::int::{Draw, TokenSampler};
/// let mut sampler = TokenSampler::new(7, Draw { sharpness: 256, most: 0 });
/// let scores = [0, 3 << 11, 0, -(3 << 11)];
/// let drawn: Vec<usize> = (0..100).map(|_| sampler.draw(&scores, 11)).collect();
/// assert!(drawn.iter().filter(|&&token| token == 1).count() > 80);
/// assert!(!drawn.contains(&0), "the unknown token is never drawn");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSampler {
    state: u32,
    draw: Draw,
}

impl TokenSampler {
    /// A sampler whose random numbers begin with `seed`. A sharpness outside its range becomes the nearest
    /// one within.
    pub fn new(seed: u32, draw: Draw) -> Self {
        let sharpness = match draw.sharpness {
            0 => 0,
            sharpness => sharpness.clamp(Draw::LEAST, Draw::MOST),
        };
        Self { state: seed, draw: Draw { sharpness, ..draw } }
    }

    /// The state of the random numbers.
    pub fn random(&self) -> u32 {
        self.state
    }

    /// A token, drawn from scores with `bits` fraction bits (−8 to 34). 0 if there is no other token.
    pub fn draw(&mut self, scores: &[i32], bits: i32) -> usize {
        let Some(best) = next_best(scores, None) else { return 0 };
        if self.draw.sharpness == 0 {
            return best;
        }
        let last = self.last(scores, best);
        let weight = |token: usize| {
            if before(scores, last, token) {
                return 0;
            }
            let difference = (scores[best] as u32).wrapping_sub(scores[token] as u32);
            let d = eleven_bits(difference, bits, (1 << 19) - 1);
            exponential(((d * u32::from(self.draw.sharpness) + 128) >> 8).min(65_535))
        };
        let all: u32 = (1..scores.len()).fold(0u32, |sum, token| sum.wrapping_add(weight(token)));
        let wanted = ((u64::from(random(&mut self.state)) * u64::from(all)) >> 32) as u32;
        let mut sum = 0u32;
        for token in 1..scores.len() {
            sum = sum.wrapping_add(weight(token));
            if sum > wanted {
                return token;
            }
        }
        best
    }

    /// The least probable token that may be drawn.
    fn last(&self, scores: &[i32], best: usize) -> usize {
        let most = match usize::from(self.draw.most) {
            0 => scores.len(),
            most => most,
        };
        if most >= scores.len() - 1 {
            return (1..scores.len()).fold(best, |last, k| if before(scores, last, k) { k } else { last });
        }
        (1..most).fold(best, |last, _| next_best(scores, Some(last)).unwrap_or(last))
    }
}

/// Whether token `a` comes before `b`: it has a larger score, or the same and a lower number.
fn before(scores: &[i32], a: usize, b: usize) -> bool {
    scores[a] > scores[b] || (scores[a] == scores[b] && a < b)
}

/// The first token after `last`, of all but token 0.
fn next_best(scores: &[i32], last: Option<usize>) -> Option<usize> {
    let left = (1..scores.len()).filter(|&k| last.is_none_or(|last| before(scores, last, k)));
    left.reduce(|best, k| if before(scores, k, best) { k } else { best })
}

/// The next random number.
fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_add(0x9E37_79B9);
    let mut a = *state;
    a = (a ^ (a >> 16)).wrapping_mul(0x7FEB_352D);
    a = (a ^ (a >> 15)).wrapping_mul(0x846C_A68B);
    a ^ (a >> 16)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn counts(draw: Draw, scores: &[i32], bits: i32, draws: usize) -> Vec<usize> {
        let mut sampler = TokenSampler::new(11, draw);
        let mut counts = vec![0; scores.len()];
        (0..draws).for_each(|_| counts[sampler.draw(scores, bits)] += 1);
        counts
    }

    #[test]
    fn tokens_are_drawn_as_often_as_the_softmax_says() {
        let scores = [9_000, 4_096, 0, 2_048, -3_000, 4_095, 1_024];
        for (sharpness, most) in [(256, 0), (128, 0), (512, 0), (1_024, 0), (256, 3), (256, 1), (16, 0)] {
            let draws = 200_000;
            let found = counts(Draw { sharpness, most }, &scores, 11, draws);
            let mut order: Vec<usize> = (1..scores.len()).collect();
            order.sort_by_key(|&k| std::cmp::Reverse(scores[k]));
            let kept = if most == 0 { order.len() } else { usize::from(most) };
            let temperature = 256.0 / f64::from(sharpness);
            let weight = |k: usize| (f64::from(scores[k]) / 2_048.0 / temperature).exp();
            let all: f64 = order[..kept].iter().map(|&k| weight(k)).sum();
            for (place, &k) in order.iter().enumerate() {
                let p = if place < kept { weight(k) / all } else { 0.0 };
                let expected = p * draws as f64;
                // Five deviations, and 0.3 % for the exponential in 15 bits.
                let room = 5.0 * (expected * (1.0 - p)).sqrt() + 0.003 * draws as f64;
                let off = (found[k] as f64 - expected).abs();
                assert!(if p == 0.0 { found[k] == 0 } else { off < room }, "{sharpness} {most} {k}");
            }
            assert_eq!(found[0], 0, "the unknown token");
        }
    }

    #[test]
    fn the_most_probable_token_needs_no_random_number_and_ties_go_to_the_first() {
        let mut sampler = TokenSampler::new(5, Draw { sharpness: 0, most: 0 });
        assert_eq!(sampler.draw(&[99, 3, 7, 7], 11), 2);
        assert_eq!(sampler, TokenSampler::new(5, Draw { sharpness: 0, most: 0 }));
        assert_eq!(counts(Draw { sharpness: 256, most: 1 }, &[9, 4, 4, 4], 11, 50), [0, 50, 0, 0]);
    }

    #[test]
    fn extremes_are_drawn_without_a_fault() {
        for bits in [-8, 0, 11, 34] {
            for scores in [&[0][..], &[], &[1, i32::MIN], &[0, i32::MIN, i32::MAX], &[7, 7, 7, 7, 7]] {
                for (sharpness, most) in [(0, 0), (1, 0), (256, 2), (u16::MAX, u16::MAX)] {
                    let token = TokenSampler::new(0, Draw { sharpness, most }).draw(scores, bits);
                    assert!(token < scores.len().max(1) && (token > 0 || scores.len() < 2));
                }
            }
        }
    }

    #[test]
    fn draws_never_change_between_releases() {
        let mut sampler = TokenSampler::new(42, Draw { sharpness: 256, most: 0 });
        let drawn: Vec<usize> = (0..12).map(|_| sampler.draw(&[0; 10], 11)).collect();
        assert_eq!(drawn, [9, 6, 9, 9, 4, 6, 9, 5, 5, 5, 8, 6]);
        let mut state = 0;
        assert_eq!([random(&mut state), random(&mut state)], [0x01FC_E552, 0x04F8_D29E]);
    }
}
