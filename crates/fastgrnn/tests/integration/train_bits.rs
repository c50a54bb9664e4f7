//! Matrices whose entries have 4 bits: what they need, and what a run makes of them.

use crate::common::{Stopper, classes, options, recipe, trained};
use fastgrnn::cells::WeightBits;
use fastgrnn::data::CrossValidation;
use fastgrnn::model::{AnyModel, Model};
use fastgrnn::quantize::{BiasBits, EntryGrid, IntegerModel, StepGrid};
use fastgrnn::train::{Rank, Recipe, Refit, RunOptions, Silent, Summary, TrainError, run};

fn four_bits() -> Recipe {
    recipe().with(|r| {
        let bits = Some(WeightBits::Four);
        (r.quantization.bits_w, r.quantization.bits_u, r.quantization.bits_head) = (bits, bits, bits);
        r.quantization.quantize = Some(true);
        r.network.rank_u = Some(Rank::Of(4));
        r.training.epochs = Some(12);
    })
}

fn float(summary: &Summary) -> Model {
    Model::load(summary.model_float.as_ref().unwrap()).unwrap()
}

/// The grid of each matrix of 4 bits, with its values.
fn stepped(model: &Model) -> Vec<(String, StepGrid, &[f32])> {
    let layout = model.network.layout();
    let matrix = |(matrix, step): (&fastgrnn::net::View, &fastgrnn::net::View)| {
        let grid = StepGrid::of_log_step(model.params[step.offset]);
        (matrix.name.clone(), grid, &model.params[matrix.range()])
    };
    layout.stepped().map(matrix).collect()
}

#[test]
fn matrices_of_4_bits_are_trained_for_two_thirds_of_a_run_and_have_biases_of_a_byte() {
    let data = classes(60, 2, 8);
    let config = four_bits().resolve(&data).unwrap();
    assert_eq!(config.training.stages.to_string(), "dense:1/3,quantized:2/3");
    assert_eq!(config.quantization.bits_bias, 8);
    let network = config.network(&data);
    assert_eq!((network.bits_head, network.layers[0].bits_u), (WeightBits::Four, WeightBits::Four));
    let eight = recipe().with(|r| r.quantization.quantize = Some(true)).resolve(&data).unwrap();
    assert_eq!(eight.quantization.bits_bias, 16);
}

#[test]
fn bits_that_do_not_go_with_other_settings_are_refused() {
    let data = classes(60, 2, 8);
    let four = |text: &str| four_bits().overlay(Recipe::from_toml_str(text, "test").unwrap());
    for (recipe, part) in [
        (four("keep-u = 0.5"), "keep-u = 0.5: a matrix of 4 bits is not pruned"),
        (four("keep-head = 0.5"), "`bits-head = 8`"),
        (four("quantize = false"), "bits-w = 4: a float model has weights of 32 bits"),
        (four("bits-bias = 12"), "bits-bias = 12: it must be 8 or 16"),
        (
            four("form-u = \"diagonal\"\nrank-u = \"full\""),
            "bits-u 4 needs a matrix that is full or low-rank",
        ),
        (
            recipe().with(|r| r.quantization.bits_bias = Some(8)),
            "bits-bias = 8: a float model has biases of 32 bits",
        ),
    ] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = Recipe::from_toml_str("bits-w = 3", "test").unwrap_err().to_string();
    assert!(error.contains("it has 8 or 4"), "{error}");
}

