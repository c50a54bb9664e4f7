//! The page of a search: the front, the course, the settings that mattered, the winner.

use super::score::{metric_name, score_text};
use crate::search::{
    Change, FrontPoint, Importance, Part, Records, SearchOutcome, Space, Trial, ValueMean, Winner, value_text,
};
use fastgrnn_core::format::{bytes, count, fraction, number, quantity};
use fastgrnn_core::metrics::{Metric, Scores};
use fastgrnn_report::html::{document, figures, table, text_section};
use fastgrnn_report::{
    Bar, Bars, Chart, Dot, Figure, Kind, Line, Scale, Scatter, Series, Span, Unit, palette,
};
use std::fmt::Write as _;

/// A search and what is needed to tell it.
#[derive(Clone, Debug)]
pub struct SearchReport<'a> {
    /// What was trained on.
    pub dataset: String,
    /// What the search came to.
    pub outcome: &'a SearchOutcome,
    /// Its trials.
    pub records: &'a Records,
    /// What could change.
    pub space: &'a Space,
    /// What a bracket consists of, in words.
    pub course: String,
    /// Commands that a user may want next.
    pub next: Vec<String>,
    /// The command that makes this again.
    pub command: String,
    /// Which fastgrnn made it.
    pub version: String,
}

/// Columns of a table of the front.
pub const FRONT_HEADING: [&str; 6] = ["network", "bytes", "RAM", "ms", "validation", "trained with"];

/// A network of the front as a row under [`FRONT_HEADING`].
pub fn front_row(point: &FrontPoint, metric: Option<Metric>) -> Vec<String> {
    let sd = point.val_sd.as_ref().and_then(|scores| value(metric, scores));
    vec![
        network_name(&point.cell, point.hidden, point.choices.is_empty()),
        count(point.bytes as u64),
        point.ram.map_or("–".into(), |ram| count(ram as u64)),
        point.ms.map_or("–".into(), number),
        figure_text(metric, &point.val, sd),
        if point.is_final { "all seeds".into() } else { "one seed".into() },
    ]
}

/// Columns of a table of what mattered.
pub const IMPORTANCE_HEADING: [&str; 5] =
    ["setting", "explains", "best value", "its trials", "mean validation"];

/// How much a setting mattered as a row under [`IMPORTANCE_HEADING`], in a search whose trials have the figure, or not.
pub fn importance_row(importance: &Importance, has_metric: bool) -> Vec<String> {
    let better = |a: &&ValueMean, b: &&ValueMean| match has_metric {
        true => a.mean.total_cmp(&b.mean),
        false => b.mean.total_cmp(&a.mean),
    };
    let best = importance.values.iter().max_by(better);
    vec![
        importance.name.clone(),
        fraction(importance.share, None),
        best.map_or_else(String::new, |best| best.value.clone()),
        best.map_or_else(String::new, |best| count(best.trials as u64)),
        best.map_or_else(String::new, |best| mean_text(best, has_metric)),
    ]
}

/// The figure by which trials are compared, if it is not the loss.
fn value(metric: Option<Metric>, scores: &Scores) -> Option<f64> {
    metric.and_then(|metric| metric.of(scores))
}

fn figure_text(metric: Option<Metric>, scores: &Scores, sd: Option<f64>) -> String {
    match metric {
        Some(metric) => score_text(metric, scores, sd),
        None => number(scores.loss),
    }
}

fn mean_text(value: &ValueMean, has_metric: bool) -> String {
    if has_metric { fraction(value.mean, None) } else { number(value.mean) }
}

fn network_name(cell: &str, hidden: usize, is_as_given: bool) -> String {
    let name = format!("{cell}, {}", quantity(hidden as u64, "unit"));
    if is_as_given { format!("{name} (the recipe as it was given)") } else { name }
}

