//! Sections that a page repeats: a table with a hint below it, and sequences with their pictures.

use super::html::table;
use super::sequence_plot::{SequencePlot, ShownFeatures};
use super::svg::{escape, shorten};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A table under a heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableSection {
    /// The heading.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows; the first cell names the row.
    pub rows: Vec<Vec<String>>,
    /// What to know about it; may be empty.
    pub hint: String,
}

impl TableSection {
    pub(super) fn write(&self, out: &mut String) {
        let _ = writeln!(out, "<section><h2>{}</h2>", escape(&self.title));
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        table(out, &self.title, &columns, &self.rows);
        hint(out, &self.hint);
        out.push_str("</section>\n");
    }
}

/// What a sequence looks like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SequenceView {
    /// Numbers, as a picture.
    Plot(SequencePlot),
    /// Words; a long text is cut.
    Text(String),
}

/// A sequence and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceCard {
    /// What the data calls it.
    pub id: String,
    /// Labels and values, such as `true` and `walking`.
    pub facts: Vec<(String, String)>,
    /// The sequence itself.
    pub view: SequenceView,
}

/// Sequences under a heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SequenceSection {
    /// The heading.
    pub title: String,
    /// A sentence below it; may be empty.
    pub text: String,
    /// The sequences.
    pub cards: Vec<SequenceCard>,
}

/// Characters of an id that are shown; a path may be longer.
const LONGEST_ID: usize = 60;
/// Characters of a text that are shown.
const LONGEST_TEXT: usize = 400;

impl SequenceSection {
    pub(super) fn write(&self, out: &mut String, shown: &ShownFeatures) {
        let _ = writeln!(out, "<section><h2>{}</h2>", escape(&self.title));
        if !self.text.is_empty() {
            let _ = writeln!(out, "<p>{}</p>", escape(&self.text));
        }
        if !self.cards.is_empty() {
            if self.cards.iter().any(|card| matches!(card.view, SequenceView::Plot(_))) {
                out.push_str(&shown.legend());
            }
            out.push_str("<ol class=\"sequences\">\n");
            self.cards.iter().for_each(|card| card.write(out));
            out.push_str("</ol>\n");
        }
        out.push_str("</section>\n");
    }
}

impl SequenceCard {
    fn write(&self, out: &mut String) {
        let view = match &self.view {
            SequenceView::Plot(plot) => plot.svg(&format!("Features of {}", self.id)),
            SequenceView::Text(text) => {
                format!("<p class=\"text\">{}</p>", escape(&shorten(text, LONGEST_TEXT)))
            }
        };
        let (id, full) = (escape(&shorten(&self.id, LONGEST_ID)), escape(&self.id));
        let _ = write!(out, "<li><p class=\"id\" title=\"{full}\">{id}</p>{view}<dl>");
        for (label, value) in &self.facts {
            let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(label), escape(value));
        }
        out.push_str("</dl></li>\n");
    }
}

fn hint(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "<p class=\"hint\">{}</p>", escape(text));
    }
}
