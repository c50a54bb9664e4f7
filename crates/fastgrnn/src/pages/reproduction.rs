//! The tables of the paper, made again: as Markdown, as a page, and for the terminal.

use super::reproduction_plots::{line_through, plots};
use crate::reproduce::{DataSet, EntryResult, JobRecord, PaperTable, Protocol, Reproduction, ShownResult};
use fastgrnn_core::format::{count, duration, fraction, number, number_sd, quantity};
use fastgrnn_report::html::{document, escaped, figures, table, text_section};
use fastgrnn_report::{Figure, Kind, Unit};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What was made again, and what is needed to tell it.
#[derive(Clone, Debug)]
pub struct ReproductionReport<'a> {
    /// The tables.
    pub reproduction: &'a Reproduction,
    /// Whether the trainings were short.
    pub is_quick: bool,
    /// The command that makes this again.
    pub command: String,
    /// Which fastgrnn made it.
    pub version: String,
}

/// The rows of a table that belong to one data set.
pub struct SetTable {
    /// The data set.
    pub dataset: &'static str,
    /// How it differs from the paper's.
    pub remark: Option<&'static str>,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// What the rows say, in sentences.
    pub findings: Vec<String>,
    plots: Vec<String>,
}

const TITLE: &str = "Results of the paper, measured again";
const HOW_TO_READ: &str = "Each value is measured on the test part, which no choice has seen, by networks that `fastgrnn \
    reproduce` trained: the mean of the seeds and its sample deviation. The paper's value is beside it, and the \
    difference is derived from both. Bytes are those of the device image of integer networks, and of the f32 parameters \
    of the others, where sparse matrices are stored as their entries and a bit for each place; of networks that read texts, they count the cells alone, as the paper does. Times are those of one \
    training, on a machine that did other work as well.";
const QUICK: &str = "These are short trainings with reduced settings. They show that everything works, and say little \
    about the methods.";

