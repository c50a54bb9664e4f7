//! CSV: one row a time step, or one row a sequence.
//!
//! With an id column, a window, or a folder of files, a row is a time step and its columns are
//! features. Otherwise a row is a sequence and its columns are time steps of one feature. The
//! reader looks at the first rows to tell header, separator, label and time columns; each decision
//! that leaves a column out is a note for people. Every row is then parsed once.

use std::collections::HashSet;

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::part::{Part, listed};
use super::recordings::Rows;
use super::{DataError, Request};

/// Rows looked at before deciding what each column is.
const SAMPLE: usize = 1000;

/// Names of label columns, in any case.
const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "activity"];

/// Names of columns that say which sequence a row belongs to, in any case.
const ID_NAMES: [&str; 7] =
    ["id", "sequence", "sequence_id", "seq_id", "series_id", "recording", "recording_id"];

/// First words of the names of time columns, and the units that may follow them.
const TIME_NAMES: [&str; 9] =
    ["time", "timestamp", "timestamps", "t", "ms", "date", "datetime", "millis", "milliseconds"];
const TIME_UNITS: [&str; 10] =
    ["s", "ms", "us", "ns", "sec", "seconds", "utc", "stamp", "milliseconds", "time"];

/// What the surroundings of a file say about it.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub request: &'a Request,
    /// Whether labels are needed.
    pub labelled: bool,
    /// The class that the file's folder names.
    pub class: Option<&'a str>,
    /// Whether rows are time steps of one recording, because the file is one of many.
    pub steps: bool,
}

impl<'a> Context<'a> {
    /// A file on its own.
    pub fn alone(request: &'a Request, labelled: bool) -> Self {
        Self { request, labelled, class: None, steps: false }
    }
}

/// What a column is for.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Feature,
    Label,
    Group,
    Id,
    Unused,
}

/// The columns of a file and what they are for.
struct Columns {
    names: Vec<String>,
    has_header: bool,
    roles: Vec<Role>,
    /// Which columns are features, in the order they become features.
    features: Vec<usize>,
    notes: Vec<String>,
}

/// Reads one file.
pub(crate) fn read(file: &str, bytes: &[u8], context: Context) -> Result<Part, DataError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let separator = separator(bytes);
    let sample = sample(file, bytes, separator)?;
    let Some(first) = sample.first() else {
        let hint = "at least one row was expected".into();
        return Err(DataError::Empty { file: file.into(), hint });
    };
    let columns = Columns::decide(file, first, &sample, context)?;
    let dim = columns.features.len();
    let steps = context.steps
        || context.request.window.is_some()
        || columns.count(Role::Id) > 0
        || (!context.labelled
            && context.request.timesteps.is_none()
            && context.request.expect_dim == Some(dim));
    let mut rows = parse(file, bytes, separator, &columns)?;
    if rows.lines.is_empty() {
        let hint = "only a header, no rows".into();
        return Err(DataError::Empty { file: file.into(), hint });
    }
    rows.class = context.class.map(str::to_string);
    let mut part =
        if steps { rows.into_recordings(file, context.request)? } else { rows.into_sequences(file) };
    if steps && columns.has_header {
        part.features = Some(columns.features.iter().map(|&i| columns.names[i].clone()).collect());
    }
    part.notes.splice(..0, columns.notes);
    Ok(part)
}

/// The separator that stands in the first line: a semicolon or tab if there is one, else a comma.
fn separator(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or(b"");
    let outside_quotes = |wanted: u8| {
        let mut quoted = false;
        line.iter().any(|&b| {
            quoted ^= b == b'"';
            !quoted && b == wanted
        })
    };
    *b";\t".iter().find(|&&s| outside_quotes(s)).unwrap_or(&b',')
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

fn sample(file: &str, bytes: &[u8], separator: u8) -> Result<Vec<ByteRecord>, DataError> {
    let records = reader(bytes, separator).into_byte_records();
    records.take(SAMPLE).map(|r| r.map_err(|e| corrupt(file, &e))).collect()
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}

fn number(cell: &[u8]) -> Option<f32> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

fn is_numeric(cell: &[u8]) -> bool {
    cell.is_empty() || number(cell).is_some()
}

/// Whether a cell begins like an ISO 8601 date.
fn is_date(cell: &[u8]) -> bool {
    let pattern = b"dddd-dd-dd";
    cell.len() >= pattern.len()
        && cell.iter().zip(pattern).all(|(c, p)| if *p == b'd' { c.is_ascii_digit() } else { c == p })
}

fn is_time_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.next().is_some_and(|w| TIME_NAMES.contains(&w)) && words.all(|w| TIME_UNITS.contains(&w))
}

