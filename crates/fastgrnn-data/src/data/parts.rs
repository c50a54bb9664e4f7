//! The parts that a source holds, before labels are understood.

use super::part::Part;
use super::{DataError, LabelKind, Request};

/// The parts of a source, which may lack any.
#[derive(Default)]
pub(crate) struct Parts {
    /// What to train on.
    pub train: Option<Part>,
    /// What to validate on, where the source says so with a part of its own.
    pub validation: Option<Part>,
    /// What to test on.
    pub test: Option<Part>,
}

impl Parts {
    /// Tells people something about the whole.
    pub fn note(&mut self, note: String) {
        let parts = [&mut self.train, &mut self.test, &mut self.validation];
        if let Some(part) = parts.into_iter().flatten().next() {
            part.notes.push(note);
        }
    }

    /// The same with the validation part at the end of the training part, which then knows it.
    pub fn with_validation_joined(mut self) -> Result<Self, DataError> {
        match (&mut self.train, self.validation.take()) {
            (Some(train), Some(validation)) => {
                let first = train.x.len() as u32;
                train.append(validation)?;
                train.validation = Some((first..train.x.len() as u32).collect());
            }
            (None, validation) => self.validation = validation,
            _ => {}
        }
        Ok(self)
    }
}

/// What a source is read for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Purpose {
    /// A whole set, of which parts are split off.
    Set,
    /// One part, such as that of `--test`: nothing is split off.
    Part,
    /// Input to predict on: labels do not matter.
    Unlabelled,
}

/// The request for a validation or test part: the training part's features by name, in its order.
pub(crate) fn request_for_test_part(request: &Request, train: &Part) -> Request {
    let mut same = request.clone();
    if let Some(features) = &train.features {
        same.data.columns = Some(features.clone());
        same.inherited.columns = true;
    }
    same.text_format = same.text_format.or_else(|| train.text.clone());
    // A separate test set may have class folders instead of a manifest.
    same.inherited.manifest = true;
    if request.data.labels == LabelKind::Auto {
        same.data.labels = train.kind;
    }
    same
}
