//! A sequence as a small picture: its features as lines or, where there are many, as the rows of a strip.
//!
//! A picture holds at most some hundred points however long its sequence is, so that a page with many of
//! them stays small.

use super::svg::{Anchor, Svg, escape};
use fastgrnn_core::format::{number, quantity};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Colours of the lines. They stay apart for colour-blind readers, on white and on black.
const COLOURS: [&str; MOST_LINES] = ["#2b8cbe", "#e08214", "#1b9e77", "#c51b7d", "#8c6bb1", "#a6761d"];
/// Lines that can be told apart in one small picture.
const MOST_LINES: usize = 6;
/// With more features than this, lines of a few of them would show too little.
const MOST_FEATURES_FOR_LINES: usize = 12;
/// Points of all lines of a picture.
const MOST_POINTS: usize = 480;
/// Rows and columns of a strip.
const MOST_ROWS: usize = 32;
const MOST_COLUMNS: usize = 48;
/// Shades of a strip, beside none for the smallest values.
const SHADES: u8 = 7;
const STRIP_COLOUR: &str = "#1f78b4";

const WIDTH: f64 = 264.0;
const HEIGHT: f64 = 88.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 4.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 18.0;

/// Which features the small pictures of a page show, the same in all of them.
///
/// ```
/// use fastgrnn_report::ShownFeatures;
/// let shown = ShownFeatures::choose(&["x".into(), "y".into()], &[&[0.0, 5.0, 1.0, 5.0]]);
/// let plot = shown.plot(&[0.0, 5.0, 1.0, 5.0, 2.0, 5.0]);
/// assert!(plot.svg("a sequence").contains("3 steps"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownFeatures {
    /// Names of all features of a step.
    names: Vec<String>,
    /// The features that are drawn as lines. With none, all features are rows of a strip.
    lines: Vec<usize>,
}

impl ShownFeatures {
    /// Chooses for sequences of steps with these features: all features where they are few, else those
    /// that vary most in `sequences`, and a strip of all where they are many.
    pub fn choose(names: &[String], sequences: &[&[f32]]) -> Self {
        let dim = names.len();
        let mut lines: Vec<usize> = match dim {
            0..=MOST_FEATURES_FOR_LINES => (0..dim).collect(),
            _ => Vec::new(),
        };
        if lines.len() > MOST_LINES {
            let spread = |feature: usize| {
                let ranges = sequences.iter().map(|values| range(column(values, dim, feature)));
                ranges.map(|(low, high)| f64::from(high) - f64::from(low)).filter(|d| d.is_finite()).sum()
            };
            let spreads: Vec<f64> = (0..dim).map(spread).collect();
            lines.sort_by(|&a, &b| spreads[b].total_cmp(&spreads[a]));
            lines.truncate(MOST_LINES);
            lines.sort_unstable();
        }
        Self { names: names.to_vec(), lines }
    }

    /// Shows all features as the rows of a strip, however few there are: the bands of sound, or pixels.
    pub fn as_strip(names: &[String]) -> Self {
        Self { names: names.to_vec(), lines: Vec::new() }
    }

    /// The picture of a sequence of whole steps.
    pub fn plot(&self, values: &[f32]) -> SequencePlot {
        let dim = self.names.len().max(1);
        let steps = values.len() / dim;
        let (low, high) = match self.lines.is_empty() {
            true => range(values.iter().copied()),
            false => range(self.lines.iter().flat_map(|&feature| column(values, dim, feature))),
        };
        let columns = MOST_POINTS / (2 * self.lines.len().max(1));
        let lines = self.lines.iter().map(|&f| thinned(&column(values, dim, f).collect::<Vec<_>>(), columns));
        let (lines, mut rows) = (lines.collect(), Vec::new());
        if self.lines.is_empty() {
            rows = strip(values, dim, (low, high));
        }
        SequencePlot { steps, low, high, lines, rows }
    }

    /// What the pictures show, as markup: the colours of the lines, or how to read a strip.
    pub(super) fn legend(&self) -> String {
        let all = self.names.len();
        if self.lines.is_empty() {
            return format!(
                "<p class=\"hint\">Each picture has time to the right and {} upwards, the first at the bottom; \
                 the stronger the colour, the larger the value. Below it are its smallest and its largest value.</p>\n",
                quantity(all as u64, "feature")
            );
        }
        let mut out = String::from("<p class=\"hint legend\">");
        for (&feature, colour) in self.lines.iter().zip(COLOURS) {
            let name = escape(&self.names[feature]);
            let _ = write!(out, "<span><i style=\"background:{colour}\"></i>{name}</span> ");
        }
        if self.lines.len() < all {
            let _ = write!(out, "<span>the {} of {all} features that vary most</span>", self.lines.len());
        }
        out + "</p>\n"
    }
}

