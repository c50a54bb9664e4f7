//! The same bits with any number of threads and after any interruption.

use crate::common::{Stopper, classes, metrics, options, recipe, trained};
use fastgrnn::cells::CellKind;
use fastgrnn::data::CrossValidation;
use fastgrnn::model::Model;
use fastgrnn::train::{
    ClassWeight, EpochReport, Observer, Optimizer, Pass, Progress, Recipe, RecurrentForm, Refit, Schedule,
    SeedRecord, SequenceResults, Silent, TrainError, run,
};
use std::path::Path;

/// What a run must reproduce: the models' bytes, what each said about single sequences, and every number of
/// the metrics but the time.
type Reproduced = (Vec<Vec<u8>>, Vec<SequenceResults>, Vec<EpochReport>);

fn outcome(folder: &Path, seeds: std::ops::Range<u64>) -> Reproduced {
    let read = |s: u64, name: &str| std::fs::read(folder.join(format!("seed-{s}/{name}"))).unwrap();
    let record = |s: u64| serde_json::from_slice::<SeedRecord>(&read(s, "result.json")).unwrap();
    let models = seeds.clone().map(|s| read(s, "model.safetensors"));
    let sequences = seeds.map(|s| record(s).sequences.expect("a part was judged"));
    let mut history = metrics(folder);
    history.iter_mut().for_each(|r| r.seconds = 0.0);
    (models.collect(), sequences.collect(), history)
}

/// Everything random at once: shuffling, noise, crops, initial states, two layers, a refit, seeds.
fn eventful() -> Recipe {
    recipe().with(|r| {
        r.training.epochs = Some(5);
        r.training.seeds = Some(2);
        r.network.layers = Some(2);
        r.training.refit = Some(Refit::BestEpochs);
        r.preparation.augment = Some("noise=0.1,shift=2,crop=0.8".parse().unwrap());
        r.parameters.initial_state = Some("random".parse().unwrap());
        r.training.class_weight = Some(ClassWeight::Balanced);
    })
}

/// The same with every kind of stage; grids and supports change within a few batches.
fn staged() -> Recipe {
    eventful().with(|r| {
        r.sparsity.keep_w = Some(0.5);
        r.sparsity.keep_u = Some(0.3);
        r.sparsity.keep_head = Some(0.8);
        r.quantization.quantize = Some(true);
        r.training.stages =
            Some("dense:1/4,project:1/4:every=3:gradual,frozen:1/4,quantized:1/4".parse().unwrap());
        // An integer model has no random states.
        r.parameters.initial_state = Some("0.1".parse().unwrap());
        r.training.refit = Some(Refit::Full);
    })
}

#[test]
fn the_model_is_the_same_on_one_and_on_several_threads() {
    let data = classes(90, 3, 9);
    let models = [1, 2, 3].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        let config = staged().resolve(&data).unwrap();
        let options = fastgrnn::train::RunOptions { threads, ..options(folder.path()) };
        run(&config, &data, &options, &mut Silent).unwrap();
        outcome(folder.path(), 0..2)
    });
    assert_eq!(models[0], models[1]);
    assert_eq!(models[0], models[2]);
}

#[test]
fn stopping_after_any_batch_and_resuming_changes_nothing() {
    stop_and_resume(eventful());
}

#[test]
fn stopping_in_any_stage_and_resuming_changes_nothing() {
    stop_and_resume(staged());
}

#[test]
fn stopping_with_an_orthogonal_matrix_and_resuming_changes_nothing() {
    stop_and_resume(eventful().with(|r| {
        r.network.cell = Some(CellKind::Rnn);
        r.network.form_u = Some(RecurrentForm::Factored);
    }));
}

#[test]
fn stopping_in_any_fold_and_resuming_changes_nothing() {
    stop_and_resume(staged().with(|r| {
        r.preparation.cv = Some(CrossValidation::Folds(3));
        r.training.refit = Some(Refit::BestEpochs);
        r.training.positive = Some("class 1".into());
    }));
}

