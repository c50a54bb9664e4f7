//! Accuracy against bytes as a plot, a table and a page.

use super::score::{metric_name, score_text};
use crate::pareto::TrainedCandidate;
use fastgrnn_core::format::{bytes, count, quantity};
use fastgrnn_core::metrics::Scores;
use fastgrnn_report::html::{document, table, text_section};
use fastgrnn_report::{Dot, Scatter, Series};
use std::fmt::Write as _;

/// Trained points and what is needed to tell them.
#[derive(Clone, Debug)]
pub struct ParetoReport<'a> {
    /// What they were trained on.
    pub dataset: String,
    /// The points, their front marked.
    pub points: &'a [TrainedCandidate],
    /// For each budget the name of the point to take, chosen on validation.
    pub chosen: Vec<(usize, String)>,
    /// The command that makes this again.
    pub command: String,
    /// Which fastgrnn made it.
    pub version: String,
}

/// Columns of the table of points.
pub const PARETO_HEADING: [&str; 10] = [
    "point",
    "bytes",
    "units",
    "rank of W",
    "rank of U",
    "kept",
    "validation",
    "test",
    "test, float",
    "front",
];

/// A point as a row under [`PARETO_HEADING`].
pub fn pareto_row(p: &TrainedCandidate) -> Vec<String> {
    let rank = |r: Option<usize>| r.map_or("full".to_owned(), |r| r.to_string());
    let sd = p.test_sd.as_ref().and_then(|s| p.metric.of(s));
    let score = |scores: Option<&Scores>, sd| scores.map_or("–".into(), |s| score_text(p.metric, s, sd));
    vec![
        p.name.clone(),
        count(p.bytes as u64),
        p.hidden.to_string(),
        rank(p.rank_w),
        rank(p.rank_u),
        format!("{} / {}", p.sparsity_w, p.sparsity_u),
        score(p.val.as_ref(), None),
        score(p.test.as_ref(), sd),
        score(p.test_float.as_ref(), None),
        if p.front { "★".into() } else { String::new() },
    ]
}

impl ParetoReport<'_> {
    /// The plot of test scores (validation without a test part) against bytes.
    pub fn svg(&self) -> Option<String> {
        let tested = self.points.iter().all(|p| p.test.is_some());
        let of = |p: &TrainedCandidate| if tested { p.test.clone() } else { p.val.clone() };
        let fraction = self.points.iter().all(|p| of(p).is_some_and(|s| p.metric.of(&s).is_some()));
        let mut series: Vec<Series> = Vec::new();
        for p in self.points {
            let Some(scores) = of(p) else { continue };
            let dot = Dot {
                x: p.bytes as f64,
                y: p.metric.of(&scores).unwrap_or(scores.loss),
                title: format!(
                    "{}: {}, {}",
                    p.name,
                    bytes(p.bytes as u64),
                    score_text(p.metric, &scores, None)
                ),
                front: p.front,
            };
            match series.iter_mut().find(|s| s.name == p.cell) {
                Some(own) => own.dots.push(dot),
                None => series.push(Series { name: p.cell.clone(), dots: vec![dot] }),
            }
        }
        let part = if tested { "test" } else { "validation" };
        let title = format!("{}: {part} {}", self.dataset, self.figure());
        Scatter { title, x_label: "bytes of the device image".into(), fraction, series }.svg()
    }

    /// The name of the figure that points are compared by.
    fn figure(&self) -> &'static str {
        let of = |p: &TrainedCandidate| p.val.as_ref().and_then(|s| p.metric.of(s)).map(|_| p.metric);
        let are_sets = |p: &TrainedCandidate| p.val.as_ref().is_some_and(|s| s.sets.is_some());
        if self.points.iter().any(are_sets) {
            return "micro F1";
        }
        self.points.iter().find_map(of).map_or("loss", metric_name)
    }

    /// The table of points as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let heading: Vec<String> = PARETO_HEADING.iter().map(|h| (*h).to_owned()).collect();
        let mut text = line(&heading) + &line(&vec!["---".to_owned(); heading.len()]);
        self.points.iter().for_each(|p| text.push_str(&line(&pareto_row(p))));
        text
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let title = format!("{} · {} against bytes", self.dataset, self.figure());
        let subtitle = quantity(self.points.len() as u64, "integer model");
        document(&title, &subtitle, &self.version, |out| {
            if let Some(svg) = self.svg() {
                let _ = writeln!(out, "<section><div class=\"plots\"><figure>{svg}</figure></div></section>");
            }
            out.push_str("<section><h2>Best within each budget</h2>\n");
            let chosen: Vec<Vec<String>> =
                self.chosen.iter().map(|(budget, name)| vec![bytes(*budget as u64), name.clone()]).collect();
            table(out, "Best within each budget", &["budget", "point, chosen on validation"], &chosen);
            out.push_str("</section>\n<section><h2>All points</h2>\n");
            let rows: Vec<Vec<String>> = self.points.iter().map(pareto_row).collect();
            table(out, "All points", &PARETO_HEADING, &rows);
            out.push_str(
                "<p class=\"hint\">★ on the front: no other point is better on validation without being \
                 larger. Bytes are the whole device image; scores are the integer engine's, measured.</p>\
                 </section>\n",
            );
            text_section(out, "Make it again", &self.command);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::metrics::Metric;
    use std::path::PathBuf;

    #[test]
    fn points_are_plotted_by_cell_and_listed_with_their_front() {
        let point = |name: &str, cell: &str, bytes, accuracy: f64, front| TrainedCandidate {
            name: name.into(),
            cell: cell.into(),
            hidden: 8,
            rank_w: None,
            rank_u: Some(4),
            sparsity_w: 1.0,
            sparsity_u: 0.5,
            budget: 1_024,
            bytes_analytic: bytes,
            bytes,
            nnz: 9,
            metric: Metric::Accuracy,
            val: Some(Scores { accuracy: Some(accuracy), ..Scores::default() }),
            test: Some(Scores { accuracy: Some(accuracy), ..Scores::default() }),
            test_sd: None,
            test_float: None,
            front,
            model: PathBuf::new(),
            run: PathBuf::new(),
        };
        let points = [point("a<b", "gru", 900, 0.9, true), point("c", "lstm", 950, 0.8, false)];
        let report = ParetoReport {
            dataset: "digits".into(),
            points: &points,
            chosen: vec![(1_024, "a<b".into())],
            command: "fastgrnn pareto".into(),
            version: "0".into(),
        };
        let page = report.html();
        for part in ["a&lt;b", "lstm", "★", "90.00 %", "1,024 B", "stroke=\"#e08214\""] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("a<b"));
        assert_eq!(report.markdown().lines().count(), 4);
    }
}