impl SearchReport<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        let title = format!("{} · search", self.dataset);
        let tried = quantity(self.outcome.trials as u64, "combination");
        let subtitle = format!("{tried} of settings tried; a bracket is {}", self.course);
        document(&title, &subtitle, &self.version, |out| {
            if let Some(winner) = &self.outcome.winner {
                figures(out, &self.figures(winner));
                self.winner(out, winner);
            }
            self.plots(out);
            self.front(out);
            self.importance(out);
            self.space(out);
            text_section(out, "Next", &self.next.join("\n"));
            text_section(out, "Make it again", &self.command);
        })
    }

    fn figures(&self, winner: &Winner) -> Vec<Figure> {
        let scored = |label: &str, scores: &Scores, sd: Option<&Scores>| {
            let (name, value, is_share) = scores.headline();
            let unit = if is_share { Unit::Fraction } else { Unit::Number };
            let sd = sd.map(|sd| sd.headline().1);
            Figure::new(&format!("{label} {name}"), value, unit, Kind::Measured).with_sd(sd)
        };
        let mut list = vec![scored("validation", &winner.val, winner.val_sd.as_ref())];
        list.extend(winner.baseline.as_ref().map(|val| scored("as it was given, validation", val, None)));
        list.extend(winner.test.as_ref().map(|test| scored("test", test, winner.test_sd.as_ref())));
        list.push(Figure::new("model", winner.bytes as f64, Unit::Bytes, Kind::Measured));
        let ram = winner.size.ram.map(|ram| ram as f64);
        list.extend(ram.map(|ram| Figure::new("RAM on the board, at most", ram, Unit::Bytes, Kind::Derived)));
        let ms = |ms| Figure::new("milliseconds of an inference", ms, Unit::Number, Kind::Modelled);
        list.extend(winner.size.ms.map(ms));
        list
    }

    fn winner(&self, out: &mut String, winner: &Winner) {
        out.push_str("<section><h2>Winner</h2>\n");
        let _ = writeln!(
            out,
            "<p>{}, chosen on validation among the finalists, each trained to the end with {}.</p>",
            network_name(&winner.cell, winner.hidden, false),
            quantity(winner.seeds as u64, "seed")
        );
        let text = |value: &Option<toml::Value>| value.as_ref().map_or("–".into(), value_text);
        let row = |change: &Change| vec![change.key.clone(), text(&change.from), text(&change.to)];
        match winner.changes.as_deref() {
            None => out.push_str("<p>The recipe as it was given does not fit the budget.</p>\n"),
            Some([]) => {
                out.push_str("<p>The recipe as it was given is the best one that was found.</p>\n");
            }
            Some(changes) => {
                let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
                table(out, "Changed settings", &["setting", "as it was given", "winner"], &rows);
            }
        }
        out.push_str("</section>\n");
    }

    fn plots(&self, out: &mut String) {
        out.push_str("<section><h2>Course</h2>\n<div class=\"plots\">\n");
        for svg in [self.sizes_svg(), self.course_svg(), self.importance_svg()].into_iter().flatten() {
            let _ = writeln!(out, "<figure>{svg}</figure>");
        }
        out.push_str("</div>\n</section>\n");
    }

    /// Every trial that was trained to its end, over its bytes.
    fn sizes_svg(&self) -> Option<String> {
        let metric = self.outcome.metric;
        let mut series: Vec<Series> = Vec::new();
        for trial in self.all().filter(|trial| trial.epochs == trial.whole_epochs) {
            let (Some(val), Some(size)) = (&trial.val, trial.bytes) else { continue };
            let on_front =
                |p: &FrontPoint| p.choices == trial.choices && p.is_final == (trial.part == Part::Finals);
            let dot = Dot {
                x: size as f64,
                y: value(metric, val).unwrap_or(val.loss),
                title: format!(
                    "{}: {}, {}",
                    network_name(&trial.cell, trial.hidden, trial.choices.is_empty()),
                    bytes(size as u64),
                    figure_text(metric, val, None)
                ),
                front: self.outcome.front.iter().any(on_front),
            };
            match series.iter_mut().find(|s| s.name == trial.cell) {
                Some(own) => own.dots.push(dot),
                None => series.push(Series { name: trial.cell.clone(), dots: vec![dot] }),
            }
        }
        let title = format!("{}: validation {}", self.dataset, self.figure_name());
        Scatter { title, x_label: "bytes".into(), fraction: self.outcome.metric.is_some(), series }.svg()
    }

    /// The best score so far by trial, a line for each rung.
    fn course_svg(&self) -> Option<String> {
        let metric = self.outcome.metric;
        let rungs = self.all().filter(|t| t.part == Part::Search).map(|t| t.rung + 1).max()?;
        let mut lines = Vec::new();
        for rung in 0..rungs {
            let (mut points, mut best) = (Vec::new(), None::<f64>);
            for (number, trial) in self.all().filter(|t| t.part == Part::Search).enumerate() {
                let Some(val) = trial.val.as_ref().filter(|_| trial.rung == rung) else { continue };
                let (value, is_better): (f64, fn(f64, f64) -> bool) = match value(metric, val) {
                    Some(share) => (share, |new, old| new > old),
                    None => (val.loss, |new, old| new < old),
                };
                if best.is_none_or(|best| is_better(value, best)) {
                    best = Some(value);
                }
                points.extend(best.map(|best| ((number + 1) as f64, best)));
            }
            let name = format!("rung {}", rung + 1);
            lines.push(Line {
                title: format!("best of {name} so far"),
                legend: if rung + 1 == rungs { "last rung".into() } else { "rungs before".into() },
                colour: if rung + 1 == rungs { palette::ORANGE } else { palette::BLUE },
                dashed: rung + 1 < rungs,
                points,
                mark: None,
            });
        }
        let scale = if self.outcome.metric.is_some() { Scale::Fraction } else { Scale::Auto };
        let title = format!("Best validation {} so far", self.figure_name());
        Chart { title, x_label: "training".into(), span: Span::Whole, scale, lines }.svg()
    }

    fn importance_svg(&self) -> Option<String> {
        let bars: Vec<Bar> = self
            .outcome
            .importance
            .iter()
            .filter(|importance| importance.stands_out)
            .map(|i| Bar { name: i.name.clone(), value: i.share, text: fraction(i.share, None) })
            .collect();
        Bars { title: "What explains the scores of the first rung".into(), bars }.svg()
    }

    fn front(&self, out: &mut String) {
        if self.outcome.front.is_empty() {
            return;
        }
        out.push_str("<section><h2>Front</h2>\n");
        let rows: Vec<Vec<String>> =
            self.outcome.front.iter().map(|point| front_row(point, self.outcome.metric)).collect();
        table(out, "Front", &FRONT_HEADING, &rows);
        out.push_str(
            "<p class=\"hint\">No other network that was trained to the end is better on validation without being \
             larger or slower. Bytes and scores are measured, RAM is an upper bound, times are modelled.</p></section>\n",
        );
    }

    fn importance(&self, out: &mut String) {
        if self.outcome.importance.is_empty() {
            return;
        }
        out.push_str("<section><h2>Settings</h2>\n");
        let mut rows = Vec::new();
        for importance in &self.outcome.importance {
            for (place, value) in importance.values.iter().enumerate() {
                let first = |text: String| if place == 0 { text } else { String::new() };
                rows.push(vec![
                    first(format!("{}{}", importance.name, if importance.stands_out { " *" } else { "" })),
                    first(fraction(importance.share, None)),
                    value.value.clone(),
                    count(value.trials as u64),
                    mean_text(value, self.outcome.metric.is_some()),
                ]);
            }
        }
        let mean = format!("mean validation {}", self.figure_name());
        table(out, "Settings", &["setting", "explains", "value", "trials", &mean], &rows);
        out.push_str(
            "<p class=\"hint\">Of the trials of the first rung: the share of the variance of their scores that the \
             setting explains by itself, less what chance would explain on average. * marks a share that is unlikely \
             (5 %) to be chance, as one of all settings.</p></section>\n",
        );
    }

    fn space(&self, out: &mut String) {
        out.push_str("<section><h2>Space</h2>\n");
        let dimensions = self.space.dimensions().iter();
        let rows: Vec<Vec<String>> = dimensions.map(|d| vec![d.name.clone(), d.values.to_string()]).collect();
        table(out, "Space", &["setting", "values"], &rows);
        out.push_str("</section>\n");
    }

    /// All trials that ended, the finals last.
    fn all(&self) -> impl Iterator<Item = &Trial> {
        [Part::Search, Part::Finals].into_iter().flat_map(|part| self.records.of_part(part))
    }

    fn figure_name(&self) -> &'static str {
        self.outcome.metric.map_or("loss", metric_name)
    }
}
