//! Plateaus: epochs in a row after which the validation loss was not lower than before.
//!
//! A refit has no validation part. It repeats the plateaus of the training that chose the epoch, at the
//! same epochs.

use serde::{Deserialize, Serialize};

/// The plateaus of a training so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Plateaus {
    /// The lowest validation loss so far.
    lowest: Option<f64>,
    /// Epochs since then, or since the last plateau.
    waited: usize,
    /// The epochs, from 1, at whose end a plateau was reached.
    reached: Vec<usize>,
}

impl Plateaus {
    /// Takes in the validation loss after `epoch`; `patience` epochs without a lower one are a plateau.
    pub(super) fn observe(&mut self, epoch: usize, loss: f64, patience: usize) {
        if self.lowest.is_none_or(|lowest| loss < lowest) {
            (self.lowest, self.waited) = (Some(loss), 0);
            return;
        }
        self.waited += 1;
        if self.waited >= patience {
            self.reached.push(epoch);
            self.waited = 0;
        }
    }

    /// Plateaus reached by the end of `epoch`, from 1; epoch 0 is the start.
    pub(super) fn count(&self, epoch: usize) -> usize {
        self.reached.iter().filter(|&&reached| reached <= epoch).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plateau_is_reached_after_as_many_epochs_as_are_waited_and_again_after_as_many_more() {
        let mut plateaus = Plateaus::default();
        let losses = [5.0, 4.0, 4.5, 4.2, 4.1, 4.0, 3.0, 3.0, f64::NAN];
        for (k, loss) in losses.into_iter().enumerate() {
            plateaus.observe(k + 1, loss, 2);
        }
        assert_eq!(plateaus.reached, [4, 6, 9]);
        let counts: Vec<usize> = (0..10).map(|epoch| plateaus.count(epoch)).collect();
        assert_eq!(counts, [0, 0, 0, 0, 1, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn a_falling_loss_has_no_plateau() {
        let mut plateaus = Plateaus::default();
        (1..50).for_each(|epoch| plateaus.observe(epoch, 1.0 / epoch as f64, 1));
        assert_eq!(plateaus.count(100), 0);
    }
}