#[test]
fn the_weights_that_a_run_delivers_stand_on_the_grids_that_it_learnt() {
    let data = classes(120, 2, 10);
    let folder = tempfile::tempdir().unwrap();
    let summary = trained(&four_bits().with(|r| r.training.epochs = Some(40)), &data, folder.path());
    let (float, integer) = (float(&summary), IntegerModel::load(&summary.model).unwrap());
    let matrices = stepped(&float);
    assert_eq!(matrices.len(), 4);
    for (name, grid, values) in &matrices {
        let start = WeightBits::first_log_step(values).exp();
        assert!((grid.step / start - 1.0).abs() > 1e-3, "{name}: the step was not learnt");
        assert!(values.iter().all(|&w| w == grid.nearest(w)), "{name} is not on its grid");
    }
    for (matrix, (name, grid, values)) in integer.network.matrices().zip(&matrices) {
        assert_eq!(matrix.grid, EntryGrid::FourBits(*grid), "{name}");
        let entries = values.iter().map(|&w| 16 * grid.entry(w));
        assert!(matrix.entries.iter().copied().eq(entries), "{name}");
    }
    assert_eq!(integer.network.head_bias_bits, BiasBits::Eight);
    assert_eq!(summary.params, float.params.len() - matrices.len(), "steps are no parameters");
    let rows = fastgrnn::report::tensors(&AnyModel::load(&summary.model).unwrap());
    let biases = rows.iter().find(|row| row.name == "head.b").unwrap();
    assert_eq!(biases.bytes, integer.network.head_biases.len() as u64, "biases are bytes");
    assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), integer.image().len() as u64);
    assert_eq!(summary.bytes.total, integer.image().len());
    let accuracy = |scores: &Option<fastgrnn::metrics::Scores>| scores.as_ref().unwrap().accuracy.unwrap();
    assert!(accuracy(&summary.test_float) > 0.9, "{:?}", summary.test_float);
    assert!(accuracy(&summary.test) > 0.9, "{:?}", summary.test);
}

#[test]
fn matrices_that_were_not_trained_on_grids_get_steps_that_fit() {
    let data = classes(60, 2, 8);
    let folder = tempfile::tempdir().unwrap();
    let recipe = four_bits().with(|r| r.training.stages = Some("dense:1".parse().unwrap()));
    let float = float(&trained(&recipe, &data, folder.path()));
    for (name, grid, values) in stepped(&float) {
        let fitting = StepGrid::of(values).step;
        assert!((grid.step / fitting - 1.0).abs() < 1e-5, "{name}: {} is not {fitting}", grid.step);
        assert!(values.iter().any(|&w| w != grid.nearest(w)), "{name} is not rounded in the float model");
    }
}

#[test]
fn stopping_anywhere_and_resuming_changes_nothing() {
    let data = classes(60, 2, 8);
    let refitted = four_bits().with(|r| {
        r.training.epochs = Some(4);
        r.training.ema = Some(0.9);
        r.training.refit = Some(Refit::BestEpochs);
        r.training.weight_drop = Some(0.2);
    });
    let folds = four_bits().with(|r| {
        r.training.epochs = Some(3);
        r.preparation.cv = Some(CrossValidation::Folds(3));
        r.training.refit = Some(Refit::BestEpochs);
    });
    for recipe in [refitted, folds] {
        let config = recipe.resolve(&data).unwrap();
        let whole = tempfile::tempdir().unwrap();
        let expected = run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
        for after in [5, 11, 19, 29] {
            let folder = tempfile::tempdir().unwrap();
            let stopped = run(&config, &data, &options(folder.path()), &mut Stopper::after(after));
            assert!(matches!(stopped, Err(TrainError::Interrupted { .. })), "{after}");
            let resume = RunOptions { resume: true, threads: 2, ..options(folder.path()) };
            let resumed = run(&config, &data, &resume, &mut Silent).unwrap();
            assert!(resumed.model == expected.model, "stopped after {after} batches");
        }
    }
}

#[test]
fn a_random_stop_rounds_at_the_end() {
    let data = classes(60, 2, 8);
    let folder = tempfile::tempdir().unwrap();
    let recipe = four_bits().with(|r| r.training.optimizer = Some(fastgrnn::train::Optimizer::Rsg));
    let summary = trained(&recipe, &data, folder.path());
    assert!(stepped(&float(&summary)).iter().all(|(_, grid, _)| grid.step > 0.0));
}
