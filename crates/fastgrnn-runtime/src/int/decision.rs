//! From scores to a class and a confidence (sections 6 and 7), and to posteriors (section 9).

use super::ImageError;

/// What scores mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// One class of several: the largest score.
    Classes,
    /// One score: class 1 if it is above 0, else class 0.
    Binary,
    /// Each class by itself, against all others.
    OneAgainstAll,
    /// Numbers, not classes.
    Values,
}

impl Meaning {
    /// All meanings.
    pub const ALL: [Self; 4] = [Self::Classes, Self::Binary, Self::OneAgainstAll, Self::Values];

    /// The code in device images, which never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Classes => 0,
            Self::Binary => 1,
            Self::OneAgainstAll => 2,
            Self::Values => 3,
        }
    }

    pub(super) fn from_code(code: u8) -> Result<Self, ImageError> {
        let unknown = ImageError::Code { what: "meaning of the outputs", code };
        Self::ALL.into_iter().find(|meaning| meaning.code() == code).ok_or(unknown)
    }
}

/// A class and how sure the model is of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Index of the class.
    pub class: usize,
    /// 255 is certainty; 0 where scores are numbers.
    pub confidence: u8,
}

/// 1 with the 15 fraction bits of [`falling`].
const ONE: u32 = 1 << 15;

pub(super) fn decide(meaning: Meaning, bits: i32, scores: &[i32]) -> Decision {
    let largest = |best: usize, k: usize| if scores[k] > scores[best] { k } else { best };
    let best = (0..scores.len()).reduce(largest).unwrap_or(0);
    let Some(&top) = scores.get(best) else { return Decision { class: 0, confidence: 0 } };
    let own = falling(top.unsigned_abs(), bits);
    let (class, part, whole) = match meaning {
        Meaning::Classes => {
            let all = scores.iter().map(|&s| falling(top.wrapping_sub(s) as u32, bits)).sum();
            (best, ONE, all)
        }
        Meaning::Binary => (usize::from(top > 0), ONE, ONE + own),
        Meaning::OneAgainstAll => (best, if top >= 0 { ONE } else { own }, ONE + own),
        Meaning::Values => (best, 0, ONE),
    };
    Decision { class, confidence: (255 * part / whole) as u8 }
}

/// The posteriors of a step's scores; section 9.
///
/// The division that all classes share is made once, so asking for few classes costs little.
#[derive(Clone, Copy, Debug)]
pub struct Posteriors<'s> {
    meaning: Meaning,
    bits: i32,
    scores: &'s [i32],
    top: i32,
    share: u32,
}

impl<'s> Posteriors<'s> {
    /// Of scores with `bits` fraction bits (−8 to 34); [`Model::posteriors`](super::Model::posteriors)
    /// knows them.
    pub fn new(meaning: Meaning, bits: i32, scores: &'s [i32]) -> Self {
        let top = scores.iter().copied().max().unwrap_or(0);
        let share = match meaning {
            Meaning::Classes => {
                let all: u32 = scores.iter().map(|&s| falling(top.wrapping_sub(s) as u32, bits)).sum();
                share(all.max(ONE))
            }
            _ => 0,
        };
        Self { meaning, bits, scores, top, share }
    }

    /// The posterior of a class, 32768 for certainty; 0 for a class that is not there.
    pub fn of(&self, class: usize) -> u16 {
        let score = |k: usize| self.scores.get(k).copied();
        let p = match (self.meaning, class) {
            (Meaning::Classes, k) => {
                score(k).map(|s| (falling(self.top.wrapping_sub(s) as u32, self.bits) * self.share) >> 15)
            }
            (Meaning::Binary, 0) => score(0).map(|s| self.logistic(s < 0, s)),
            (Meaning::Binary, 1) => score(0).map(|s| self.logistic(s >= 0, s)),
            (Meaning::OneAgainstAll, k) => score(k).map(|s| self.logistic(s >= 0, s)),
            (Meaning::Binary | Meaning::Values, _) => None,
        };
        p.unwrap_or(0) as u16
    }

    /// The probability of the side of 0 that a score is on, or of the other.
    fn logistic(&self, likelier: bool, score: i32) -> u32 {
        let rest = falling(score.unsigned_abs(), self.bits);
        ((if likelier { ONE } else { rest }) * share(ONE + rest)) >> 15
    }
}

/// 1 / `whole`, where 1 in `whole` has 15 fraction bits.
fn share(whole: u32) -> u32 {
    (1 << 30) / whole
}

/// `e^−D` with 15 fraction bits, for D with `bits` fraction bits.
fn falling(difference: u32, bits: i32) -> u32 {
    exponential(eleven_bits(difference, bits, 65_535))
}

/// A difference of scores with 11 fraction bits, `most` if it is larger.
pub(super) fn eleven_bits(difference: u32, bits: i32, most: u32) -> u32 {
    if bits >= 11 {
        return (difference >> (bits - 11)).min(most);
    }
    let shift = (11 - bits) as u32;
    if difference > most >> shift { most } else { difference << shift }
}

/// `e^−d` with 15 fraction bits, for d of at most 65535 with 11.
pub(super) fn exponential(d: u32) -> u32 {
    let t = (d * 1_477 + 512) >> 10;
    let (n, y) = (t >> 11, t & 2_047);
    if n >= 16 {
        return 0;
    }
    (ONE - ((y * 22_006) >> 11) + ((((y * y) >> 11) * 5_622) >> 11)) >> n
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn falling_is_the_exponential() {
        for bits in [-8, 0, 9, 11, 20, 34] {
            for i in 0..4_000_u32 {
                let x = f64::from(i) / 400.0;
                let difference = (x * f64::from(bits).exp2()) as u32;
                let exact = (-f64::from(difference) / f64::from(bits).exp2()).exp();
                let found = f64::from(falling(difference, bits)) / 32_768.0;
                assert!((found - exact).abs() < 0.003, "{bits} {x} {found} {exact}");
            }
        }
    }

    #[test]
    fn the_first_of_equal_scores_wins_and_shares_confidence() {
        let decision = decide(Meaning::Classes, 11, &[-50_000, 7, 7, i32::MIN]);
        assert_eq!(decision.class, 1);
        assert!((120..=127).contains(&decision.confidence), "{decision:?}");
        let sure = decide(Meaning::Classes, 11, &[i32::MIN, i32::MAX]);
        assert_eq!(sure, Decision { class: 1, confidence: 255 });
    }

    #[test]
    fn one_score_tells_two_classes_apart() {
        assert_eq!(decide(Meaning::Binary, 11, &[0]), Decision { class: 0, confidence: 127 });
        assert_eq!(decide(Meaning::Binary, 11, &[1 << 20]).class, 1);
        assert_eq!(decide(Meaning::OneAgainstAll, 11, &[-(1 << 20)]).confidence, 0);
        assert_eq!(decide(Meaning::Values, 11, &[3, 9]).confidence, 0);
    }
}