impl ReproductionReport<'_> {
    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {TITLE}\n\n{HOW_TO_READ}\n\n");
        if self.is_quick {
            let _ = writeln!(out, "{QUICK}\n");
        }
        let _ = writeln!(out, "{}\n\n```sh\n{}\n```\n", self.machines(), self.command);
        for &paper_table in &self.reproduction.tables {
            let _ = writeln!(out, "## {}\n\n`{paper_table}`: {}\n", paper_table.title(), paper_table.note());
            for set in self.set_tables(paper_table) {
                let _ = writeln!(out, "### {}\n", set.dataset);
                set.remark.iter().for_each(|remark| out.push_str(&format!("{remark}\n\n")));
                let _ = writeln!(out, "| {} |", set.columns.join(" | "));
                let _ = writeln!(out, "|{}", " --- |".repeat(set.columns.len()));
                set.rows.iter().for_each(|row| out.push_str(&format!("| {} |\n", row.join(" | "))));
                out.push('\n');
                set.findings.iter().for_each(|finding| out.push_str(&format!("{finding}\n\n")));
            }
            self.missing(paper_table).iter().for_each(|text| out.push_str(&format!("{text}\n\n")));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    /// The tables as a page.
    pub fn html(&self) -> String {
        document(TITLE, &self.machines(), &self.version, |out| {
            figures(out, &self.figures());
            let _ = writeln!(out, "<section><p>{}</p>", HOW_TO_READ.replace('`', ""));
            if self.is_quick {
                let _ = writeln!(out, "<p>{QUICK}</p>");
            }
            out.push_str("</section>\n");
            self.write_tables(out);
            text_section(out, "Make it again", &self.command);
        })
    }

    /// The tables with their plots, as sections of a page.
    pub(super) fn write_tables(&self, out: &mut String) {
        for &paper_table in &self.reproduction.tables {
            let _ = writeln!(out, "<section><h2>{}</h2>\n<p>{}</p>", paper_table.title(), paper_table.note());
            for set in self.set_tables(paper_table) {
                let _ = writeln!(out, "<h3>{}</h3>", set.dataset);
                set.remark.iter().for_each(|remark| out.push_str(&format!("<p>{remark}</p>\n")));
                let columns: Vec<&str> = set.columns.iter().map(String::as_str).collect();
                table(out, set.dataset, &columns, &set.rows);
                set.findings.iter().for_each(|finding| out.push_str(&format!("<p>{finding}</p>\n")));
                if !set.plots.is_empty() {
                    out.push_str("<div class=\"plots curves\">\n");
                    set.plots.iter().for_each(|svg| out.push_str(&format!("<figure>{svg}</figure>\n")));
                    out.push_str("</div>\n");
                }
            }
            let missing = self.missing(paper_table).map(|text| format!("<p>{}</p>\n", escaped(&text)));
            missing.iter().for_each(|text| out.push_str(text));
            out.push_str("</section>\n");
        }
    }

    fn figures(&self) -> Vec<Figure> {
        let ran: BTreeSet<_> = self.trained().map(|record| record.key.clone()).collect();
        let seconds: f64 = self.trained().map(|record| record.seconds).sum();
        vec![
            Figure::new("trainings shown", ran.len() as f64, Unit::Count, Kind::Measured),
            Figure::new("their time", seconds, Unit::Seconds, Kind::Measured),
        ]
    }

    fn trained(&self) -> impl Iterator<Item = &JobRecord> {
        self.reproduction.entries.iter().flat_map(|entry| &entry.records)
    }

    /// What trained the networks.
    fn machines(&self) -> String {
        let of_record = |record: &JobRecord| {
            let commit = record.program.commit.as_deref().unwrap_or("no commit");
            format!(
                "fastgrnn {} ({commit}) on {} ({})",
                record.program.version, record.device, record.program.isa
            )
        };
        let is_trained = |record: &&JobRecord| record.failed.is_none() && record.board.is_none();
        let machines: BTreeSet<String> = self.trained().filter(is_trained).map(of_record).collect();
        match machines.is_empty() {
            true => "Nothing was trained.".into(),
            false => format!("Trained by {}.", machines.into_iter().collect::<Vec<_>>().join("; ")),
        }
    }

    /// The rows of a table that have values, data set by data set.
    pub fn set_tables(&self, paper_table: PaperTable) -> Vec<SetTable> {
        let sets = self.entries_of_sets(paper_table).into_iter().filter(|entries| has_values(entries));
        sets.map(|entries| set_table(paper_table, entries)).collect()
    }

    /// The data sets of a table of which no row has a value, and why, in a sentence.
    pub fn missing(&self, paper_table: PaperTable) -> Option<String> {
        let sets: Vec<Vec<&EntryResult>> =
            self.entries_of_sets(paper_table).into_iter().filter(|entries| !has_values(entries)).collect();
        let name = |entries: &Vec<&EntryResult>| {
            let rows: BTreeSet<&str> = entries.iter().map(|entry| entry.row.as_str()).collect();
            format!("{} ({})", entries[0].dataset, quantity(rows.len() as u64, "row"))
        };
        let names: Vec<String> = sets.iter().map(name).collect();
        let reasons: BTreeSet<&str> =
            sets.iter().flatten().filter_map(|entry| entry.why.as_deref()).collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        let text = || format!("Without a value: {}. Reason: {}.", names.join(", "), reasons.join("; "));
        (!names.is_empty()).then(text)
    }

    /// The entries of a table, data set by data set.
    fn entries_of_sets(&self, paper_table: PaperTable) -> Vec<Vec<&EntryResult>> {
        let mut sets: Vec<Vec<&EntryResult>> = Vec::new();
        for entry in self.reproduction.entries.iter().filter(|entry| entry.table == paper_table) {
            match sets.iter_mut().find(|set| set[0].dataset == entry.dataset) {
                Some(set) => set.push(entry),
                None => sets.push(vec![entry]),
            }
        }
        sets
    }
}

/// Whether a row of them has a value.
fn has_values(entries: &[&EntryResult]) -> bool {
    entries.iter().any(|entry| !entry.records.is_empty())
}

