//! The step after which a training with the optimiser `rsg` ends.
//!
//! Randomised stochastic gradient (Ghadimi and Lan 2013) makes R plain steps, where R is drawn from 1 to M with a
//! probability in proportion to 2γ − Lγ², γ being the size of the step and L the Lipschitz constant of the gradient. L
//! is not known. For steps much smaller than 2/L, which the theorem needs anyway, the probability is in proportion to
//! the size of the step, and for steps of one size it is the same for all of them. That is what is drawn here.

use super::epoch::Pass;
use super::schedule::Rate;
use fastgrnn_core::rng::{Rng, stream};

/// Steps after which `pass` of a seed ends, from 1 to the steps of the run.
pub(super) fn drawn(rate: &Rate, seed: u64, pass: Pass) -> u64 {
    let mut rng = Rng::keyed(seed, &[stream::STOP, pass as u64]);
    // A step is proposed with the same probability as any other and taken by its size. The first steps of every
    // schedule have a size above 0, so that this ends.
    loop {
        let step = rng.below(usize::try_from(rate.total.max(1)).unwrap_or(usize::MAX)) as u64;
        if rng.uniform() * rate.base < rate.at(step, 0) {
            return step + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_model::settings::Schedule;

    fn rate(schedule: Schedule, warmup: u64) -> Rate {
        Rate { schedule, base: 0.1, total: 40, warmup, every: 25, factor: 1.0 }
    }

    #[test]
    fn steps_are_drawn_in_proportion_to_their_size() {
        const DRAWS: u64 = 40_000;
        for (schedule, warmup) in [(Schedule::Constant, 0), (Schedule::Cosine, 4), (Schedule::Step, 0)] {
            let rate = rate(schedule, warmup);
            let mut found = [0u64; 40];
            for seed in 0..DRAWS {
                found[drawn(&rate, seed, Pass::Choose) as usize - 1] += 1;
            }
            let sum: f64 = (0..40).map(|step| rate.at(step, 0)).sum();
            for (step, &count) in found.iter().enumerate() {
                let expected = DRAWS as f64 * rate.at(step as u64, 0) / sum;
                // Five deviations of a Poisson count.
                let most = 5.0 * expected.sqrt() + 1.0;
                assert!((count as f64 - expected).abs() < most, "{schedule:?} {step}: {count}, {expected}");
            }
        }
    }

    #[test]
    fn the_refit_has_a_draw_of_its_own_and_a_short_run_ends_after_its_only_step() {
        let rate = Rate { total: 1_000_000, ..rate(Schedule::Constant, 0) };
        assert_eq!(drawn(&rate, 3, Pass::Choose), drawn(&rate, 3, Pass::Choose));
        assert_ne!(drawn(&rate, 3, Pass::Choose), drawn(&rate, 3, Pass::Refit));
        assert_eq!(drawn(&Rate { total: 1, ..rate }, 3, Pass::Choose), 1);
    }
}