/// The small picture of a sequence, in the units of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SequencePlot {
    /// Steps of the sequence.
    steps: usize,
    /// The smallest value that is drawn.
    low: f32,
    /// The largest value that is drawn.
    high: f32,
    /// Points of each line: the step, from 0, and the value.
    lines: Vec<Vec<(u32, f32)>>,
    /// Shades of a strip, row by row; the first row is drawn at the bottom.
    rows: Vec<Vec<u8>>,
}

impl SequencePlot {
    /// The picture as markup to stand inside a page; `title` names it for screen readers.
    pub fn svg(&self, title: &str) -> String {
        let mut svg = Svg::new(WIDTH, HEIGHT);
        let floor = HEIGHT - BOTTOM;
        svg.line("fg-a", (LEFT, floor), (WIDTH - RIGHT, floor));
        let steps = quantity(self.steps as u64, "step");
        svg.text("fg-s", WIDTH - RIGHT, HEIGHT - 4.0, Anchor::End, &steps);
        let (low, high) = (number(f64::from(self.low)), number(f64::from(self.high)));
        let has_values = self.low.is_finite() && self.high.is_finite();
        match (self.rows.is_empty(), has_values) {
            (true, true) => {
                svg.text("fg-s", LEFT - 5.0, TOP + 8.0, Anchor::End, &high);
                svg.text("fg-s", LEFT - 5.0, floor, Anchor::End, &low);
                self.draw_lines(&mut svg);
            }
            (false, true) => {
                svg.text("fg-s", LEFT, HEIGHT - 4.0, Anchor::Start, &format!("{low} to {high}"));
                self.draw_strip(&mut svg);
            }
            (_, false) => {}
        }
        svg.finish_inside_page(title, &format!("{steps}, values from {low} to {high}."))
    }

