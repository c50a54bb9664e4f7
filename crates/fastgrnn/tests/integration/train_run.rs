//! Whole training runs on small generated data.
//!
//! - learning: a run learns, refits, stops early, weighs classes, regresses
//! - the run folder: files, summary, several seeds
//! - refusals: changed settings, changed data, occupied folders, one class, divergence

use crate::common::{Stopper, classes, metrics, numbers, options, recipe, trained};
use fastgrnn::data::{Dataset, Labels};
use fastgrnn::model::Model;
use fastgrnn::train::{
    Choice, ClassWeight, ConfigError, EpochReport, Observer, Optimizer, Pass, Recipe, Refit, SeedResult,
    Silent, TrainError, run,
};
use std::path::Path;

// ---- learning ----

#[test]
fn a_run_learns_a_simple_rule_and_its_model_predicts_from_the_file_alone() {
    let (data, folder) = (classes(120, 2, 12), tempfile::tempdir().unwrap());
    let summary = trained(&recipe().with(|r| r.training.epochs = Some(40)), &data, folder.path());
    let test = summary.test.as_ref().unwrap();
    assert!(test.accuracy.unwrap() > 0.95, "{test:?}");
    let model = Model::load(&summary.model).unwrap();
    let (evaluation, predictions) = model.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
    assert_eq!(&evaluation.scores, test);
    assert_eq!(predictions.len(), test.n);
    assert!((predictions.row(0).iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn defaults_learn_forty_sequences() {
    let (data, folder) = (classes(40, 2, 10), tempfile::tempdir().unwrap());
    let recipe = Recipe::default().with(|r| r.source.dataset = Some("generated".into()));
    let config = recipe.resolve(&data).unwrap();
    assert!(config.training.batch <= 10 && config.training.epochs * 4 >= 2_000, "{config:?}");
    let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
    assert!(summary.test.unwrap().accuracy.unwrap() > 0.9);
}

#[test]
fn numbers_of_any_size_are_regressed_in_their_own_units() {
    let (data, folder) = (numbers(150), tempfile::tempdir().unwrap());
    let summary = trained(&recipe().with(|r| r.training.epochs = Some(80)), &data, folder.path());
    let test = summary.test.unwrap();
    assert!(test.r2.unwrap() > 0.9, "{test:?}");
    assert!(test.rmse.unwrap() > 1.0, "errors are in units of the data, which are thousands: {test:?}");
    assert_eq!(test.accuracy, None);
    let model = Model::load(&summary.model).unwrap();
    let predicted = model.predict(&data.train.x, 1).unwrap();
    let Labels::Value { values, .. } = &data.train.y else { panic!("numbers") };
    assert!((predicted.row(0)[0] - values[0]).abs() < 400.0);
}

#[test]
fn binary_cross_entropy_has_one_output_for_two_classes() {
    let (data, folder) = (classes(120, 2, 8), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.training.loss = Some(fastgrnn::engine::Loss::BinaryCrossEntropy);
        r.training.epochs = Some(40);
        r.training.class_weight = Some(ClassWeight::Balanced);
    });
    let summary = trained(&recipe, &data, folder.path());
    assert!(summary.test.unwrap().accuracy.unwrap() > 0.9);
    let model = Model::load(&summary.model).unwrap();
    assert_eq!(model.network.outputs, 1);
    assert_eq!(model.predict(&data.train.x, 1).unwrap().width, 2);
}

#[test]
fn a_positive_class_gets_the_threshold_that_validation_prefers_and_files_keep_it() {
    use fastgrnn::model::AnyModel;
    let mut data = classes(240, 2, 8);
    // A third of the positives look like the others: no threshold is perfect, and 0.5 is not best.
    let Labels::Class { index, .. } = &mut data.train.y else { panic!("classes") };
    index.iter_mut().step_by(6).for_each(|c| *c = 1);
    for (quantize, refit) in [(false, Refit::None), (true, Refit::None), (true, Refit::Full)] {
        let folder = tempfile::tempdir().unwrap();
        let (positive, share) = (Some("class 1".into()), Some("class 1=0.2".parse().unwrap()));
        let recipe = recipe().with(|r| {
            r.training.positive = positive;
            r.training.class_share = share;
            r.quantization.quantize = Some(quantize);
        });
        let summary = trained(
            &recipe.with(|r| {
                r.training.epochs = Some(12);
                r.training.refit = Some(refit);
            }),
            &data,
            folder.path(),
        );
        let (seed, test) = (&summary.seeds[0], summary.test.clone().unwrap());
        let model = AnyModel::load(&summary.model).unwrap();
        let decision = model.float().decision.clone().unwrap();
        assert_eq!((decision.positive.as_str(), Some(decision.threshold)), ("class 1", test.threshold));
        assert!((decision.threshold - 0.5).abs() > 0.01, "{decision:?}");
        let (evaluation, ..) = model.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        assert_eq!(evaluation.scores, test, "the file alone decides as the run did");
        let found = &evaluation.per_class[1];
        assert_eq!((test.f1, test.recall), (found.f1, found.recall));
        let best = metrics(folder.path()).into_iter().rev().find(|r| r.best).unwrap();
        assert_eq!(best.epoch, seed.best_epoch);
        let val = seed.val.as_ref().unwrap();
        assert!((best.val_f1.unwrap() - val.f1.unwrap()).abs() < if quantize { 0.1 } else { 1e-9 });
        if let Some(float) = &summary.model_float {
            assert!(Model::load(float).unwrap().decision.unwrap().threshold != 0.5);
        }
    }
}

#[test]
fn every_optimizer_lowers_the_loss() {
    let data = classes(80, 3, 8);
    for optimizer in Optimizer::all() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe().with(|r| {
            r.training.optimizer = Some(optimizer);
            r.training.lr = None;
            // The end of rsg is drawn, and may come early.
            r.training.epochs = Some(if optimizer == Optimizer::Rsg { 60 } else { 15 });
        });
        trained(&recipe, &data, folder.path());
        let history = metrics(folder.path());
        let last = history.last().unwrap();
        assert!(last.train_loss < 0.9 * history[0].train_loss, "{optimizer}");
    }
}

#[test]
fn early_stopping_ends_after_the_patience_and_keeps_the_best_epoch() {
    let (data, folder) = (classes(80, 2, 8), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.training.epochs = Some(400);
        r.training.patience = Some(5);
    });
    let summary = trained(&recipe, &data, folder.path());
    let seed = &summary.seeds[0];
    assert!(seed.epochs < 400);
    assert_eq!(seed.epochs, seed.best_epoch + 5);
    let history = metrics(folder.path());
    assert_eq!(history.len(), seed.epochs);
    let best = history.iter().rev().find(|r| r.best).unwrap();
    assert_eq!(best.epoch, seed.best_epoch);
    assert_eq!(best.val_accuracy, seed.val.as_ref().unwrap().accuracy);
    assert_eq!(best.val_loss, Some(seed.val.as_ref().unwrap().loss));
}

