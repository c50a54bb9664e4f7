//! What each column of a table is for: feature, label, group, id, or nothing.
//!
//! What the request names comes first. The rest is told from names and the first rows; a column
//! that is left out or taken for something without being asked leaves a note.

use std::collections::HashSet;

use csv::ByteRecord;

use super::csv::{Context, is_numeric, text};
use super::labels::listed;
use super::{DataError, Request};

/// Names of label columns, in any case.
const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "activity"];

/// Names of columns that say which sequence a row belongs to, in any case.
const ID_NAMES: [&str; 7] =
    ["id", "sequence", "sequence_id", "seq_id", "series_id", "recording", "recording_id"];

/// Names of columns that say which group a row belongs to, in any case.
const GROUP_NAMES: [&str; 3] = ["group", "subject", "subject_id"];

/// First words of the names of time columns, and the units that may follow them.
const TIME_NAMES: [&str; 9] =
    ["time", "timestamp", "timestamps", "t", "ms", "date", "datetime", "millis", "milliseconds"];
const TIME_UNITS: [&str; 10] =
    ["s", "ms", "us", "ns", "sec", "seconds", "utc", "stamp", "milliseconds", "time"];

/// What a column is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Feature,
    Label,
    Group,
    Id,
    Unused,
}

/// The columns of a file and what they are for.
pub(crate) struct Columns {
    pub names: Vec<String>,
    pub has_header: bool,
    pub roles: Vec<Role>,
    /// Which columns are features, in the order they become features.
    pub features: Vec<usize>,
    pub notes: Vec<String>,
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
    pub fn decide(
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
        columns.find_group(context.request);
        columns.find_label(file, rows, context)?;
        columns.order_features(file, context.request)?;
        if columns.features.is_empty() {
            let hint = "no feature columns are left; see --columns and --drop".into();
            return Err(DataError::Empty { file: file.into(), hint });
        }
        Ok(columns)
    }

    pub fn count(&self, role: Role) -> usize {
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

    /// Recognises a group column by name: as a feature it would give the label away.
    fn find_group(&mut self, request: &Request) {
        if !self.has_header || self.count(Role::Group) > 0 {
            return;
        }
        let is_group = |i: &usize| {
            let name = &self.names[*i];
            self.roles[*i] == Role::Feature
                && GROUP_NAMES.contains(&name.to_lowercase().as_str())
                && !request.columns.contains(name)
        };
        if let Some(i) = (0..self.names.len()).find(is_group) {
            self.roles[i] = Role::Group;
            let name = &self.names[i];
            self.notes.push(format!("column '{name}' was taken as the group (--group-col)"));
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
