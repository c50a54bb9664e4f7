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
//!     name: "seed 0".into(),
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
mod bar_chart;
mod figure;
mod frame;
mod heat;
pub mod html;
mod lines;
mod predicted_plot;
mod run;
mod run_page;
mod scatter;
mod section;
mod sequence_plot;
mod svg;

pub use bar_chart::{Bar, Bars};
pub use figure::{Figure, Kind, Unit};
pub use heat::{Confusion, confusion_svg};
pub use lines::{Chart, Line, Scale, Span, palette};
pub use predicted_plot::PredictedPlot;
pub use run::{Curve, PREDICTED_FILES, Plot, Point, RunReport, SeedRow, TensorRow};
pub use scatter::{Dot, Scatter, Series};
pub use section::{SequenceCard, SequenceSection, SequenceView, TableSection};
pub use sequence_plot::{SequencePlot, ShownFeatures};

#[cfg(test)]
mod tests;
