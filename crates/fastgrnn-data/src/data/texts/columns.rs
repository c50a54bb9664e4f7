//! The columns of tables and the fields of JSON lines that hold texts and labels.

use super::super::{DataError, Request};

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

/// Refuses settings of tables that those of texts do not have.
pub(super) fn refuse_other_settings(file: &str, request: &Request) -> Result<(), DataError> {
    let data = &request.data;
    let given = [
        ("skip-rows", data.skip_rows.map(|rows| rows.to_string())),
        ("columns", data.chosen_columns().first().cloned()),
        ("drop", data.dropped_columns().first().cloned()),
        ("id-col", data.id_col.clone()),
        ("group-col", data.group_col.clone()),
    ];
    match given.into_iter().find_map(|(key, value)| Some((key, value?))) {
        Some((key, value)) if request.expect.is_none() => {
            let problem =
                format!("'{value}' is for tables of numbers, and {file} is read as texts; leave it out");
            Err(DataError::Setting { key: key.into(), problem })
        }
        _ => Ok(()),
    }
}

/// The name of the file of reviews in the Yelp data set, without its ending.
const YELP_REVIEWS: &str = "yelp_academic_dataset_review";

/// Whether a file is that of the reviews in the Yelp data set.
pub(super) fn is_yelp_reviews(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().starts_with(YELP_REVIEWS)
}