impl Columns {
    fn decide(
        file: &str,
        first: &ByteRecord,
        sample: &[ByteRecord],
        context: Context,
    ) -> Result<Self, DataError> {
        let has_header = has_header(first, sample, context.request);
        let names: Vec<String> = match has_header {
            true => first.iter().map(text).collect(),
            false => (0..first.len()).map(|i| i.to_string()).collect(),
        };
        let rows = &sample[usize::from(has_header)..];
        let roles = vec![Role::Feature; names.len()];
        let mut columns = Self { names, has_header, roles, features: Vec::new(), notes: Vec::new() };
        columns.assign_asked(file, context)?;
        columns.leave_out_counters_and_times(rows, context.request);
        columns.find_id(rows, context);
        columns.find_label(file, rows, context)?;
        columns.order_features(file, context.request)?;
        if columns.features.is_empty() {
            let hint = "no feature columns are left; see --columns and --drop".into();
            return Err(DataError::Empty { file: file.into(), hint });
        }
        Ok(columns)
    }

    fn count(&self, role: Role) -> usize {
        self.roles.iter().filter(|&&r| r == role).count()
    }

    /// The columns that `asked` means: one by name or number, or several by numbers such as `0-2`.
    fn find(&self, file: &str, asked: &str) -> Result<std::ops::RangeInclusive<usize>, DataError> {
        if let Some(i) = self.names.iter().position(|name| name == asked) {
            return Ok(i..=i);
        }
        let (from, to) = asked.split_once('-').unwrap_or((asked, asked));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to && to < self.names.len() => Ok(from..=to),
            _ => Err(DataError::UnknownColumn {
                file: file.into(),
                column: asked.into(),
                known: listed(&self.names),
            }),
        }
    }

    /// Gives the columns that the request names their roles.
    fn assign_asked(&mut self, file: &str, context: Context) -> Result<(), DataError> {
        let request = context.request;
        for dropped in &request.drop {
            for i in self.find(file, dropped)? {
                self.roles[i] = Role::Unused;
            }
        }
        let asked = [
            (&request.id_col, Role::Id, true),
            (&request.label_col, Role::Label, context.labelled && context.class.is_none()),
            (&request.group_col, Role::Group, context.labelled),
        ];
        for (column, role, needed) in asked {
            let Some(column) = column else { continue };
            match self.find(file, column) {
                Ok(found) => self.roles[*found.start()] = role,
                Err(error) if needed => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn leave_out_counters_and_times(&mut self, rows: &[ByteRecord], request: &Request) {
        for i in 0..self.names.len() {
            let name = &self.names[i];
            if self.roles[i] != Role::Feature || request.columns.contains(name) {
                continue;
            }
            let mut cells = rows.iter().filter_map(|row| row.get(i));
            let unnamed = self.has_header && name.is_empty();
            if unnamed && cells.clone().all(<[u8]>::is_empty) {
                self.roles[i] = Role::Unused;
            } else if unnamed && cells.clone().enumerate().all(|(n, c)| c == n.to_string().as_bytes()) {
                self.roles[i] = Role::Unused;
                self.notes.push(format!("column {i} has no name and counts the rows; it was left out"));
            } else if (self.has_header && is_time_name(name)) || (!rows.is_empty() && cells.all(is_date)) {
                self.roles[i] = Role::Unused;
                self.notes.push(format!(
                    "column '{name}' looks like time and was left out; keep it with --columns"
                ));
            }
        }
    }

    /// Recognises an id column by name: rows that share an id are steps of one sequence.
    fn find_id(&mut self, rows: &[ByteRecord], context: Context) {
        if !self.has_header || self.count(Role::Id) > 0 {
            return;
        }
        let is_id = |i: &usize| {
            let name = self.names[*i].to_lowercase();
            self.roles[*i] == Role::Feature
                && ID_NAMES.contains(&name.as_str())
                && !context.request.columns.contains(&self.names[*i])
        };
        let Some(i) = (0..self.names.len()).find(is_id) else { return };
        let mut seen = HashSet::new();
        let repeats = !rows.iter().filter_map(|row| row.get(i)).all(|cell| seen.insert(cell));
        let name = &self.names[i];
        if repeats {
            self.roles[i] = Role::Id;
            self.notes.push(format!("column '{name}' was taken as the id of a sequence (--id-col)"));
        } else {
            self.roles[i] = Role::Unused;
            self.notes.push(format!(
                "column '{name}' differs in every row and was left out; keep it with --columns"
            ));
        }
    }

    /// Finds the label column where none was named; in unlabelled input, leaves it out.
    fn find_label(&mut self, file: &str, rows: &[ByteRecord], context: Context) -> Result<(), DataError> {
        if self.count(Role::Label) > 0 || context.class.is_some() {
            if context.class.is_some() || !context.labelled {
                self.replace(Role::Label, Role::Unused);
            }
            return Ok(());
        }
        let free =
            |i: &usize| self.roles[*i] == Role::Feature && !context.request.columns.contains(&self.names[*i]);
        let called = |wanted: &[&str]| {
            let position =
                |w: &&str| (0..self.names.len()).find(|i| free(i) && self.names[*i].eq_ignore_ascii_case(w));
            wanted.iter().find_map(position)
        };
        let is_text = |i: &usize| rows.iter().filter_map(|row| row.get(*i)).any(|cell| !is_numeric(cell));
        let texts: Vec<usize> = (0..self.names.len()).filter(|i| free(i) && is_text(i)).collect();
        // `y` is a label beside `x0, x1, …`, but an axis beside `z`.
        let y = || called(&["y"]).filter(|_| called(&["z"]).is_none());
        let sole_text = || (texts.len() == 1).then(|| texts[0]);
        match called(&LABEL_NAMES).or_else(sole_text).or_else(y) {
            Some(i) if context.labelled => self.roles[i] = Role::Label,
            Some(i) => {
                self.roles[i] = Role::Unused;
                self.notes.push(format!("column '{}' was taken as a label and ignored", self.names[i]));
            }
            None if context.labelled => {
                return Err(DataError::NoLabels {
                    file: file.into(),
                    hint: format!(
                        "name the label's column with --label-col (columns: {})",
                        listed(&self.names)
                    ),
                });
            }
            None => {}
        }
        Ok(())
    }

    /// Settles which columns are features: all that are left, or those asked for, in that order.
    fn order_features(&mut self, file: &str, request: &Request) -> Result<(), DataError> {
        if request.columns.is_empty() {
            let is_feature = |i: &usize| self.roles[*i] == Role::Feature;
            self.features = (0..self.names.len()).filter(is_feature).collect();
            return Ok(());
        }
        for asked in &request.columns {
            for i in self.find(file, asked)? {
                if !matches!(self.roles[i], Role::Feature | Role::Unused) {
                    return Err(DataError::Option {
                        option: "--columns".into(),
                        problem: format!("'{asked}' is already the label, group or id column"),
                    });
                }
                if !self.features.contains(&i) {
                    self.features.push(i);
                }
            }
        }
        Ok(())
    }

    fn replace(&mut self, from: Role, to: Role) {
        self.roles.iter_mut().filter(|r| **r == from).for_each(|r| *r = to);
    }
}

/// Whether the first row names the columns: it holds a name that was asked for or that we know, or
/// text above numbers.
fn has_header(first: &ByteRecord, sample: &[ByteRecord], request: &Request) -> bool {
    let columns = [&request.id_col, &request.label_col, &request.group_col];
    let asked: Vec<&String> =
        columns.into_iter().flatten().chain(&request.columns).chain(&request.drop).collect();
    let is_name = |cell: &[u8]| {
        let is_known = LABEL_NAMES.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()));
        !is_numeric(cell) && (is_known || asked.iter().any(|a| a.as_bytes() == cell))
    };
    let text_above_number = |(i, cell): (usize, &[u8])| {
        !is_numeric(cell)
            && match sample.get(1) {
                Some(second) => second.get(i).is_some_and(is_numeric),
                None => first.iter().all(|cell| !is_numeric(cell)),
            }
    };
    first.iter().any(is_name) || first.iter().enumerate().any(text_above_number)
}

