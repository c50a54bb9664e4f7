//! What a reader returns: sequences, with labels as they stand in the file.
//!
//! A reader knows its format and nothing else. The module `assemble` understands the labels.

use crate::features::Spec;
use crate::text::TextFormat;

use super::names::number_text;
use super::{DataError, Finding, LabelKind, Request, Sequences};

/// Labels as they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawLabels {
    Text(Vec<String>),
    /// Names of labels, several a sequence or none.
    Sets(Vec<Vec<String>>),
    Number {
        width: usize,
        values: Vec<f64>,
    },
    /// The token after each step.
    Next,
    None,
}

impl RawLabels {
    /// Labels a sequence.
    pub fn width(&self) -> usize {
        match self {
            Self::Number { width, .. } => *width,
            _ => 1,
        }
    }
}

/// The content of a file or folder.
pub(crate) struct Part {
    /// Where it came from, for messages.
    pub file: String,
    pub x: Sequences,
    pub y: RawLabels,
    /// Where the labels came from, for messages, if not from `file`.
    pub labels_in: Option<String>,
    /// The column with the labels, if they come from one.
    pub label_column: Option<String>,
    /// Whether it is a table, of which columns can be chosen.
    pub is_table: bool,
    /// How the file itself says to understand its labels.
    pub kind: LabelKind,
    /// The classes the file declares, in its order.
    pub classes: Option<Vec<String>>,
    pub group: Option<Vec<String>>,
    pub recording: Option<Vec<u32>>,
    /// First step of each sequence in its recording, and the step after its last, if windows were cut.
    pub span: Option<Vec<[u32; 2]>>,
    /// The sequences for validation if the source defines them, in ascending order.
    pub validation: Option<Vec<u32>>,
    /// Recordings of background noise, with the features of `x`.
    pub background: Option<Sequences>,
    /// How the features were made from audio, where they were.
    pub audio: Option<Spec>,
    /// How the tokens were made from texts, where they were.
    pub text: Option<TextFormat>,
    /// Whether the reader has cut the requested windows.
    pub is_cut: bool,
    pub ids: Option<Vec<String>>,
    pub features: Option<Vec<String>>,
    pub image: Option<(usize, usize)>,
    pub notes: Vec<String>,
    pub findings: Vec<Finding>,
}

