//! Rows of the tables of an analysis, for the page and for the terminal.

use super::power::power_of_ten;
use crate::analyze::{Analysis, BoundQuantity, Spread, Theory, TrainingPart};
use crate::reproduce::letter;
use crate::reproduce::published_tie;
use fastgrnn_core::cells::{CellKind, Nonlinearity};
use fastgrnn_core::format::{count, fraction, number, quantity};
use fastgrnn_core::metrics::Scores;

/// A network by name, and what was found about it.
#[derive(Clone, Copy, Debug)]
pub struct AnalyzedNetwork<'a> {
    /// How a person calls it: its file or its cell.
    pub name: &'a str,
    /// What was found.
    pub analysis: &'a Analysis,
}

/// The name of a network; with its layer where it has several.
pub(super) fn layer_name(network: &AnalyzedNetwork, layer: usize) -> String {
    match network.analysis.layers {
        1 => network.name.to_owned(),
        _ => format!("{}, layer {layer}", network.name),
    }
}

/// Columns of the table of condition numbers.
pub const CONDITION_COLUMNS: [&str; 9] = [
    "network",
    "T − t",
    "sequences",
    "κ, median",
    "κ, geometric mean",
    "κ, largest",
    "bound, median",
    "σ largest, median",
    "σ smallest, median",
];
/// What its figures are.
pub const CONDITION_NOTE: &str = "Measured: κ, the condition number of the product of the last Jacobians, and σ, its singular values. \
    Derived: the paper's bound of κ.\nA geometric mean is the mean of the logarithms. A singular product has κ = ∞, which counts \
    in all figures.";
/// Columns of the table of gradients.
pub const GRADIENT_COLUMNS: [&str; 6] =
    ["network", "T − t", "sequences", "norm, median", "norm, geometric mean", "zero"];
/// What its figures are.
pub const GRADIENT_NOTE: &str = "Measured: the norm of the gradient of the loss by the state after step t.\nA geometric mean is the mean of the \
    logarithms; it is 0 where one of the norms is.";
/// Columns of the table of residual weights.
pub const WEIGHT_COLUMNS: [&str; 7] =
    ["network", "weight", "how", "before training", "value", "β off 1 − α", "paper"];
/// What its figures are.
pub const WEIGHT_NOTE: &str = "Measured: the values. Derived: how far β is from 1 − α, as a share of 1 − α.\nPaper: the same for its FastRNN \
    with tanh on this data set, where the number of steps is the same.";
/// Columns of the table of initial states.
pub const STATE_COLUMNS: [&str; 5] = ["network", "part", "figure", "from the state 0", "from random states"];
/// What its figures are.
pub const STATE_NOTE: &str = "Measured on the part of the data set that is named.";
/// Columns of the table of bounds.
pub const BOUND_COLUMNS: [&str; 4] =
    ["network", "bound", "with αT, as in the theorem", "with the sum of powers in place of αT"];
/// What its figures are.
pub const BOUND_NOTE: &str = "Derived from the quantities below. The theorems hide constants in O(αT): with αT, the values only show how the bounds \
    scale.\nThe term of the norms with the sum of powers is 2·R_v times the Rademacher complexity of the paper's appendix.\nThe \
    convergence bound with the sum of powers leaves out factors and terms of the proof, and only shows how the bound scales, too.";
/// Columns of the table of assumptions.
pub const CONDITIONS_COLUMNS: [&str; 3] = ["assumption", "holds", "because"];
/// Columns of the table of quantities.
pub const QUANTITY_COLUMNS: [&str; 4] = ["quantity", "meaning", "value", "kind"];

fn power(spread: Option<Spread>, of: fn(Spread) -> f64) -> String {
    spread.map_or_else(|| "–".into(), |spread| power_of_ten(of(spread)))
}

