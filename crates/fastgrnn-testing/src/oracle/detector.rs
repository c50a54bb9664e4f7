//! Section 9: a second detector, in wide integers, with the page's symbols.

use super::score::e;

/// When the network forgets, as the page's table has it.
#[derive(Clone, Copy, Debug)]
pub enum Reset {
    Never,
    Every { n: u64 },
    Quiet { n: u64, l: i64 },
}

#[derive(Clone, Debug)]
pub struct Parameters {
    pub keywords: Vec<u16>,
    pub theta: u64,
    pub s: u32,
    pub n_r: u64,
    pub n_w: u64,
    pub reset: Reset,
}

pub struct DetectorOracle {
    parameters: Parameters,
    pub a: Vec<u64>,
    n: u64,
    w: u64,
    r: u64,
    held: Option<u16>,
}

impl DetectorOracle {
    pub fn new(parameters: Parameters) -> Self {
        let (a, w) = (vec![0; parameters.keywords.len()], parameters.n_w);
        DetectorOracle { parameters, a, n: 0, w, r: 0, held: None }
    }

    /// Whether the network is reset before this frame.
    pub fn reset(&mut self, counts: &[i16]) -> bool {
        let (counts_on, most) = match self.parameters.reset {
            Reset::Never => return false,
            Reset::Every { n } => (true, n),
            Reset::Quiet { n, l } => {
                let sum: i64 = counts.iter().map(|n| i64::from(*n)).sum();
                let limit = l * counts.len() as i64;
                assert!(i32::try_from(sum).is_ok() && i32::try_from(limit).is_ok());
                (sum < limit, n)
            }
        };
        self.n = if counts_on { self.n + 1 } else { 0 };
        assert!(self.n <= 65535);
        if self.n == most {
            (self.n, self.w) = (0, self.parameters.n_w);
            return true;
        }
        false
    }

    /// Class and confidence of a detection.
    pub fn step(&mut self, meaning: u8, f_s: i8, scores: &[i64]) -> Option<(u16, u64)> {
        let Parameters { keywords, theta, s, n_r, .. } = self.parameters.clone();
        let warming = self.w > 0;
        self.w -= u64::from(warming);
        self.r -= u64::from(self.r > 0);
        let mut averages = Vec::new();
        for (a, class) in self.a.iter_mut().zip(&keywords) {
            let p = if warming { 0 } else { posterior(meaning, f_s, scores, usize::from(*class)) };
            *a = *a - *a / (1 << s) + p;
            assert!(*a <= 1 << (15 + s), "{a} leaves its bound");
            averages.push(*a / (1 << s));
        }
        if let Some(held) = self.held {
            let j = keywords.iter().position(|class| *class == held).expect("a held class is a keyword");
            if averages[j] < theta {
                self.held = None;
            }
        }
        let largest = *averages.iter().max().expect("there is a keyword");
        let class = keywords[averages.iter().position(|a| *a == largest).expect("it is among them")];
        if largest >= theta && self.r == 0 && self.held != Some(class) {
            (self.r, self.held) = (n_r, Some(class));
            return Some((class, largest));
        }
        None
    }
}

/// p_k with 15 fraction bits.
pub fn posterior(meaning: u8, f_s: i8, scores: &[i64], k: usize) -> u64 {
    let reciprocal = |whole: u64| {
        assert!((1 << 15..1 << 32).contains(&whole));
        (1_u64 << 30) / whole
    };
    let part = |numerator: u64, reciprocal: u64| {
        assert!(numerator * reciprocal < 1 << 32);
        numerator * reciprocal / (1 << 15)
    };
    let two_sided = |score: i64, for_positive: bool| {
        let rest = e(score.unsigned_abs(), f_s);
        let numerator = if (score >= 0) == for_positive { 32768 } else { rest };
        part(numerator, reciprocal(32768 + rest))
    };
    let p = match meaning {
        0 => {
            let largest = *scores.iter().max().expect("there is a score");
            let whole = scores.iter().map(|score| e((largest - score) as u64, f_s)).sum();
            part(e((largest - scores[k]) as u64, f_s), reciprocal(whole))
        }
        1 => two_sided(scores[0], k == 1),
        2 => two_sided(scores[k], true),
        _ => panic!("numbers have no posterior"),
    };
    assert!(p <= 32768);
    p
}
