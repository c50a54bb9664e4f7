//! The page of a comparison: agreement, drift of states over time, saturation.

use fastgrnn_core::format::{bytes, count, fraction, number, quantity};
use fastgrnn_model::compare::{Comparison, Drift, Side};
use fastgrnn_report::html::{document, figures, table, text_section};
use fastgrnn_report::{Bar, Bars, Chart, Figure, Kind, Line, Scale, Span, Unit, palette};
use std::fmt::Write as _;

/// One of the two models by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// How a person calls it: its file.
    pub name: String,
    /// `float` or `integer`.
    pub engine: &'static str,
    /// Bytes of its parameters or image.
    pub bytes: usize,
}

/// A comparison and what is needed to tell it.
#[derive(Clone, Debug)]
pub struct CompareReport<'a> {
    /// What was found.
    pub found: &'a Comparison,
    /// The first model.
    pub a: Named,
    /// The second.
    pub b: Named,
    /// What they were compared on.
    pub data: String,
    /// The command that makes this page again.
    pub command: String,
    /// Which fastgrnn made it.
    pub version: String,
}

impl CompareReport<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        let title = format!("{} against {}", self.a.name, self.b.name);
        let subtitle = format!("{} of {}", quantity(self.found.n as u64, "sequence"), self.data);
        document(&title, &subtitle, &self.version, |out| {
            figures(out, &self.figures());
            self.models(out);
            self.drift(out);
            for (named, side) in [(&self.a, &self.found.a), (&self.b, &self.found.b)] {
                saturations(out, named, side);
            }
            text_section(out, "Make it again", &self.command);
        })
    }

    fn figures(&self) -> Vec<Figure> {
        let found = self.found;
        let mut list = Vec::new();
        let mut add = |label: String, value: Option<f64>, unit: Unit| {
            list.extend(value.map(|v| Figure::new(&label, v, unit, Kind::Measured)));
        };
        add("agreement".into(), found.agreement, Unit::Fraction);
        add("difference of the predictions".into(), found.difference, Unit::Number);
        for (named, side) in [(&self.a, &found.a), (&self.b, &found.b)] {
            let scores = side.scores.as_ref();
            add(format!("accuracy, {}", named.engine), scores.and_then(|s| s.accuracy), Unit::Fraction);
            let micro_f1 = scores.and_then(|s| s.sets.as_ref()).and_then(|sets| sets.micro_f1);
            add(format!("micro F1, {}", named.name), micro_f1, Unit::Fraction);
            let total = side.saturations.as_ref().map(|s| s.total() as f64);
            add(format!("saturations, {}", named.engine), total, Unit::Count);
        }
        list
    }

    fn models(&self, out: &mut String) {
        out.push_str("<section><h2>Models</h2>\n");
        let row = |named: &Named, side: &Side| {
            let score = match side.scores.as_ref() {
                Some(s) => {
                    let share = s.accuracy.or(s.sets.as_ref().and_then(|sets| sets.micro_f1));
                    share.map_or_else(|| number(s.loss), |share| fraction(share, None))
                }
                None => "no labels".into(),
            };
            vec![named.name.clone(), named.engine.into(), bytes(named.bytes as u64), score]
        };
        let rows = [row(&self.a, &self.found.a), row(&self.b, &self.found.b)];
        table(out, "Models", &["model", "engine", "bytes", "accuracy, micro F1 or loss"], &rows);
        out.push_str("</section>\n");
    }

    fn drift(&self, out: &mut String) {
        if self.found.drift.is_empty() {
            return;
        }
        out.push_str("<section><h2>Drift of the states</h2>\n<div class=\"plots curves\">\n");
        for svg in self.found.drift.iter().filter_map(drift_svg) {
            let _ = writeln!(out, "<figure>{svg}</figure>");
        }
        out.push_str("</div>\n");
        let rows: Vec<Vec<String>> = self.found.drift.iter().map(drift_row).collect();
        table(out, "Drift of the states", &DRIFT_HEADING, &rows);
        let _ = writeln!(
            out,
            "<p class=\"hint\">Absolute difference of the states of the two models after each step, in the \
             units of the state, over {} and all units. The scale is the root mean square of the \
             first model's states.</p></section>",
            quantity(self.found.samples as u64, "sequence")
        );
    }
}

/// Columns of a table of drift.
const DRIFT_HEADING: [&str; 5] = ["state", "scale", "mean drift", "largest drift", "mean of scale"];

fn drift_row(d: &Drift) -> Vec<String> {
    let name = format!("{} of layer {}", d.value, d.layer);
    vec![name, number(d.scale), number(d.mean), number(d.max), fraction(d.relative, None)]
}

/// Mean and largest distance over time.
fn drift_svg(drift: &Drift) -> Option<String> {
    let line = |name: &str, colour, dashed, pick: fn(&fastgrnn_model::compare::DriftPoint) -> f64| Line {
        legend: name.into(),
        title: format!("{name} drift of {}, layer {}", drift.value, drift.layer),
        colour,
        dashed,
        points: drift.points.iter().map(|p| (p.step as f64, pick(p))).collect(),
        mark: None,
    };
    Chart {
        title: format!("Drift of {}, layer {}", drift.value, drift.layer),
        x_label: "step".into(),
        span: Span::Whole,
        scale: Scale::Auto,
        lines: vec![
            line("largest", palette::ORANGE, true, |p| p.max),
            line("mean", palette::BLUE, false, |p| p.mean),
        ],
    }
    .svg()
}

fn saturations(out: &mut String, named: &Named, side: &Side) {
    let Some(found) = &side.saturations else { return };
    out.push_str("<section><h2>Saturation</h2>\n");
    let steps = found.steps.max(1);
    let bars = found.rows().into_iter().map(|row| Bar {
        name: format!("{}, layer {}", row.place, row.layer),
        value: row.count as f64,
        text: format!("{} ({} a step)", count(row.count), number(row.count as f64 / steps as f64)),
    });
    let title = format!("Values cut in {}", named.name);
    match (Bars { title, bars: bars.collect() }).svg() {
        Some(svg) => {
            let _ = writeln!(out, "<div class=\"plots\"><figure>{svg}</figure></div>");
        }
        None => {
            let steps = quantity(found.steps, "step");
            let _ = writeln!(out, "<p>No value saturated in {steps}.</p>");
        }
    }
    out.push_str("</section>\n");
}
