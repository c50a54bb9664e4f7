//! The loss of a row whose target lies between classes, or that a teacher has a say in.
//!
//! With y the row's target (its class, or its share of each class), q the teacher's opinion, w its
//! weight and T its temperature:
//!
//! ```text
//! loss       (1 − w)·E(y, s) + w·T²·E(q, s / T)
//! slope      (1 − w)·(p(s) − y) + w·T·(p(s / T) − q)
//! ```
//!
//! E is the cross-entropy and p the probabilities of the loss, softmax or sigmoid. T² keeps the
//! teacher's gradient as large as without a temperature. A plain row never comes here.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::Loss;

/// Whether rows of this batch have more to them than a class.
pub(super) fn applies(batch: &Batch) -> bool {
    !batch.soft.is_empty() || !batch.teacher.rows.is_empty()
}

/// The loss of one row; turns `scores` into its gradient times `scale`.
pub(super) fn row(loss: Loss, scores: &mut [f32], batch: &Batch, row: usize, scale: f32) -> f64 {
    let outputs = scores.len();
    let range = row * outputs..(row + 1) * outputs;
    let soft = batch.soft.get(range.clone());
    let class = match &batch.targets {
        Targets::Class(classes) => classes[row] as usize,
        Targets::Value(_) | Targets::Set(_) => return 0.0,
    };
    let wanted = |k: usize| match soft {
        Some(soft) => soft[k],
        None if outputs == 1 => class as f32,
        None => f32::from(k == class),
    };
    let teacher = &batch.teacher;
    let Some(opinion) = teacher.rows.get(range) else {
        return terms(loss, scores, &wanted, 1.0, None, scale);
    };
    let (w, t) = (teacher.weight, teacher.temperature);
    terms(loss, scores, &wanted, 1.0 - w, Some((&|k: usize| opinion[k], w, t)), scale)
}

type Opinion<'a> = (&'a dyn Fn(usize) -> f32, f32, f32);

/// Both terms, each with its share.
fn terms(
    loss: Loss,
    scores: &mut [f32],
    wanted: &dyn Fn(usize) -> f32,
    share: f32,
    teacher: Option<Opinion>,
    scale: f32,
) -> f64 {
    let own = Normal::of(loss, scores, 1.0);
    let mut sum = f64::from(share) * own.entropy(scores, wanted);
    let at_teacher = teacher.map(|(opinion, w, t)| (Normal::of(loss, scores, 1.0 / t), opinion, w, t));
    if let Some((normal, opinion, w, t)) = &at_teacher {
        sum += f64::from(w * t * t) * normal.entropy(scores, opinion);
    }
    for (k, score) in scores.iter_mut().enumerate() {
        let mut slope = share * (own.probability(*score) - wanted(k));
        if let Some((normal, opinion, w, t)) = &at_teacher {
            slope += w * t * (normal.probability(*score) - opinion(k));
        }
        *score = slope * scale;
    }
    sum
}

/// How scores become probabilities: all that the whole row has to say about one of them.
struct Normal {
    /// One over the temperature.
    sharpness: f32,
    /// Of a softmax: the largest score and the logarithm of the sum, both at this temperature.
    row: Option<(f32, f32)>,
}

impl Normal {
    fn of(loss: Loss, scores: &[f32], sharpness: f32) -> Self {
        let row = (loss == Loss::SoftmaxCrossEntropy).then(|| {
            let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max) * sharpness;
            let sum: f32 = scores.iter().map(|s| (s * sharpness - largest).exp()).sum();
            (largest, sum.ln())
        });
        Self { sharpness, row }
    }

    fn probability(&self, score: f32) -> f32 {
        let s = score * self.sharpness;
        match self.row {
            Some((largest, log_sum)) => (s - largest - log_sum).exp(),
            None => 1.0 / (1.0 + (-s).exp()),
        }
    }

    /// The cross-entropy of the row with these targets.
    fn entropy(&self, scores: &[f32], wanted: &dyn Fn(usize) -> f32) -> f64 {
        let of = |(k, score): (usize, &f32)| {
            let (s, y) = (score * self.sharpness, wanted(k));
            match self.row {
                Some((largest, log_sum)) => f64::from(y) * (f64::from(largest - s) + f64::from(log_sum)),
                None => f64::from(s.max(0.0) - s * y + (-s.abs()).exp().ln_1p()),
            }
        };
        scores.iter().enumerate().map(of).sum()
    }
}
