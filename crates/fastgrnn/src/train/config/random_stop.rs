//! Checks of what goes with the optimiser `rsg`, which ends at a step that is drawn.

use super::error::out_of_range;
use super::{Config, ConfigError};
use crate::train::{Optimizer, Refit, Schedule, StageKind};

impl Config {
    /// Refuses what depends on a choice of an epoch, on validation or on the last steps of the run.
    pub(super) fn check_random_stop(&self) -> Result<(), ConfigError> {
        let (training, preparation) = (&self.training, &self.preparation);
        if training.optimizer != Optimizer::Rsg {
            return Ok(());
        }
        if preparation.cv.is_on() {
            let expected = "cross-validation chooses an epoch, and rsg draws its last step; use `cv = off`";
            return Err(out_of_range("cv", preparation.cv, expected));
        }
        if training.refit == Refit::BestEpochs {
            let expected = "rsg chooses no epoch; use `refit = full` or `refit = none`";
            return Err(out_of_range("refit", training.refit, expected));
        }
        if training.schedule == Schedule::Plateau {
            let expected = "rsg draws its last step by the learning rates, which must be known before; use `schedule = constant` or another";
            return Err(out_of_range("schedule", training.schedule, expected));
        }
        if training.patience > 0 {
            let expected = "rsg draws its last step; leave `patience` out";
            return Err(out_of_range("patience", training.patience, expected));
        }
        if let Some(decay) = training.ema.filter(|&decay| decay > 0.0) {
            let (why, instead) =
                ("rsg delivers the parameters of a step that is drawn".into(), "`optimizer = sgd`".into());
            return Err(ConfigError::Unused { key: "ema", value: decay.to_string(), why, instead });
        }
        if training.stages.0.iter().any(|stage| stage.kind != StageKind::Dense) {
            let what = "rsg may end in any stage, so that all must be dense; use `optimizer = sgd`, or leave the keys that need other stages out";
            return Err(ConfigError::Stages { stages: training.stages.to_string(), what: what.into() });
        }
        Ok(())
    }
}
