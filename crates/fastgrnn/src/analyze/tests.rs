use super::*;
use crate::train::{Recipe, starting_model};
use fastgrnn_core::cells::CELLS;
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::{Examples, Sequences};
use fastgrnn_model::model::DataPart;

/// Two classes of sequences of unequal length.
fn data() -> Dataset {
    let mut rng = Rng::new(1);
    let (mut x, mut index) = (Sequences::new(3), Vec::new());
    for i in 0..40u32 {
        let steps = 12 + rng.below(8);
        let values: Vec<f32> = (0..3 * steps).map(|_| (rng.normal() + f64::from(i % 2)) as f32).collect();
        x.push(&values);
        index.push(i % 2);
    }
    let y = Labels::Class { index, names: vec!["low".into(), "high".into()] };
    Dataset::new("example", Examples::new(x, y))
}

fn model(data: &Dataset, settings: &str, seed: u64) -> Model {
    let recipe = Recipe::from_toml_str(settings, "test").unwrap();
    starting_model(&recipe.resolve(data).unwrap(), data, seed).unwrap()
}

fn analysis(model: &Model, data: &Dataset, is_trained: bool) -> Analysis {
    let options = AnalyzeOptions { examples: 12, threads: 2, ..AnalyzeOptions::default() };
    analyze(model, is_trained, data, &options, &|| false, &mut |_, _| {}).unwrap()
}

#[test]
fn the_condition_number_of_a_fastrnn_is_within_the_bound_of_the_paper() {
    let data = data();
    for seed in 0..6 {
        for alpha in [0.01, 0.05, 0.2] {
            let settings = format!(
                "cell = \"fastrnn\"\nhidden = 9\nalpha = {alpha}\nbeta = \"tied\"\nstart = \"authors\""
            );
            let mut model = model(&data, &settings, seed);
            // Recurrent matrices of several sizes.
            let range = model.network.layout().view("layer0.u").unwrap().range();
            model.params[range].iter_mut().for_each(|u| *u *= 1.0 + seed as f32);
            let found = analysis(&model, &data, false);
            let points = &found.products[0].points;
            assert_eq!(points.iter().map(|p| p.steps).collect::<Vec<_>>(), [1, 2, 4, 8, 16, found.steps]);
            for point in points {
                let (condition, bounds) = (point.log10_condition.unwrap(), point.log10_bound);
                assert!(condition.min >= 0.0 && point.singular == 0);
                if point.bounded == point.sequences {
                    let bounds = bounds.unwrap();
                    assert!(condition.max <= bounds.max + 1e-9 && condition.min <= bounds.min + 1e-9);
                    assert!(condition.median <= bounds.median + 1e-9, "{point:?}");
                }
            }
            assert!(points[0].bounded > 0 || alpha > 0.1, "{:?}", found.products[0].ratio);
        }
    }
}

#[test]
fn the_condition_number_of_an_rnn_is_within_the_product_of_its_factors_and_grows() {
    let data = data();
    let found = analysis(&model(&data, "cell = \"rnn\"\nhidden = 6\nstart = \"authors\"", 3), &data, false);
    let points = &found.products[0].points;
    for point in points.iter().filter(|point| point.bounded == point.sequences) {
        let (condition, bound) = (point.log10_condition.unwrap(), point.log10_bound.unwrap());
        assert!(condition.max <= bound.max + 1e-9, "{point:?}");
    }
    let at = |place: usize| points[place].log10_condition.unwrap().median;
    assert!(at(4) > at(1) + 3.0, "{points:?}");
    assert!(found.theory.why_not.is_none() && found.theory.generalization.is_some());
}

#[test]
fn every_cell_is_analysed_and_its_figures_do_not_depend_on_threads() {
    let data = data();
    for declaration in CELLS {
        let model = model(&data, &format!("cell = \"{}\"\nhidden = 6\nlayers = 2", declaration.kind), 0);
        let of = |threads| {
            let options = AnalyzeOptions { examples: 6, threads, ..AnalyzeOptions::default() };
            analyze(&model, false, &data, &options, &|| false, &mut |_, _| {}).unwrap()
        };
        let found = of(1);
        assert_eq!(found, of(3), "{}", declaration.kind);
        assert_eq!((found.products.len(), found.gradients.len()), (2, 2));
        let last = found.gradients[1].points.last().unwrap();
        let first = &found.gradients[1].points[0];
        assert!(first.before_end == 0 && first.log10_norm.is_some() && last.before_end > 10);
        assert!(found.theory.why_not.is_some() && found.initial_state.is_none());
    }
}