#[test]
fn a_refit_trains_on_all_sequences_for_the_epochs_its_setting_says() {
    let data = classes(80, 2, 8);
    let refit_epochs = |refit| {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe().with(|r| {
            r.training.epochs = Some(6);
            r.training.refit = Some(refit);
        });
        let summary = trained(&recipe, &data, folder.path());
        let history = metrics(folder.path());
        let refitted: Vec<_> = history.iter().filter(|r| r.pass == Pass::Refit).collect();
        assert!(refitted.iter().all(|r| r.val_loss.is_none()));
        assert!(summary.val.is_some());
        (refitted.len(), summary.seeds[0].best_epoch, std::fs::read(&summary.model).unwrap())
    };
    let (none, _, plain) = refit_epochs(Refit::None);
    let (best, chosen, _) = refit_epochs(Refit::BestEpochs);
    let (full, _, refitted) = refit_epochs(Refit::Full);
    assert_eq!((none, best, full), (0, chosen, 6));
    assert_ne!(plain, refitted);
}

#[test]
fn without_validation_the_last_epoch_is_the_result() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.preparation.val_split = Some(0.0);
        r.training.epochs = Some(5);
    });
    let summary = trained(&recipe, &data, folder.path());
    assert_eq!(summary.val, None);
    assert_eq!(summary.seeds[0].best_epoch, 5);
}

// ---- the run folder ----

