//! Randomised stochastic gradient: plain steps that end where the draw says.

use crate::common::{classes, metrics, recipe, trained};
use fastgrnn::model::Model;
use fastgrnn::train::{ConfigError, Optimizer, Recipe, Refit, Schedule, Summary};
use std::path::Path;

fn rsg() -> Recipe {
    recipe().with(|r| {
        r.training.optimizer = Some(Optimizer::Rsg);
        r.training.schedule = Some(Schedule::Constant);
        r.training.warmup = Some(0.0);
        r.training.lr = Some(0.1);
        r.training.epochs = Some(12);
    })
}

fn params(summary: &Summary) -> Vec<f32> {
    Model::load(&summary.model).unwrap().params
}

#[test]
fn the_result_is_that_of_plain_steps_up_to_the_drawn_one() {
    let (data, folder) = (classes(30, 2, 6), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    // One batch in an epoch, and no validation, so that plain descent can be ended after any step.
    let whole = |r: &mut Recipe| {
        r.training.batch = Some(30);
        r.preparation.val_split = Some(0.0);
        r.preparation.augment = Some("noise=0.1".parse().unwrap());
    };
    let mut stops = Vec::new();
    for seed in 0..4 {
        let drawn = rsg().with(|r| {
            whole(r);
            r.training.seed = Some(seed);
        });
        let result = trained(&drawn, &data, &at(&format!("rsg-{seed}")));
        let stop = result.seeds[0].stopped_after.expect("rsg draws a step");
        assert!((1..=12).contains(&stop) && result.seeds[0].epochs == stop as usize);
        let plain = drawn.with(|r| {
            r.training.optimizer = Some(Optimizer::Sgd);
            r.training.epochs = Some(stop as usize);
            r.training.clip = Some(0.0);
        });
        let expected = trained(&plain, &data, &at(&format!("sgd-{seed}")));
        assert_eq!(expected.seeds[0].stopped_after, None);
        assert_eq!(params(&result), params(&expected), "seed {seed}, {stop} steps");
        stops.push(stop);
    }
    stops.dedup();
    assert!(stops.len() > 1, "{stops:?}");
}

#[test]
fn only_the_last_epoch_is_delivered_and_it_may_be_cut_short() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let several = rsg().with(|r| {
        r.training.seeds = Some(6);
        r.training.refit = Some(Refit::Full);
    });
    let summary = trained(&several, &data, folder.path());
    let history = metrics(folder.path());
    // 48 sequences to train on make 5 batches.
    for seed in &summary.seeds {
        let own: Vec<_> = history.iter().filter(|report| report.seed == seed.seed).collect();
        let refit = own.iter().filter(|report| report.val_loss.is_none()).count() as u64;
        assert!(own.iter().all(|report| report.epoch <= report.epochs));
        let chosen: Vec<_> = own.iter().filter(|report| report.val_loss.is_some()).collect();
        assert!(chosen.iter().all(|report| report.eligible == (report.epoch == report.epochs)));
        assert_eq!(seed.best_epoch, chosen.len());
        let stop = seed.stopped_after.unwrap();
        // The refit has all 60 sequences, and a draw of its own.
        assert!(stop.div_ceil(6) == refit && stop <= 72, "{stop} {refit}");
    }
    let is_cut = summary.seeds.iter().any(|seed| !seed.stopped_after.unwrap().is_multiple_of(6));
    assert!(is_cut, "some seed ends within an epoch");
    assert!(Path::new(&summary.model).exists());
}

#[test]
fn what_chooses_an_epoch_or_needs_the_last_steps_is_refused() {
    let data = classes(60, 2, 6);
    let message =
        |change: &dyn Fn(&mut Recipe)| rsg().with(|r| change(r)).resolve(&data).unwrap_err().to_string();
    for (found, part) in [
        (
            message(&|r| r.preparation.cv = Some("3".parse().unwrap())),
            "rsg draws its last step; use `cv = off`",
        ),
        (message(&|r| r.training.refit = Some(Refit::BestEpochs)), "rsg chooses no epoch"),
        (message(&|r| r.training.patience = Some(3)), "leave `patience` out"),
        (message(&|r| r.training.schedule = Some(Schedule::Plateau)), "`schedule = constant`"),
        (message(&|r| r.training.ema = Some(0.9)), "rsg delivers the parameters of a step"),
        (message(&|r| r.training.momentum = Some(0.5)), "rsg has no momentum"),
        (message(&|r| r.sparsity.keep_u = Some(0.5)), "rsg may end in any stage"),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let small =
        Recipe::default().with(|r| r.training.optimizer = Some(Optimizer::Rsg)).resolve(&data).unwrap();
    assert!(!small.preparation.cv.is_on() && small.training.clip == 0.0 && small.training.lr == 0.1);
    let rounded = rsg().with(|r| r.quantization.quantize = Some(true)).resolve(&data).unwrap();
    assert_eq!(rounded.training.stages.to_string(), "dense:1");
    let error =
        rsg().with(|r| r.training.stages = Some("dense:1/2,project:1/2".parse().unwrap())).resolve(&data);
    assert!(matches!(error, Err(ConfigError::Stages { .. })));
}
