//! Line charts, such as one line a seed, one colour a split, a ring at the epoch that was kept.

use super::axis::Axis;
use super::frame::{Frame, Margins, range};
use super::svg::{Anchor, Svg, escape, heading_width};
use fastgrnn_core::format::{fraction, number};
use std::fmt::Write as _;

/// A blue and an orange that stay apart for colour-blind readers, on white and on black.
pub mod palette {
    /// The first colour.
    pub const BLUE: &str = "#2b8cbe";
    /// The second colour.
    pub const ORANGE: &str = "#e08214";
    /// Colours of lines of which there may be many; the first two are the ones above.
    pub const ALL: [&str; 7] = [BLUE, ORANGE, "#1b9e77", "#c51b7d", "#8c6bb1", "#a6761d", "#6b7480"];
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
    /// Values are exponents of ten, for numbers that may be too large or too small to be written.
    PowerOfTen,
}

/// How the horizontal axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// Whole numbers, such as epochs.
    #[default]
    Whole,
    /// Any numbers.
    Linear,
    /// Numbers above 0, each decade as wide as any other.
    Log,
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
    /// How the horizontal axis runs.
    pub span: Span,
    /// How the vertical axis runs.
    pub scale: Scale,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Pixels of the sample of a line in the legend, and from its text to the next sample.
const SAMPLE: f64 = 28.0;
const GAP: f64 = 16.0;
/// Pixels from one row of the legend to the next.
const LEGEND_ROW: f64 = 18.0;

const MARGINS: Margins =
    Margins { width: 560.0, height: 320.0, left: 58.0, right: 16.0, top: 42.0, bottom: 46.0 };

impl Chart {
    /// The chart as a document, or nothing when no line has a point.
    pub fn svg(&self) -> Option<String> {
        let is_drawn =
            |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && (self.span != Span::Log || x > 0.0);
        let lines: Vec<Line> = self
            .lines
            .iter()
            .map(|line| Line {
                points: line.points.iter().copied().filter(is_drawn).collect(),
                ..line.clone()
            })
            .collect();
        let points = || lines.iter().flat_map(|l| l.points.iter().copied());
        points().next()?;
        let (x, y) = (range(points().map(|p| p.0)), range(points().map(|p| p.1)));
        let (x, y) = (self.x_axis(x.0, x.1), self.y_axis(y.0, y.1));
        let (places, rows) = self.legend_places(&self.legend_entries());
        let more = LEGEND_ROW * rows as f64;
        let margins = Margins { height: MARGINS.height + more, top: MARGINS.top + more, ..MARGINS };
        let frame = Frame { margins: &margins, x, y };
        let mut svg = frame.draw(&self.title, &self.x_label, |v, label| self.y_label(v, label));
        for line in &lines {
            draw(&mut svg, line, self.lines.len() > 2, &frame);
        }
        Self::legend(&mut svg, &places);
        Some(svg.finish(&format!("{} by {}", self.title, self.x_label), &self.summary()))
    }

    /// The first lines in words: where each begins and ends, and its value at the ring.
    fn summary(&self) -> String {
        let value = |y: f64| match self.scale {
            Scale::Auto => number(y),
            Scale::Fraction => fraction(y, None),
            Scale::PowerOfTen => format!("10^{}", number(y)),
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

    fn x_axis(&self, low: f64, high: f64) -> Axis {
        match self.span {
            Span::Whole => Axis::whole(low, high, 8),
            Span::Linear => Axis::linear(low, high, 8, false),
            Span::Log => Axis::log_within(low, high),
        }
    }

    fn y_axis(&self, low: f64, high: f64) -> Axis {
        match self.scale {
            Scale::Fraction => Axis::linear(low.min(high - 0.01), high, 5, true),
            Scale::PowerOfTen => Axis::linear(low.min(high - 1.0), high, 6, true),
            Scale::Auto if low > 0.0 && high / low > 100.0 => Axis::log(low, high),
            Scale::Auto => Axis::linear(low.min(0.0), high.max(low.min(0.0) + 1e-9), 5, true),
        }
    }

    fn y_label(&self, value: f64, plain: &str) -> String {
        match self.scale {
            Scale::Auto => plain.to_owned(),
            Scale::PowerOfTen => format!("1e{plain}"),
            Scale::Fraction => {
                let percent = format!("{:.2}", value * 100.0);
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }

    /// One line for each entry of the legend.
    fn legend_entries(&self) -> Vec<&Line> {
        let mut entries: Vec<&Line> = Vec::new();
        for line in self.lines.iter().filter(|l| !l.points.is_empty()) {
            if !entries.iter().any(|e| e.legend == line.legend) {
                entries.push(line);
            }
        }
        entries
    }

    /// Where each entry of the legend begins, and the rows that it takes below the heading: none if it fits beside it.
    fn legend_places<'a>(&self, entries: &[&'a Line]) -> (Vec<(&'a Line, f64, f64)>, usize) {
        let width = |line: &Line| SAMPLE + GAP + 7.0 * line.legend.chars().count() as f64;
        let (start, end) = (MARGINS.left, MARGINS.width - MARGINS.right + GAP);
        let all: f64 = entries.iter().map(|line| width(line)).sum();
        let (mut x, mut row) = (end - all, 0);
        let is_beside = x > start + heading_width(&self.title) + GAP;
        if !is_beside {
            (x, row) = (start, 1);
        }
        let mut places = Vec::new();
        for line in entries {
            if row > 0 && x > start && x + width(line) > end {
                (x, row) = (start, row + 1);
            }
            places.push((*line, x, 24.0 + LEGEND_ROW * row as f64));
            x += width(line);
        }
        (places, if is_beside { 0 } else { row })
    }

    fn legend(svg: &mut Svg, places: &[(&Line, f64, f64)]) {
        for (line, x, y) in places {
            let dash = if line.dashed { r#" stroke-dasharray="5 3""# } else { "" };
            svg.raw(&format!(
                r#"<line x1="{x:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{}" stroke-width="2.5"{dash}/>"#,
                y - 4.0,
                x + 22.0,
                y - 4.0,
                line.colour
            ));
            svg.text("fg-t", x + SAMPLE, *y, Anchor::Start, &line.legend);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(span: Span, scale: Scale, names: &[&str]) -> Chart {
        let line = |name: &&str| Line {
            legend: (*name).into(),
            title: (*name).into(),
            colour: palette::BLUE,
            dashed: false,
            points: vec![(0.001, -3.0), (0.01, f64::NEG_INFINITY), (1.0, 40.0)],
            mark: None,
        };
        let lines = names.iter().map(line).collect();
        Chart { title: "Condition number".into(), x_label: "steps".into(), span, scale, lines }
    }

    #[test]
    fn exponents_are_labelled_as_powers_and_points_that_are_not_finite_are_left_out() {
        let svg = chart(Span::Log, Scale::PowerOfTen, &["rnn"]).svg().unwrap();
        assert!(svg.contains(">1e40<") && svg.contains(">0.001<") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains("rnn: 10^-3"), "{svg}");
    }

    #[test]
    fn a_long_legend_takes_rows_of_its_own() {
        let few = chart(Span::Linear, Scale::Auto, &["rnn", "fastrnn"]).svg().unwrap();
        let names = ["a model with a name", "another model with a name", "a third model with a name"];
        let many = chart(Span::Linear, Scale::Auto, &names).svg().unwrap();
        assert!(few.contains(r#"height="320""#) && many.contains(r#"height="356""#), "{many}");
        assert!(names.iter().all(|name| many.contains(name)));
    }
}