#[test]
fn several_seeds_are_summarised_with_means_and_deviations() {
    let (data, folder) = (classes(60, 3, 6), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.training.seed = Some(5);
        r.training.seeds = Some(3);
        r.training.epochs = Some(4);
    });
    let summary = trained(&recipe, &data, folder.path());
    let seeds: Vec<u64> = summary.seeds.iter().map(|s| s.seed).collect();
    assert_eq!(seeds, [5, 6, 7]);
    let accuracies: Vec<f64> =
        summary.seeds.iter().map(|s| s.test.as_ref().unwrap().accuracy.unwrap()).collect();
    let mean = accuracies.iter().sum::<f64>() / 3.0;
    assert!((summary.test.as_ref().unwrap().accuracy.unwrap() - mean).abs() < 1e-12);
    assert!(summary.test_sd.as_ref().unwrap().accuracy.is_some());
    assert_eq!(metrics(folder.path()).len(), 12);
    let best = summary.seeds.iter().find(|s| s.seed == summary.best_seed).unwrap();
    assert!(
        summary.seeds.iter().all(|s| s.val.as_ref().unwrap().accuracy <= best.val.as_ref().unwrap().accuracy)
    );
    assert_eq!(std::fs::read(&summary.model).unwrap(), std::fs::read(&best.model).unwrap());
    let delivered = &summary.delivered;
    assert_eq!((delivered.seed, &delivered.val, &delivered.test), (best.seed, &best.val, &best.test));
    assert!(summary.val_sd.as_ref().unwrap().accuracy.is_some());
}

#[test]
fn the_test_set_changes_no_bit_of_the_delivered_model() {
    let data = classes(90, 3, 6);
    let mut other = data.clone();
    other.test = Some(classes(40, 3, 20).train);
    let recipe = recipe().with(|r| {
        r.training.seeds = Some(3);
        r.training.epochs = Some(6);
        r.quantization.quantize = Some(true);
    });
    let of = |data: &Dataset| {
        let folder = tempfile::tempdir().unwrap();
        let summary = trained(&recipe, data, folder.path());
        let model = std::fs::read(&summary.model).unwrap();
        (model, std::fs::read(summary.model_float.unwrap()).unwrap(), summary.best_seed, summary.test)
    };
    let (one, two) = (of(&data), of(&other));
    assert_ne!(one.3, two.3, "the test sets do not differ");
    assert_eq!((one.0, one.1, one.2), (two.0, two.1, two.2));
}

#[test]
fn all_seeds_share_a_validation_part_which_has_a_seed_of_its_own() {
    let data = classes(90, 3, 6);
    let of = |split_seed| {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe().with(|r| {
            r.preparation.split_seed = Some(split_seed);
            r.training.seeds = Some(3);
            r.training.epochs = Some(1);
        });
        let summary = trained(&recipe, &data, folder.path());
        let validated = |seed: &SeedResult| {
            let model = Model::load(&seed.model).unwrap();
            model.validated_on(&Dataset { name: model.dataset.clone(), ..data.clone() }).unwrap()
        };
        summary.seeds.iter().map(validated).collect::<Vec<_>>()
    };
    let (first, other) = (of(0), of(1));
    assert!(first.iter().all(|part| *part == first[0]));
    assert!(other.iter().all(|part| *part == other[0]));
    assert_ne!(first[0], other[0]);
}

#[test]
fn one_of_several_seeds_is_the_model_that_seed_gives_alone() {
    let data = classes(60, 2, 6);
    let (both, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let of = |seed, seeds| {
        recipe().with(|r| {
            r.training.seed = Some(seed);
            r.training.seeds = Some(seeds);
            r.training.epochs = Some(3);
        })
    };
    let two = trained(&of(1, 2), &data, both.path());
    let one = trained(&of(2, 1), &data, alone.path());
    assert_eq!(std::fs::read(&two.seeds[1].model).unwrap(), std::fs::read(&one.model).unwrap());
}

#[test]
fn the_summary_has_the_keys_of_the_train_contract() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let summary = trained(&recipe().with(|r| r.training.epochs = Some(2)), &data, folder.path());
    let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in
        ["run", "model", "cell", "params", "bytes", "epochs", "seconds", "val", "test", "test_sd", "seeds"]
    {
        assert!(json.get(key).is_some(), "{key}");
    }
    for key in ["accuracy", "f1_macro", "f1", "loss", "n"] {
        assert!(json["test"].get(key).is_some(), "{key}");
    }
    assert_eq!(json["bytes"]["total"], 4 * summary.params);
    assert!(summary.run.is_absolute() && summary.model.is_absolute());
    assert!(json["test_sd"].is_null());
    let without_test = fastgrnn::data::Dataset { test: None, ..classes(60, 2, 6) };
    let other = tempfile::tempdir().unwrap();
    assert_eq!(
        trained(&recipe().with(|r| r.training.epochs = Some(2)), &without_test, other.path()).test,
        None
    );
}

#[test]
fn the_written_configuration_is_a_recipe_that_resolves_to_itself() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.training.epochs = Some(1);
        r.training.refit = Some(Refit::Full);
    });
    trained(&recipe, &data, folder.path());
    let again = Recipe::from_toml(folder.path().join("config.toml")).unwrap();
    assert_eq!(again.resolve(&data).unwrap(), recipe.resolve(&data).unwrap());
}

