//! The columns of tables and the fields of JSON lines that hold texts and labels.

use super::super::{DataError, Missing, Request, TaskKind};
use std::path::PathBuf;

/// The columns of a table, or the fields of JSON lines, that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumns {
    pub text: String,
    /// Nothing if labels are not wanted.
    pub label: Option<String>,
}

/// The columns that a request names. The text is in `text` unless it says otherwise.
pub(super) fn columns(file: &str, request: &Request, labelled: bool) -> Result<TableColumns, DataError> {
    let text = request.text.text_col.clone().unwrap_or_else(|| "text".into());
    let stars = is_yelp_reviews(file).then(|| "stars".to_string());
    match (&request.data.label_col.clone().or(stars), labelled) {
        (Some(label), true) => Ok(TableColumns { text, label: Some(label.clone()) }),
        (None, true) => Err(DataError::NoLabels {
            file: file.into(),
            hint: "name the column or field that holds the label with `label-col`".into(),
        }),
        (_, false) => Ok(TableColumns { text, label: None }),
    }
}

/// Refuses settings about data that texts do not have.
pub(super) fn refuse_other_settings(file: &str, request: &Request) -> Result<(), DataError> {
    if request.expect.is_some() {
        // The settings of a model's training go with it.
        return Ok(());
    }
    let (data, text) = (&request.data, &request.text);
    let number = |value: Option<usize>| value.map(|value| value.to_string());
    let path = |value: &Option<PathBuf>| value.as_ref().map(|path| path.display().to_string());
    let is_language = text.task == Some(TaskKind::LanguageModel);
    let is_multilabel = text.task == Some(TaskKind::MultiLabel);
    const NUMBERS: &str = "for sequences of numbers";
    const LABELS: &str = "for texts with labels";
    let of_all = [
        ("timesteps", number(data.timesteps), NUMBERS),
        ("window", number(data.window), NUMBERS),
        ("stride", number(data.stride), NUMBERS),
        ("skip-rows", number(data.skip_rows), NUMBERS),
        ("columns", data.chosen_columns().first().cloned(), NUMBERS),
        ("drop", data.dropped_columns().first().cloned(), NUMBERS),
        ("id-col", data.id_col.clone(), NUMBERS),
        ("group-col", data.group_col.clone(), NUMBERS),
        ("group-from", data.group_from.clone(), NUMBERS),
        ("label-from", data.label_from.clone(), NUMBERS),
        ("manifest", path(&data.manifest), NUMBERS),
        ("decimal", data.decimal.map(|decimal| decimal.to_string()), NUMBERS),
        ("missing", (data.missing != Missing::Error).then(|| data.missing.to_string()), NUMBERS),
    ];
    let of_labels = [
        ("label-col", data.label_col.clone().filter(|_| is_language), LABELS),
        ("text-col", text.text_col.clone().filter(|_| is_language), LABELS),
        (
            "label-separator",
            data.label_separator.clone().filter(|_| !is_multilabel),
            "for `task = multilabel`",
        ),
    ];
    match of_all.into_iter().chain(of_labels).find_map(|(key, value, what)| Some((key, value?, what))) {
        Some((key, value, what)) => {
            let reads = if is_language { "a language model reads" } else { "texts are read from" };
            let problem = format!("'{value}' is {what}, and {reads} {file}; leave it out");
            Err(DataError::Setting { key: key.into(), problem })
        }
        None => Ok(()),
    }
}

/// The name of the file of reviews in the Yelp data set, without its ending.
const YELP_REVIEWS: &str = "yelp_academic_dataset_review";

/// Whether a file is that of the reviews in the Yelp data set.
pub(super) fn is_yelp_reviews(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().starts_with(YELP_REVIEWS)
}