#[test]
fn residual_weights_are_read_and_the_initial_state_of_a_trained_network_is_tried() {
    let data = data();
    let found =
        analysis(&model(&data, "cell = \"fastrnn\"\nhidden = 4\nstart = \"authors\"", 0), &data, true);
    let alpha = &found.residual_weights[0];
    assert!(alpha.name == "alpha" && alpha.mode == "learnt" && (alpha.value - 0.0474).abs() < 1e-3);
    assert!(found.ties[0].relative_difference < 1e-3, "sigmoids of −3 and 3 add up to 1");
    let states = found.initial_state.unwrap();
    assert_eq!((states.part, states.random.len()), ("all", 3));
    let fixed = analysis(
        &model(&data, "cell = \"fastrnn\"\nhidden = 4\nalpha = 0.1\nbeta = \"tied\"", 0),
        &data,
        true,
    );
    assert_eq!(fixed.residual_weights.iter().map(|w| w.mode).collect::<Vec<_>>(), ["fixed", "tied"]);
    assert!(fixed.ties.is_empty());
    let gated = analysis(&model(&data, "cell = \"fastgrnn\"\nhidden = 4", 0), &data, false);
    assert_eq!(gated.residual_weights.iter().map(|w| w.name).collect::<Vec<_>>(), ["zeta", "nu"]);
}

#[test]
fn a_network_is_measured_on_the_sequences_that_it_was_trained_on() {
    let data = data();
    let quantity = |found: &Analysis, symbol: &str| {
        found.theory.quantities.iter().find(|quantity| quantity.symbol == symbol).unwrap().clone()
    };
    let mut model = model(&data, "cell = \"fastrnn\"\nhidden = 4\nval-split = 0.25", 1);
    let found = analysis(&model, &data, true);
    assert_eq!(
        (found.training_part, found.training_sequences, found.held_out),
        (TrainingPart::Train, 30, 10)
    );
    let (_, learnt) = model.part(data.clone(), Some(DataPart::Train)).unwrap();
    let (scores, _) = model.evaluate(&learnt, 1).unwrap();
    let n = quantity(&found, "n");
    assert!(n.value == 30.0 && n.meaning.contains("without its validation part"), "{n:?}");
    assert_eq!(quantity(&found, "L(θ)").value, scores.scores.loss);
    assert_eq!(quantity(&found, "L(θ₀)").value, scores.scores.loss, "it has its first parameters");
    let other = Dataset { name: "other".into(), ..data.clone() };
    assert_eq!(analysis(&model, &other, true).training_part, TrainingPart::Other);
    model.recipe.preparation.val_split = Some(0.0);
    assert_eq!(analysis(&model, &data, true).training_part, TrainingPart::All);
    model.recipe.preparation.val_split = Some(0.25);
    model.recipe.training.refit = Some(fastgrnn_model::settings::Refit::Full);
    let found = analysis(&model, &data, true);
    assert_eq!((found.training_part, found.training_sequences, found.held_out), (TrainingPart::Refit, 40, 0));
    assert!(quantity(&found, "n").meaning.contains("refitted"));
}

#[test]
fn singular_products_count_as_infinite_condition_numbers() {
    let data = data();
    let mut model = model(&data, "cell = \"rnn\"\nhidden = 4\nupdate = \"relu\"", 1);
    let range = model.network.layout().view("layer0.u").unwrap().range();
    // A unit that passes nothing on.
    model.params[range.start..range.start + 4].fill(0.0);
    let found = analysis(&model, &data, false);
    let point = found.products[0].points[0];
    assert_eq!(point.singular, point.sequences);
    let condition = point.log10_condition.unwrap();
    assert!(condition.median == f64::INFINITY && condition.mean == f64::INFINITY, "{condition:?}");
    assert_eq!(point.log10_smallest.unwrap().median, f64::NEG_INFINITY);
    let json = serde_json::to_value(point).unwrap();
    assert!(json["log10_condition"]["median"].is_null() && json["singular"] == point.sequences);
}

#[test]
fn without_an_update_no_slope_is_told() {
    let data = data();
    let found = analysis(
        &model(&data, "cell = \"fastrnn\"\nhidden = 4\nalpha = 0\nbeta = \"tied\"", 0),
        &data,
        false,
    );
    assert!(found.theory.quantities.iter().all(|quantity| quantity.symbol != "𝒟"));
    assert!(found.theory.conditions.iter().any(|condition| condition.holds.is_none()));
    assert!(found.theory.convergence.iter().all(|bound| bound.log10_sum_bound.is_none()));
}

#[test]
fn what_cannot_be_analysed_is_an_error_that_says_what_can() {
    let data = data();
    let model = model(&data, "cell = \"fastrnn\"\nhidden = 4", 0);
    let with = |steps: Vec<usize>, stop: bool| {
        let options = AnalyzeOptions { steps, ..AnalyzeOptions::default() };
        analyze(&model, false, &data, &options, &|| stop, &mut |_, _| {}).unwrap_err().to_string()
    };
    assert!(with(vec![5, 500], false).contains("500 steps: the longest sequence of example has"));
    assert_eq!(with(vec![5], true), "the analysis was stopped");
    let empty = Dataset::new("none", Examples::new(Sequences::new(3), Labels::None));
    let of_none = analyze(&model, false, &empty, &AnalyzeOptions::default(), &|| false, &mut |_, _| {});
    assert!(of_none.unwrap_err().to_string().contains("no sequences in none"));
}
