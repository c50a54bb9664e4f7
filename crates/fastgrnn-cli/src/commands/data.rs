//! `fastgrnn data list|inspect|doctor|convert`

use crate::args::{DataConvertArgs, DataInspectArgs, DataListArgs};
use crate::console::Console;
use crate::flags::with_flags;
use crate::misuse::misuse;
use crate::progress;
use crate::table::{facts, table};
use anyhow::Context;
use fastgrnn::batch::Sets;
use fastgrnn::data::{
    self, DataRecipe, Dataset, Examples, Finding, Labels, Request, Severity, SourceRecipe, TextRecipe,
};
use fastgrnn::report::{count, number, quantity};
use fastgrnn::train::Recipe;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Data sets known by name.
pub fn list(args: &DataListArgs, console: Console) -> anyhow::Result<()> {
    let sets = data::known_sets(args.data_dir.as_deref());
    console.answer(&json!({ "datasets": sets }), || {
        let rows = sets.iter().map(|s| {
            let numbers = [s.train, s.test, s.steps, s.features, s.classes];
            let here = match (&s.path, s.found) {
                (None, true) => "built in",
                (_, true) => "yes",
                (_, false) => "missing",
            };
            let cells = numbers.into_iter().map(|n| count(n as u64));
            std::iter::once(s.name.clone()).chain(cells).chain([here.to_owned()]).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let mut text = table(&["name", "train", "test", "T", "D", "classes", "here"], &rows);
        for set in &sets {
            text.push_str(&format!("\n  {}: {}; {}", set.name, set.description, set.licence));
            if let Some(path) = &set.path {
                text.push_str(&format!("\n    {}", path.display()));
            }
        }
        text.push_str(
            "\n\nA missing set says what to download when you ask for it: fastgrnn data inspect NAME\n",
        );
        text
    })
}

/// What is in a data set.
pub fn inspect(args: DataInspectArgs, console: Console) -> anyhow::Result<()> {
    let request = request(&args.dataset, args.test, args.data, args.text, console);
    let data =
        data::load(&request).with_context(|| format!("cannot read the data set '{}'", args.dataset))?;
    let answer = json!({
        "name": data.name,
        "features": data.features,
        "dim": data.train.x.dim(),
        "train": part_json(&data.train),
        "test": data.test.as_ref().map(part_json),
        "notes": data.notes,
        "findings": data.findings,
    });
    console.answer(&answer, || describe(&data))
}

/// What may make a model worse than its scores say.
pub fn doctor(args: DataInspectArgs, console: Console) -> anyhow::Result<()> {
    // The parts are those that a training with the defaults would have.
    let recipe = Recipe { data: args.data.clone(), text: args.text.clone(), ..Recipe::default() };
    let request = request(&args.dataset, args.test, args.data, args.text, console);
    let data =
        data::load(&request).with_context(|| format!("cannot read the data set '{}'", args.dataset))?;
    let mut findings = data.findings.clone();
    if let Ok(config) = recipe.resolve(&data) {
        findings = config.findings(&data);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let allowed = request.data.allow.as_deref().unwrap_or_default();
    let result = data::doctor::check(&findings, allowed);
    let answer = json!({ "name": data.name, "findings": findings, "notes": data.notes });
    console.answer(&answer, || findings_text(&data, &findings))?;
    result.context("the data cannot be trained on as it is")
}

fn findings_text(data: &Dataset, findings: &[Finding]) -> String {
    let mut text = String::new();
    for note in &data.notes {
        text.push_str(&format!("  note: {}\n", with_flags(note)));
    }
    for finding in findings {
        text.push_str(&format!("  {}\n", with_flags(&finding.to_string())));
    }
    let count = findings.iter().filter(|finding| finding.severity > Severity::Note).count();
    text.push_str(&match count {
        0 => format!("{}: nothing was found\n", data.name),
        n => format!("{}: {}\n", data.name, quantity(n as u64, "finding")),
    });
    text
}

/// Writes a data set in another format.
pub fn convert(args: DataConvertArgs, console: Console) -> anyhow::Result<()> {
    let request = request(&args.dataset, args.test, args.data, args.text, console);
    let data =
        data::load(&request).with_context(|| format!("cannot read the data set '{}'", args.dataset))?;
    let files = data::outputs(&data, &args.output).context("cannot write the data set")?;
    if let Some(there) = files.iter().find(|p| p.exists() && !args.force) {
        let there = there.display();
        return Err(misuse(format!(
            "{there} is already there; add --force to overwrite it, or choose another name"
        )));
    }
    data.notes.iter().for_each(|note| console.note(note));
    data::losses(&data, &args.output)?.iter().for_each(|loss| console.note(loss));
    let files: Vec<PathBuf> = data::write(&data, &args.output).context("cannot write the data set")?;
    let answer = json!({
        "files": files,
        "train": data.train.len(),
        "test": data.test.as_ref().map(Examples::len),
    });
    console.answer(&answer, || files.iter().map(|f| format!("wrote {}\n", f.display())).collect())
}

fn request(
    source: &str,
    test: Option<PathBuf>,
    data: DataRecipe,
    text: TextRecipe,
    console: Console,
) -> Request {
    let source = SourceRecipe { dataset: Some(source.to_owned()), test, ..SourceRecipe::default() };
    let recipe = Recipe { source, data, text, ..Recipe::default() };
    Request { watch: progress::reading(&console), ..recipe.request() }
}

fn class_counts(index: &[u32], classes: usize) -> Vec<u64> {
    let mut counts = vec![0; classes];
    index.iter().for_each(|&c| counts[c as usize] += 1);
    counts
}

fn groups(part: &Examples) -> Option<usize> {
    let groups = part.group.as_ref()?;
    Some(groups.iter().collect::<std::collections::BTreeSet<_>>().len())
}

fn part_json(part: &Examples) -> Value {
    let (classes, targets) = match &part.y {
        Labels::Class { index, names } => {
            let counts = class_counts(index, names.len());
            let pairs: Vec<Value> =
                names.iter().zip(counts).map(|(name, n)| json!({ "name": name, "n": n })).collect();
            (Some(pairs), None)
        }
        Labels::Value { width, .. } => (None, Some(*width)),
        Labels::Sets { .. } | Labels::Next | Labels::None => (None, None),
    };
    let mut answer = json!({
        "n": part.len(),
        "steps": { "min": part.x.min_steps(), "max": part.x.max_steps() },
        "classes": classes,
        "targets": targets,
        "groups": groups(part),
    });
    if let Labels::Sets { sets, names, unseen } = &part.y {
        let counts = label_counts(sets, names.len());
        let pairs = names.iter().zip(counts).map(|(name, n)| json!({ "name": name, "n": n }));
        answer["labels"] = pairs.collect();
        answer["labels_a_sequence"] = json!(labels_a_sequence(sets));
        answer["unseen_labels"] = json!(unseen);
    }
    answer
}

/// Sequences with each of `labels` labels.
fn label_counts(sets: &Sets, labels: usize) -> Vec<u64> {
    let mut counts = vec![0; labels];
    for &label in sets.iter().flatten().filter(|&&label| (label as usize) < labels) {
        counts[label as usize] += 1;
    }
    counts
}

/// Mean number of labels of a sequence.
fn labels_a_sequence(sets: &Sets) -> f64 {
    sets.iter().map(<[u32]>::len).sum::<usize>() as f64 / sets.len().max(1) as f64
}

fn describe(data: &Dataset) -> String {
    let mut rows = vec![("name", data.name.clone())];
    let part = |p: &Examples| {
        let steps = match (p.x.min_steps(), p.x.max_steps()) {
            (low, high) if low == high => quantity(low as u64, "step"),
            (low, high) => format!("{} to {}", count(low as u64), quantity(high as u64, "step")),
        };
        let groups = groups(p).map_or(String::new(), |n| format!(", {}", quantity(n as u64, "group")));
        format!("{} of {steps}{groups}", quantity(p.len() as u64, "sequence"))
    };
    rows.push(("train", part(&data.train)));
    rows.push(("test", data.test.as_ref().map_or("none; name one with --test".into(), part)));
    match &data.text {
        Some(text) => rows.push(("vocabulary", quantity(text.vocabulary.len() as u64, "token"))),
        None => rows.push(("features", format!("{} a step", data.train.x.dim()))),
    }
    let mut text = facts(&rows);
    for note in data
        .notes
        .iter()
        .map(|note| format!("note: {note}"))
        .chain(data.findings.iter().map(|f| f.to_string()))
    {
        text.push_str(&format!("  {note}\n"));
    }
    text.push('\n');
    text.push_str(&classes_table(data));
    text.push_str(&labels_table(data));
    text.push_str(&features_table(data));
    text
}

/// Labels of a table; of many labels the most frequent ones are shown.
const MOST_LABELS: usize = 40;

fn labels_table(data: &Dataset) -> String {
    let Labels::Sets { sets, names, .. } = &data.train.y else { return String::new() };
    let train = label_counts(sets, names.len());
    let test = match data.test.as_ref().map(|t| &t.y) {
        Some(Labels::Sets { sets, .. }) => Some(label_counts(sets, names.len())),
        _ => None,
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&label| std::cmp::Reverse(train[label]));
    let row = |&label: &usize| {
        let test = test.as_ref().map_or("-".into(), |t| count(t[label]));
        vec![names[label].clone(), count(train[label]), test]
    };
    let rows: Vec<Vec<String>> = order.iter().take(MOST_LABELS).map(row).collect();
    let mut text = table(&["label", "train", "test"], &rows);
    if names.len() > MOST_LABELS {
        text.push_str(&format!("  … and {} more\n", names.len() - MOST_LABELS));
    }
    text.push_str(&format!("  {} labels a sequence on average\n", number(labels_a_sequence(sets))));
    text + "\n"
}

fn classes_table(data: &Dataset) -> String {
    let Labels::Class { index, names } = &data.train.y else {
        return String::new();
    };
    let train = class_counts(index, names.len());
    let test = match data.test.as_ref().map(|t| &t.y) {
        Some(Labels::Class { index, .. }) => Some(class_counts(index, names.len())),
        _ => None,
    };
    let rows: Vec<Vec<String>> = (0..names.len())
        .map(|c| {
            let test = test.as_ref().map_or("-".into(), |t| count(t[c]));
            vec![names[c].clone(), count(train[c]), test]
        })
        .collect();
    table(&["class", "train", "test"], &rows) + "\n"
}

/// Features of a table; a wide one shows that many and says how many more there are.
const MOST_FEATURES: usize = 20;

fn features_table(data: &Dataset) -> String {
    let x = &data.train.x;
    if x.has_tokens() {
        return String::new();
    }
    let mut spans = vec![(f32::INFINITY, f32::NEG_INFINITY, 0.0f64, 0u64); x.dim()];
    for i in 0..x.len() {
        for (j, &v) in x.get(i).iter().enumerate() {
            let (low, high, sum, n) = &mut spans[j % x.dim()];
            (*low, *high, *sum, *n) = (low.min(v), high.max(v), *sum + f64::from(v), *n + 1);
        }
    }
    let rows: Vec<Vec<String>> = spans
        .iter()
        .take(MOST_FEATURES)
        .enumerate()
        .map(|(j, (low, high, sum, n))| {
            let name =
                data.features.as_ref().and_then(|f| f.get(j)).cloned().unwrap_or_else(|| j.to_string());
            vec![name, number(f64::from(*low)), number(sum / (*n).max(1) as f64), number(f64::from(*high))]
        })
        .collect();
    let mut text = table(&["feature", "smallest", "mean", "largest"], &rows);
    if x.dim() > MOST_FEATURES {
        text.push_str(&format!("  … and {} more\n", x.dim() - MOST_FEATURES));
    }
    text
}
