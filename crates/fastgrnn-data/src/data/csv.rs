//! CSV: one row a time step, or one row a sequence.
//!
//! With an id column, a window, or a folder of files, a row is a time step and its columns are
//! features. Otherwise a row is a sequence and its columns are time steps of one feature. The
//! reader looks at the first rows to tell header, separator, label and time columns; each decision
//! that leaves a column out is a note for people. Every row is then parsed once.

use std::collections::BTreeMap;

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::clocks::{self, TableParts};
use super::columns::{Columns, Role};
use super::dialect::{Decimal, TableText, has_decimal_comma};
use super::doctor::times::time;
use super::encoding::decoded;
use super::fields::{Context, number, text};
use super::missing::{self, is_missing};
use super::names::listed;
use super::part::Part;
use super::recordings::{RecordingRows, label_kind};
use super::watch::BYTES_BETWEEN;
use super::{DataConfig, DataError, LabelKind, Missing, ReadUnit, Request, TaskKind, Watch};

/// Rows looked at before deciding what each column is.
const SAMPLE: usize = 1000;

/// A file as rows, before they become sequences.
pub(crate) struct CsvTable {
    file: String,
    pub rows: RecordingRows,
    columns: Columns,
    /// Whether a row is a time step.
    steps: bool,
}

/// Reads one file.
pub(crate) fn read(file: &str, bytes: &[u8], context: Context) -> Result<Part, DataError> {
    let mut table = table(file, bytes, context)?;
    let findings = clocks::leave_out(vec![table.parts()], context.request);
    let (kind, note) = label_kind(&[&table.rows], context.request);
    let missing = missing::note(&table.missing(), context.request.data.missing);
    let mut part = table.into_part(context.request, kind)?;
    part.notes.extend(missing);
    part.notes.extend(note);
    part.findings.splice(..0, findings);
    Ok(part)
}

/// Parses one file.
pub(crate) fn table(file: &str, bytes: &[u8], context: Context) -> Result<CsvTable, DataError> {
    let (decoded, note) = decoded(file, bytes, context.request.data.encoding)?;
    let mut text = TableText::of(decoded, &context.request.data)?;
    text.notes.splice(..0, note);
    let sample = sample(file, &text)?;
    let Some(first) = sample.first() else {
        let hint = "at least one row was expected".into();
        return Err(DataError::Empty { file: file.into(), hint });
    };
    let mut columns = Columns::decide(file, first, &sample, context)?;
    columns.notes.splice(..0, text.notes.drain(..));
    let (request, dim) = (context.request, columns.features.len());
    let as_the_model = request.data.timesteps.is_none()
        && request.expect.as_ref().is_some_and(|expect| {
            expect.dim == dim && (!context.labelled || dim > 1 || expect.features.is_some())
        });
    let steps = context.steps
        || request.data.window.is_some()
        || columns.count(Role::Id) > 0
        || columns.lost_id
        || as_the_model;
    if let Some(time) = columns.time.filter(|_| !steps) {
        let time = columns.names[time].clone();
        return Err(DataError::UnassignedRows { file: file.into(), time });
    }
    if !steps && request.data.chosen_columns().is_empty() && request.data.timesteps.is_none() {
        columns.take_channels();
    }
    // Of a folder, files are counted.
    let watch = request.watch.as_ref().filter(|_| !context.steps);
    let mut rows = parse(file, &text, &columns, steps, request, watch)?;
    if rows.lines.is_empty() {
        let hint = "only a header, no rows".into();
        return Err(DataError::Empty { file: file.into(), hint });
    }
    rows.class = context.class.map(str::to_string);
    Ok(CsvTable { file: file.into(), rows, columns, steps })
}

/// A row of a table as text.
pub(crate) struct TextRow {
    /// Its line in the file.
    pub line: u64,
    pub cells: Vec<String>,
}

/// The rows of a table of text, the header among them.
pub(crate) fn text_rows(file: &str, bytes: &[u8]) -> Result<Vec<TextRow>, DataError> {
    let (decoded, _) = decoded(file, bytes, None)?;
    let table = TableText::of(decoded, &DataConfig::default())?;
    let mut lines = LineCounter { bytes: &table.bytes, at: 0, line: table.lines_before + 1 };
    let mut rows: Vec<TextRow> = Vec::new();
    for record in reader(&table.bytes, table.separator).into_byte_records() {
        let record = record.map_err(|e| corrupt(file, &e))?;
        let line = lines.line_from(record.position().map_or(0, csv::Position::byte));
        let record = with_points(record, table.decimal);
        let (expected, found) = (rows.first().map_or(record.len(), |row| row.cells.len()), record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.into(), line, expected, found });
        }
        rows.push(TextRow { line, cells: record.iter().map(text).collect() });
    }
    Ok(rows)
}