// ---- refusals ----

#[test]
fn a_folder_with_a_run_is_not_overwritten() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let config = recipe().with(|r| r.training.epochs = Some(1)).resolve(&data).unwrap();
    run(&config, &data, &options(folder.path()), &mut Silent).unwrap();
    let error = run(&config, &data, &options(folder.path()), &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::Occupied { .. }));
    assert!(error.to_string().contains("resume it"));
}

#[test]
fn resuming_with_other_settings_names_the_keys_that_differ() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let config = |recipe: Recipe| recipe.resolve(&data).unwrap();
    run(&config(recipe()), &data, &options(folder.path()), &mut Stopper::after(1)).unwrap_err();
    let changed = config(recipe().with(|r| {
        r.training.lr = Some(0.5);
        r.network.hidden = Some(3);
    }));
    let resume = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
    let error = run(&changed, &data, &resume, &mut Silent).unwrap_err();
    let TrainError::ConfigChanged { differences, .. } = &error else { panic!("{error}") };
    assert_eq!(differences, &["hidden was 8, is now 3", "lr was 0.01, is now 0.5"]);
}

#[test]
fn resuming_on_other_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, mut other) = (classes(60, 2, 6), classes(60, 2, 6));
    let Labels::Class { index, .. } = &mut other.train.y else { panic!("classes") };
    index[3] = 1 - index[3];
    let config = recipe().resolve(&data).unwrap();
    run(&config, &data, &options(folder.path()), &mut Stopper::after(2)).unwrap_err();
    let resume = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
    let error = run(&config, &other, &resume, &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::DataChanged { .. }), "{error}");
}

#[test]
fn a_learning_rate_that_is_far_too_high_is_reported_as_divergence() {
    let (data, folder) = (numbers(60), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.training.optimizer = Some(Optimizer::Sgd);
        r.training.lr = Some(1e6);
        r.training.clip = Some(0.0);
        r.network.update = Some(fastgrnn::cells::Nonlinearity::Relu);
    });
    let config = recipe.resolve(&data).unwrap();
    let error = run(&config, &data, &options(folder.path()), &mut Silent).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, TrainError::Diverged { seed: 0, .. }), "{text}");
    for part in ["seed 0", "epoch 1", "`lr = 0.1`", "`clip = 1`", "`start = authors`"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn parameters_that_overflow_are_divergence_and_never_reach_a_file() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    // Tanh keeps loss and gradient finite while the head overflows.
    let recipe = recipe().with(|r| {
        r.training.optimizer = Some(Optimizer::Sgd);
        r.training.lr = Some(3e38);
        r.training.clip = Some(0.0);
        r.training.warmup = Some(0.0);
        r.training.epochs = Some(1);
        r.training.batch = Some(60);
        r.training.weight_decay = Some(1e3);
    });
    let config = recipe.resolve(&data).unwrap();
    let error = run(&config, &data, &options(folder.path()), &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { epoch: 1, batch: 1, .. }), "{error}");
    assert!(error.to_string().contains("parameter"), "{error}");
    assert!(!folder.path().join("seed-0/checkpoint.safetensors").exists());
}

/// Tries to resume the very run it watches.
struct Intruder<'a> {
    config: &'a fastgrnn::train::Config,
    data: &'a fastgrnn::data::Dataset,
    folder: &'a Path,
    refused: bool,
}

impl Observer for Intruder<'_> {
    fn epoch(&mut self, _: &EpochReport) {
        let resume = fastgrnn::train::RunOptions { resume: true, ..options(self.folder) };
        let error = run(self.config, self.data, &resume, &mut Silent).unwrap_err();
        self.refused = matches!(error, TrainError::Busy { .. }) && error.to_string().contains("in use");
    }
}

#[test]
fn a_folder_is_trained_into_by_one_at_a_time() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let config = recipe().with(|r| r.training.epochs = Some(1)).resolve(&data).unwrap();
    let mut intruder = Intruder { config: &config, data: &data, folder: folder.path(), refused: false };
    run(&config, &data, &options(folder.path()), &mut intruder).unwrap();
    assert!(intruder.refused);
    let resume = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
    run(&config, &data, &resume, &mut Silent).unwrap();
}

#[test]
fn one_class_only_is_refused() {
    let mut data = classes(30, 2, 5);
    let Labels::Class { index, .. } = &mut data.train.y else { panic!("classes") };
    index.fill(1);
    let error = recipe().resolve(&data).unwrap_err();
    assert!(matches!(error, ConfigError::OneClass { .. }));
    assert!(error.to_string().contains("'class 1'"), "{error}");
}