fn set_table(paper_table: PaperTable, entries: Vec<&EntryResult>) -> SetTable {
    let dataset = entries[0].dataset;
    let mut titles: Vec<&str> = Vec::new();
    for shown in entries.iter().flat_map(|entry| &entry.shown) {
        if !titles.contains(&shown.title.as_str()) {
            titles.push(&shown.title);
        }
    }
    let has_paper = |title: &str| {
        let mut all = entries.iter().flat_map(|entry| &entry.shown);
        all.any(|shown| shown.title == title && shown.paper.is_some())
    };
    let mut columns: Vec<String> = vec!["row".into(), "protocol".into()];
    let basis = |title: &str| {
        let mut all = entries.iter().flat_map(|entry| &entry.shown);
        all.find(|shown| shown.title == title).map_or("measured", |shown| shown.basis)
    };
    for title in &titles {
        columns.push(format!("{title}, {}", basis(title)));
        if has_paper(title) {
            columns.extend(["paper".into(), "difference".into()]);
        }
    }
    let others: &[&str] = match paper_table {
        PaperTable::Boards => &["units", "bytes of flash"],
        _ => &["units", "bytes", "seeds", "time", "chosen on validation"],
    };
    columns.extend(others.iter().map(|name| (*name).to_owned()));
    let row = |entry: &&EntryResult| {
        let mut row = vec![entry.row.clone(), entry.protocol.title().into()];
        for title in &titles {
            let shown = entry.shown.iter().find(|shown| shown.title == *title);
            row.push(shown.map_or("–".into(), |shown| value_text(shown, entry)));
            if has_paper(title) {
                row.push(shown.and_then(paper_text).unwrap_or_else(|| "–".into()));
                row.push(shown.and_then(difference).unwrap_or_else(|| "–".into()));
            }
        }
        let dash = || "–".to_owned();
        row.push(units(entry).map_or_else(dash, |units| count(units as u64)));
        row.push(entry.bytes().map_or_else(dash, |bytes| count(bytes as u64)));
        if paper_table == PaperTable::Boards {
            return row;
        }
        row.push(seeds_text(entry).unwrap_or_else(dash));
        row.push(entry.seconds().map_or_else(dash, duration));
        row.push(entry.chosen.clone().unwrap_or_else(dash));
        row
    };
    SetTable {
        dataset,
        remark: DataSet::remark_of(dataset, paper_table),
        rows: entries.iter().map(row).collect(),
        columns,
        findings: findings(paper_table, &entries),
        plots: plots(paper_table, &entries),
    }
}

/// How many seeds there are, and how many of them failed.
fn seeds_text(entry: &EntryResult) -> Option<String> {
    let (all, failed) = (entry.records.len(), entry.failed());
    match (all, failed) {
        (0, _) => None,
        (_, 0) => Some(all.to_string()),
        _ => Some(format!("{} of {all}; {failed} diverged", all - failed)),
    }
}

/// The units of the networks of an entry.
fn units(entry: &EntryResult) -> Option<i64> {
    entry.records.first()?.recipe.get("hidden")?.as_integer()
}

fn value_text(shown: &ShownResult, entry: &EntryResult) -> String {
    let (Some(mean), deviation) = (shown.mean(), shown.deviation()) else {
        return entry.why.clone().unwrap_or_else(|| "–".into());
    };
    match (shown.is_share, deviation) {
        (true, deviation) => fraction(mean, deviation),
        (false, Some(deviation)) => number_sd(mean, deviation),
        (false, None) => number(mean),
    }
}

fn paper_text(shown: &ShownResult) -> Option<String> {
    let paper = shown.paper?;
    let value = match shown.is_share {
        true => fraction(shown.paper_value()?, None),
        false => number(paper.value),
    };
    Some(paper.kb.map_or(value.clone(), |kb| format!("{value} ({kb} KB)")))
}

fn difference(shown: &ShownResult) -> Option<String> {
    let difference = shown.mean()? - shown.paper_value()?;
    let sign = if difference < 0.0 { "−" } else { "+" };
    Some(match shown.is_share {
        true => format!("{sign}{:.2}", 100.0 * difference.abs()),
        false => format!("{sign}{}", number(difference.abs())),
    })
}

/// What the rows of a data set say, in sentences.
fn findings(paper_table: PaperTable, entries: &[&EntryResult]) -> Vec<String> {
    match paper_table {
        PaperTable::Main => [Protocol::AsPublished, Protocol::Ours, Protocol::Quick]
            .into_iter()
            .filter_map(|protocol| order(protocol, entries))
            .collect(),
        PaperTable::AlphaBeta => scaling(entries).into_iter().collect(),
        PaperTable::EqualBytes => best_cells(entries),
        _ => Vec::new(),
    }
}

/// Fewer methods have no order worth a sentence.
const FEWEST_METHODS: usize = 4;

/// The order of the methods, compared with the paper's.
fn order(protocol: Protocol, entries: &[&EntryResult]) -> Option<String> {
    // A method of which seeds diverged has no mean to compare.
    let of_protocol = entries.iter().filter(|entry| entry.protocol == protocol && entry.failed() == 0);
    let mut pairs: Vec<(&str, f64, f64)> = of_protocol
        .filter_map(|entry| {
            let shown = entry.shown.first()?;
            Some((entry.row.as_str(), shown.mean()?, shown.paper_value()?))
        })
        .collect();
    if pairs.len() < FEWEST_METHODS {
        return None;
    }
    let ours: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let papers: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
    let correlation = spearman(&ours, &papers)?;
    let mut names = |by: fn(&(&str, f64, f64)) -> f64| {
        pairs.sort_by(|a, b| by(b).total_cmp(&by(a)));
        pairs.iter().map(|pair| pair.0).collect::<Vec<_>>().join(", ")
    };
    let (own, papers) = (names(|pair| pair.1), names(|pair| pair.2));
    Some(format!(
        "Order of the methods, {}: {own}. In the paper: {papers}. The rank correlation (Spearman) of both is \
         {correlation:.2}.",
        protocol.title()
    ))
}

