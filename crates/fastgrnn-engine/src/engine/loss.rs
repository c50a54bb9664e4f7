//! The losses, row by row, and what a batch must look like for them.

use super::error::EngineError;
use super::soft;
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::{Loss, Network, Readout};

/// What a run over a batch computes.
#[derive(Clone, Copy)]
pub(super) enum Computation {
    /// The scores of each readout row.
    Scores,
    /// The mean loss.
    Loss(Objective),
    /// The mean loss and its gradient.
    Gradient(Objective),
}

impl Computation {
    /// Whether gradients are wanted.
    pub(super) fn is_gradient(self) -> bool {
        matches!(self, Self::Gradient(_))
    }
}

/// A loss, and what its mean and those of the penalties are over.
#[derive(Clone, Copy)]
pub(super) struct Objective {
    pub(super) loss: Loss,
    /// Sum of the weights of all rows.
    pub(super) total_weight: f64,
    /// Factor of the square of each entry of a state that the head reads.
    pub(super) activation: f32,
    /// Factor of the square of each change of an entry of the last layer's state.
    pub(super) temporal: f32,
}

impl Objective {
    /// The mean over the rows of a batch, without penalties.
    pub(super) fn plain(loss: Loss, batch: &Batch, readout: Readout) -> Self {
        let total_weight = total_weight(batch, readout);
        Self { loss, total_weight, activation: 0.0, temporal: 0.0 }
    }

    /// The same with the penalties of the batch.
    pub(super) fn with_penalties(loss: Loss, batch: &Batch, net: &Network) -> Self {
        let of_sequences = |count: &dyn Fn(usize) -> usize| (0..batch.len()).map(count).sum::<usize>();
        let reads = of_sequences(&|i| match net.readout {
            Readout::Last => batch.readings(i),
            Readout::Every => batch.steps(i),
            Readout::Mean | Readout::Max => 1,
        });
        let changes = of_sequences(&|i| batch.steps(i) - 1);
        let mean = |factor: f32, rows: usize| factor / (rows.max(1) * net.hidden()) as f32;
        Self {
            activation: mean(batch.regularization.activation, reads),
            temporal: mean(batch.regularization.temporal, changes),
            ..Self::plain(loss, batch, net.readout)
        }
    }
}

/// Checks that targets and weights fit `rows` readout rows of `outputs` scores.
pub(super) fn check(batch: &Batch, rows: usize, outputs: usize, loss: Loss) -> Result<(), EngineError> {
    let targets = |what: String| Err(EngineError::Targets { what });
    match &batch.targets {
        Targets::Class(classes) => {
            if classes.len() != rows {
                return targets(format!("{} class targets for {rows} rows", classes.len()));
            }
            let binary = loss == Loss::BinaryCrossEntropy && outputs == 1;
            let count = if binary { 2 } else { outputs };
            if let Some(row) = classes.iter().position(|&c| c as usize >= count) {
                return targets(format!(
                    "row {row} has class {} but there are {count} classes",
                    classes[row]
                ));
            }
            if loss == Loss::SquaredError {
                return targets("squared error needs value targets, not classes".into());
            }
        }
        Targets::Value(values) => {
            if values.len() != rows * outputs {
                let found = values.len();
                return targets(format!("{found} target values for {rows} rows of {outputs} outputs"));
            }
            if loss == Loss::SoftmaxCrossEntropy {
                return targets("softmax cross-entropy needs class targets, not values".into());
            }
        }
        Targets::Set(sets) => {
            if sets.len() != rows {
                return targets(format!("{} sets of classes for {rows} rows", sets.len()));
            }
            if loss != Loss::BinaryCrossEntropy {
                return targets("sets of classes need the binary cross-entropy".into());
            }
            for row in 0..rows {
                let set = sets.get(row);
                if let Some(class) = set.iter().find(|&&class| class as usize >= outputs) {
                    return targets(format!("row {row} has class {class} but there are {outputs} classes"));
                }
                if set.windows(2).any(|pair| pair[0] >= pair[1]) {
                    return targets(format!("the classes of row {row} are not in ascending order"));
                }
            }
        }
    }
    for (what, found) in [("soft", batch.soft.len()), ("teacher's", batch.teacher.rows.len())] {
        if found != 0 && found != rows * outputs {
            return targets(format!("{found} {what} targets for {rows} rows of {outputs} outputs"));
        }
        if found != 0 && (loss == Loss::SquaredError || !matches!(batch.targets, Targets::Class(_))) {
            return targets(format!("{what} targets are shares of classes; these are numbers"));
        }
    }
    if !batch.weights.is_empty() && batch.weights.len() != batch.len() {
        return targets(format!("{} weights for {} sequences", batch.weights.len(), batch.len()));
    }
    Ok(())
}

