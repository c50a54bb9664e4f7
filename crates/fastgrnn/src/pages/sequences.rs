//! The parts of a report about single sequences: the worst mistakes, and examples from the data.

use crate::train::{JudgedPart, Mistake, SequenceResults};
use fastgrnn_core::format::{count, fraction, number, quantity};
use fastgrnn_data::data::{Dataset, Examples, Labels};
use fastgrnn_report::{PredictedPlot, SequenceCard, SequenceSection, SequenceView, ShownFeatures};

/// Classes of which an example is shown.
const MOST_EXAMPLES: usize = 8;

/// The sections about single sequences, and which features their pictures show.
#[derive(Default)]
pub(super) struct SequencePages {
    pub mistakes: Option<SequenceSection>,
    pub examples: Option<SequenceSection>,
    pub shown: ShownFeatures,
}

/// A sequence to show: where it is, and what to say about it.
struct Picked<'a> {
    examples: &'a Examples,
    index: usize,
    facts: Vec<(String, String)>,
}

/// The worst mistakes of the seed that is delivered, and examples from `data`.
pub(super) fn sequence_pages(data: &Dataset, results: Option<&SequenceResults>, seed: u64) -> SequencePages {
    let examples = pick_examples(&data.train);
    // Of several labels, single mistakes are not kept; a language model reads one long text.
    let results = results.filter(|_| !matches!(data.train.y, Labels::Sets { .. } | Labels::Next));
    let judged = results.and_then(|results| Some((results, judged_examples(data, results.part)?)));
    let mistakes = judged.map_or(Vec::new(), |(results, part)| pick_mistakes(part, results));
    let names = feature_names(data);
    let is_picture = names.len() > 1 && (data.audio.is_some() || data.image.is_some());
    let shown = if is_picture {
        ShownFeatures::as_strip(&names)
    } else if data.text.is_some() {
        ShownFeatures::default()
    } else {
        let all = mistakes.iter().chain(&examples);
        ShownFeatures::choose(&names, &all.map(|p| p.examples.x.get(p.index)).collect::<Vec<_>>())
    };
    let view = |p: &Picked| match &data.text {
        Some(text) => SequenceView::Text(text.decode(p.examples.x.tokens(p.index))),
        None => SequenceView::Plot(shown.plot(p.examples.x.get(p.index))),
    };
    let cards = |picked: Vec<Picked>| -> Vec<SequenceCard> {
        let card = |p: Picked| SequenceCard { id: p.examples.id(p.index), view: view(&p), facts: p.facts };
        picked.into_iter().map(card).collect()
    };
    let mistakes = judged.map(|(results, part)| SequenceSection {
        title: mistakes_title(part, results, seed),
        text: mistakes_text(part, results),
        cards: cards(mistakes),
    });
    let title = match &data.train.y {
        Labels::Class { .. } => "An example of each class",
        _ => "Examples",
    };
    let examples = (!examples.is_empty()).then(|| SequenceSection {
        title: title.into(),
        text: examples_text(&data.train, examples.len()),
        cards: cards(examples),
    });
    SequencePages { mistakes, examples, shown }
}

/// Predicted against true numbers of the seed that is delivered, one plot a target.
pub(super) fn predicted_plots(results: &SequenceResults, seed: u64) -> Vec<PredictedPlot> {
    let several = results.pairs.len() > 1;
    let plot = |(target, pairs): (usize, &Vec<(f32, f32)>)| {
        let of = if several { format!("target {target}, ") } else { String::new() };
        let title = format!("{of}{}, seed {seed}", results.part.name());
        PredictedPlot { title, points: pairs.clone() }
    };
    results.pairs.iter().enumerate().map(plot).collect()
}

fn judged_examples(data: &Dataset, part: JudgedPart) -> Option<&Examples> {
    match part {
        JudgedPart::Test => data.test.as_ref(),
        JudgedPart::Validation => Some(&data.train),
    }
}

fn feature_names(data: &Dataset) -> Vec<String> {
    let dim = data.train.x.dim();
    match &data.features {
        Some(names) if names.len() == dim => names.clone(),
        _ => (0..dim).map(|feature| format!("feature {feature}")).collect(),
    }
}

/// What was wrong with each of the sequences. A record whose sequences are not in the data is left out.
fn pick_mistakes<'a>(examples: &'a Examples, results: &SequenceResults) -> Vec<Picked<'a>> {
    let is_there = |mistake: &&Mistake| mistake.index() < examples.len();
    let picked = |mistake: &Mistake| {
        Some(Picked { examples, index: mistake.index(), facts: mistake_facts(examples, mistake)? })
    };
    results.mistakes.iter().filter(is_there).filter_map(picked).collect()
}

