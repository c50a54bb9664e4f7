//! Points over bytes: one colour a series, filled where a point is on the front.

use super::axis::Axis;
use super::frame::{Frame, Margins, range};
use super::lines::palette;
use super::svg::{Anchor, Svg, escape};
use fastgrnn_core::format::quantity;
use std::fmt::Write as _;

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// To the right.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Shown when the pointer rests on it.
    pub title: String,
    /// Whether it is on the front.
    pub front: bool,
}

/// Points of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// The points.
    pub dots: Vec<Dot>,
}

/// Points of several series; those on the front are filled and joined.
///
/// ```
/// use fastgrnn_report::{Dot, Scatter, Series};
/// let dot = |x, y| Dot { x, y, title: "8 units".into(), front: true };
/// let series = vec![Series { name: "gru".into(), dots: vec![dot(900.0, 0.9), dot(1_800.0, 0.95)] }];
/// let plot = Scatter { title: "Accuracy".into(), x_label: "bytes".into(), fraction: true, series };
/// assert!(plot.svg().unwrap().contains("gru"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Heading, which also names the vertical axis.
    pub title: String,
    /// What runs to the right.
    pub x_label: String,
    /// Whether the vertical axis is 0–1 shown in per cent.
    pub fraction: bool,
    /// The series.
    pub series: Vec<Series>,
}

const MARGINS: Margins =
    Margins { width: 720.0, height: 420.0, left: 62.0, right: 24.0, top: 62.0, bottom: 46.0 };

impl Scatter {
    /// The plot as a document, or nothing when there are no finite points.
    pub fn svg(&self) -> Option<String> {
        let finite = |d: &&Dot| d.x.is_finite() && d.y.is_finite();
        let dots = || self.series.iter().flat_map(|s| &s.dots).filter(finite);
        dots().next()?;
        let (x, y) = (range(dots().map(|d| d.x)), range(dots().map(|d| d.y)));
        let spread = if self.fraction { 0.01 } else { 1e-9 };
        let (x, y) = (
            Axis::linear(x.0.min(x.1 - 1.0), x.1, 8, true),
            Axis::linear(y.0.min(y.1 - spread), y.1, 6, true),
        );
        let frame = Frame { margins: &MARGINS, x, y };
        let mut svg = frame.draw(&self.title, &self.x_label, |v, label| self.y_label(v, label));
        self.front(&mut svg, &frame);
        let mut legend = MARGINS.left;
        for (series, colour) in self.series.iter().zip(palette::ALL.iter().cycle()) {
            for dot in series.dots.iter().filter(finite) {
                let (fill, width) = if dot.front { (*colour, 1.5) } else { ("none", 1.5) };
                svg.raw(&format!(
                    r#"<circle cx="{:.1}" cy="{:.1}" r="5" fill="{fill}" stroke="{colour}" stroke-width="{width}"><title>{}</title></circle>"#,
                    frame.px(dot.x),
                    frame.py(dot.y),
                    escape(&dot.title)
                ));
            }
            svg.raw(&format!(r#"<circle cx="{:.1}" cy="42" r="5" fill="{colour}"/>"#, legend + 5.0));
            svg.text("fg-t", legend + 15.0, 46.0, Anchor::Start, &series.name);
            legend += 32.0 + 7.0 * series.name.chars().count() as f64;
        }
        Some(svg.finish(&format!("{} by {}", self.title, self.x_label), &self.summary()))
    }

    /// The points on the front in words.
    fn summary(&self) -> String {
        let dots = || self.series.iter().flat_map(|s| &s.dots);
        let front: Vec<&str> = dots().filter(|d| d.front).map(|d| d.title.as_str()).collect();
        format!("{}. On the front: {}.", quantity(dots().count() as u64, "point"), front.join("; "))
    }

    /// The line through the points of the front, from left to right.
    fn front(&self, svg: &mut Svg, frame: &Frame) {
        let mut front: Vec<&Dot> =
            self.series.iter().flat_map(|s| &s.dots).filter(|d| d.front && d.y.is_finite()).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x));
        if front.len() < 2 {
            return;
        }
        let mut path = String::new();
        for dot in front {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", frame.px(dot.x), frame.py(dot.y));
        }
        svg.raw(&format!(r#"<path class="fg-a" d="{path}" fill="none" stroke-dasharray="5 3"/>"#));
    }

    fn y_label(&self, value: f64, plain: &str) -> String {
        if !self.fraction {
            return plain.to_owned();
        }
        let percent = format!("{:.2}", value * 100.0);
        format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
    }
}
