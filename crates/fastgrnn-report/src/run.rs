//! The report of a training run, and its plots.

use super::figure::Figure;
use super::heat::{Confusion, confusion_svg};
use super::lines::{Chart, Line, Scale, Span, palette};
use super::predicted_plot::PredictedPlot;
use super::section::{SequenceSection, TableSection};
use super::sequence_plot::ShownFeatures;
use serde::{Deserialize, Serialize};

/// One epoch of one seed. What was not measured is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Epoch, from 1.
    pub epoch: usize,
    /// Mean training loss.
    pub train_loss: Option<f64>,
    /// Training accuracy.
    pub train_accuracy: Option<f64>,
    /// Validation loss.
    pub val_loss: Option<f64>,
    /// Validation accuracy.
    pub val_accuracy: Option<f64>,
}

/// The epochs of one training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its name, such as `seed 0` or `seed 0, fold 2`.
    pub name: String,
    /// The epoch that was kept.
    pub best_epoch: Option<usize>,
    /// Its epochs, in order.
    pub points: Vec<Point>,
}

/// One row of the table of seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeedRow {
    /// The seed.
    pub seed: u64,
    /// The epoch that was kept.
    pub best_epoch: Option<usize>,
    /// Validation accuracy there.
    pub val_accuracy: Option<f64>,
    /// Validation loss there.
    pub val_loss: Option<f64>,
    /// Test accuracy.
    pub test_accuracy: Option<f64>,
    /// Perplexity of the validation part, of a language model.
    pub val_perplexity: Option<f64>,
    /// Perplexity of the test set, of a language model.
    pub test_perplexity: Option<f64>,
    /// Micro F1 on the validation part, of several labels.
    pub val_micro_f1: Option<f64>,
    /// Micro F1 on the test set, of several labels.
    pub test_micro_f1: Option<f64>,
    /// Test macro F1.
    pub test_f1: Option<f64>,
    /// Test loss.
    pub test_loss: Option<f64>,
    /// Seconds of training.
    pub seconds: Option<f64>,
    /// Whether the model file is this seed's.
    pub chosen: bool,
}

/// One tensor of the model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TensorRow {
    /// `layer0.w1`, …
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Bytes of its values.
    pub bytes: u64,
}

/// All that the page shows. Empty parts are left out of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Heading: data set and cell.
    pub title: String,
    /// A line under the heading.
    pub subtitle: String,
    /// The headline numbers, most important first.
    pub figures: Vec<Figure>,
    /// One row a seed.
    pub seeds: Vec<SeedRow>,
    /// Epochs of each seed.
    pub curves: Vec<Curve>,
    /// The confusion matrix.
    pub confusion: Option<Confusion>,
    /// Predicted against true numbers, one plot a target; at most four are shown.
    pub predicted: Vec<PredictedPlot>,
    /// The sequences that the model got most wrong.
    pub mistakes: Option<SequenceSection>,
    /// What the data holds.
    pub data: Option<TableSection>,
    /// A few sequences of the data.
    pub examples: Option<SequenceSection>,
    /// Which features the pictures of sequences show.
    pub shown: ShownFeatures,
    /// What the model takes on boards.
    pub boards: Option<TableSection>,
    /// The model's tensors.
    pub tensors: Vec<TensorRow>,
    /// The cell's equation, a line each.
    pub equation: Vec<String>,
    /// The resolved settings, as TOML.
    pub config: String,
    /// The command that makes this run again.
    pub command: String,
    /// Lines for people: what the reader decided, what to watch out for.
    pub notes: Vec<String>,
    /// Which fastgrnn made it.
    pub version: String,
}

/// Files of the plots of predicted against true numbers, one a target.
pub const PREDICTED_FILES: [&str; 4] =
    ["predicted.svg", "predicted-2.svg", "predicted-3.svg", "predicted-4.svg"];

/// A plot as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// File name.
    pub name: &'static str,
    /// What it shows, for people and screen readers.
    pub title: &'static str,
    /// The SVG document.
    pub svg: String,
}

impl RunReport {
    /// The plots that the data allows: `loss.svg`, `accuracy.svg`, `confusion.svg`, and `predicted.svg`
    /// with a number for each further target.
    pub fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        let loss = self.chart("Loss", Scale::Auto, |p| p.train_loss, |p| p.val_loss);
        if let Some(svg) = loss.svg() {
            plots.push(Plot { name: "loss.svg", title: "Loss by epoch", svg });
        }
        let accuracy = self.chart("Accuracy", Scale::Fraction, |p| p.train_accuracy, |p| p.val_accuracy);
        if let Some(svg) = accuracy.svg() {
            plots.push(Plot { name: "accuracy.svg", title: "Accuracy by epoch", svg });
        }
        if let Some(svg) = self.confusion.as_ref().and_then(confusion_svg) {
            plots.push(Plot { name: "confusion.svg", title: "Confusion matrix", svg });
        }
        for (plot, name) in self.predicted.iter().zip(PREDICTED_FILES) {
            let title = "Predicted against true";
            plots.extend(plot.svg().map(|svg| Plot { name, title, svg }));
        }
        plots
    }

    fn chart(&self, title: &str, scale: Scale, train: Pick, val: Pick) -> Chart {
        let mut chart = Chart {
            title: title.into(),
            x_label: "epoch".into(),
            span: Span::Whole,
            scale,
            lines: Vec::new(),
        };
        self.add_lines(&mut chart, "training", palette::BLUE, true, train);
        self.add_lines(&mut chart, "validation", palette::ORANGE, false, val);
        chart
    }

    /// One line a seed; the kept epoch is marked on the solid ones.
    fn add_lines(&self, chart: &mut Chart, name: &str, colour: &'static str, dashed: bool, pick: Pick) {
        for curve in &self.curves {
            let values = curve.points.iter().map(|p| (p.epoch as f64, pick(p)));
            let points = values.filter_map(|(x, y)| Some((x, y.filter(|y| y.is_finite())?)));
            chart.lines.push(Line {
                legend: name.into(),
                title: format!("{name}, {}", curve.name),
                colour,
                dashed,
                points: points.collect(),
                mark: curve.best_epoch.filter(|_| !dashed).map(|e| e as f64),
            });
        }
    }
}

/// Takes one of its numbers from an epoch.
type Pick = fn(&Point) -> Option<f64>;