fn mistake_facts(examples: &Examples, mistake: &Mistake) -> Option<Vec<(String, String)>> {
    let fact = |label: &str, value: String| (label.to_owned(), value);
    match (mistake, &examples.y) {
        (Mistake::Class { true_class, predicted_class, probability, .. }, Labels::Class { names, .. }) => {
            let name = |class: u32| names.get(class as usize).cloned();
            Some(vec![
                fact("true", name(*true_class)?),
                fact("predicted", name(*predicted_class)?),
                fact("probability", fraction(f64::from(*probability), None)),
            ])
        }
        (Mistake::Value { target, true_value, predicted_value, .. }, Labels::Value { width, .. }) => {
            let (truth, predicted) = (f64::from(*true_value), f64::from(*predicted_value));
            let mut facts = vec![
                fact("true", number(truth)),
                fact("predicted", number(predicted)),
                fact("error", number(predicted - truth)),
            ];
            if *width > 1 {
                facts.insert(0, fact("target", target.to_string()));
            }
            Some(facts)
        }
        _ => None,
    }
}

fn mistakes_title(part: &Examples, results: &SequenceResults, seed: u64) -> String {
    let what = match part.y {
        Labels::Value { .. } => "Largest errors",
        _ => "Worst mistakes",
    };
    format!("{what} ({}, seed {seed})", results.part.name())
}

fn mistakes_text(part: &Examples, results: &SequenceResults) -> String {
    let sequences = quantity(results.n as u64, &format!("{} sequence", results.part.name()));
    let kept = results.mistakes.len() as u64;
    match part.y {
        _ if kept == 0 => format!("No mistakes on the {sequences}."),
        Labels::Value { width: 1, .. } => {
            format!("Of the {sequences}, the {} with the largest absolute errors.", count(kept))
        }
        Labels::Value { .. } => format!(
            "Of the {sequences}, the {} with the largest errors, each in units of its target's deviation.",
            count(kept)
        ),
        _ => {
            let verb = if results.wrong == 1 { "is" } else { "are" };
            format!(
                "{} of the {sequences} {verb} wrong; {}. The probability is what the model gave to the class \
                 it predicted.",
                count(results.wrong as u64),
                match results.wrong as u64 > kept {
                    true => format!("here are the {kept} with the greatest probability"),
                    false => "the one with the greatest probability comes first".to_owned(),
                }
            )
        }
    }
}

/// The first sequence of each class, or those with the smallest, the middle and the largest first target.
fn pick_examples(train: &Examples) -> Vec<Picked<'_>> {
    let picked = |index: usize, label: &str, value: String| Picked {
        examples: train,
        index,
        facts: vec![(label.to_owned(), value)],
    };
    match &train.y {
        Labels::Class { index, names } => {
            let first = |class: usize| index.iter().position(|&c| c as usize == class);
            let of_class =
                |(class, name): (usize, &String)| Some(picked(first(class)?, "class", name.clone()));
            names.iter().enumerate().filter_map(of_class).take(MOST_EXAMPLES).collect()
        }
        Labels::Value { width, values } => {
            let target = |i: usize| values[i * width];
            let mut order: Vec<usize> = (0..train.len()).collect();
            order.sort_by(|&a, &b| target(a).total_cmp(&target(b)));
            let mut chosen = match order.len() {
                0 => Vec::new(),
                n => vec![order[0], order[n / 2], order[n - 1]],
            };
            chosen.dedup();
            chosen.into_iter().map(|i| picked(i, "target", number(f64::from(target(i))))).collect()
        }
        Labels::Sets { sets, names, .. } => {
            let labels = |i: usize| {
                let of_set: Vec<&str> =
                    sets.get(i).iter().filter_map(|&k| names.get(k as usize)).map(String::as_str).collect();
                if of_set.is_empty() { "none".to_owned() } else { of_set.join(", ") }
            };
            (0..train.len().min(MOST_EXAMPLES)).map(|i| picked(i, "labels", labels(i))).collect()
        }
        Labels::Next | Labels::None => Vec::new(),
    }
}

fn examples_text(train: &Examples, shown: usize) -> String {
    match &train.y {
        Labels::Class { names, .. } if names.len() > shown => format!(
            "The first sequence of {shown} of the {} in the training data.",
            quantity(names.len() as u64, "class")
        ),
        Labels::Class { .. } => "The first sequence of each class in the training data.".into(),
        Labels::Sets { .. } => "The first sequences of the training data.".into(),
        _ => "Sequences of the training data with the smallest, the middle and the largest target.".into(),
    }
}