    fn draw_lines(&self, svg: &mut Svg) {
        let last = self.steps.saturating_sub(1).max(1) as f64;
        let (low, span) = (f64::from(self.low), f64::from(self.high) - f64::from(self.low));
        let px = |step: u32| LEFT + f64::from(step) / last * (WIDTH - LEFT - RIGHT);
        let py = |value: f32| {
            let share = if span > 0.0 { (f64::from(value) - low) / span } else { 0.5 };
            HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
        };
        for (points, colour) in self.lines.iter().zip(COLOURS) {
            if let [(step, value)] = points[..] {
                let (x, y) = (px(step), py(value));
                svg.raw(&format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="2" fill="{colour}"/>"#));
                continue;
            }
            let mut path = String::new();
            for &(step, value) in points {
                let command = if path.is_empty() { 'M' } else { ' ' };
                let _ = write!(path, "{command}{:.1} {:.1}", px(step), py(value));
            }
            svg.raw(&format!(r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.2"/>"#));
        }
    }

    /// One path a shade: neighbours of the same shade are one stroke.
    fn draw_strip(&self, svg: &mut Svg) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let width = (WIDTH - LEFT - RIGHT) / columns as f64;
        let height = (HEIGHT - TOP - BOTTOM) / self.rows.len() as f64;
        svg.raw(&format!(
            r#"<g transform="translate({LEFT} {:.2}) scale({width:.3} {height:.3})" shape-rendering="crispEdges" fill="none">"#,
            TOP + height / 2.0
        ));
        for shade in 1..=SHADES {
            let mut path = String::new();
            for (y, row) in self.rows.iter().rev().enumerate() {
                let mut x = 0;
                for run in row.chunk_by(|a, b| a == b) {
                    if run[0] == shade {
                        let _ = write!(path, "M{x} {y}h{}", run.len());
                    }
                    x += run.len();
                }
            }
            if !path.is_empty() {
                let opacity = f64::from(shade) / f64::from(SHADES);
                svg.raw(&format!(
                    r#"<path d="{path}" stroke="{STRIP_COLOUR}" stroke-opacity="{opacity:.2}"/>"#
                ));
            }
        }
        svg.raw("</g>");
    }
}

/// One feature of every step.
fn column(values: &[f32], dim: usize, feature: usize) -> impl Iterator<Item = f32> {
    values.iter().skip(feature).step_by(dim).copied()
}

/// The smallest and the largest finite value.
fn range(values: impl Iterator<Item = f32>) -> (f32, f32) {
    let finite = values.filter(|v| v.is_finite());
    finite.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The finite values with their steps; of long sequences the smallest and the largest value in each of
/// `columns` stretches, so that no peak is lost.
fn thinned(values: &[f32], columns: usize) -> Vec<(u32, f32)> {
    let finite = |(i, v): (usize, &f32)| v.is_finite().then_some((i as u32, *v));
    let points: Vec<(u32, f32)> = values.iter().enumerate().filter_map(finite).collect();
    if points.len() <= 2 * columns {
        return points;
    }
    let mut out = Vec::with_capacity(2 * columns);
    for stretch in points.chunks(points.len().div_ceil(columns)) {
        let by_value = |a: &&(u32, f32), b: &&(u32, f32)| a.1.total_cmp(&b.1);
        let ends = stretch.iter().min_by(by_value).zip(stretch.iter().max_by(by_value));
        let Some((low, high)) = ends else { continue };
        out.push(if low.0 <= high.0 { *low } else { *high });
        if low.0 != high.0 {
            out.push(if low.0 <= high.0 { *high } else { *low });
        }
    }
    out
}

/// The shades of all features: the means of neighbouring steps and features where there are too many.
fn strip(values: &[f32], dim: usize, (low, high): (f32, f32)) -> Vec<Vec<u8>> {
    let steps = values.len() / dim;
    let (features_a_row, steps_a_column) = (dim.div_ceil(MOST_ROWS), steps.div_ceil(MOST_COLUMNS).max(1));
    let span = f64::from(high) - f64::from(low);
    let shade = |first_feature: usize, first_step: usize| {
        let steps = first_step..(first_step + steps_a_column).min(steps);
        let features = first_feature..(first_feature + features_a_row).min(dim);
        let all = steps.flat_map(|step| features.clone().map(move |feature| values[step * dim + feature]));
        let (sum, n) = all.filter(|v| v.is_finite()).fold((0.0, 0u32), |(s, n), v| (s + f64::from(v), n + 1));
        let share = (sum / f64::from(n.max(1)) - f64::from(low)) / span;
        if n > 0 && share.is_finite() { (share * f64::from(SHADES)).round() as u8 } else { 0 }
    };
    let row = |feature: usize| (0..steps).step_by(steps_a_column).map(|step| shade(feature, step)).collect();
    (0..dim).step_by(features_a_row).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("f{i}")).collect()
    }

    #[test]
    fn a_long_sequence_keeps_its_peaks_and_stays_small() {
        let mut values = vec![0.0; 100_000];
        (values[54_321], values[777]) = (9.0, -4.0);
        let plot = ShownFeatures::choose(&names(1), &[]).plot(&values);
        assert_eq!((plot.low, plot.high, plot.steps), (-4.0, 9.0, 100_000));
        assert!(plot.lines[0].contains(&(54_321, 9.0)) && plot.lines[0].contains(&(777, -4.0)));
        assert!(plot.svg("s").len() < 8_000, "{}", plot.svg("s").len());
        assert!(plot.lines[0].is_sorted_by_key(|p| p.0));
    }

    #[test]
    fn many_features_are_drawn_as_the_six_that_vary_most_or_as_a_strip() {
        let nine: Vec<f32> = (0..20).flat_map(|t| (0..9).map(move |f| (t * f) as f32)).collect();
        let shown = ShownFeatures::choose(&names(9), &[&nine]);
        assert_eq!(shown.lines, [3, 4, 5, 6, 7, 8]);
        assert!(
            shown.legend().contains("the 6 of 9 features that vary most") && !shown.legend().contains("f2")
        );
        let forty: Vec<f32> = (0..4_000).map(|i| (i % 97) as f32).collect();
        let shown = ShownFeatures::choose(&names(40), &[&forty]);
        let plot = shown.plot(&forty);
        assert_eq!((plot.rows.len(), plot.rows[0].len()), (20, 34));
        assert!(plot.svg("s").len() < 12_000 && plot.svg("s").contains("scale("));
    }

    #[test]
    fn odd_sequences_are_no_panic_and_no_broken_markup() {
        for dim in [1, 9, 40] {
            let shown = ShownFeatures::choose(&names(dim), &[]);
            let constant = vec![2.5; 3 * dim];
            let mut odd = constant.clone();
            (odd[0], odd[dim]) = (f32::NAN, f32::INFINITY);
            for values in [&[][..], &constant[..dim], &constant, &odd, &vec![f32::NAN; dim]] {
                let svg = shown.plot(values).svg("s");
                let paths: Vec<&str> = svg.split(" d=\"").skip(1).collect();
                assert!(paths.iter().all(|p| !p.contains("NaN") && !p.starts_with("inf")), "{svg}");
            }
        }
        assert!(ShownFeatures::default().plot(&[1.0]).svg("s").contains("1 step"));
    }
}
