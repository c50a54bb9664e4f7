//! The losses of one readout row, and their derivatives by its scores.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::Loss;

/// Weight of each readout row of sequence `i`.
pub(super) fn weight(batch: &Batch, i: usize) -> f64 {
    batch.weights.get(i).map_or(1.0, |&w| f64::from(w))
}

/// The loss of row `row` and its derivative by each score.
pub(super) fn row(loss: Loss, scores: &[f64], batch: &Batch, row: usize) -> (f64, Vec<f64>) {
    let outputs = scores.len();
    let of_row = |rows: &[f32]| -> Vec<f64> {
        rows[row * outputs..(row + 1) * outputs].iter().map(|&v| f64::from(v)).collect()
    };
    let wanted = match batch.soft.is_empty() {
        true => wanted(outputs, &batch.targets, row),
        false => of_row(&batch.soft),
    };
    let (own, slopes) = plain(loss, scores, &wanted);
    let teacher = &batch.teacher;
    if teacher.rows.is_empty() {
        return (own, slopes);
    }
    let (w, t) = (f64::from(teacher.weight), f64::from(teacher.temperature));
    let cooled: Vec<f64> = scores.iter().map(|s| s / t).collect();
    let (taught, taught_slopes) = plain(loss, &cooled, &of_row(&teacher.rows));
    let slope = |(own, taught): (&f64, &f64)| (1.0 - w) * own + w * t * taught;
    ((1.0 - w) * own + w * t * t * taught, slopes.iter().zip(&taught_slopes).map(slope).collect())
}

fn plain(loss: Loss, scores: &[f64], wanted: &[f64]) -> (f64, Vec<f64>) {
    match loss {
        Loss::SoftmaxCrossEntropy => softmax(scores, wanted),
        Loss::BinaryCrossEntropy => sum_over_outputs(scores, wanted, binary),
        Loss::SquaredError => sum_over_outputs(scores, wanted, |s, y| ((s - y).powi(2), 2.0 * (s - y))),
    }
}

/// The target of each output; a class is 1 at its own output, or 0 / 1 if there is one output.
fn wanted(outputs: usize, targets: &Targets, row: usize) -> Vec<f64> {
    match targets {
        Targets::Value(values) => {
            values[row * outputs..(row + 1) * outputs].iter().map(|&v| f64::from(v)).collect()
        }
        Targets::Set(sets) => {
            (0..outputs as u32).map(|k| f64::from(u8::from(sets.get(row).contains(&k)))).collect()
        }
        Targets::Class(classes) if outputs == 1 => vec![f64::from(classes[row])],
        Targets::Class(classes) => {
            (0..outputs).map(|k| f64::from(u8::from(k == classes[row] as usize))).collect()
        }
    }
}

/// `−Σ y·log softmax(s)`, for targets that sum to 1.
fn softmax(scores: &[f64], wanted: &[f64]) -> (f64, Vec<f64>) {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = max + scores.iter().map(|s| (s - max).exp()).sum::<f64>().ln();
    let value = scores.iter().zip(wanted).map(|(s, y)| y * (log_sum - s)).sum();
    (value, scores.iter().zip(wanted).map(|(s, y)| (s - log_sum).exp() - y).collect())
}

/// `−y·log σ(s) − (1−y)·log(1 − σ(s))`, written so that no exponential overflows.
fn binary(s: f64, y: f64) -> (f64, f64) {
    let value = s.max(0.0) - s * y + (-s.abs()).exp().ln_1p();
    (value, 1.0 / (1.0 + (-s).exp()) - y)
}

fn sum_over_outputs(scores: &[f64], wanted: &[f64], f: impl Fn(f64, f64) -> (f64, f64)) -> (f64, Vec<f64>) {
    let parts = || scores.iter().zip(wanted).map(|(&s, &y)| f(s, y));
    (parts().map(|(value, _)| value).sum(), parts().map(|(_, slope)| slope).collect())
}