/// A row for each network, layer and number of steps.
pub fn condition_rows(networks: &[AnalyzedNetwork]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for network in networks {
        for layer in &network.analysis.products {
            for point in &layer.points {
                let bound = match (point.bounded, point.sequences) {
                    (0, _) => "–".into(),
                    (some, all) if some < all => {
                        format!("{} ({some} of {all})", power(point.log10_bound, |s| s.median))
                    }
                    _ => power(point.log10_bound, |s| s.median),
                };
                rows.push(vec![
                    layer_name(network, layer.layer),
                    point.steps.to_string(),
                    point.sequences.to_string(),
                    power(point.log10_condition, |s| s.median),
                    power(point.log10_condition, |s| s.mean),
                    power(point.log10_condition, |s| s.max),
                    bound,
                    power(point.log10_largest, |s| s.median),
                    power(point.log10_smallest, |s| s.median),
                ]);
            }
        }
    }
    rows
}

/// The number that decides whether the bound applies, for each layer of FastRNN.
pub fn ratio_lines(networks: &[AnalyzedNetwork]) -> Vec<String> {
    let of_layers = |network: &AnalyzedNetwork| {
        let layers = network.analysis.products.iter();
        let line = layers.filter_map(|layer| {
            let ratio = layer.ratio?;
            Some(format!(
                "{}: the measured α/β·max‖UᵀD‖ has the median {} and is at most {}; the bound applies where it is below 1.",
                layer_name(network, layer.layer),
                finite(ratio.median),
                finite(ratio.max)
            ))
        });
        line.collect::<Vec<_>>()
    };
    networks.iter().flat_map(of_layers).collect()
}

/// A number that may be infinite.
fn finite(value: f64) -> String {
    if value == f64::INFINITY { "∞".into() } else { number(value) }
}

/// Which sequences each network was measured on.
pub fn sequence_lines(networks: &[AnalyzedNetwork]) -> Vec<String> {
    let of_network = |network: &AnalyzedNetwork| {
        let found = network.analysis;
        let all = quantity(found.training_sequences as u64, "training sequence");
        let dataset = &found.dataset;
        let which = match found.training_part {
            TrainingPart::Train => {
                let user = match found.trained {
                    true => "the network was trained on",
                    false => "a training would use",
                };
                format!(
                    "on the {} of {dataset} that {user}; the other {}, which are held out, are left out",
                    quantity(found.training_sequences as u64, "sequence"),
                    count(found.held_out as u64)
                )
            }
            TrainingPart::Refit => format!("on all {all} of {dataset}: the network was refitted on them"),
            TrainingPart::All => format!("on all {all} of {dataset}: none is held out for validation"),
            TrainingPart::Other => {
                format!("on all {all} of {dataset}: the network was trained on other data")
            }
            TrainingPart::Unknown => format!(
                "on all {all} of {dataset}: which of them the network was trained on is not known, because the split cannot be \
                 made again"
            ),
        };
        let followed = count(found.sequences as u64);
        let name = network.name;
        format!("{name}: measured {which}. {followed} of them were followed step by step.")
    };
    networks.iter().map(of_network).collect()
}

/// Distances from the end at which the gradient is told: the last, and those before it that are powers of two.
fn told(before_end: usize, is_last: bool) -> bool {
    before_end == 0 || before_end.is_power_of_two() || is_last
}

/// Rows at some distances from the end, for each network and layer.
pub fn gradient_rows(networks: &[AnalyzedNetwork]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for network in networks {
        for layer in &network.analysis.gradients {
            let last = layer.points.len().saturating_sub(1);
            for (place, point) in layer.points.iter().enumerate() {
                if !told(point.before_end, place == last) {
                    continue;
                }
                rows.push(vec![
                    layer_name(network, layer.layer),
                    point.before_end.to_string(),
                    point.sequences.to_string(),
                    power(point.log10_norm, |s| s.median),
                    power(point.log10_norm, |s| s.mean),
                    point.zero.to_string(),
                ]);
            }
        }
    }
    rows
}