/// The names of the features in the first lines of a file whose rows are time steps; `None` if it has
/// no header or cannot be understood.
pub(crate) fn features_in(file: &str, head: &[u8], context: Context) -> Option<Vec<String>> {
    let (decoded, _) = decoded(file, head, context.request.data.encoding).ok()?;
    let text = TableText::of(decoded, &context.request.data).ok()?;
    let sample = sample(file, &text).ok()?;
    let columns = Columns::decide(file, sample.first()?, &sample, context).ok()?;
    columns.has_header.then(|| columns.features.iter().map(|&i| columns.names[i].clone()).collect())
}

impl CsvTable {
    /// Its columns and rows, to leave some out.
    pub fn parts(&mut self) -> TableParts<'_> {
        TableParts { columns: &mut self.columns, rows: &mut self.rows, steps: self.steps }
    }

    /// How many values of each feature are missing.
    pub fn missing(&self) -> BTreeMap<String, usize> {
        let counts = self.columns.features.iter().zip(&self.rows.missing);
        let counts = counts.filter(|(_, count)| **count > 0);
        counts.map(|(&i, &count)| (self.columns.names[i].clone(), count)).collect()
    }

    /// The names of the features, where the header names them and rows are time steps.
    pub fn features(&self) -> Option<Vec<String>> {
        let names = || self.columns.features.iter().map(|&i| self.columns.names[i].clone()).collect();
        match &self.columns.channels {
            Some(channels) => Some(channels.clone()),
            None => (self.steps && self.columns.has_header).then(names),
        }
    }

    /// Joins and cuts the rows.
    pub fn into_part(mut self, request: &Request, kind: LabelKind) -> Result<Part, DataError> {
        let label = self.columns.roles.iter().position(|role| *role == Role::Label);
        let label_column = label.map(|i| self.columns.names[i].clone());
        let (features, file) = (self.features(), self.file);
        let mut notes = std::mem::take(&mut self.columns.notes);
        let names: Vec<&str> =
            self.columns.features.iter().map(|&i| self.columns.names[i].as_str()).collect();
        let mut part = if self.steps {
            let time = self.columns.time.map(|i| self.columns.names[i].as_str());
            self.rows.into_recordings(&file, &names, time, request, kind)?
        } else {
            let width = self.columns.features.len();
            let dim = self.columns.channels.as_ref().map_or(1, Vec::len);
            notes.push(match &self.columns.channels {
                Some(channels) => format!(
                    "each row is one sequence of {} steps of {dim} channels ({}), as the names of its columns tell",
                    width / dim,
                    listed(channels)
                ),
                None => format!(
                    "each row is one sequence of {width} steps; for rows as time steps use `id-col` or `window`"
                ),
            });
            if let Some(expect) = &request.expect
                && expect.steps > 0
                && expect.dim * expect.steps != width
            {
                let steps = expect.dim * expect.steps;
                notes.push(format!(
                    "the model was trained on sequences of up to {steps} values, here are {width}"
                ));
            }
            self.rows.into_sequences(&file, dim, request.data.missing)?
        };
        part.features = features;
        (part.label_column, part.is_table) = (label_column, true);
        part.notes.splice(..0, notes);
        Ok(part)
    }
}

fn reader(bytes: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(Trim::All)
        .from_reader(bytes)
}

fn corrupt(file: &str, error: &csv::Error) -> DataError {
    let place = error.position().map_or("start".into(), |p| format!("line {}", p.line()));
    DataError::Corrupt { file: file.into(), place, problem: error.to_string() }
}

fn sample(file: &str, text: &TableText) -> Result<Vec<ByteRecord>, DataError> {
    let records = reader(&text.bytes, text.separator).into_byte_records().take(SAMPLE);
    records
        .map(|r| r.map_err(|e| corrupt(file, &e)).map(|record| with_points(record, text.decimal)))
        .collect()
}

/// The record with a point in numbers that have a decimal comma. With a decimal comma, a point is
/// no part of a number.
fn with_points(record: ByteRecord, decimal: Decimal) -> ByteRecord {
    if decimal == Decimal::Point || !record.iter().any(has_decimal_comma) {
        return record;
    }
    let mut changed = ByteRecord::with_capacity(record.as_slice().len(), record.len());
    for cell in &record {
        match has_decimal_comma(cell) {
            true => changed
                .push_field(&cell.iter().map(|&b| if b == b',' { b'.' } else { b }).collect::<Vec<u8>>()),
            false => changed.push_field(cell),
        }
    }
    changed.set_position(record.position().cloned());
    changed
}

