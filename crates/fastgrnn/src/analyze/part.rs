//! Which sequences of the training data a network is analysed on.

use fastgrnn_data::data::{Dataset, Examples};
use fastgrnn_model::model::{Model, PartError};
use serde::Serialize;
use std::borrow::Cow;

/// Which sequences of the training data are analysed: those that the network was trained on, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainingPart {
    /// Those that the network was trained on, or that a training would use, without the validation part.
    Train,
    /// All, because the network was refitted on all.
    Refit,
    /// All, because no validation part was held out.
    All,
    /// All, because the network was trained on other data.
    Other,
    /// All, because the split of the training cannot be made again.
    Unknown,
}

impl TrainingPart {
    pub(super) fn of(model: &Model, data: &Dataset) -> Self {
        if model.dataset != data.name {
            return Self::Other;
        }
        if model.recipe.training.refit.unwrap_or_default() != Default::default() {
            return Self::Refit;
        }
        match model.validated_on(data) {
            Ok(_) => Self::Train,
            Err(PartError::NoValidation) => Self::All,
            Err(PartError::NoTest { .. } | PartError::Data(_)) => Self::Unknown,
        }
    }

    /// The sequences.
    pub(super) fn examples<'a>(self, model: &Model, data: &'a Dataset) -> Cow<'a, Examples> {
        match self {
            Self::Train => Cow::Owned(data.train.select(&model.trained_on(data))),
            Self::Refit | Self::All | Self::Other | Self::Unknown => Cow::Borrowed(&data.train),
        }
    }

    /// What the sequences are, in the words of a table.
    pub(super) fn meaning(self, is_trained: bool) -> &'static str {
        match (self, is_trained) {
            (Self::Train, true) => "sequences that the network was trained on, without its validation part",
            (Self::Train, false) => "sequences that a training would use, without its validation part",
            (Self::Refit, _) => "all training sequences, on which the network was refitted",
            (Self::All, _) => "all training sequences; none is held out for validation",
            (Self::Other, _) => "all training sequences of a data set that the network was not trained on",
            (Self::Unknown, _) => {
                "all training sequences; which of them the network was trained on is not known"
            }
        }
    }
}
