//! What a reader hands over, and how training and test parts become a [`Dataset`].
//!
//! A reader knows its format and nothing else: labels stay as they stand in the file. Here they
//! become classes or values, by one rule for all formats, and the test part is held to the training
//! part's features and classes.

use std::collections::HashMap;

use super::labels::{RawLabels, from_one_hot, labels, labels_like};
use crate::features::Spec;

use super::{DataError, Dataset, Examples, LabelKind, Labels, Request, Sequences, Suggestions};

/// The content of a file or folder.
pub(crate) struct Part {
    /// Where it came from, for messages.
    pub file: String,
    pub x: Sequences,
    pub y: RawLabels,
    /// How the file itself says to understand its labels.
    pub kind: LabelKind,
    /// The classes the file declares, in its order.
    pub classes: Option<Vec<String>>,
    pub group: Option<Vec<String>>,
    pub recording: Option<Vec<u32>>,
    /// Which of the sequences are for validation, where the source says so; ascending.
    pub validation: Option<Vec<u32>>,
    /// Recordings of background noise, with the features of `x`.
    pub background: Option<Sequences>,
    /// How the features were made from audio, where they were.
    pub audio: Option<Spec>,
    /// Whether the reader has cut the windows asked for.
    pub is_cut: bool,
    pub ids: Option<Vec<String>>,
    pub features: Option<Vec<String>>,
    pub image: Option<(usize, usize)>,
    pub notes: Vec<String>,
}

impl Part {
    pub fn new(file: impl Into<String>, x: Sequences, y: RawLabels) -> Self {
        Self {
            file: file.into(),
            x,
            y,
            kind: LabelKind::Auto,
            classes: None,
            group: None,
            recording: None,
            validation: None,
            background: None,
            audio: None,
            is_cut: false,
            ids: None,
            features: None,
            image: None,
            notes: Vec::new(),
        }
    }

    /// Cuts windows and re-blocks as asked.
    pub fn shaped(mut self, request: &Request) -> Result<Self, DataError> {
        if let Some(i) = (0..self.x.len()).find(|&i| self.x.steps(i) == 0) {
            let hint = format!("sequence {i} has no time steps");
            return Err(DataError::Empty { file: self.file, hint });
        }
        if self.x.is_empty() {
            let hint = match request.window {
                Some(window) => no_window(window),
                None => "no sequences found".into(),
            };
            return Err(DataError::Empty { file: self.file, hint });
        }
        if let Some(window) = request.window
            && !self.is_cut
        {
            self = self.windows(window, request)?;
        }
        if let Some(timesteps) = request.timesteps {
            let dim = self.x.dim();
            self.x = self.x.reblocked(timesteps)?;
            if self.x.dim() != dim {
                self.features = None;
                (self.background, self.audio) = (None, None);
            }
        }
        Ok(self)
    }

    fn windows(mut self, window: usize, request: &Request) -> Result<Self, DataError> {
        let dim = self.x.dim();
        let steps = (0..self.x.len()).map(|i| self.x.steps(i));
        let stride = checked_stride(window, steps, dim, request)?;
        let (mut x, mut from) = (Sequences::new(dim), Vec::new());
        for i in 0..self.x.len() {
            let sequence = self.x.get(i);
            for start in starts(self.x.steps(i), window, stride) {
                x.push(&sequence[start * dim..(start + window) * dim]);
                from.push(i as u32);
            }
        }
        if x.is_empty() {
            return Err(DataError::Empty { file: self.file, hint: no_window(window) });
        }
        let of = |i: &u32| *i as usize;
        match &mut self.y {
            RawLabels::Text(text) => *text = from.iter().map(|i| text[of(i)].clone()).collect(),
            RawLabels::Number { width, values } => {
                let row = |i| values[of(i) * *width..(of(i) + 1) * *width].iter().copied();
                *values = from.iter().flat_map(row).collect();
            }
            RawLabels::None => {}
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

/// The stride asked for, if windows of recordings of these many `steps` make sense and fit.
pub(crate) fn checked_stride(
    window: usize,
    steps: impl Iterator<Item = usize>,
    dim: usize,
    request: &Request,
) -> Result<usize, DataError> {
    let stride = request.stride.unwrap_or(window);
    let wrong = |option: &str, problem: String| Err(DataError::Option { option: option.into(), problem });
    if window == 0 || stride == 0 {
        let option = if window == 0 { "--window" } else { "--stride" };
        return wrong(option, "0 steps make no window; use 1 or more".into());
    }
    let count: usize = steps.map(|steps| starts(steps, window, stride).len()).sum();
    let bytes =
        [window, dim, size_of::<f32>()].iter().fold(count as u64, |n, &side| n.saturating_mul(side as u64));
    if bytes > request.size_limit {
        let limit = request.size_limit;
        let problem = format!(
            "{stride} gives {count} windows, {bytes} bytes, more than the size limit of {limit}; use a larger one"
        );
        return wrong("--stride", problem);
    }
    Ok(stride)
}

fn no_window(window: usize) -> String {
    format!("no recording has the {window} steps of a window; use a smaller --window")
}

/// Joins a training part and, if there is one, a test part. Both must be shaped.
pub(crate) fn assemble(
    name: String,
    mut train: Part,
    mut test: Option<Part>,
    request: &Request,
) -> Result<Dataset, DataError> {
    if let Some(test) = &test
        && test.x.dim() != train.x.dim()
    {
        return Err(DataError::DimMismatch {
            file: test.file.clone(),
            found: test.x.dim(),
            expected: train.x.dim(),
            other: train.file.clone(),
        });
    }
    for part in std::iter::once(&mut train).chain(&mut test) {
        from_one_hot(part, request.labels);
    }
    let mut notes = std::mem::take(&mut train.notes);
    for note in test.iter().flat_map(|test| &test.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let kind = match request.labels {
        LabelKind::Auto => train.kind,
        asked => asked,
    };
    let y = match &request.expect {
        // A model knows its classes: a part may lack some, or have one only.
        Some(expect) if !expect.classes.is_empty() && kind != LabelKind::Value => {
            let known = Labels::Class { index: Vec::new(), names: expect.classes.clone() };
            labels_like(&train, &known, "the model")?
        }
        Some(_) if train.x.is_empty() => {
            let width = test.as_ref().map_or(1, |test| test.y.width());
            Labels::Value { width, values: Vec::new() }
        }
        _ => labels(&train.file, &train.y, train.classes.as_deref(), kind, &mut notes)?,
    };
    let test_y = match &test {
        Some(test) => Some(labels_like(test, &y, &train.file)?),
        None => None,
    };
    let mut groups = HashMap::new();
    let mut number = |names: Option<Vec<String>>| {
        names.map(|names| {
            let mut number_of = |name| {
                let next = groups.len() as u32;
                *groups.entry(name).or_insert(next)
            };
            names.into_iter().map(&mut number_of).collect::<Vec<u32>>()
        })
    };
    // Windows without a named group have their recording for one.
    let group = number(train.group).or_else(|| train.recording.clone());
    let test = test.zip(test_y).map(|(test, y)| Examples {
        group: number(test.group).or_else(|| test.recording.clone()),
        x: test.x,
        y,
        recording: test.recording,
        ids: test.ids,
    });
    Ok(Dataset {
        name,
        train: Examples { x: train.x, y, group, recording: train.recording, ids: train.ids },
        test,
        notes,
        features: train.features,
        image: train.image,
        validation: train.validation,
        background: train.background,
        audio: train.audio,
        suggested: Suggestions::default(),
    })
}
