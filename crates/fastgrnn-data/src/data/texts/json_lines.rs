//! Lines that are JSON objects, each with a text and what is known about it.
//!
//! The raw text of the Extreme Classification repository is of this kind: its objects have the fields
//! `title` and `content`, and `target_ind` with the numbers of the labels.

use serde_json::{Map, Value};

use super::super::names::{listed, number_text};
use super::super::{DataError, Request, TaskKind};
use super::columns::{TableColumns, columns, refuse_other_settings};
use super::extreme::LabelNames;
use super::named_text::NamedText;
use super::part_texts::Texts;

/// The numbers of the labels in a file of the Extreme Classification repository.
const TARGETS: &str = "target_ind";
/// How relevant each of these labels is.
const RELEVANCE: &str = "target_rel";

/// Reads lines that are JSON objects; numbers of labels have the names that `label_names` gives them.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    label_names: &LabelNames,
    request: &Request,
    labelled: bool,
) -> Result<Texts, DataError> {
    refuse_other_settings(file, request)?;
    let NamedText { text, notes, .. } = NamedText::decode(file, bytes, request)?;
    let mut texts = Texts::with_notes(file, notes);
    let mut fields = None;
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", i + 1);
        let corrupt = |problem: String| corrupt(file, &place, problem);
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| corrupt(format!("no JSON object: {error}")))?;
        let object = Object { file, place: &place, fields: object };
        // The first line decides: all lines of a file are alike.
        let fields = match &fields {
            Some(fields) => fields,
            None => fields.insert(Fields::of(&object, request, labelled)?),
        };
        match fields {
            Fields::Named(columns) => {
                texts.texts.push(object.text(&columns.text)?);
                if let Some(name) = &columns.label {
                    object.push_label(name, &mut texts, request)?;
                }
            }
            Fields::Extreme => {
                let text = object.title_and_content()?;
                match labelled {
                    true => texts.push_with_set(text, object.targets(label_names)?),
                    false => texts.texts.push(text),
                }
            }
        }
    }
    if texts.texts.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "no line holds a text".into() });
    }
    Ok(texts)
}

/// Which fields are read.
enum Fields {
    /// Those that the request names.
    Named(TableColumns),
    /// Those of the Extreme Classification repository.
    Extreme,
}

impl Fields {
    fn of(object: &Object, request: &Request, labelled: bool) -> Result<Self, DataError> {
        let has = |name: &str| object.fields.contains_key(name);
        let is_named = request.text.text_col.is_some() || request.data.label_col.is_some();
        let is_multi = request.text.task == Some(TaskKind::MultiLabel);
        let is_extreme = has("title") && (has(TARGETS) || !labelled) && !has("text");
        match is_multi && !is_named && is_extreme {
            true => Ok(Self::Extreme),
            false => Ok(Self::Named(columns(object.file, request, labelled)?)),
        }
    }
}

fn corrupt(file: &str, place: &str, problem: String) -> DataError {
    DataError::Corrupt { file: file.into(), place: place.into(), problem }
}

/// A line.
struct Object<'a> {
    file: &'a str,
    place: &'a str,
    fields: Map<String, Value>,
}

impl Object<'_> {
    fn corrupt(&self, problem: String) -> DataError {
        corrupt(self.file, self.place, problem)
    }

    fn field(&self, name: &str) -> Result<&Value, DataError> {
        self.fields.get(name).ok_or_else(|| {
            let fields: Vec<String> = self.fields.keys().cloned().collect();
            self.corrupt(format!("there is no field '{name}'; fields: {}", listed(&fields)))
        })
    }

    fn text(&self, name: &str) -> Result<String, DataError> {
        plain(self.field(name)?)
            .ok_or_else(|| self.corrupt(format!("the field '{name}' is neither text nor a number")))
    }

    /// A class, or a set of labels: a list, or names in a text.
    fn push_label(&self, name: &str, texts: &mut Texts, request: &Request) -> Result<(), DataError> {
        let is_multi = request.text.task == Some(TaskKind::MultiLabel);
        match self.field(name)? {
            Value::Array(list) if is_multi => {
                let names: Option<Vec<String>> = list.iter().map(plain).collect();
                let names = names.ok_or_else(|| {
                    self.corrupt(format!("the list '{name}' holds something other than names and numbers"))
                })?;
                let is_name = |name: &String| !name.trim().is_empty();
                texts.push_set(
                    names.into_iter().filter(is_name).map(|name| name.trim().to_string()).collect(),
                );
                Ok(())
            }
            Value::Array(_) => Err(self.corrupt(format!(
                "the field '{name}' is a list, as of several labels; use `task = multilabel`"
            ))),
            value => {
                let label = plain(value).ok_or_else(|| {
                    self.corrupt(format!("the field '{name}' is neither text nor a number"))
                })?;
                texts.push_label(self.place, &label, request)
            }
        }
    }

    fn title_and_content(&self) -> Result<String, DataError> {
        let content = match self.fields.get("content") {
            Some(_) => self.text("content")?,
            None => String::new(),
        };
        Ok(format!("{}\n{content}", self.text("title")?))
    }

    /// The names of the labels that are relevant.
    fn targets(&self, label_names: &LabelNames) -> Result<Vec<String>, DataError> {
        let list = |name: &str| match self.fields.get(name) {
            Some(Value::Array(list)) => Ok(Some(list)),
            None => Ok(None),
            Some(_) => Err(self.corrupt(format!("the field '{name}' is no list"))),
        };
        let Some(numbers) = list(TARGETS)? else { return self.field(TARGETS).map(|_| Vec::new()) };
        let relevance = list(RELEVANCE)?;
        let mut names = Vec::with_capacity(numbers.len());
        for (k, number) in numbers.iter().enumerate() {
            let Some(label) = number.as_u64() else {
                return Err(self.corrupt(format!("'{number}' in '{TARGETS}' is no number of a label")));
            };
            let is_irrelevant = relevance.is_some_and(|all| all.get(k).and_then(Value::as_f64) == Some(0.0));
            if !is_irrelevant {
                names.push(label_names.name(label).map_err(|problem| self.corrupt(problem))?);
            }
        }
        Ok(names)
    }
}

/// Text, a number without needless digits, or a truth value, as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64().filter(|_| number.is_f64()) {
            Some(value) => number_text(value),
            None => number.to_string(),
        }),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}