/// How α falls with the number of time steps, and how far β is from 1 − α.
fn scaling(entries: &[&EntryResult]) -> Option<String> {
    let steps = |entry: &EntryResult| entry.row.strip_prefix("T ")?.parse::<f64>().ok();
    let mean = |entry: &EntryResult, metric: &str| entry.shown.iter().find(|s| s.metric == metric)?.mean();
    let mut points: Vec<(f64, f64, f64)> = entries
        .iter()
        .filter_map(|entry| {
            Some((steps(entry)?, mean(entry, "alpha")?, mean(entry, "beta_off_1_minus_alpha")?))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (all, alphas): (Vec<f64>, Vec<f64>) = points.iter().map(|point| (point.0, point.1)).unzip();
    let correlation = spearman(&all, &alphas)?;
    let (longest, _, off) = points.last()?;
    let fit = line_through(&points.iter().map(|point| (1.0 / point.0, point.1)).collect::<Vec<_>>());
    let line = fit.map_or_else(String::new, |fit| {
        format!(
            " The line of least squares is α = {} + {}/T; it explains {} of the variance of α.",
            number(fit.offset),
            number(fit.slope),
            fraction(fit.explained, None)
        )
    });
    Some(format!(
        "The rank correlation (Spearman) of the number of time steps and the mean α is {correlation:.2}. At {longest} \
         time steps, β is off 1 − α by {} of it.{line}",
        fraction(*off, None)
    ))
}

/// For each number of bytes the best cells.
fn best_cells(entries: &[&EntryResult]) -> Vec<String> {
    let mut budgets: Vec<&str> = Vec::new();
    for entry in entries {
        if let Some((_, bytes)) = cell_and_bytes(entry)
            && !budgets.contains(&bytes)
        {
            budgets.push(bytes);
        }
    }
    let of_budget = |budget: &str| {
        let own =
            entries.iter().filter(|entry| cell_and_bytes(entry).is_some_and(|(_, bytes)| bytes == budget));
        let mut cells: Vec<(&str, f64, Option<f64>)> = own
            .filter_map(|entry| {
                let shown = entry.shown.first()?;
                Some((cell_and_bytes(entry)?.0, shown.mean()?, shown.deviation()))
            })
            .collect();
        if cells.len() < 2 {
            return None;
        }
        cells.sort_by(|a, b| b.1.total_cmp(&a.1));
        let text = |(cell, mean, sd): &(&str, f64, Option<f64>)| format!("{cell} ({})", fraction(*mean, *sd));
        let best: Vec<String> = cells.iter().take(3).map(text).collect();
        Some(format!("In {budget}, the best cells are {}.", best.join(", ")))
    };
    budgets.into_iter().filter_map(of_budget).collect()
}

/// The cell and the bytes of a row such as `gru in 2,048 B`.
fn cell_and_bytes(entry: &EntryResult) -> Option<(&str, &str)> {
    entry.row.split_once(" in ")
}

/// Spearman's rank correlation; nothing for fewer than two points, or where one side does not vary.
fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| *other == value).count() as f64;
            below + (equal - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| (x - mean) * (y - mean)).sum() };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// What was done, in a line.
pub fn reproduction_summary(reproduction: &Reproduction) -> String {
    let ran = reproduction.cells.iter().filter(|cell| cell.value.is_some()).count();
    let empty = reproduction.entries.iter().filter(|entry| entry.records.is_empty()).count();
    format!(
        "{} of {}, {} trained now; {} without a training",
        quantity(ran as u64, "value"),
        quantity(reproduction.cells.len() as u64, "cell"),
        quantity(reproduction.trained as u64, "network"),
        quantity(empty as u64, "row")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlations_are_those_of_known_orders() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(spearman(&[8.0, 16.0, 32.0], &[0.3, 0.2, 0.1]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), Some(0.8));
        assert_eq!(spearman(&[1.0, 2.0], &[3.0, 3.0]), None);
        assert_eq!(spearman(&[1.0], &[3.0]), None);
    }
}
