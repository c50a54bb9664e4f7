//! Figures that the paper reports.

use super::sets::Figure;

/// A figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperFigure {
    /// As it is printed: shares in percent.
    pub value: f64,
    /// Kilobytes of the model, where the paper gives them.
    pub kb: Option<f64>,
}

/// The rows of the paper's tables, and others: source, table, data set, method, metric, value, kilobytes.
const FILE: &str = include_str!("published.csv");
const COLUMNS: usize = 7;

/// What the paper reports in one of its tables.
pub(super) fn figure(table: &str, dataset: &str, method: &str, metric: &str) -> Option<PaperFigure> {
    FILE.lines().skip(1).find_map(|line| {
        // Names with commas are quoted; none of the paper's is.
        let fields: Vec<&str> = line.split(',').collect();
        let is_wanted = fields.len() == COLUMNS && fields[..5] == ["paper", table, dataset, method, metric];
        let value = is_wanted.then(|| fields[5].parse().ok()).flatten()?;
        Some(PaperFigure { value, kb: fields[6].parse().ok() })
    })
}

/// The same, for the figure of a data set.
pub(super) fn score(table: &str, dataset: &str, method: &str, metric: Figure) -> Option<PaperFigure> {
    figure(table, dataset, method, &metric.name())
}

/// How far β is from 1 − α in the paper, as a share of 1 − α, on the data set that is called `source` here.
///
/// ```
/// assert_eq!(fastgrnn::reproduce::published_tie("har2"), Some(0.0321));
/// ```
pub fn published_tie(source: &str) -> Option<f64> {
    let dataset = match source {
        "google12" => "Google-12",
        "har2" => "HAR-2",
        "mnist" => "MNIST-10",
        _ => return None,
    };
    let percent = figure("beta_vs_1_minus_alpha", dataset, "FastRNN", "relative_error_percent")?.value;
    Some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_with_their_kilobytes() {
        let found = score("main", "HAR-2", "FastGRNN", Figure::Accuracy);
        assert_eq!(found, Some(PaperFigure { value: 95.59, kb: Some(3.0) }));
        assert_eq!(figure("alpha_beta", "HAR-2", "T 128", "alpha").map(|f| f.value), Some(0.0643));
        assert_eq!(figure("main", "HAR-2", "minGRU", "accuracy"), None);
    }
}