impl Part {
    pub fn new(file: impl Into<String>, x: Sequences, y: RawLabels) -> Self {
        Self {
            file: file.into(),
            x,
            y,
            labels_in: None,
            label_column: None,
            is_table: false,
            kind: LabelKind::Auto,
            classes: None,
            group: None,
            recording: None,
            span: None,
            validation: None,
            background: None,
            audio: None,
            text: None,
            is_cut: false,
            ids: None,
            features: None,
            image: None,
            notes: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Where the labels came from, for messages.
    pub fn labels_in(&self) -> &str {
        self.labels_in.as_deref().unwrap_or(&self.file)
    }

    /// Cuts windows and re-blocks as requested.
    pub fn shaped(mut self, request: &Request) -> Result<Self, DataError> {
        if self.x.has_tokens() {
            for (key, value) in [("window", request.data.window), ("timesteps", request.data.timesteps)] {
                if let Some(value) = value {
                    let problem = format!("{value} is for sequences of numbers, and {} is text", self.file);
                    return Err(DataError::Setting { key: key.into(), problem });
                }
            }
        }
        if let Some(i) = (0..self.x.len()).find(|&i| self.x.steps(i) == 0) {
            let hint = format!("sequence {i} has no time steps");
            return Err(DataError::Empty { file: self.file, hint });
        }
        if self.x.is_empty() {
            let hint = match request.data.window {
                Some(window) => no_window(window),
                None => "no sequences found".into(),
            };
            return Err(DataError::Empty { file: self.file, hint });
        }
        if let Some(window) = request.data.window
            && !self.is_cut
        {
            self = self.windows(window, request)?;
        }
        if let Some(timesteps) = request.data.timesteps {
            let dim = self.x.dim();
            self.x = self.x.reblocked(timesteps)?;
            if self.x.dim() != dim {
                self.features = None;
                (self.background, self.audio) = (None, None);
            }
        }
        Ok(self)
    }

    /// Adds the sequences of `part`.
    pub fn append(&mut self, part: Part) -> Result<(), DataError> {
        if part.x.dim() != self.x.dim() {
            return Err(DataError::DimMismatch {
                file: part.file,
                found: part.x.dim(),
                expected: self.x.dim(),
                other: self.file.clone(),
                is_table: self.is_table && part.is_table,
            });
        }
        for note in part.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.findings.extend(part.findings);
        if part.x.is_empty() {
            return Ok(());
        }
        let (before, added) = (self.x.len(), part.x.len());
        self.x.append(&part.x);
        match (&mut self.y, part.y) {
            (RawLabels::Text(all), RawLabels::Text(more)) => all.extend(more),
            (RawLabels::Sets(all), RawLabels::Sets(more)) => all.extend(more),
            (RawLabels::Number { values: all, .. }, RawLabels::Number { values: more, .. }) => {
                all.extend(more);
            }
            (RawLabels::None, RawLabels::None) | (RawLabels::Next, RawLabels::Next) => {}
            (RawLabels::Text(all), RawLabels::Number { values, .. }) => {
                all.extend(values.iter().copied().map(number_text));
            }
            (all, RawLabels::Text(more)) => {
                let mut text = match all {
                    RawLabels::Number { values, .. } => values.iter().copied().map(number_text).collect(),
                    _ => Vec::new(),
                };
                text.extend(more);
                *all = RawLabels::Text(text);
            }
            _ => {
                let hint = "some files of the folder have labels and some have none".into();
                return Err(DataError::NoLabels { file: part.file, hint });
            }
        }
        match (&mut self.group, part.group) {
            (Some(all), Some(more)) => all.extend(more),
            (None, None) => {}
            _ => {
                return Err(DataError::Unsupported {
                    file: part.file,
                    problem: "some files of the folder have a group column and some have none; add it to all, or leave it out with `drop`".into(),
                });
            }
        }
        self.ids = match (self.ids.take(), part.ids) {
            (Some(all), Some(more)) => Some([all, more].concat()),
            _ => None,
        };
        self.span = match (self.span.take(), part.span) {
            (Some(all), Some(more)) => Some([all, more].concat()),
            _ => None,
        };
        if self.recording.is_some() || part.recording.is_some() {
            // A sequence without a recording is one of its own.
            let mut all = self.recording.take().unwrap_or_else(|| (0..before as u32).collect());
            let next = all.iter().max().map_or(0, |last| last + 1);
            let more = part.recording.unwrap_or_else(|| (0..added as u32).collect());
            all.extend(more.iter().map(|r| r + next));
            self.recording = Some(all);
        }
        Ok(())
    }

    fn windows(mut self, window: usize, request: &Request) -> Result<Self, DataError> {
        let dim = self.x.dim();
        let steps = (0..self.x.len()).map(|i| self.x.steps(i));
        let stride = checked_stride(window, steps, dim, request)?;
        let (mut x, mut from, mut span) = (Sequences::new(dim), Vec::new(), Vec::new());
        for i in 0..self.x.len() {
            let sequence = self.x.get(i);
            for start in starts(self.x.steps(i), window, stride) {
                x.push(&sequence[start * dim..(start + window) * dim]);
                from.push(i as u32);
                span.push([start as u32, (start + window) as u32]);
            }
        }
        if x.is_empty() {
            return Err(DataError::Empty { file: self.file, hint: no_window(window) });
        }
        let of = |i: &u32| *i as usize;
        match &mut self.y {
            RawLabels::Sets(sets) => *sets = from.iter().map(|i| sets[of(i)].clone()).collect(),
            RawLabels::Text(text) => *text = from.iter().map(|i| text[of(i)].clone()).collect(),
            RawLabels::Number { width, values } => {
                let row = |i| values[of(i) * *width..(of(i) + 1) * *width].iter().copied();
                *values = from.iter().flat_map(row).collect();
            }
            RawLabels::None | RawLabels::Next => {}
        }
        for names in [&mut self.group, &mut self.ids].into_iter().flatten() {
            *names = from.iter().map(|i| names[of(i)].clone()).collect();
        }
        self.validation = self.validation.map(|part| {
            let is_chosen = |at: &u32| part.binary_search(&from[*at as usize]).is_ok();
            (0..from.len() as u32).filter(is_chosen).collect()
        });
        self.x = x;
        self.image = None;
        // Times in a recording that was cut before are not known.
        self.span = self.recording.is_none().then_some(span);
        self.recording = Some(match &self.recording {
            Some(recording) => from.iter().map(|i| recording[of(i)]).collect(),
            None => from,
        });
        self.is_cut = true;
        Ok(self)
    }
}

/// Where the windows of a recording start; what is left at the end is not used.
pub(crate) fn starts(steps: usize, window: usize, stride: usize) -> impl ExactSizeIterator<Item = usize> {
    (0..(steps + 1).saturating_sub(window)).step_by(stride)
}

/// The requested stride, if windows of recordings of these many `steps` make sense and fit.
pub(crate) fn checked_stride(
    window: usize,
    steps: impl Iterator<Item = usize>,
    dim: usize,
    request: &Request,
) -> Result<usize, DataError> {
    let stride = request.data.stride.unwrap_or(window);
    let wrong = |key: &str, problem: String| Err(DataError::Setting { key: key.into(), problem });
    if window == 0 || stride == 0 {
        let key = if window == 0 { "window" } else { "stride" };
        return wrong(key, "0 steps make no window; use 1 or more".into());
    }
    let count: usize = steps.map(|steps| starts(steps, window, stride).len()).sum();
    let bytes =
        [window, dim, size_of::<f32>()].iter().fold(count as u64, |n, &side| n.saturating_mul(side as u64));
    if bytes > request.data.size_limit {
        let limit = request.data.size_limit;
        let problem = format!(
            "{stride} gives {count} windows, {bytes} bytes, more than the size limit of {limit}; use a larger one"
        );
        return wrong("stride", problem);
    }
    Ok(stride)
}

fn no_window(window: usize) -> String {
    format!("no recording has the {window} steps of a window; use a smaller `window`")
}
