//! The learning rate as a pure function of the step and of the plateaus before it.
//!
//! ```
//! use fastgrnn::train::{Rate, Schedule};
//! let rate = Rate { schedule: Schedule::Cosine, base: 0.1, total: 110, warmup: 10, every: 0, factor: 1.0 };
//! assert!((rate.at(0, 0) - 0.1 / 11.0).abs() < 1e-12);
//! assert_eq!(rate.at(10, 0), 0.1);
//! assert!((rate.at(60, 0) - 0.05).abs() < 1e-12);
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
    /// Its fall at a plateau, of the plateau schedule.
    pub factor: f64,
}

impl Rate {
    /// The learning rate of `step`, from 0, with as many `plateaus` before it.
    pub fn at(&self, step: u64, plateaus: usize) -> f64 {
        if step < self.warmup {
            return self.base * (step + 1) as f64 / (self.warmup + 1) as f64;
        }
        let falls = (step / self.every.max(1)).min(1_000) as i32;
        self.base
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Step => 0.1f64.powi(falls),
                Schedule::Halving => 0.5f64.powi(falls),
                Schedule::Plateau => self.factor.powi(plateaus.min(1_000) as i32),
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
        Rate { schedule, base: 1.0, total: 300, warmup, every, factor: 0.25 }
    }

    #[test]
    fn step_falls_to_a_tenth_after_two_thirds() {
        let rate = rate(Schedule::Step, 0, 200);
        assert_eq!((rate.at(199, 0), rate.at(200, 0), rate.at(299, 0)), (1.0, 0.1, 0.1));
    }

    #[test]
    fn halving_falls_by_half_each_time() {
        let rate = rate(Schedule::Halving, 0, 100);
        assert_eq!((rate.at(99, 0), rate.at(100, 0), rate.at(200, 0)), (1.0, 0.5, 0.25));
        assert!(rate.at(u64::MAX, 0) >= 0.0);
    }

    #[test]
    fn plateaus_lower_their_schedule_and_no_other() {
        let rates = |schedule| [0, 1, 3].map(|plateaus| rate(schedule, 0, 1_000).at(50, plateaus));
        assert_eq!(rates(Schedule::Plateau), [1.0, 0.25, 0.015625]);
        assert_eq!(rates(Schedule::Constant), [1.0; 3]);
        assert!(rate(Schedule::Plateau, 0, 0).at(50, usize::MAX) >= 0.0);
    }

    #[test]
    fn cosine_ends_near_zero_and_stays_there() {
        let rate = rate(Schedule::Cosine, 0, 0);
        assert_eq!(rate.at(0, 0), 1.0);
        assert!(rate.at(299, 0) < 1e-4 && rate.at(299, 0) > 0.0);
        assert!(rate.at(1_000, 0) < 1e-12);
    }

    #[test]
    fn warm_up_rises_in_equal_parts_to_the_base_and_is_never_zero() {
        use Schedule::{Constant, Cosine, Halving, Plateau, Step};
        for schedule in [Constant, Step, Halving, Plateau, Cosine] {
            let rate = rate(schedule, 4, 1_000);
            let rates: Vec<f64> = (0..5).map(|s| rate.at(s, 0)).collect();
            let expected = [0.2, 0.4, 0.6, 0.8, 1.0];
            assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{rates:?}");
        }
    }

    #[test]
    fn a_run_shorter_than_its_warm_up_is_no_panic() {
        let rate =
            Rate { schedule: Schedule::Cosine, base: 1.0, total: 3, warmup: 10, every: 0, factor: 1.0 };
        assert!(rate.at(2, 0) < 1.0 && rate.at(50, 0).is_finite());
    }
}
