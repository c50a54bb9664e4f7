//! From the rows of a table to sequences: joining steps by id, cutting windows, majority labels.
//!
//! A recording is what must stay together: the rows of one id, or, without ids, an unbroken run of
//! rows of one group. Without a window it becomes one sequence with one label. With a window it is
//! cut, and a window takes the label that most of its rows have (the mean, if labels are values).

use std::collections::HashMap;

use super::doctor::times::TimedRows;
use super::doctor::trend::Trend;
use super::labels::are_few;
use super::missing::fill;
use super::part::RawLabels;
use super::part::{Part, checked_stride, starts};
use super::{DataError, LabelKind, Missing, Request, Sequences};

/// Values above this lose digits in an f32 that clocks need.
const LARGE: f32 = 65_536.0;

/// Text values by number, in order of first appearance; one number a row.
#[derive(Default)]
pub(crate) struct Interner {
    pub of_row: Vec<u32>,
    pub names: Vec<String>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl Interner {
    pub fn push(&mut self, cell: &[u8]) {
        let number = match self.numbers.get(cell) {
            Some(&number) => number,
            None => {
                let number = self.names.len() as u32;
                self.numbers.insert(cell.to_vec(), number);
                self.names.push(String::from_utf8_lossy(cell).into_owned());
                number
            }
        };
        self.of_row.push(number);
    }

    fn get(&self, row: usize) -> Option<&str> {
        self.of_row.get(row).map(|&n| self.names[n as usize].as_str())
    }
}

/// A table: numbers, and for each row its label, group and id where there are such columns.
pub(crate) struct RecordingRows {
    width: usize,
    /// NaN where a value is missing.
    pub values: Vec<f32>,
    /// How many values of each feature are missing.
    pub missing: Vec<usize>,
    pub lines: Vec<u64>,
    /// The time of each row, if all rows have one.
    pub times: Option<Vec<f64>>,
    /// How each feature runs in each recording: recording by recording.
    trends: Vec<Trend>,
    /// The recording of the last row.
    recording: usize,
    pub labels: Interner,
    pub groups: Interner,
    pub ids: Interner,
    /// The label of every row, when the file's folder names it.
    pub class: Option<String>,
}

impl RecordingRows {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            values: Vec::new(),
            missing: vec![0; width],
            lines: Vec::new(),
            times: Some(Vec::new()),
            trends: Vec::new(),
            recording: 0,
            labels: Interner::default(),
            groups: Interner::default(),
            ids: Interner::default(),
            class: None,
        }
    }

    /// Follows how the features run in the recording of the row that was added last. If rows are no time
    /// steps, all are one recording. `exact` gives a feature of that row in full.
    pub fn follow_last_row(&mut self, steps: bool, exact: impl Fn(usize) -> Option<f64>) {
        let row = self.lines.len() - 1;
        self.recording = match self.ids.of_row.last() {
            _ if !steps => 0,
            Some(&id) => id as usize,
            None if row == 0 || self.groups.get(row) == self.groups.get(row - 1) => self.recording,
            None => self.recording + 1,
        };
        let start = self.recording * self.width;
        if self.trends.len() < start + self.width {
            self.trends.resize(start + self.width, Trend::default());
        }
        for feature in 0..self.width {
            let value = self.values[row * self.width + feature];
            // Only large values lose digits that matter in an f32.
            let value = match value.abs() > LARGE {
                true => exact(feature).unwrap_or(f64::from(value)),
                false => f64::from(value),
            };
            if value.is_finite() {
                self.trends[start + feature].add(value);
            }
        }
    }

    /// How a feature runs in each recording.
    pub fn trends_of(&self, feature: usize) -> impl Iterator<Item = &Trend> + Clone {
        self.trends.iter().skip(feature).step_by(self.width.max(1))
    }

    /// Removes a feature.
    pub fn remove_feature(&mut self, feature: usize) {
        let width = self.width;
        let is_kept = |i: &usize| i % width != feature;
        let kept = (0..self.values.len()).filter(is_kept);
        self.values = kept.map(|i| self.values[i]).collect();
        self.trends = (0..self.trends.len()).filter(is_kept).map(|i| self.trends[i]).collect();
        self.missing.remove(feature);
        self.width -= 1;
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    fn label(&self, row: usize) -> Option<&str> {
        self.class.as_deref().or_else(|| self.labels.get(row))
    }

    /// One sequence a row: its columns are time steps of `dim` features.
    pub fn into_sequences(mut self, file: &str, dim: usize, missing: Missing) -> Result<Part, DataError> {
        let mut x = Sequences::new(dim);
        let (mut kept, length) = (Vec::new(), self.width / dim);
        for row in 0..self.lines.len() {
            let mut steps: Vec<usize> = (row * length..(row + 1) * length).collect();
            fill(&mut self.values, dim, &mut steps, missing).map_err(|_| DataError::AllMissing {
                file: file.into(),
                place: format!("line {}", self.lines[row]),
                feature: "the row".into(),
                missing,
            })?;
            if steps.len() == length {
                x.push(self.row(row));
                kept.push(row);
            }
        }
        let text = |of: &dyn Fn(usize) -> Option<String>| kept.iter().map(|&row| of(row)).collect();
        let labels: Option<Vec<String>> = text(&|row| self.label(row).map(str::to_string));
        let group: Option<Vec<String>> = text(&|row| self.groups.get(row).map(str::to_string));
        let mut part = Part::new(file, x, labels.map_or(RawLabels::None, RawLabels::Text));
        part.group = group;
        Ok(part)
    }

    /// One time step a row: sequences by id, or windows cut from recordings, in the order of their times.
    /// `names` are those of the features, `time` is that of the column with the times.
    pub fn into_recordings(
        mut self,
        file: &str,
        names: &[&str],
        time: Option<&str>,
        request: &Request,
        kind: LabelKind,
    ) -> Result<Part, DataError> {
        let mut recordings = self.recordings(file)?;
        let mut findings = Vec::new();
        if let (Some(times), Some(column)) = (&self.times, time) {
            let timed = TimedRows { file, column, times, lines: &self.lines };
            findings = timed.order(&mut recordings);
        }
        if self.missing.iter().any(|&count| count > 0) {
            self.fill(file, names, &mut recordings, request.data.missing)?;
        }
        let mut part = match request.data.window {
            None => self.whole(file, &recordings)?,
            Some(window) => {
                let steps = recordings.iter().map(Vec::len);
                let stride = checked_stride(window, steps, self.width, request)?;
                self.windows(file, &recordings, window, stride, kind)
            }
        };
        part.findings = findings;
        Ok(part)
    }

    /// Fills in missing values, or drops their rows.
    fn fill(
        &mut self,
        file: &str,
        names: &[&str],
        recordings: &mut Vec<Vec<usize>>,
        missing: Missing,
    ) -> Result<(), DataError> {
        for rows in recordings.iter_mut() {
            let first = rows[0];
            fill(&mut self.values, self.width, rows, missing).map_err(|feature| DataError::AllMissing {
                file: file.into(),
                place: match self.ids.get(first) {
                    Some(id) => format!("sequence '{id}' (from line {})", self.lines[first]),
                    None => format!("the recording from line {}", self.lines[first]),
                },
                feature: format!("column '{}'", names.get(feature).unwrap_or(&"")),
                missing,
            })?;
        }
        recordings.retain(|rows| !rows.is_empty());
        Ok(())
    }

    /// The rows of each recording.
    fn recordings(&self, file: &str) -> Result<Vec<Vec<usize>>, DataError> {
        let mut recordings: Vec<Vec<usize>> = Vec::new();
        for row in 0..self.lines.len() {
            let group = self.groups.get(row);
            let number = match self.ids.of_row.get(row) {
                Some(&id) => id as usize,
                None if row > 0 && group == self.groups.get(row - 1) => recordings.len() - 1,
                None => recordings.len(),
            };
            if number == recordings.len() {
                recordings.push(Vec::new());
            } else if self.groups.get(recordings[number][0]) != group {
                return Err(DataError::Corrupt {
                    file: file.into(),
                    place: format!("line {}", self.lines[row]),
                    problem: format!(
                        "id '{}' belongs to group '{}', here it has '{}'; an id needs one group",
                        self.ids.get(row).unwrap_or_default(),
                        self.groups.get(recordings[number][0]).unwrap_or_default(),
                        group.unwrap_or_default()
                    ),
                });
            }
            recordings[number].push(row);
        }
        Ok(recordings)
    }

    fn whole(&self, file: &str, recordings: &[Vec<usize>]) -> Result<Part, DataError> {
        let mut x = Sequences::new(self.width);
        let (mut labels, mut sequence) = (Vec::new(), Vec::new());
        for rows in recordings {
            let label = self.label(rows[0]);
            if let Some(&other) = rows.iter().find(|&&row| self.label(row) != label) {
                return Err(DataError::Corrupt {
                    file: file.into(),
                    place: format!("line {}", self.lines[other]),
                    problem: format!(
                        "the label changes from '{}' to '{}' within one sequence; cut the recording with `window`, or name the column that identifies a sequence with `id-col`",
                        label.unwrap_or_default(),
                        self.label(other).unwrap_or_default()
                    ),
                });
            }
            labels.extend(label.map(str::to_string));
            sequence.clear();
            rows.iter().for_each(|&row| sequence.extend_from_slice(self.row(row)));
            x.push(&sequence);
        }
        let y = if labels.is_empty() { RawLabels::None } else { RawLabels::Text(labels) };
        let mut part = Part::new(file, x, y);
        let first =
            |names: &Interner| recordings.iter().map(|rows| names.get(rows[0]).map(str::to_string)).collect();
        part.group = first(&self.groups);
        part.ids = first(&self.ids);
        Ok(part)
    }

    fn windows(
        &self,
        file: &str,
        recordings: &[Vec<usize>],
        window: usize,
        stride: usize,
        kind: LabelKind,
    ) -> Part {
        let mut x = Sequences::new(self.width);
        let values = self.label_values(kind);
        let (mut majorities, mut means) = (Vec::new(), Vec::new());
        let (mut group, mut ids, mut recording) = (Vec::new(), Vec::new(), Vec::new());
        let mut span = Vec::new();
        let mut counts = vec![0usize; self.labels.names.len()];
        let mut sequence = Vec::new();
        for (number, rows) in recordings.iter().enumerate() {
            for start in starts(rows.len(), window, stride) {
                let rows = &rows[start..start + window];
                sequence.clear();
                rows.iter().for_each(|&row| sequence.extend_from_slice(self.row(row)));
                x.push(&sequence);
                match (&values, &self.class) {
                    (_, Some(class)) => majorities.push(class.clone()),
                    (Some(values), None) => {
                        let sum: f64 = rows.iter().map(|&row| values[self.labels.of_row[row] as usize]).sum();
                        means.push(sum / window as f64);
                    }
                    (None, None) if !self.labels.of_row.is_empty() => {
                        majorities.push(self.majority(rows, &mut counts));
                    }
                    _ => {}
                }
                group.extend(self.groups.get(rows[0]).map(str::to_string));
                ids.push(match self.ids.get(rows[0]) {
                    Some(id) => format!("{id}@{start}"),
                    None => format!("@{}", rows[0]),
                });
                recording.push(number as u32);
                span.push([start as u32, (start + window) as u32]);
            }
        }
        let y = match (means.is_empty(), majorities.is_empty()) {
            (false, _) => RawLabels::Number { width: 1, values: means },
            (_, false) => RawLabels::Text(majorities),
            _ => RawLabels::None,
        };
        let mut part = Part::new(file, x, y);
        part.group = (!group.is_empty()).then_some(group);
        part.ids = Some(ids);
        part.recording = Some(recording);
        part.span = Some(span);
        part.kind = kind;
        part.is_cut = true;
        let short = recordings.iter().filter(|rows| rows.len() < window).count();
        if short > 0 {
            part.notes.push(format!(
                "{file}: {short} of {} recordings have fewer than the {window} steps of a window and were left out",
                recordings.len()
            ));
        }
        part
    }

    /// The labels as numbers, if they are values rather than classes.
    fn label_values(&self, kind: LabelKind) -> Option<Vec<f64>> {
        let values: Vec<f64> = self.labels.names.iter().map(|l| l.parse().ok()).collect::<Option<_>>()?;
        (kind == LabelKind::Value && !values.is_empty()).then_some(values)
    }

    /// The label that most of `rows` have; of equals, the one that comes first.
    fn majority(&self, rows: &[usize], counts: &mut [usize]) -> String {
        let labels = || rows.iter().map(|&row| self.labels.of_row[row] as usize);
        labels().for_each(|l| counts[l] += 1);
        let most = labels().map(|l| counts[l]).max().unwrap_or(0);
        let winner = labels().find(|&l| counts[l] == most).unwrap_or(0);
        labels().for_each(|l| counts[l] = 0);
        self.labels.names[winner].clone()
    }
}

/// Whether the labels of rows are classes or values, decided for a whole data set before windows are
/// cut: a window of values takes their mean. Says so if whole numbers are taken as values.
pub(crate) fn label_kind(tables: &[&RecordingRows], request: &Request) -> (LabelKind, Option<String>) {
    let (Some(window), LabelKind::Auto) = (request.data.window, request.data.labels) else {
        return (request.data.labels, None);
    };
    let names = tables.iter().flat_map(|rows| &rows.labels.names);
    let values: Option<Vec<f64>> = names.map(|name| name.parse().ok()).collect();
    let Some(mut values) = values.filter(|values| !values.is_empty()) else {
        return (LabelKind::Auto, None);
    };
    if values.iter().any(|v| v.fract() != 0.0) {
        return (LabelKind::Value, None);
    }
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let rows: usize = tables.iter().map(|rows| rows.lines.len()).sum();
    let windows = rows / request.data.stride.unwrap_or(window).max(1);
    if are_few(values.len(), windows) {
        return (LabelKind::Class, None);
    }
    let note = format!(
        "{} distinct whole numbers as labels were taken as values to regress, and a window takes their mean; `labels = class` takes them as classes",
        values.len()
    );
    (LabelKind::Value, Some(note))
}
