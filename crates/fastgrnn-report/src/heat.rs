//! The confusion matrix as a heat map: a row is a true class, its colours are fractions of the row.

use super::svg::{Anchor, Svg, escape, heading_width, shorten};
use fastgrnn_core::format::{count, quantity};
use fastgrnn_core::metrics::ClassMetrics;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Counts of (true class, predicted class).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// What was evaluated, such as `test, seed 3`.
    pub of: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// `counts[true][predicted]`, square, one row a class.
    pub counts: Vec<Vec<u64>>,
    /// How well each class is found.
    pub per_class: Vec<ClassMetrics>,
}

/// Classes beyond which a cell is too small for its number.
const MOST_NUMBERS: usize = 32;
/// Most classes that a picture shows; with more of them it cannot be read.
const MOST_CLASSES: usize = 200;

/// The matrix as an SVG document; nothing when it is empty, not square, or beyond 200 classes.
///
/// ```
/// use fastgrnn_report::{Confusion, confusion_svg};
/// let matrix = Confusion {
///     of: "test".into(),
///     classes: vec!["a".into(), "<b>".into()],
///     counts: vec![vec![9, 1], vec![0, 10]],
///     per_class: Vec::new(),
/// };
/// assert!(confusion_svg(&matrix).unwrap().contains("&lt;b&gt;"));
/// ```
pub fn confusion_svg(matrix: &Confusion) -> Option<String> {
    let n = matrix.classes.len();
    let square = matrix.counts.len() == n && matrix.counts.iter().all(|r| r.len() == n);
    if n == 0 || n > MOST_CLASSES || !square {
        return None;
    }
    let largest = matrix.counts.iter().flatten().copied().max().unwrap_or(0);
    let numbers = n <= MOST_NUMBERS;
    let digits = largest.to_string().len() as f64;
    let cell = if numbers { (digits * 8.0 + 12.0).max(if n <= 4 { 64.0 } else { 36.0 }) } else { 12.0 };
    let label = |c: usize| shorten(&matrix.classes[c], 18);
    let longest = (0..n).map(|c| label(c).chars().count()).max().unwrap_or(1) as f64;
    // Column names stand upright where they would run into each other.
    let upright = longest * 7.0 + 6.0 > cell;
    let left = longest * 7.0 + 44.0;
    let top = 48.0 + if upright { longest * 6.6 + 16.0 } else { 30.0 };
    let title = format!("Confusion matrix ({})", matrix.of);
    let width = (left + cell * n as f64 + 16.0).max(32.0 + heading_width(&title));
    let height = top + cell * n as f64 + 16.0;

    let mut svg = Svg::new(width, height);
    svg.text("fg-h", 16.0, 24.0, Anchor::Start, &title);
    svg.text("fg-t", left + cell * n as f64 / 2.0, 46.0, Anchor::Middle, "predicted");
    let middle = top + cell * n as f64 / 2.0;
    svg.raw(&format!(
        r#"<text class="fg-t" transform="translate(18 {middle:.1}) rotate(-90)" text-anchor="middle">true</text>"#
    ));
    for c in 0..n {
        let at = (c as f64 + 0.5) * cell;
        let full = escape(&matrix.classes[c]);
        let name = escape(&label(c));
        let (x, y) = (left - 8.0, top + at + 4.0);
        svg.raw(&format!(
            r#"<text class="fg-t" x="{x:.1}" y="{y:.1}" text-anchor="end">{name}<title>{full}</title></text>"#
        ));
        let turn = if upright { (" rotate(-90)", "start", 4.0) } else { ("", "middle", 0.0) };
        svg.raw(&format!(
            r#"<text class="fg-t" transform="translate({:.1} {:.1}){}" text-anchor="{}">{name}<title>{full}</title></text>"#,
            left + at + turn.2,
            top - 8.0,
            turn.0,
            turn.1
        ));
    }
    for (t, row) in matrix.counts.iter().enumerate() {
        let sum: u64 = row.iter().sum();
        for (p, &count) in row.iter().enumerate() {
            let share = if sum == 0 { 0.0 } else { count as f64 / sum as f64 };
            let (x, y) = (left + p as f64 * cell, top + t as f64 * cell);
            draw_cell(&mut svg, matrix, (t, p), (x, y), cell, count, share, numbers);
        }
    }
    Some(svg.finish(&format!("Confusion matrix of {}", matrix.of), &summary(matrix)))
}

/// How many predictions are right, and the most frequent mistake, in words.
fn summary(matrix: &Confusion) -> String {
    let total: u64 = matrix.counts.iter().flatten().sum();
    let right: u64 = matrix.counts.iter().enumerate().map(|(c, row)| row[c]).sum();
    let mut text = format!("{} of {} predictions are right", count(right), count(total));
    let mut mistakes = Vec::new();
    for (t, row) in matrix.counts.iter().enumerate() {
        mistakes.extend(row.iter().enumerate().filter(|(p, n)| *p != t && **n > 0).map(|(p, &n)| (n, t, p)));
    }
    if let Some((n, t, p)) = mistakes.into_iter().max_by_key(|&(n, t, p)| (n, Reverse((t, p)))) {
        let (truth, predicted) = (&matrix.classes[t], &matrix.classes[p]);
        let times = quantity(n, "time");
        text.push_str(&format!(". The most frequent mistake: {truth} predicted as {predicted}, {times}"));
    }
    text + "."
}

#[allow(clippy::too_many_arguments)] // one rectangle: what, where, how
fn draw_cell(
    svg: &mut Svg,
    matrix: &Confusion,
    (t, p): (usize, usize),
    (x, y): (f64, f64),
    size: f64,
    count: u64,
    share: f64,
    numbers: bool,
) {
    // Mistakes are orange and drawn stronger than their share: one in fifty must be seen.
    let (colour, opacity) = match (count, t == p) {
        (0, _) => ("#8a929e", 0.03),
        (_, true) => ("#1f78b4", share),
        (_, false) => ("#d95f02", share.sqrt()),
    };
    let title = format!(
        "true {}, predicted {}: {count} ({:.1} %)",
        escape(&matrix.classes[t]),
        escape(&matrix.classes[p]),
        share * 100.0
    );
    let (w, inset) = (size - 1.0, 0.5);
    svg.raw(&format!(
        r#"<rect x="{:.1}" y="{:.1}" width="{w:.1}" height="{w:.1}" fill="{colour}" fill-opacity="{:.3}"><title>{title}</title></rect>"#,
        x + inset,
        y + inset,
        (0.04 + 0.96 * opacity).min(1.0)
    ));
    if numbers && count > 0 {
        let class = if opacity > 0.5 { "fg-c fg-cl" } else { "fg-c fg-cd" };
        svg.text(class, x + size / 2.0, y + size / 2.0 + 4.0, Anchor::Middle, &count.to_string());
    }
}
