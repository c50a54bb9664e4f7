//! What the tables show: a result for each entry, and a cell for each seed and quantity.

use super::entries::{Entry, Shown};
use super::job::JobRecord;
use super::methods::Protocol;
use super::published::PaperFigure;
use super::quantity::Quantity;
use super::table::PaperTable;
use serde::Serialize;

/// A value of a table: of one seed, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableCell {
    /// The table.
    pub table: PaperTable,
    /// The row: a method, with what distinguishes it.
    pub method: String,
    /// The data set, as the paper calls it.
    pub dataset: &'static str,
    /// How it was trained.
    pub protocol: &'static str,
    /// Whether the value comes from a training of this store.
    pub ran: bool,
    /// Whether that training was stored before this call.
    pub stored: bool,
    /// Seconds of the training.
    pub seconds: f64,
    /// Its seed; null where nothing was trained.
    pub seed: Option<u64>,
    /// The quantity.
    pub metric: String,
    /// Its value, shares as fractions.
    pub value: Option<f64>,
    /// What the paper has there, shares as fractions.
    pub paper: Option<f64>,
    /// Bytes of the device image, or of the f32 parameters; of a network that reads texts, those of its cells.
    pub bytes: Option<usize>,
    /// What trained it.
    pub device: Option<String>,
    /// Whether it is the result of a short training.
    pub quick: bool,
    /// Why there is no value.
    pub why: Option<String>,
}

/// What an entry of a table comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryResult {
    /// The table.
    pub table: PaperTable,
    /// The row.
    pub row: String,
    /// The data set, as the paper calls it.
    pub dataset: &'static str,
    /// How it was trained.
    pub protocol: Protocol,
    /// The quantities that the table shows.
    pub shown: Vec<ShownResult>,
    /// The trainings.
    pub records: Vec<JobRecord>,
    /// What validation chose, as `key = value`.
    pub chosen: Option<String>,
    /// Why there is no value.
    pub why: Option<String>,
}

/// A quantity of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownResult {
    /// Its name in JSON.
    pub metric: String,
    /// Its name as a heading.
    pub title: String,
    /// How its values are found: `measured`, `modelled` or `derived`.
    pub basis: &'static str,
    /// Whether it is a share.
    pub is_share: bool,
    /// A value for each training that has one.
    pub values: Vec<f64>,
    /// What the paper has there.
    pub paper: Option<PaperFigure>,
}

impl ShownResult {
    /// The mean of the values.
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// Their sample deviation, of two or more.
    pub fn deviation(&self) -> Option<f64> {
        let (mean, n) = (self.mean()?, self.values.len());
        let squares: f64 = self.values.iter().map(|value| (value - mean).powi(2)).sum();
        (n > 1).then(|| (squares / (n - 1) as f64).sqrt())
    }

    /// What the paper has there, shares as fractions.
    pub fn paper_value(&self) -> Option<f64> {
        self.paper.map(|paper| if self.is_share { paper.value / 100.0 } else { paper.value })
    }
}

impl EntryResult {
    pub(super) fn new(
        entry: &Entry,
        records: Vec<JobRecord>,
        chosen: Option<String>,
        why: Option<String>,
    ) -> Self {
        let shown = |shown: &Shown| ShownResult {
            metric: shown.quantity.name(),
            title: shown.quantity.title(),
            basis: shown.quantity.basis(),
            is_share: shown.quantity.is_share(),
            values: records.iter().filter_map(|record| shown.quantity.of(record)).collect(),
            paper: shown.paper,
        };
        let failed = records.iter().find_map(|record| record.failed.clone());
        Self {
            table: entry.table,
            row: entry.row.clone(),
            dataset: entry.set.name,
            protocol: entry.protocol,
            shown: entry.shown.iter().map(shown).collect(),
            chosen,
            why: why.or(failed),
            records,
        }
    }

    /// How many of its trainings failed by their own settings.
    pub fn failed(&self) -> usize {
        self.records.iter().filter(|record| record.failed.is_some()).count()
    }

    /// Bytes of the largest of its networks.
    pub fn bytes(&self) -> Option<usize> {
        self.records.iter().filter(|record| record.failed.is_none()).map(|record| record.bytes).max()
    }

    /// The mean seconds of a training.
    pub fn seconds(&self) -> Option<f64> {
        let trained: Vec<f64> = self
            .records
            .iter()
            .filter(|record| record.failed.is_none())
            .map(|record| record.seconds)
            .collect();
        (!trained.is_empty()).then(|| trained.iter().sum::<f64>() / trained.len() as f64)
    }

    /// Its cells; `is_stored` tells whether a training was stored before this call.
    pub(super) fn cells(&self, entry: &Entry, is_stored: impl Fn(&JobRecord) -> bool) -> Vec<TableCell> {
        let mut cells = Vec::new();
        for (shown, result) in entry.shown.iter().zip(&self.shown) {
            let empty = TableCell {
                table: self.table,
                method: self.row.clone(),
                dataset: self.dataset,
                protocol: self.protocol.name(),
                ran: false,
                stored: false,
                seconds: 0.0,
                seed: None,
                metric: result.metric.clone(),
                value: None,
                paper: result.paper_value(),
                bytes: None,
                device: None,
                quick: self.protocol == Protocol::Quick,
                why: self.why.clone(),
            };
            if self.records.is_empty() {
                cells.push(empty);
                continue;
            }
            cells.extend(self.records.iter().map(|record| TableCell {
                ran: true,
                stored: is_stored(record),
                seconds: record.seconds,
                seed: record.seed(),
                value: shown.quantity.of(record),
                bytes: record.failed.is_none().then_some(record.bytes),
                device: Some(record.device.clone()).filter(|device| !device.is_empty()),
                why: record.failed.clone().or_else(|| why_not(shown.quantity, record)),
                ..empty.clone()
            }));
        }
        cells
    }
}

/// Why a finished job has no value of a quantity.
fn why_not(quantity: Quantity, record: &JobRecord) -> Option<String> {
    let is_missing = quantity.of(record).is_none();
    is_missing.then(|| match quantity {
        Quantity::Milliseconds => {
            "the board has no model of its time; its instructions are counted".to_owned()
        }
        _ => format!("the training has no {}", quantity.title()),
    })
}

/// The tables, made again.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The tables, in the order in which they were asked for.
    pub tables: Vec<PaperTable>,
    /// A value for each seed and quantity.
    pub cells: Vec<TableCell>,
    /// What each entry comes to.
    pub entries: Vec<EntryResult>,
    /// How many jobs were trained in this call.
    pub trained: usize,
}
