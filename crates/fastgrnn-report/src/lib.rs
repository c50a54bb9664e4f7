//! What a run looks like to a person: one self-contained HTML page and its plots as SVG files.
//!
//! Everything here is a pure function from a [`RunReport`] to text: nothing is read from disk, no
//! clock is asked, nothing in the page points outside it. That is also how it differs from a
//! plotting library: the page needs no script, follows the reader's light or dark setting, and
//! prints. Text from data (class names, notes, settings) is escaped wherever it lands.
//!
//! ```
//! use fastgrnn_report::{Curve, Figure, Kind, Point, RunReport, Unit};
//! let mut report = RunReport { title: "digits, fastgrnn".into(), ..RunReport::default() };
//! report.figures.push(Figure::new("test accuracy", 0.97, Unit::Fraction, Kind::Measured));
//! report.curves.push(Curve {
//!     seed: 0,
//!     best_epoch: Some(2),
//!     points: vec![
//!         Point { epoch: 1, train_loss: Some(1.2), val_loss: Some(1.3), ..Point::default() },
//!         Point { epoch: 2, train_loss: Some(0.4), val_loss: Some(0.5), ..Point::default() },
//!     ],
//! });
//! let page = report.html();
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("97.00\u{a0}%"));
//! assert_eq!(report.plots().iter().map(|p| p.name).collect::<Vec<_>>(), ["loss.svg"]);
//! ```

mod axis;
mod bars;
mod heat;
pub mod html;
mod lines;
mod scatter;
mod svg;

pub use bars::{Bar, Bars};
pub use heat::{Confusion, confusion_svg};
pub use lines::{Chart, Line, Scale, palette};
pub use scatter::{Dot, Scatter, Series};

use fastgrnn_core::format::{bytes, count, duration, fraction, number, number_sd};
use serde::{Deserialize, Serialize};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Observed in this run.
    #[default]
    Measured,
    /// Computed from measured numbers.
    Derived,
    /// Follows from sizes alone; no run needed.
    Analytic,
}

impl Kind {
    /// The word printed beside the number.
    pub fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Derived => "derived",
            Self::Analytic => "analytic",
        }
    }
}

/// How a number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A plain number, four digits.
    #[default]
    Number,
    /// 0–1, shown in per cent.
    Fraction,
    /// A whole number with thousands apart.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds, shown as hours, minutes and seconds.
    Seconds,
}

/// One headline number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// Its value; the mean where there are several seeds.
    pub value: f64,
    /// Standard deviation over the seeds.
    pub sd: Option<f64>,
    /// How it is written.
    pub unit: Unit,
    /// Where it comes from.
    pub kind: Kind,
}

impl Figure {
    /// A number without a deviation.
    pub fn new(label: &str, value: f64, unit: Unit, kind: Kind) -> Self {
        Self { label: label.into(), value, sd: None, unit, kind }
    }

    /// The same with a deviation over seeds.
    pub fn with_sd(mut self, sd: Option<f64>) -> Self {
        self.sd = sd;
        self
    }

    /// The number as a person reads it, with its deviation.
    pub fn text(&self) -> String {
        match (self.unit, self.sd) {
            (Unit::Number, None) => number(self.value),
            (Unit::Number, Some(sd)) => number_sd(self.value, sd),
            (Unit::Fraction, sd) => fraction(self.value, sd),
            (Unit::Count, _) => count(self.value as u64),
            (Unit::Bytes, _) => bytes(self.value as u64),
            (Unit::Seconds, _) => duration(self.value),
        }
    }
}

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

/// The epochs of one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The seed.
    pub seed: u64,
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
    /// The whole page.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The plots that the data allows: `loss.svg`, `accuracy.svg`, `confusion.svg`.
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
        plots
    }

    fn chart(&self, title: &str, scale: Scale, train: Pick, val: Pick) -> Chart {
        let mut chart = Chart { title: title.into(), x_label: "epoch".into(), scale, lines: Vec::new() };
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
                title: format!("{name}, seed {}", curve.seed),
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

#[cfg(test)]
mod tests;
