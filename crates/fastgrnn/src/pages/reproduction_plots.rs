//! Plots of the paper's figures, from the results of a reproduction.

use crate::reproduce::{EntryResult, PaperTable, ShownResult};
use fastgrnn_report::{Chart, Dot, Line, Scale, Scatter, Series, Span, palette};

/// The plots of a table, for one data set.
pub(super) fn plots(paper_table: PaperTable, entries: &[&EntryResult]) -> Vec<String> {
    match paper_table {
        PaperTable::AccuracyVsSize | PaperTable::ComponentsVsSize | PaperTable::EqualBytes => {
            over_bytes(entries).into_iter().collect()
        }
        PaperTable::AlphaBeta => over_steps(entries),
        PaperTable::FixedAlpha => over_alpha(entries).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Accuracy over bytes.
fn over_bytes(entries: &[&EntryResult]) -> Option<String> {
    let mut series: Vec<Series> = Vec::new();
    for entry in entries {
        let name = entry.row.split([',']).next().unwrap_or_default();
        let name = name.split(" in ").next().unwrap_or_default();
        let (Some(bytes), Some(mean)) = (entry.bytes(), entry.shown.first().and_then(ShownResult::mean))
        else {
            continue;
        };
        let dot = Dot { x: bytes as f64, y: mean, title: entry.row.clone(), front: true };
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.dots.push(dot),
            None => series.push(Series { name: name.to_owned(), dots: vec![dot] }),
        }
    }
    let (title, x_label) = (format!("{}: test accuracy", entries.first()?.dataset), "bytes".to_owned());
    Scatter { title, x_label, fraction: true, series }.svg()
}

/// A line `offset + slope·x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FittedLine {
    pub offset: f64,
    pub slope: f64,
    /// Share of the variance that it explains.
    pub explained: f64,
}

/// The line of least squares through three points or more.
pub(super) fn line_through(points: &[(f64, f64)]) -> Option<FittedLine> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (xx, xy) = (sum(&|p| (p.0 - x).powi(2)), sum(&|p| (p.0 - x) * (p.1 - y)));
    let yy = sum(&|p| (p.1 - y).powi(2));
    if points.len() < 3 || xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some(FittedLine { offset: y - slope * x, slope, explained: slope * xy / yy })
}

/// The points of a quantity over the number of time steps: measured, and the paper's.
fn points_over_steps(entries: &[&EntryResult], metric: &str) -> [Vec<(f64, f64)>; 2] {
    let of = |value: fn(&ShownResult) -> Option<f64>| {
        let mut points: Vec<(f64, f64)> = entries
            .iter()
            .filter_map(|entry| {
                let steps = entry.row.strip_prefix("T ")?.parse().ok()?;
                let shown = entry.shown.iter().find(|shown| shown.metric == metric)?;
                Some((steps, value(shown)?))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    [of(ShownResult::mean), of(ShownResult::paper_value)]
}

fn line(legend: &str, colour: &'static str, dashed: bool, points: Vec<(f64, f64)>) -> Line {
    Line { legend: legend.into(), title: legend.into(), colour, dashed, points, mark: None }
}

/// α and β against the number of time steps T, and α against 1/T with its line.
fn over_steps(entries: &[&EntryResult]) -> Vec<String> {
    let Some(first) = entries.first() else { return Vec::new() };
    let ([alpha, alpha_of_paper], [beta, beta_of_paper]) =
        (points_over_steps(entries, "alpha"), points_over_steps(entries, "beta"));
    if alpha.is_empty() {
        return Vec::new();
    }
    let over = |title: &str, span, x_label: &str, lines: Vec<Line>| {
        let title = format!("{}: {title}", first.dataset);
        Chart { title, x_label: x_label.into(), span, scale: Scale::Auto, lines }.svg()
    };
    let both = |measured: Vec<(f64, f64)>, paper: Vec<(f64, f64)>| {
        vec![line("measured", palette::BLUE, false, measured), line("paper", palette::ORANGE, false, paper)]
    };
    let inverse = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().rev().map(|(steps, value)| (1.0 / steps, *value)).collect()
    };
    let (measured, paper) = (inverse(&alpha), inverse(&alpha_of_paper));
    let mut lines = both(measured.clone(), paper);
    if let (Some(fit), [first, .., last]) = (line_through(&measured), &measured[..]) {
        let at = |x: f64| (x, fit.offset + fit.slope * x);
        lines.push(line("line of least squares", palette::BLUE, true, vec![at(first.0), at(last.0)]));
    }
    let charts = [
        over("α against T", Span::Log, "time steps T", both(alpha, alpha_of_paper)),
        over("α against 1/T", Span::Linear, "1/T", lines),
        over("β against T", Span::Log, "time steps T", both(beta, beta_of_paper)),
        over_accuracy(entries),
    ];
    charts.into_iter().flatten().collect()
}

/// Accuracy against the number of time steps, with β learnt and with β tied to 1 − α.
fn over_accuracy(entries: &[&EntryResult]) -> Option<String> {
    let points = |is_tied: bool| {
        let mut points: Vec<(f64, f64)> = entries
            .iter()
            .filter(|entry| entry.row.contains(',') == is_tied)
            .filter_map(|entry| {
                let steps = entry.row.strip_prefix("T ")?.split(',').next()?.parse().ok()?;
                let shown = entry.shown.iter().find(|shown| shown.metric == "accuracy")?;
                Some((steps, shown.mean()?))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let lines = vec![
        line("β learnt", palette::BLUE, false, points(false)),
        line("β = 1 − α", palette::ORANGE, false, points(true)),
    ];
    Chart {
        title: format!("{}: test accuracy", entries.first()?.dataset),
        x_label: "time steps T".into(),
        span: Span::Log,
        scale: Scale::Fraction,
        lines,
    }
    .svg()
}

/// Accuracy against an α that is fixed.
fn over_alpha(entries: &[&EntryResult]) -> Option<String> {
    let mut points: Vec<(f64, f64)> = entries
        .iter()
        .filter_map(|entry| {
            let alpha = entry.row.strip_prefix("α = ")?.parse().ok()?;
            Some((alpha, entry.shown.first()?.mean()?))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Chart {
        title: format!("{}: test accuracy", entries.first()?.dataset),
        x_label: "α, fixed".into(),
        span: Span::Log,
        scale: Scale::Fraction,
        lines: vec![line("mean of the seeds", palette::BLUE, false, points)],
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_least_squares_is_found_and_needs_three_points() {
        let fit = line_through(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!((fit.offset, fit.slope, fit.explained), (1.0, 2.0, 1.0));
        let fit = line_through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]).unwrap();
        assert!(fit.slope.abs() < 1e-12 && fit.explained.abs() < 1e-12);
        assert_eq!(line_through(&[(0.0, 1.0), (1.0, 3.0)]), None);
        assert_eq!(line_through(&[(1.0, 1.0), (1.0, 3.0), (1.0, 2.0)]), None);
    }
}