/// Counts lines up to the records of a file, whichever way its lines end.
struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// The line of the record that a reader finds from `byte` on. Records come in order.
    fn line_from(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(&b) = self.bytes.get(self.at) {
            // Line ends before a record are not part of it.
            if self.at >= byte && !matches!(b, b'\n' | b'\r') {
                break;
            }
            self.at += 1;
            let ends_line = b == b'\n' || (b == b'\r' && self.bytes.get(self.at) != Some(&b'\n'));
            self.line += u64::from(ends_line);
        }
        self.line
    }
}

/// Parses every row.
fn parse(
    file: &str,
    text: &TableText,
    columns: &Columns,
    steps: bool,
    request: &Request,
    watch: Option<&Watch>,
) -> Result<RecordingRows, DataError> {
    let missing = request.data.missing;
    // No name at all is a set of labels, too.
    let is_set = request.text.task == Some(TaskKind::MultiLabel);
    let find = |role| columns.roles.iter().position(|&r| r == role);
    let (label, group, id) = (find(Role::Label), find(Role::Group), find(Role::Id));
    let mut rows = RecordingRows::new(columns.features.len());
    let mut reader = reader(&text.bytes, text.separator);
    let mut record = ByteRecord::new();
    let (mut first, all) = (true, text.bytes.len() as u64);
    let mut next_call = if watch.is_some() { BYTES_BETWEEN } else { u64::MAX };
    let mut lines = LineCounter { bytes: &text.bytes, at: 0, line: text.lines_before + 1 };
    while reader.read_byte_record(&mut record).map_err(|e| corrupt(file, &e))? {
        let line = lines.line_from(record.position().map_or(0, csv::Position::byte));
        if lines.at as u64 >= next_call {
            next_call = lines.at as u64 + BYTES_BETWEEN;
            watch.inspect(|watch| watch.tell(ReadUnit::BytesParsed, lines.at as u64, all));
        }
        record = with_points(record, text.decimal);
        let (expected, found) = (columns.names.len(), record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.into(), line, expected, found });
        }
        if std::mem::take(&mut first) && columns.has_header {
            continue;
        }
        for (feature, &i) in columns.features.iter().enumerate() {
            let value = match number(&record[i]).filter(|v: &f32| v.is_finite()) {
                None if missing != Missing::Error && is_missing(&record[i]) => {
                    rows.missing[feature] += 1;
                    f32::NAN
                }
                value => value.ok_or_else(|| bad_cell(file, line, &columns.names[i], &record[i]))?,
            };
            rows.values.push(value);
        }
        if let (Some(times), Some(column)) = (&mut rows.times, columns.time) {
            match time(&record[column]) {
                Some(time) => times.push(time),
                None => rows.times = None,
            }
        }
        for (column, names, what) in [
            (label, &mut rows.labels, "label"),
            (group, &mut rows.groups, "group"),
            (id, &mut rows.ids, "id"),
        ] {
            let Some(column) = column else { continue };
            if record[column].is_empty() && !(is_set && Some(column) == label) {
                let problem = format!("the {what} (column '{}') is empty", columns.names[column]);
                return Err(DataError::Corrupt { file: file.into(), place: format!("line {line}"), problem });
            }
            names.push(&record[column]);
        }
        rows.lines.push(line);
        let exact = |feature: usize| number::<f64>(&record[columns.features[feature]]);
        rows.follow_last_row(steps, exact);
    }
    if columns.time.is_none() {
        rows.times = None;
    }
    watch.inspect(|watch| watch.tell(ReadUnit::BytesParsed, all, all));
    Ok(rows)
}

fn bad_cell(file: &str, line: u64, column: &str, cell: &[u8]) -> DataError {
    let (file, value) = (file.to_string(), text(cell));
    if is_missing(cell) || number::<f32>(cell).is_some() {
        let value = if value.is_empty() { "(empty)".into() } else { value };
        let advice = match is_missing(cell) {
            true => {
                "fill it in, or see `missing`, which drops, holds or interpolates such values (or leave the column out with `drop`)"
            }
            false => "correct it or remove the row (or leave the column out with `drop`)",
        };
        DataError::NotFinite { file, place: format!("line {line}, column '{column}'"), value, advice }
    } else {
        DataError::NotANumber { file, line, column: format!("'{column}'"), value }
    }
}
