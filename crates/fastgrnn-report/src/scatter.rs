//! Points over bytes: one colour a series, filled where a point is on the front.

use super::axis::Axis;
use super::svg::{Anchor, Svg, escape};
use std::fmt::Write as _;

/// Colours that stay apart for colour-blind readers, on white and on black.
const COLOURS: [&str; 7] = ["#2b8cbe", "#e08214", "#1b9e77", "#c51b7d", "#8c6bb1", "#a6761d", "#6b7480"];

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

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 46.0;

impl Scatter {
    /// The plot as a document, or nothing when there are no finite points.
    pub fn svg(&self) -> Option<String> {
        let finite = |d: &&Dot| d.x.is_finite() && d.y.is_finite();
        let dots = || self.series.iter().flat_map(|s| &s.dots).filter(finite);
        dots().next()?;
        let range = |pick: fn(&Dot) -> f64| {
            dots().map(pick).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        let (x, y) = (range(|d| d.x), range(|d| d.y));
        let x_axis = Axis::linear(x.0.min(x.1 - 1.0), x.1, 8, true);
        let spread = if self.fraction { 0.01 } else { 1e-9 };
        let y_axis = Axis::linear(y.0.min(y.1 - spread), y.1, 6, true);
        let px = |v: f64| LEFT + x_axis.place(v) * (WIDTH - LEFT - RIGHT);
        let py = |v: f64| HEIGHT - BOTTOM - y_axis.place(v) * (HEIGHT - TOP - BOTTOM);

        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.text("fg-h", LEFT, 24.0, Anchor::Start, &self.title);
        for (v, label) in &y_axis.ticks {
            svg.line("fg-g", (LEFT, py(*v)), (WIDTH - RIGHT, py(*v)));
            svg.text("fg-t", LEFT - 8.0, py(*v) + 4.0, Anchor::End, &self.y_label(*v, label));
        }
        let floor = HEIGHT - BOTTOM;
        svg.line("fg-a", (LEFT, floor), (WIDTH - RIGHT, floor));
        for (v, label) in &x_axis.ticks {
            svg.line("fg-a", (px(*v), floor), (px(*v), floor + 4.0));
            svg.text("fg-t", px(*v), floor + 18.0, Anchor::Middle, label);
        }
        svg.text("fg-t", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0, Anchor::Middle, &self.x_label);
        self.front(&mut svg, &px, &py);
        let mut legend = LEFT;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            for dot in series.dots.iter().filter(finite) {
                let (fill, width) = if dot.front { (*colour, 1.5) } else { ("none", 1.5) };
                svg.raw(&format!(
                    r#"<circle cx="{:.1}" cy="{:.1}" r="5" fill="{fill}" stroke="{colour}" stroke-width="{width}"><title>{}</title></circle>"#,
                    px(dot.x),
                    py(dot.y),
                    escape(&dot.title)
                ));
            }
            svg.raw(&format!(r#"<circle cx="{:.1}" cy="42" r="5" fill="{colour}"/>"#, legend + 5.0));
            svg.text("fg-t", legend + 15.0, 46.0, Anchor::Start, &series.name);
            legend += 32.0 + 7.0 * series.name.chars().count() as f64;
        }
        Some(svg.finish(&format!("{} by {}", self.title, self.x_label)))
    }

    /// The line through the points of the front, from left to right.
    fn front(&self, svg: &mut Svg, px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) {
        let mut front: Vec<&Dot> =
            self.series.iter().flat_map(|s| &s.dots).filter(|d| d.front && d.y.is_finite()).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x));
        if front.len() < 2 {
            return;
        }
        let mut path = String::new();
        for dot in front {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", px(dot.x), py(dot.y));
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
