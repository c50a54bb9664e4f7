//! Section 10: the token that is drawn from scores.

use super::score::{exponential, with_eleven_bits};

/// The parameters of section 10, and the state of the random numbers.
#[derive(Clone, Copy, Debug)]
pub struct DrawOracle {
    pub q: u64,
    pub k: usize,
    pub g: u64,
}

impl DrawOracle {
    /// Draws a token from scores with `f_s` fraction bits.
    pub fn draw(&mut self, scores: &[i64], f_s: i8) -> usize {
        let mut order: Vec<usize> = (1..scores.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(scores[i]), i));
        if self.k > 0 {
            order.truncate(self.k);
        }
        let Some(&best) = order.first() else { return 0 };
        if self.q == 0 {
            return best;
        }
        let weight = |i: usize| {
            let d = with_eleven_bits((scores[best] - scores[i]) as u64, f_s).min((1 << 19) - 1);
            exponential(((d * self.q + 128) / 256).min(65535))
        };
        let all: u64 = order.iter().map(|&i| weight(i)).sum();
        assert!(all <= 65535 << 15);
        self.g = (self.g + 0x9E37_79B9) % (1 << 32);
        let mut a = self.g;
        for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B), (16, 1)] {
            a = ((a ^ (a >> shift)) * factor) % (1 << 32);
        }
        let wanted = a * all / (1 << 32);
        order.sort_unstable();
        let mut sum = 0;
        let reached = |i: &usize| {
            sum += weight(*i);
            sum > wanted
        };
        order.iter().copied().find(reached).expect("the weights of all tokens are above any share of them")
    }
}