/// Data sets and numbers of steps for which the paper has a value of β off 1 − α.
const PAPER_TIES: [(&str, usize); 3] = [("google12", 99), ("har2", 128), ("mnist", 112)];

/// How far β is from 1 − α in the paper, for the same cell, nonlinearity, data set and number of steps.
fn paper_tie(found: &Analysis) -> Option<f64> {
    let is_cell = found.cell == CellKind::FastRnn.name() && found.layers == 1;
    let is_same = is_cell
        && found.trained
        && found.nonlinearity == Nonlinearity::Tanh.name()
        && PAPER_TIES.contains(&(found.dataset.as_str(), found.steps));
    is_same.then(|| published_tie(&found.dataset)).flatten()
}

/// A row for each residual weight.
pub fn weight_rows(networks: &[AnalyzedNetwork]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for network in networks {
        let found = network.analysis;
        for weight in &found.residual_weights {
            let tie = found.ties.iter().find(|tie| tie.layer == weight.layer && weight.name == "beta");
            let paper = tie.and_then(|_| paper_tie(found));
            let [low, high] = weight.range;
            let range =
                if low < high { format!(" ({} to {})", number(low), number(high)) } else { String::new() };
            let dash = || "–".to_owned();
            rows.push(vec![
                layer_name(network, weight.layer),
                letter(weight.name).into(),
                weight.mode.into(),
                weight.start.map_or_else(dash, number),
                format!("{}{range}", number(weight.value)),
                tie.map_or_else(dash, |tie| fraction(tie.relative_difference, None)),
                paper.map_or_else(dash, |paper| fraction(paper, None)),
            ]);
        }
    }
    rows
}

/// A row for each network that was measured from several initial states.
pub fn state_rows(networks: &[AnalyzedNetwork]) -> Vec<Vec<String>> {
    let of_network = |network: &AnalyzedNetwork| {
        let states = network.analysis.initial_state.as_ref()?;
        let (name, of): (&str, fn(&Scores) -> String) = match states.zero.accuracy {
            Some(_) => ("accuracy", |s| s.accuracy.map_or("–".into(), |v| fraction(v, None))),
            None => ("loss", |s| number(s.loss)),
        };
        let random: Vec<String> = states.random.iter().map(of).collect();
        Some(vec![
            network.name.to_owned(),
            states.part.into(),
            name.into(),
            of(&states.zero),
            random.join(", "),
        ])
    };
    networks.iter().filter_map(of_network).collect()
}

/// Rows of the bounds of each network that the paper has bounds for.
pub fn bound_rows(networks: &[AnalyzedNetwork]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for network in networks {
        let theory = &network.analysis.theory;
        let mut add = |what: String, theorem: String, sum: String| {
            rows.push(vec![network.name.to_owned(), what, theorem, sum]);
        };
        if let Some(found) = &theory.generalization {
            let terms = [found.log10_theorem_term, found.log10_recursion_term].map(power_of_ten);
            let [theorem, recursion] = terms;
            add("term of the norms in the loss on new sequences".into(), theorem, recursion);
            let verdict = if found.is_informative { "below B" } else { "above B, so that it says nothing" };
            let whole = format!("{} ({verdict})", power_of_ten(found.log10_bound));
            add("loss on new sequences".into(), "–".into(), whole);
        }
        for found in &theory.convergence {
            add(
                format!("squared gradient after {} steps", count(found.steps)),
                power_of_ten(found.log10_theorem_bound),
                found.log10_sum_bound.map_or_else(|| "not known".into(), power_of_ten),
            );
        }
    }
    rows
}

/// A row for each assumption of the theorems.
pub fn conditions_rows(theory: &Theory) -> Vec<Vec<String>> {
    let of = |holds: Option<bool>| match holds {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => "not known".to_owned(),
    };
    theory.conditions.iter().map(|c| vec![c.assumption.clone(), of(c.holds), c.because.clone()]).collect()
}

