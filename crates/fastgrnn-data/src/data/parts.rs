//! The parts that a source holds, before labels are understood.

use super::part::Part;
use super::{LabelKind, Request};

/// The training and the test part of a source; a source may lack either.
pub(crate) struct Parts {
    /// What to train on.
    pub train: Option<Part>,
    /// What to test on.
    pub test: Option<Part>,
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

/// The request for a test part: the training part's features by name, in its order.
pub(crate) fn request_for_test_part(request: &Request, train: &Part) -> Request {
    let mut same = request.clone();
    if let Some(features) = &train.features {
        same.data.columns = Some(features.clone());
        same.inherited.columns = true;
    }
    if request.data.labels == LabelKind::Auto {
        same.data.labels = train.kind;
    }
    same
}