/// Readout rows of a batch.
pub(super) fn rows(batch: &Batch, readout: Readout) -> usize {
    match readout {
        Readout::Last | Readout::Mean | Readout::Max => batch.len(),
        Readout::Every => batch.total_steps(),
    }
}

/// Weight of sequence `i` in the loss.
pub(super) fn weight(batch: &Batch, i: usize) -> f32 {
    batch.weights.get(i).copied().unwrap_or(1.0)
}

/// Sum of the weights of all readout rows.
pub(super) fn total_weight(batch: &Batch, readout: Readout) -> f64 {
    (0..batch.len())
        .map(|i| {
            let rows = if readout == Readout::Every { batch.steps(i) } else { 1 };
            f64::from(weight(batch, i)) * rows as f64
        })
        .sum()
}

/// The loss of one row; turns `scores` into the loss's gradient times `scale`.
///
/// Also says whether the largest score is the target class, or one of several.
pub(super) fn row(loss: Loss, scores: &mut [f32], batch: &Batch, row: usize, scale: f32) -> (f64, bool) {
    let (outputs, targets) = (scores.len(), &batch.targets);
    let correct = is_correct(scores, targets, row);
    if soft::applies(batch) {
        return (soft::row(loss, scores, batch, row, scale), correct);
    }
    let value = match loss {
        Loss::SoftmaxCrossEntropy => match targets {
            Targets::Class(classes) => softmax(scores, classes[row] as usize, scale),
            Targets::Value(_) | Targets::Set(_) => 0.0,
        },
        Loss::BinaryCrossEntropy => {
            let mut sum = 0.0;
            for (o, score) in scores.iter_mut().enumerate() {
                let target = match targets {
                    Targets::Class(classes) if outputs == 1 => classes[row] as f32,
                    Targets::Class(classes) => f32::from(classes[row] as usize == o),
                    Targets::Value(values) => values[row * outputs + o],
                    Targets::Set(sets) => f32::from(sets.get(row).binary_search(&(o as u32)).is_ok()),
                };
                let x = *score;
                sum += f64::from(x.max(0.0) - x * target + (-x.abs()).exp().ln_1p());
                *score = (1.0 / (1.0 + (-x).exp()) - target) * scale;
            }
            sum
        }
        Loss::SquaredError => {
            let Targets::Value(values) = targets else { return (0.0, false) };
            let mut sum = 0.0;
            for (score, target) in scores.iter_mut().zip(&values[row * outputs..]) {
                let difference = *score - target;
                sum += f64::from(difference) * f64::from(difference);
                *score = 2.0 * difference * scale;
            }
            sum
        }
    };
    (value, correct)
}

fn softmax(scores: &mut [f32], class: usize, scale: f32) -> f64 {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let loss_of_class = largest - scores[class];
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score *= scale / sum;
    }
    scores[class] -= scale;
    f64::from(loss_of_class) + f64::from(sum).ln()
}

fn is_correct(scores: &[f32], targets: &Targets, row: usize) -> bool {
    // The first of equal scores wins; NaN never does.
    let best = || (0..scores.len()).fold(0, |best, o| if scores[o] > scores[best] { o } else { best });
    match targets {
        Targets::Class(classes) if scores.len() == 1 => (scores[0] > 0.0) == (classes[row] == 1),
        Targets::Class(classes) => best() == classes[row] as usize,
        Targets::Set(sets) => sets.get(row).binary_search(&(best() as u32)).is_ok(),
        Targets::Value(_) => false,
    }
}
