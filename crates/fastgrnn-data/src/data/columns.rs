//! What each column of a table is for: feature, label, group, id, or nothing.
//!
//! What the request names comes first. The rest is told from names and the first rows; a column
//! that is left out or interpreted without a request leaves a note.

use std::collections::{HashMap, HashSet};

use csv::ByteRecord;

use super::fields::{Context, is_numeric, text};
use super::missing::is_missing;
use super::names::listed;
use super::wide::channels;
use super::{DataError, Expect, Request};

/// Names of label columns, in any case.
pub(crate) const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "activity"];

/// Names of columns that say which sequence a row belongs to, in any case.
const ID_NAMES: [&str; 7] =
    ["id", "sequence", "sequence_id", "seq_id", "series_id", "recording", "recording_id"];

/// Names of columns that say which group a row belongs to, in any case.
pub(crate) const GROUP_NAMES: [&str; 3] = ["group", "subject", "subject_id"];

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
    /// The channels, where each row holds all steps of several; features are then step by step.
    pub channels: Option<Vec<String>>,
    /// The column that was left out because it looks like time: the first of them.
    pub time: Option<usize>,
    /// Whether the id column that the training data had is not there.
    pub lost_id: bool,
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
        let header = FirstLine::of(first, sample, context.request);
        let has_header = header != FirstLine::None;
        let names: Vec<String> = match has_header {
            true => first.iter().map(text).collect(),
            false => (0..first.len()).map(|i| i.to_string()).collect(),
        };
        let rows = &sample[usize::from(has_header)..];
        let roles = vec![Role::Feature; names.len()];
        let mut columns = Self {
            names,
            has_header,
            roles,
            features: Vec::new(),
            channels: None,
            time: None,
            lost_id: false,
            notes: Vec::new(),
        };
        if header == FirstLine::Mixed {
            columns.notes.push(format!(
                "the first row was taken as the header, though it has numbers in it: {}",
                listed(&columns.names)
            ));
        }
        let request = columns.as_the_model_reads(file, context.request)?;
        let context = Context { request: &request, ..context };
        columns.assign_requested(file, context)?;
        columns.leave_out_counters_and_times(rows, context.request);
        columns.find_id(rows, context);
        columns.find_group(context.request);
        columns.find_label(file, rows, context)?;
        columns.order_features(file, context.request)?;
        columns.refuse_duplicates(file)?;
        columns.refuse_texts(file, rows)?;
        if columns.features.is_empty() {
            let hint = "no feature columns are left; see `columns` and `drop`".into();
            return Err(DataError::Empty { file: file.into(), hint });
        }
        Ok(columns)
    }

    /// The request with the columns of a model, which reads its features by name.
    fn as_the_model_reads(&mut self, file: &str, request: &Request) -> Result<Request, DataError> {
        let mut request = request.clone();
        let features = request.expect.as_ref().and_then(|expect| expect.features.clone());
        let given_now = !request.data.chosen_columns().is_empty() && !request.inherited.columns;
        let Some(features) = features.filter(|_| !given_now) else { return Ok(request) };
        request.inherited.columns = true;
        request.data.columns = None;
        if !self.has_header {
            let order = listed(&features);
            self.notes
                .push(format!("{file} has no header; its columns were taken in the model's order: {order}"));
        } else if features.iter().all(|name| self.names.contains(name)) {
            request.data.columns = Some(features);
        } else if !self.are_channels(&features) {
            return Err(DataError::Features {
                file: file.into(),
                found: listed(&self.names),
                expected: listed(&features),
            });
        }
        Ok(request)
    }

    /// Whether all that could be features are as many as the model reads, a step or a sequence.
    fn fits(&self, request: &Request) -> bool {
        let count = self.count(Role::Feature);
        let is_fit = |e: &Expect| count == e.dim || (e.steps > 0 && count == e.dim * e.steps);
        request.data.chosen_columns().is_empty() && request.expect.as_ref().is_some_and(is_fit)
    }

    /// Takes features such as `x0 … x99, y0 … y99` of a row that is a sequence as channels.
    pub fn take_channels(&mut self) {
        let names: Vec<&str> = self.features.iter().map(|&i| self.names[i].as_str()).collect();
        if let Some(found) = channels(&names).filter(|_| self.has_header) {
            self.features = found.order.iter().map(|&place| self.features[place]).collect();
            self.channels = Some(found.names);
        }
    }

    /// Whether the columns with numbers in their names are the channels called `features`.
    fn are_channels(&self, features: &[String]) -> bool {
        let of_channel = |name: &&str| {
            features.iter().any(|f| {
                name.strip_prefix(f.as_str()).is_some_and(|r| r.ends_with(|c: char| c.is_ascii_digit()))
            })
        };
        let names: Vec<&str> = self.names.iter().map(String::as_str).filter(of_channel).collect();
        channels(&names).is_some_and(|found| found.names == features)
    }

    /// Leaves a feature out, by its number among the features.
    pub fn leave_out(&mut self, feature: usize) {
        let column = self.features.remove(feature);
        self.roles[column] = Role::Unused;
    }

    pub fn count(&self, role: Role) -> usize {
        self.roles.iter().filter(|&&r| r == role).count()
    }

    /// The columns that `requested` names: one by name or number, or several by numbers such as `0-2`.
    fn find(&self, file: &str, requested: &str) -> Result<std::ops::RangeInclusive<usize>, DataError> {
        if let Some(i) = self.names.iter().position(|name| name == requested) {
            return Ok(i..=i);
        }
        let (from, to) = requested.split_once('-').unwrap_or((requested, requested));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to && to < self.names.len() => Ok(from..=to),
            _ => Err(DataError::UnknownColumn {
                file: file.into(),
                column: requested.into(),
                known: listed(&self.names),
            }),
        }
    }

    /// The one column that `requested` names.
    fn find_one(&self, file: &str, key: &str, requested: &str) -> Result<usize, DataError> {
        let found = self.find(file, requested)?;
        match found.start() == found.end() {
            true => Ok(*found.start()),
            false => Err(DataError::Setting {
                key: key.into(),
                problem: format!("'{requested}' means several columns; name one"),
            }),
        }
    }

    /// Gives the columns that the request names their roles.
    fn assign_requested(&mut self, file: &str, context: Context) -> Result<(), DataError> {
        let (request, inherited) = (context.request, context.request.inherited);
        for dropped in request.data.dropped_columns() {
            match self.find(file, dropped) {
                Ok(found) => found.for_each(|i| self.roles[i] = Role::Unused),
                Err(error) if !inherited.drop => return Err(error),
                Err(_) => {}
            }
        }
        if let Some(column) = &request.data.id_col {
            match self.find_one(file, "id-col", column) {
                Ok(i) => self.roles[i] = Role::Id,
                Err(error) if !inherited.id_col => return Err(error),
                Err(_) => self.lost_id = true,
            }
        }
        // Numbers of columns mean little in a file that may lack the label in front of them.
        let inherits = inherited.label_col || inherited.group_col;
        let lacks_labels = !context.labelled && !self.has_header && inherits && self.fits(request);
        if lacks_labels {
            self.notes.push(format!("{file} was taken to have no label: it has the model's columns without"));
        }
        let labelled = context.labelled;
        let is_label_needed = labelled && context.class.is_none() && !inherited.label_col;
        let requested = [
            ("group-col", &request.data.group_col, Role::Group, labelled && !inherited.group_col),
            ("label-col", &request.data.label_col, Role::Label, is_label_needed),
        ];
        for (key, column, role, needed) in requested {
            let Some(column) = column.as_ref().filter(|_| !lacks_labels) else { continue };
            match self.find_one(file, key, column) {
                Ok(i) => self.roles[i] = role,
                Err(error @ DataError::Setting { .. }) => return Err(error),
                Err(error) if needed => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn leave_out_counters_and_times(&mut self, rows: &[ByteRecord], request: &Request) {
        for i in 0..self.names.len() {
            let name = &self.names[i];
            if self.roles[i] != Role::Feature || request.data.chosen_columns().contains(name) {
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
                self.time.get_or_insert(i);
                self.notes.push(format!(
                    "column '{name}' looks like time and was left out; keep it with `columns`"
                ));
            }
        }
    }

    /// Recognises an id column by name: rows that share an id are steps of one sequence.
    fn find_id(&mut self, rows: &[ByteRecord], context: Context) {
        if self.count(Role::Id) > 0 {
            return;
        }
        let is_id = |i: &usize| {
            let name = self.names[*i].to_lowercase();
            self.has_header
                && self.roles[*i] == Role::Feature
                && ID_NAMES.contains(&name.as_str())
                && !context.request.data.chosen_columns().contains(&self.names[*i])
        };
        let Some(i) = (0..self.names.len()).find(is_id) else {
            if self.lost_id {
                let name = context.request.data.id_col.as_deref().unwrap_or_default();
                self.notes
                    .push(format!("no column '{name}' as in training: the file was taken as one sequence"));
            }
            return;
        };
        let mut seen = HashSet::new();
        let repeats = !rows.iter().filter_map(|row| row.get(i)).all(|cell| seen.insert(cell));
        let name = &self.names[i];
        if repeats {
            self.roles[i] = Role::Id;
            self.notes.push(format!("column '{name}' was taken as the id of a sequence (`id-col`)"));
        } else {
            self.roles[i] = Role::Unused;
            self.notes.push(format!(
                "column '{name}' differs in every row and was left out; keep it with `columns`"
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
                && !request.data.chosen_columns().contains(name)
        };
        if let Some(i) = (0..self.names.len()).find(is_group) {
            self.roles[i] = Role::Group;
            let name = &self.names[i];
            self.notes.push(format!("column '{name}' was taken as the group (`group-col`)"));
        }
    }

    /// Finds the label column where none was named; in unlabelled input, leaves it out.
    fn find_label(&mut self, file: &str, rows: &[ByteRecord], context: Context) -> Result<(), DataError> {
        if self.count(Role::Label) > 0 && context.class.is_none() {
            if !context.labelled {
                self.leave_labels_out(|c, i| c.roles[i] == Role::Label, "ignored");
            }
            return Ok(());
        }
        if context.class.is_some() {
            let is_label = |c: &Self, i: usize| {
                let is_named = LABEL_NAMES.iter().any(|name| c.names[i].eq_ignore_ascii_case(name));
                let is_free = c.roles[i] == Role::Feature
                    && !context.request.data.chosen_columns().contains(&c.names[i]);
                c.roles[i] == Role::Label || (is_named && is_free)
            };
            let why = match context.request.data.manifest {
                Some(_) => "left out: the manifest says the label",
                None => "left out: the folder's name is the class",
            };
            self.leave_labels_out(is_label, why);
            return Ok(());
        }
        if !context.labelled && self.fits(context.request) {
            return Ok(());
        }
        let free = |i: &usize| {
            self.roles[*i] == Role::Feature
                && !context.request.data.chosen_columns().contains(&self.names[*i])
        };
        let called = |wanted: &[&str]| {
            let position =
                |w: &&str| (0..self.names.len()).find(|i| free(i) && self.names[*i].eq_ignore_ascii_case(w));
            wanted.iter().find_map(position)
        };
        let is_text = |i: &usize| {
            rows.iter().filter_map(|row| row.get(*i)).any(|cell| !is_numeric(cell) && !is_missing(cell))
        };
        let texts: Vec<usize> = (0..self.names.len()).filter(|i| free(i) && is_text(i)).collect();
        // `y` is a label beside `x0, x1, …`, but an axis beside `z`.
        let y = || called(&["y"]).filter(|_| called(&["z"]).is_none());
        // A column with a bad cell is not yet a column of text.
        let all_text = |i: &usize| rows.iter().filter_map(|row| row.get(*i)).all(|cell| !is_numeric(cell));
        let whole: Vec<usize> = texts.iter().copied().filter(all_text).collect();
        let sole_text = || [&whole, &texts].into_iter().find(|t| t.len() == 1).map(|t| t[0]);
        match called(&LABEL_NAMES).or_else(sole_text).or_else(y) {
            Some(i) if context.labelled => {
                self.roles[i] = Role::Label;
                let name = &self.names[i];
                self.notes.push(format!("column '{name}' was taken as the label (`label-col`)"));
            }
            Some(i) => {
                self.roles[i] = Role::Unused;
                self.notes.push(format!("column '{}' was taken as a label and ignored", self.names[i]));
            }
            None if context.labelled => {
                return Err(DataError::NoLabels {
                    file: file.into(),
                    hint: format!(
                        "name the label's column with `label-col` (columns: {})",
                        listed(&self.names)
                    ),
                });
            }
            None => {}
        }
        Ok(())
    }

    /// Settles which columns are features: all that are left, or the requested ones in their order.
    fn order_features(&mut self, file: &str, request: &Request) -> Result<(), DataError> {
        if request.data.chosen_columns().is_empty() {
            let is_feature = |i: &usize| self.roles[*i] == Role::Feature;
            self.features = (0..self.names.len()).filter(is_feature).collect();
            return Ok(());
        }
        for requested in request.data.chosen_columns() {
            let found = match self.find(file, requested) {
                Ok(found) => found,
                Err(_) if request.inherited.columns && self.fits(&without_columns(request)) => {
                    self.notes
                        .push(format!("no column '{requested}' as in training: all columns were taken"));
                    return self.order_features(file, &without_columns(request));
                }
                Err(error) => return Err(error),
            };
            for i in found {
                if !matches!(self.roles[i], Role::Feature | Role::Unused) {
                    return Err(DataError::Setting {
                        key: "columns".into(),
                        problem: format!("'{requested}' is already the label, group or id column"),
                    });
                }
                if !self.features.contains(&i) {
                    self.features.push(i);
                }
            }
        }
        Ok(())
    }

    /// Refuses several features that are text at once; a single one is an error that names the cell.
    fn refuse_texts(&self, file: &str, rows: &[ByteRecord]) -> Result<(), DataError> {
        let is_text = |i: &&usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(**i)).peekable();
            cells.peek().is_some() && cells.all(|cell| !is_numeric(cell) && !is_missing(cell))
        };
        let texts: Vec<String> =
            self.features.iter().filter(is_text).map(|&i| format!("'{}'", self.names[i])).collect();
        match texts.len() {
            0 | 1 => Ok(()),
            _ => Err(DataError::TextColumns { file: file.into(), columns: listed(&texts) }),
        }
    }

    /// Refuses two columns of one name if one of them is used: it would not be clear which is meant.
    fn refuse_duplicates(&self, file: &str) -> Result<(), DataError> {
        let mut used = vec![false; self.names.len()];
        self.features.iter().for_each(|&i| used[i] = true);
        let mut first = HashMap::new();
        for (i, name) in self.names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let is_used = used[i] || matches!(self.roles[i], Role::Label | Role::Group | Role::Id);
            if !is_used && self.roles[i] == Role::Unused {
                continue;
            }
            match first.insert(name, (i, is_used)) {
                Some((other, was_used)) if is_used || was_used => {
                    return Err(DataError::DuplicateColumn {
                        file: file.into(),
                        name: name.clone(),
                        first: other,
                        second: i,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn leave_labels_out(&mut self, is_label: impl Fn(&Self, usize) -> bool, what: &str) {
        for i in 0..self.names.len() {
            if is_label(self, i) {
                self.roles[i] = Role::Unused;
                self.notes.push(format!("column '{}' was taken as a label and {what}", self.names[i]));
            }
        }
    }
}

fn without_columns(request: &Request) -> Request {
    request.clone().with_data(|data| data.columns = None)
}

/// Whether the first row names the columns.
#[derive(Clone, Copy, PartialEq)]
enum FirstLine {
    None,
    Names,
    /// It does, though some of the names are numbers.
    Mixed,
}

impl FirstLine {
    /// A header holds a requested name; or no number, and a name that we know or text above
    /// a number; or it counts the columns. Text that comes again below it is no name.
    fn of(first: &ByteRecord, sample: &[ByteRecord], request: &Request) -> Self {
        let columns = [&request.data.id_col, &request.data.label_col, &request.data.group_col];
        let features = request.expect.iter().flat_map(|expect| expect.features.iter().flatten());
        let requested: Vec<&String> = columns
            .into_iter()
            .flatten()
            .chain(request.data.chosen_columns())
            .chain(request.data.dropped_columns())
            .chain(features)
            .collect();
        let is_number = |cell: &[u8]| !cell.is_empty() && is_numeric(cell);
        let is_known =
            |cell: &[u8]| LABEL_NAMES.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()));
        let is_requested = |cell: &[u8]| !is_numeric(cell) && requested.iter().any(|a| a.as_bytes() == cell);
        let comes_again = |(i, cell): (usize, &[u8])| {
            !is_numeric(cell) && sample.iter().skip(1).any(|row| row.get(i) == Some(cell))
        };
        let text_above_number = |(i, cell): (usize, &[u8])| {
            !is_numeric(cell)
                && match sample.get(1) {
                    Some(second) => second.get(i).is_some_and(is_numeric),
                    None => first.iter().all(|cell| !is_numeric(cell)),
                }
        };
        let has_number = first.iter().any(is_number);
        let named = first.iter().any(is_requested)
            || (!has_number
                && !first.iter().enumerate().any(comes_again)
                && (first.iter().any(is_known) || first.iter().enumerate().any(text_above_number)));
        let names_rest = |(i, cell): (usize, &[u8])| {
            is_numeric(cell) || ((is_known(cell) || text_above_number((i, cell))) && !comes_again((i, cell)))
        };
        let counted = counts(first) >= if first.iter().any(is_known) { 1 } else { 3 }
            && first.iter().enumerate().all(names_rest)
            && sample.get(1).is_some_and(|second| counts(second) == 0);
        match (named || counted, has_number) {
            (false, _) => Self::None,
            (true, false) => Self::Names,
            (true, true) => Self::Mixed,
        }
    }
}

/// How many numbers a row has if they are 0, 1, 2, … in order, as pandas names columns; else 0.
fn counts(row: &ByteRecord) -> usize {
    let mut count = 0;
    for cell in row.iter().filter(|cell| !cell.is_empty() && is_numeric(cell)) {
        if cell != count.to_string().as_bytes() {
            return 0;
        }
        count += 1;
    }
    count
}
