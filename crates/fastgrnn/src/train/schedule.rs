//! The learning rate as a pure function of the step.
//!
//! ```
//! use fastgrnn::train::{Rate, Schedule};
//! let rate = Rate { schedule: Schedule::Cosine, base: 0.1, total: 110, warmup: 10, every: 0 };
//! assert!((rate.at(0) - 0.1 / 11.0).abs() < 1e-12);
//! assert_eq!(rate.at(10), 0.1);
//! assert!((rate.at(60) - 0.05).abs() < 1e-12);
//! ```

use fastgrnn_model::settings::Schedule;

/// A learning rate over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How it falls.
    pub schedule: Schedule,
    /// Its value after the warm-up.
    pub base: f64,
    /// Steps of the run.
    pub total: u64,
    /// Steps over which it rises in equal parts.
    pub warmup: u64,
    /// Steps between falls of the step and halving schedules.
    pub every: u64,
}

impl Rate {
    /// The learning rate of `step`, from 0.
    pub fn at(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.base * (step + 1) as f64 / (self.warmup + 1) as f64;
        }
        let falls = (step / self.every.max(1)).min(1_000) as i32;
        self.base
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Step => 0.1f64.powi(falls),
                Schedule::Halving => 0.5f64.powi(falls),
                Schedule::Cosine => {
                    let left = self.total.saturating_sub(self.warmup).max(1);
                    let done = ((step - self.warmup) as f64 / left as f64).min(1.0);
                    0.5 * (1.0 + (std::f64::consts::PI * done).cos())
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(schedule: Schedule, warmup: u64, every: u64) -> Rate {
        Rate { schedule, base: 1.0, total: 300, warmup, every }
    }

    #[test]
    fn step_falls_to_a_tenth_after_two_thirds() {
        let rate = rate(Schedule::Step, 0, 200);
        assert_eq!((rate.at(199), rate.at(200), rate.at(299)), (1.0, 0.1, 0.1));
    }

    #[test]
    fn halving_falls_by_half_each_time() {
        let rate = rate(Schedule::Halving, 0, 100);
        assert_eq!((rate.at(99), rate.at(100), rate.at(200)), (1.0, 0.5, 0.25));
        assert!(rate.at(u64::MAX) >= 0.0);
    }

    #[test]
    fn cosine_ends_near_zero_and_stays_there() {
        let rate = rate(Schedule::Cosine, 0, 0);
        assert_eq!(rate.at(0), 1.0);
        assert!(rate.at(299) < 1e-4 && rate.at(299) > 0.0);
        assert!(rate.at(1_000) < 1e-12);
    }

    #[test]
    fn warm_up_rises_in_equal_parts_to_the_base_and_is_never_zero() {
        for schedule in [Schedule::Constant, Schedule::Step, Schedule::Halving, Schedule::Cosine] {
            let rate = rate(schedule, 4, 1_000);
            let rates: Vec<f64> = (0..5).map(|s| rate.at(s)).collect();
            let expected = [0.2, 0.4, 0.6, 0.8, 1.0];
            assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rates:?}");
        }
    }

    #[test]
    fn a_run_shorter_than_its_warm_up_is_no_panic() {
        let rate = Rate { schedule: Schedule::Cosine, base: 1.0, total: 3, warmup: 10, every: 0 };
        assert!(rate.at(2) < 1.0 && rate.at(50).is_finite());
    }
}