/// A row for each number that enters the bounds.
pub fn quantity_rows(theory: &Theory) -> Vec<Vec<String>> {
    let value = |quantity: &BoundQuantity| match quantity.value.fract() == 0.0 && quantity.value >= 0.0 {
        true => count(quantity.value as u64),
        false => number(quantity.value),
    };
    let row = |quantity: &BoundQuantity| {
        vec![
            quantity.symbol.to_owned(),
            quantity.meaning.to_owned(),
            value(quantity),
            quantity.kind.to_owned(),
        ]
    };
    theory.quantities.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{LayerProducts, ProductPoint, Tie};

    fn analysis() -> Analysis {
        let condition = Spread::of([1.0, f64::INFINITY, f64::INFINITY].into_iter());
        let smallest = Spread::of([-1.0, f64::NEG_INFINITY, f64::NEG_INFINITY].into_iter());
        let largest = Spread::of([0.0, 0.0, 0.0].into_iter());
        let point = ProductPoint {
            steps: 4,
            sequences: 3,
            singular: 2,
            log10_condition: condition,
            log10_largest: largest,
            log10_smallest: smallest,
            log10_bound: None,
            bounded: 0,
        };
        let products = LayerProducts {
            layer: 0,
            cell: "fastrnn",
            statement: String::new(),
            ratio: None,
            points: vec![point],
        };
        let beta = crate::analyze::ResidualWeight {
            layer: 0,
            name: "beta",
            mode: "learnt",
            value: 0.9,
            range: [0.9, 0.9],
            start: None,
        };
        Analysis {
            cell: "fastrnn",
            layers: 1,
            units: 4,
            trained: true,
            nonlinearity: "tanh",
            dataset: "har2".into(),
            training_part: TrainingPart::Train,
            training_sequences: 30,
            held_out: 10,
            sequences: 3,
            steps: 128,
            products: vec![products],
            gradients: Vec::new(),
            residual_weights: vec![beta],
            ties: vec![Tie { layer: 0, relative_difference: 0.1 }],
            initial_state: None,
            theory: Theory {
                why_not: Some("none".into()),
                quantities: Vec::new(),
                conditions: Vec::new(),
                generalization: None,
                convergence: Vec::new(),
            },
        }
    }

    #[test]
    fn infinite_condition_numbers_are_shown_in_the_table_and_as_the_first_figure() {
        let analysis = analysis();
        let networks = [AnalyzedNetwork { name: "net", analysis: &analysis }];
        let row = &condition_rows(&networks)[0];
        assert_eq!(row[3..], ["∞", "∞", "∞", "–", "1.000", "0"]);
        let page = super::super::AnalysisReport {
            networks: &networks,
            reproduction: None,
            command: String::new(),
            version: String::new(),
        };
        let html = page.html();
        let headline = html.split("<h2>Condition number").next().unwrap();
        assert!(headline.contains('∞') && html.contains("κ, geometric mean"), "{headline}");
        assert!(html.contains("net: measured on the 30 sequences of har2 that the network was trained on"));
    }

    #[test]
    fn the_tie_of_the_paper_is_shown_for_its_cell_nonlinearity_and_steps_only() {
        let paper = |analysis: &Analysis| {
            weight_rows(&[AnalyzedNetwork { name: "net", analysis }])[0].last().cloned().unwrap()
        };
        assert!(paper(&analysis()).contains("3.21"), "{}", paper(&analysis()));
        let others = [
            Analysis { steps: 64, ..analysis() },
            Analysis { nonlinearity: "relu", ..analysis() },
            Analysis { cell: "fastrnn-vector", ..analysis() },
            Analysis { trained: false, ..analysis() },
            Analysis { dataset: "mnist".into(), ..analysis() },
        ];
        others.iter().for_each(|other| assert_eq!(paper(other), "–", "{other:?}"));
    }
}