/// A class that is to be found and comes up more often than it is there, epochs that are no passes
/// over the data, and an average.
fn sampled() -> Recipe {
    let class_share = Some("class 1=0.7".parse().unwrap());
    let positive = Some("class 1".into());
    staged().with(|r| {
        r.training.class_share = class_share;
        r.training.epoch_draws = Some(70);
        r.training.positive = positive;
        r.training.batch = Some(12);
        r.training.ema = Some(0.9);
    })
}

#[test]
fn stopping_a_sampled_run_and_resuming_changes_nothing() {
    stop_and_resume(sampled());
}

/// A learning rate and an average that depend on validation, also in the refit.
fn with_plateaus() -> Recipe {
    staged().with(|r| {
        r.training.optimizer = Some(Optimizer::Asgd);
        r.training.lr = Some(2.0);
        r.training.schedule = Some(Schedule::Plateau);
        r.training.plateau_epochs = Some(1);
        r.training.plateau_factor = Some(0.25);
        r.training.refit = Some(Refit::Full);
    })
}

#[test]
fn stopping_a_run_with_plateaus_and_resuming_changes_nothing() {
    stop_and_resume(with_plateaus());
}

#[test]
fn stopping_a_run_with_a_drawn_end_and_resuming_changes_nothing() {
    stop_and_resume(eventful().with(|r| {
        r.training.optimizer = Some(Optimizer::Rsg);
        r.training.refit = Some(Refit::Full);
    }));
}

#[test]
fn the_learning_rate_falls_at_plateaus_and_the_refit_repeats_its_falls() {
    let (data, folder) = (classes(80, 2, 8), tempfile::tempdir().unwrap());
    let recipe = with_plateaus().with(|r| {
        r.training.warmup = Some(0.0);
        r.training.epochs = Some(20);
        r.training.seeds = Some(1);
    });
    trained(&recipe, &data, folder.path());
    let history = metrics(folder.path());
    let of = |pass| history.iter().filter(move |r| r.pass == pass);
    let losses: Vec<f64> = of(Pass::Choose).map(|r| r.val_loss.unwrap()).collect();
    let rates = |pass| of(pass).map(|r| r.lr).collect::<Vec<f64>>();
    let (mut lowest, mut lr, mut expected) = (f64::INFINITY, 2.0, Vec::new());
    for loss in losses {
        expected.push(lr);
        if loss >= lowest {
            lr *= 0.25;
        }
        lowest = lowest.min(loss);
    }
    assert!(expected.iter().any(|&lr| lr < 2.0), "a learning rate of 2 meets a plateau");
    assert_eq!(rates(Pass::Choose), expected);
    assert_eq!(rates(Pass::Refit), expected);
}

#[test]
fn an_average_keeps_the_support_and_is_what_validation_saw() {
    let data = classes(80, 2, 8);
    let recipe = |ema| {
        recipe().with(|r| {
            r.sparsity.keep_u = Some(0.3);
            r.training.stages = Some("dense:1/3,project:1/3:every=3,frozen:1/3".parse().unwrap());
            r.training.epochs = Some(9);
            r.training.ema = ema;
        })
    };
    let models = [None, Some(0.0), Some(0.8)].map(|ema| {
        let folder = tempfile::tempdir().unwrap();
        let summary = trained(&recipe(ema), &data, folder.path());
        let model = Model::load(&summary.model).unwrap();
        let u = model.network.layout().view("layer0.u").unwrap().range();
        assert_eq!(model.params[u].iter().filter(|v| **v != 0.0).count(), 20, "64 x 0.3, rounded up");
        let best = metrics(folder.path()).into_iter().rev().find(|r| r.best).unwrap();
        assert_eq!(best.val_loss, Some(summary.val.unwrap().loss));
        model.params
    });
    assert_eq!(models[0], models[1]);
    assert_ne!(models[0], models[2]);
}

#[test]
fn an_epoch_goes_through_as_many_sequences_as_it_draws() {
    struct Batches(usize);
    impl Observer for Batches {
        fn progress(&mut self, at: &Progress) {
            self.0 = at.batches;
        }
    }
    let data = classes(90, 3, 6);
    for (draws, batches) in [(None, 9), (Some(20), 3), (Some(300), 38)] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe().with(|r| {
            r.training.epoch_draws = draws;
            r.training.batch = Some(8);
            r.training.epochs = Some(1);
        });
        let mut seen = Batches(0);
        run(&recipe.resolve(&data).unwrap(), &data, &options(folder.path()), &mut seen).unwrap();
        assert_eq!(seen.0, batches, "{draws:?}");
    }
}