/// Parses every row.
fn parse(file: &str, bytes: &[u8], separator: u8, columns: &Columns) -> Result<Rows, DataError> {
    let find = |role| columns.roles.iter().position(|&r| r == role);
    let (label, group, id) = (find(Role::Label), find(Role::Group), find(Role::Id));
    let mut rows = Rows::new(columns.features.len());
    let mut reader = reader(bytes, separator);
    let mut record = ByteRecord::new();
    let mut first = true;
    while reader.read_byte_record(&mut record).map_err(|e| corrupt(file, &e))? {
        let line = record.position().map_or(0, csv::Position::line);
        let (expected, found) = (columns.names.len(), record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.into(), line, expected, found });
        }
        if std::mem::take(&mut first) && columns.has_header {
            continue;
        }
        for &i in &columns.features {
            let value = number(&record[i]).filter(|v| v.is_finite());
            rows.values.push(value.ok_or_else(|| bad_cell(file, line, &columns.names[i], &record[i]))?);
        }
        for (column, names, what) in [
            (label, &mut rows.labels, "label"),
            (group, &mut rows.groups, "group"),
            (id, &mut rows.ids, "id"),
        ] {
            let Some(column) = column else { continue };
            if record[column].is_empty() {
                let problem = format!("the {what} (column '{}') is empty", columns.names[column]);
                return Err(DataError::Corrupt { file: file.into(), place: format!("line {line}"), problem });
            }
            names.push(&record[column]);
        }
        rows.lines.push(line);
    }
    Ok(rows)
}

fn bad_cell(file: &str, line: u64, column: &str, cell: &[u8]) -> DataError {
    let (file, value) = (file.to_string(), text(cell));
    if cell.is_empty() || number(cell).is_some() {
        let value = if value.is_empty() { "(empty)".into() } else { value };
        DataError::NotFinite { file, place: format!("line {line}, column '{column}'"), value }
    } else {
        DataError::NotANumber { file, line, column: format!("'{column}'"), value }
    }
}
