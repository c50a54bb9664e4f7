//! Synchronous successive halving: which rounds a search consists of.

use fastgrnn_core::format::quantity;

/// The rounds of a search. A bracket begins with a cohort of new trials of a small part of the epochs; the best of each
/// rung are trained anew with more epochs, up to whole trainings. Brackets follow each other without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// Trials that a bracket begins with.
    pub cohort: usize,
    /// Rungs of a bracket.
    pub rungs: usize,
}

/// Of so many trials of a rung one reaches the next, with as many times the epochs.
pub const DIVISOR: usize = 3;

impl Halving {
    /// Trials of a rung at most.
    pub fn trials(&self, rung: usize) -> usize {
        self.cohort.div_ceil(DIVISOR.pow(rung as u32))
    }

    /// Epochs of a rung, where a whole training has `whole`.
    pub fn epochs(&self, rung: usize, whole: usize) -> usize {
        whole.div_ceil(DIVISOR.pow((self.rungs - 1 - rung) as u32)).max(1)
    }

    /// The share of a whole training that a trial of a rung takes.
    pub fn share(&self, rung: usize) -> f64 {
        (DIVISOR as f64).powi(rung as i32 + 1 - self.rungs as i32)
    }

    /// What a bracket consists of, in words.
    pub fn described(&self) -> String {
        let rung = |rung: usize| {
            let parts = DIVISOR.pow((self.rungs - 1 - rung) as u32);
            let epochs =
                if parts == 1 { "all epochs".to_owned() } else { format!("1/{parts} of the epochs") };
            format!("{} of {epochs}", quantity(self.trials(rung) as u64, "trial"))
        };
        (0..self.rungs).map(rung).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rung_costs_about_the_same() {
        let halving = Halving { cohort: 9, rungs: 3 };
        let rungs: Vec<(usize, usize)> =
            (0..3).map(|rung| (halving.trials(rung), halving.epochs(rung, 200))).collect();
        assert_eq!(rungs, [(9, 23), (3, 67), (1, 200)]);
        assert_eq!(halving.epochs(0, 2), 1);
        assert_eq!(Halving { cohort: 5, rungs: 1 }.epochs(0, 7), 7);
        assert_eq!(
            halving.described(),
            "9 trials of 1/9 of the epochs, 3 trials of 1/3 of the epochs, 1 trial of all epochs"
        );
    }
}