fn stop_and_resume(recipe: Recipe) {
    let data = classes(60, 2, 8);
    let config = recipe.resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    let mut counter = Stopper::after(usize::MAX);
    run(&config, &data, &options(whole.path()), &mut counter).unwrap();
    let expected = outcome(whole.path(), 0..2);
    let total = counter.asked;
    assert!(total > 20, "{total}");
    for every in [1, 3, 7] {
        let folder = tempfile::tempdir().unwrap();
        let mut interruptions = 0;
        loop {
            let options = fastgrnn::train::RunOptions { resume: interruptions > 0, ..options(folder.path()) };
            match run(&config, &data, &options, &mut Stopper::after(every)) {
                Err(TrainError::Interrupted { out, .. }) => assert!(out.is_absolute()),
                other => {
                    other.unwrap();
                    break;
                }
            }
            interruptions += 1;
        }
        assert!(interruptions >= total / every - 1, "{interruptions}");
        assert_eq!(outcome(folder.path(), 0..2), expected);
    }
}

/// Dies in the middle of a batch, leaving the folder as a kill would.
struct Killed {
    left: usize,
}

impl Observer for Killed {
    fn progress(&mut self, _: &Progress) {
        assert!(self.left > 0, "killed");
        self.left -= 1;
    }
}

#[test]
fn dying_at_any_point_and_resuming_changes_nothing() {
    let data = classes(60, 2, 8);
    let recipe = eventful().with(|r| r.training.checkpoint_every = Some(0.0));
    let config = recipe.resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let expected = outcome(whole.path(), 0..2);
    for left in [0, 5, 11, 17, 23, 40] {
        let folder = tempfile::tempdir().unwrap();
        for resume in [false, true] {
            let options = fastgrnn::train::RunOptions { resume, ..options(folder.path()) };
            let death = std::panic::catch_unwind(|| run(&config, &data, &options, &mut Killed { left }));
            assert!(death.is_err() || left >= 40);
        }
        // What a kill in the middle of a write leaves behind.
        let halves = [folder.path(), &folder.path().join("seed-0")].map(|place| place.join(".writing-half"));
        halves.iter().for_each(|half| std::fs::write(half, b"half").unwrap());
        let options = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
        run(&config, &data, &options, &mut Silent).unwrap();
        assert_eq!(outcome(folder.path(), 0..2), expected, "killed after {left} batches");
        assert!(halves.iter().all(|half| !half.exists()), "halves of files are removed");
    }
}

#[test]
fn dying_between_checkpoints_inside_an_epoch_and_resuming_changes_nothing() {
    let data = classes(60, 2, 8);
    // Due after every batch: each checkpoint but the last of an epoch lies inside one.
    let recipe = staged().with(|r| r.training.checkpoint_every = Some(1e-9));
    let config = recipe.resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let expected = outcome(whole.path(), 0..2);
    for left in [1, 2, 6, 13, 28] {
        let folder = tempfile::tempdir().unwrap();
        let options = |resume| fastgrnn::train::RunOptions { resume, ..options(folder.path()) };
        let first = options(false);
        let death = std::panic::catch_unwind(|| run(&config, &data, &first, &mut Killed { left }));
        assert!(death.is_err());
        assert!(folder.path().join("seed-0/checkpoint.safetensors").exists());
        run(&config, &data, &options(true), &mut Silent).unwrap();
        assert_eq!(outcome(folder.path(), 0..2), expected, "killed after {left} batches");
    }
}

#[test]
fn resuming_a_finished_run_returns_its_summary_without_training() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let config = recipe().with(|r| r.training.epochs = Some(3)).resolve(&data).unwrap();
    let first = run(&config, &data, &options(folder.path()), &mut Silent).unwrap();
    let again = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
    let second = run(&config, &data, &again, &mut Killed { left: 0 }).unwrap();
    assert_eq!(first, second);
}
