//! The part of a report about the data: how many sequences of each class, or which targets, are in each part.

use crate::train::Config;
use fastgrnn_core::format::{count, fraction, number};
use fastgrnn_data::data::{Dataset, Examples, Labels};
use fastgrnn_report::TableSection;

/// Classes of the table; a page with all of many would be hard to read.
const MOST_CLASSES: usize = 60;

/// A column of the table: a part of the data.
struct DataColumn<'a> {
    name: &'static str,
    examples: &'a Examples,
    indices: Vec<u32>,
}

/// The table of the parts; nothing for data without labels.
pub(super) fn data_section(config: &Config, data: &Dataset) -> Option<TableSection> {
    let parts = parts(config, data);
    let (columns, rows, hint) = match &data.train.y {
        Labels::Class { names, .. } => {
            let columns = parts.iter().map(|part| part.name.to_owned()).collect::<Vec<_>>();
            ([vec!["class".to_owned()], columns].concat(), class_rows(&parts, names), classes_hint(names))
        }
        Labels::Sets { names, .. } => {
            let columns = parts.iter().map(|part| part.name.to_owned()).collect::<Vec<_>>();
            ([vec!["label".to_owned()], columns].concat(), set_rows(&parts, names), sets_hint(names))
        }
        Labels::Value { width, .. } => {
            let columns = ["part", "sequences", "smallest", "mean", "largest"].map(str::to_owned).to_vec();
            (columns, value_rows(&parts, *width), "Targets of each part, in the units of the data.".into())
        }
        Labels::Next | Labels::None => return None,
    };
    Some(TableSection { title: "Data".into(), columns, rows, hint })
}

fn parts<'a>(config: &Config, data: &'a Dataset) -> Vec<DataColumn<'a>> {
    let all = |examples: &Examples| (0..examples.len() as u32).collect::<Vec<u32>>();
    let is_cross_validated = config.folds(data).is_ok_and(|folds| !folds.is_empty());
    let split = config.split(data).ok().filter(|(_, val)| !val.is_empty() && !is_cross_validated);
    let train = &data.train;
    let mut parts = match split {
        Some((indices, val)) => vec![
            DataColumn { name: "training", examples: train, indices },
            DataColumn { name: "validation", examples: train, indices: val },
        ],
        None if is_cross_validated => {
            vec![DataColumn {
                name: "training and validation, in folds",
                examples: train,
                indices: all(train),
            }]
        }
        None => vec![DataColumn { name: "training", examples: train, indices: all(train) }],
    };
    let test = data.test.as_ref();
    parts.extend(test.map(|test| DataColumn { name: "test", examples: test, indices: all(test) }));
    parts
}

fn class_rows(parts: &[DataColumn], names: &[String]) -> Vec<Vec<String>> {
    let counts: Vec<Vec<u64>> = parts.iter().map(|part| part.class_counts(names.len())).collect();
    let cell = |of_part: &Vec<u64>, class: usize| {
        let share = of_part[class] as f64 / of_part.iter().sum::<u64>().max(1) as f64;
        format!("{} ({})", count(of_part[class]), fraction(share, None))
    };
    let row = |(class, name): (usize, &String)| {
        let cells = counts.iter().map(|of_part| cell(of_part, class));
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = names.iter().enumerate().take(MOST_CLASSES).map(row).collect();
    let sums = counts.iter().map(|of_part| count(of_part.iter().sum()));
    rows.push(std::iter::once("all".to_owned()).chain(sums).collect());
    rows
}

/// The most frequent labels, and how many labels and sequences there are.
fn set_rows(parts: &[DataColumn], names: &[String]) -> Vec<Vec<String>> {
    let counts: Vec<Vec<u64>> = parts.iter().map(|part| part.label_counts(names.len())).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&label| std::cmp::Reverse(counts.first().map_or(0, |of_part| of_part[label])));
    let cell = |(part, of_part): (&DataColumn, &Vec<u64>), label: usize| {
        let share = of_part[label] as f64 / part.indices.len().max(1) as f64;
        format!("{} ({})", count(of_part[label]), fraction(share, None))
    };
    let row = |&label: &usize| {
        let cells = parts.iter().zip(&counts).map(|column| cell(column, label));
        std::iter::once(names[label].clone()).chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = order.iter().take(MOST_CLASSES).map(row).collect();
    let sums = counts.iter().map(|of_part| count(of_part.iter().sum()));
    rows.push(std::iter::once("all labels".to_owned()).chain(sums).collect());
    let sequences = parts.iter().map(|part| count(part.indices.len() as u64));
    rows.push(std::iter::once("sequences".to_owned()).chain(sequences).collect());
    rows
}

fn sets_hint(names: &[String]) -> String {
    let which = match names.len() > MOST_CLASSES {
        true => format!("The {MOST_CLASSES} most frequent of {} labels: ", count(names.len() as u64)),
        false => String::new(),
    };
    format!(
        "{which}sequences with each label, and their share of the part. A sequence may have several labels, or none."
    )
}

fn classes_hint(names: &[String]) -> String {
    match names.len() > MOST_CLASSES {
        true => format!("The first {MOST_CLASSES} of {} classes.", count(names.len() as u64)),
        false => "Sequences of each class, and their share of the part.".into(),
    }
}

fn value_rows(parts: &[DataColumn], width: usize) -> Vec<Vec<String>> {
    let row = |part: &DataColumn, target: usize| {
        let values = part.values(target);
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let of = if width > 1 { format!(", target {target}") } else { String::new() };
        let figure = |v: f64| if values.is_empty() { "–".to_owned() } else { number(v) };
        let n = count(values.len() as u64);
        vec![format!("{}{of}", part.name), n, figure(low), figure(mean), figure(high)]
    };
    parts.iter().flat_map(|part| (0..width).map(move |target| row(part, target))).collect()
}

impl DataColumn<'_> {
    fn class_counts(&self, classes: usize) -> Vec<u64> {
        let mut counts = vec![0; classes];
        if let Labels::Class { index, .. } = &self.examples.y {
            self.indices.iter().for_each(|&i| counts[index[i as usize] as usize] += 1);
        }
        counts
    }

    /// Sequences with each of the labels that are learnt.
    fn label_counts(&self, labels: usize) -> Vec<u64> {
        let mut counts = vec![0; labels];
        if let Labels::Sets { sets, .. } = &self.examples.y {
            for &i in &self.indices {
                let known = sets.get(i as usize).iter().filter(|&&label| (label as usize) < labels);
                known.for_each(|&label| counts[label as usize] += 1);
            }
        }
        counts
    }

    fn values(&self, target: usize) -> Vec<f64> {
        match &self.examples.y {
            Labels::Value { width, values } => {
                self.indices.iter().map(|&i| f64::from(values[i as usize * width + target])).collect()
            }
            _ => Vec::new(),
        }
    }
}
