//! Line charts: one line a seed, one colour a split, a ring at the epoch that was kept.

use super::axis::Axis;
use super::frame::{Frame, Margins, range};
use super::svg::{Anchor, Svg, escape};
use fastgrnn_core::format::{fraction, number};
use std::fmt::Write as _;

/// A blue and an orange that stay apart for colour-blind readers, on white and on black.
pub mod palette {
    /// The first colour.
    pub const BLUE: &str = "#2b8cbe";
    /// The second colour.
    pub const ORANGE: &str = "#e08214";
}

/// Points of a line beyond which neighbours share a pixel.
const MOST_POINTS: usize = 900;
/// Lines of a chart that its summary for screen readers goes through.
const MOST_SUMMARIZED: usize = 6;

/// How the vertical axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, or logarithmic where the values span more than two decades.
    Auto,
    /// 0–1 shown in per cent; the axis starts at a round number under the data.
    Fraction,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Lines with the same text share one legend entry.
    pub legend: String,
    /// Shown when the pointer rests on the line.
    pub title: String,
    /// Its colour.
    pub colour: &'static str,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Its points, by growing x.
    pub points: Vec<(f64, f64)>,
    /// Where to put a ring.
    pub mark: Option<f64>,
}

/// A chart of lines over a common axis.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Heading, which also names the vertical axis.
    pub title: String,
    /// What runs to the right.
    pub x_label: String,
    /// How the vertical axis runs.
    pub scale: Scale,
    /// The lines.
    pub lines: Vec<Line>,
}

const MARGINS: Margins =
    Margins { width: 560.0, height: 320.0, left: 58.0, right: 16.0, top: 42.0, bottom: 46.0 };

impl Chart {
    /// The chart as a document, or nothing when no line has a point.
    pub fn svg(&self) -> Option<String> {
        let points = || self.lines.iter().flat_map(|l| l.points.iter().copied());
        points().next()?;
        let (x, y) = (range(points().map(|p| p.0)), range(points().map(|p| p.1)));
        let (x, y) = (Axis::whole(x.0, x.1, 8), self.y_axis(y.0, y.1));
        let frame = Frame { margins: &MARGINS, x, y };
        let mut svg = frame.draw(&self.title, &self.x_label, |v, label| self.y_label(v, label));
        for line in &self.lines {
            draw(&mut svg, line, self.lines.len() > 2, &frame);
        }
        self.legend(&mut svg);
        Some(svg.finish(&format!("{} by {}", self.title, self.x_label), &self.summary()))
    }

    /// The first lines in words: where each begins and ends, and its value at the ring.
    fn summary(&self) -> String {
        let value = |y: f64| match self.scale {
            Scale::Auto => number(y),
            Scale::Fraction => fraction(y, None),
        };
        let lines = self.lines.iter().filter(|line| !line.points.is_empty());
        let each = lines.take(MOST_SUMMARIZED).map(|line| {
            let ((x0, y0), (x1, y1)) = (line.points[0], line.points[line.points.len() - 1]);
            let x = &self.x_label;
            let mut text = format!("{}: {} at {x} {x0}, {} at {x} {x1}", line.title, value(y0), value(y1));
            if let Some(&(at, y)) = line.mark.and_then(|at| line.points.iter().find(|p| p.0 == at)) {
                text.push_str(&format!("; {} at {x} {at}, which was kept", value(y)));
            }
            text + "."
        });
        each.collect::<Vec<_>>().join(" ")
    }

    fn y_axis(&self, low: f64, high: f64) -> Axis {
        match self.scale {
            Scale::Fraction => Axis::linear(low.min(high - 0.01), high, 5, true),
            Scale::Auto if low > 0.0 && high / low > 100.0 => Axis::log(low, high),
            Scale::Auto => Axis::linear(low.min(0.0), high.max(low.min(0.0) + 1e-9), 5, true),
        }
    }

    fn y_label(&self, value: f64, plain: &str) -> String {
        match self.scale {
            Scale::Auto => plain.to_owned(),
            Scale::Fraction => {
                let percent = format!("{:.2}", value * 100.0);
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }

    fn legend(&self, svg: &mut Svg) {
        let mut entries: Vec<&Line> = Vec::new();
        for line in self.lines.iter().filter(|l| !l.points.is_empty()) {
            if !entries.iter().any(|e| e.legend == line.legend) {
                entries.push(line);
            }
        }
        let mut x = MARGINS.width - MARGINS.right;
        for line in entries.into_iter().rev() {
            x -= 7.0 * line.legend.chars().count() as f64;
            svg.text("fg-t", x, 24.0, Anchor::Start, &line.legend);
            x -= 28.0;
            let dash = if line.dashed { r#" stroke-dasharray="5 3""# } else { "" };
            svg.raw(&format!(
                r#"<line x1="{x:.1}" y1="20" x2="{:.1}" y2="20" stroke="{}" stroke-width="2.5"{dash}/>"#,
                x + 22.0,
                line.colour
            ));
            x -= 16.0;
        }
    }
}

fn draw(svg: &mut Svg, line: &Line, many: bool, frame: &Frame) {
    if line.points.is_empty() {
        return;
    }
    let title = escape(&line.title);
    if let [(x, y)] = line.points[..] {
        svg.raw(&format!(
            r#"<circle cx="{:.1}" cy="{:.1}" r="3" fill="{}"><title>{title}</title></circle>"#,
            frame.px(x),
            frame.py(y),
            line.colour
        ));
        return;
    }
    let every = line.points.len().div_ceil(MOST_POINTS);
    let last = line.points.len() - 1;
    let mut path = String::new();
    for (_, &(x, y)) in line.points.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last) {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.1} {:.1}", frame.px(x), frame.py(y));
    }
    let dash = if line.dashed { r#" stroke-dasharray="5 3""# } else { "" };
    let (width, opacity) = if many { (1.6, 0.75) } else { (2.0, 1.0) };
    svg.raw(&format!(
        r#"<path d="{path}" fill="none" stroke="{}" stroke-width="{width}" stroke-opacity="{opacity}" stroke-linejoin="round"{dash}><title>{title}</title></path>"#,
        line.colour
    ));
    let marked = line.mark.and_then(|at| line.points.iter().find(|p| p.0 == at));
    if let Some(&(x, y)) = marked {
        svg.raw(&format!(
            r#"<circle class="fg-b" cx="{:.1}" cy="{:.1}" r="4" stroke="{}" stroke-width="2"><title>{title}: epoch {x} kept</title></circle>"#,
            frame.px(x),
            frame.py(y),
            line.colour
        ));
    }
}
