//! Cross-validation: which epoch is chosen, what is reported, what is delivered.

use crate::common::{classes, metrics, numbers, recipe, trained};
use fastgrnn::data::{CrossValidation, Dataset, Labels};
use fastgrnn::model::{AnyModel, Model};
use fastgrnn::train::{EpochReport, Pass, Recipe, Refit};

fn cross_validated(folds: usize) -> Recipe {
    recipe().with(|r| {
        r.preparation.cv = Some(CrossValidation::Folds(folds));
        r.training.epochs = Some(6);
    })
}

fn of_fold(history: &[EpochReport], fold: usize) -> Vec<EpochReport> {
    history.iter().filter(|e| e.fold == Some(fold)).cloned().collect()
}

#[test]
fn a_small_set_is_cross_validated_by_default_and_a_larger_one_is_not() {
    let default = Recipe::default();
    let config = default.resolve(&classes(499, 3, 4)).unwrap();
    assert_eq!(
        (config.preparation.cv, config.training.refit),
        (CrossValidation::Folds(5), Refit::BestEpochs)
    );
    let config = default.resolve(&classes(500, 3, 4)).unwrap();
    assert_eq!((config.preparation.cv, config.training.refit), (CrossValidation::Off, Refit::None));
    // Whoever gives a key about one validation part gets one.
    for given in [
        default.clone().with(|r| r.preparation.val_split = Some(0.3)),
        default.clone().with(|r| r.preparation.val_split = Some(0.0)),
        default.clone().with(|r| r.training.patience = Some(3)),
        default.clone().with(|r| r.training.refit = Some(Refit::Full)),
    ] {
        assert_eq!(given.resolve(&classes(60, 2, 4)).unwrap().preparation.cv, CrossValidation::Off);
    }
    let own = classes(60, 2, 4).with_validation(vec![0, 1, 2, 3]);
    assert_eq!(default.resolve(&own).unwrap().preparation.cv, CrossValidation::Off);
    // Three groups allow three folds; a class in one group only allows none.
    let mut grouped = classes(60, 2, 4);
    grouped.train.group = Some((0..60).map(|i| i / 20).collect());
    assert_eq!(default.resolve(&grouped).unwrap().preparation.cv, CrossValidation::Folds(3));
    grouped.train.group = Some((0..60).map(|i| i / 10).collect());
    let Labels::Class { index, .. } = &mut grouped.train.y else { panic!("classes") };
    index.iter_mut().enumerate().for_each(|(i, class)| *class = u32::from(i < 10));
    assert_eq!(default.resolve(&grouped).unwrap().preparation.cv, CrossValidation::Off);
}

#[test]
fn a_fold_is_the_training_that_its_validation_part_alone_gives() {
    let (data, folder) = (classes(60, 3, 6), tempfile::tempdir().unwrap());
    let recipe = cross_validated(3);
    trained(&recipe, &data, folder.path());
    let history = metrics(folder.path());
    for (k, fold) in recipe.resolve(&data).unwrap().folds(&data).unwrap().into_iter().enumerate() {
        let alone = tempfile::tempdir().unwrap();
        let part = data.clone().with_validation(fold);
        let one = recipe.clone().with(|r| r.preparation.cv = Some(CrossValidation::Off));
        trained(&one, &part, alone.path());
        let figures = |e: &EpochReport| (e.train_loss, e.val_loss, e.val_accuracy, e.eligible);
        let expected: Vec<_> = metrics(alone.path()).iter().map(figures).collect();
        let found: Vec<_> = of_fold(&history, k + 1).iter().map(figures).collect();
        assert_eq!(found, expected, "fold {k}");
    }
}

#[test]
fn the_epoch_with_the_best_pooled_score_is_chosen_and_the_refit_has_as_many() {
    let (data, folder) = (classes(70, 3, 6), tempfile::tempdir().unwrap());
    let summary = trained(&cross_validated(4), &data, folder.path());
    let history = metrics(folder.path());
    let seed = &summary.seeds[0];
    let sizes: Vec<f64> = summary.cv.iter().map(|fold| fold.val.n as f64).collect();
    assert_eq!(sizes.iter().sum::<f64>(), 70.0);
    let pooled = |epoch: usize, of: fn(&EpochReport) -> f64| {
        let sum = (1..=4).map(|fold| of(&of_fold(&history, fold)[epoch - 1]) * sizes[fold - 1]);
        sum.sum::<f64>() / 70.0
    };
    let accuracy = |epoch| pooled(epoch, |e| e.val_accuracy.unwrap());
    let val = summary.val.as_ref().unwrap();
    assert_eq!(val.n, 70);
    assert!((val.accuracy.unwrap() - accuracy(seed.best_epoch)).abs() < 1e-12);
    assert!((val.loss - pooled(seed.best_epoch, |e| e.val_loss.unwrap())).abs() < 1e-12);
    assert!((1..=6).all(|epoch| accuracy(epoch) <= accuracy(seed.best_epoch) + 1e-12));
    for (k, fold) in summary.cv.iter().enumerate() {
        let report = &of_fold(&history, k + 1)[seed.best_epoch - 1];
        assert_eq!((fold.fold, fold.train), (k + 1, 70 - fold.val.n));
        assert_eq!((fold.val.accuracy, Some(fold.val.loss)), (report.val_accuracy, report.val_loss));
    }
    let refit = history.iter().filter(|e| e.pass == Pass::Refit).count();
    assert_eq!(refit, seed.best_epoch);
    let model = Model::load(&summary.model).unwrap();
    let named = Dataset { name: model.dataset.clone(), ..data };
    assert_eq!(model.trained_on(&named).len(), 70, "the delivered network saw everything");
    assert!(model.validated_on(&named).is_err());
}

#[test]
fn numbers_are_pooled_in_the_units_of_the_data() {
    let (data, folder) = (numbers(80), tempfile::tempdir().unwrap());
    let recipe = cross_validated(4).with(|r| r.training.epochs = Some(60));
    let summary = trained(&recipe, &data, folder.path());
    let (val, test) = (summary.val.as_ref().unwrap(), summary.test.as_ref().unwrap());
    // Targets have a deviation of about 600.
    assert!(val.rmse.unwrap() < 150.0 && val.r2.unwrap() > 0.9, "{val:?}");
    assert!(test.rmse.unwrap() < 150.0, "{test:?}");
    let squares: f64 = summary.cv.iter().map(|f| f.val.rmse.unwrap().powi(2) * f.val.n as f64).sum();
    assert!((val.rmse.unwrap() - (squares / 80.0).sqrt()).abs() < 1e-3);
}

#[test]
fn a_positive_class_gets_a_threshold_for_the_network_that_is_delivered() {
    let mut data = classes(240, 2, 8);
    // A third of the positives look like the others: no threshold is perfect.
    let Labels::Class { index, .. } = &mut data.train.y else { panic!("classes") };
    index.iter_mut().step_by(6).for_each(|c| *c = 1);
    for quantize in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = cross_validated(4).with(|r| {
            r.training.positive = Some("class 1".into());
            r.training.epochs = Some(12);
            r.quantization.quantize = Some(quantize);
        });
        let summary = trained(&recipe, &data, folder.path());
        let model = AnyModel::load(&summary.model).unwrap();
        let decision = model.float().decision.clone().unwrap();
        let (val, test) = (summary.val.as_ref().unwrap(), summary.test.as_ref().unwrap());
        assert_eq!(test.threshold, Some(decision.threshold));
        assert!((val.threshold.unwrap() - decision.threshold).abs() < 1e-9);
        // The truth of the test part has no confused labels: almost everything can be found.
        assert!(val.f1.unwrap() > 0.8 && test.f1.unwrap() > 0.9, "{val:?} {test:?}");
        let (evaluation, ..) = model.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        assert_eq!(&evaluation.scores, test, "the file alone decides as the run did");
    }
}

#[test]
fn contradictions_are_refused_with_what_to_do() {
    let data = classes(60, 2, 6);
    let refusal = |change: fn(&mut Recipe)| {
        let mut recipe = cross_validated(4);
        change(&mut recipe);
        recipe.resolve(&data).unwrap_err().to_string()
    };
    for (change, part) in [
        ((|r| r.preparation.val_split = Some(0.2)) as fn(&mut Recipe), "leave `val-split` out"),
        (|r| r.training.refit = Some(Refit::None), "`cv = off`"),
        (|r| r.training.patience = Some(2), "early stopping"),
        (|r| r.preparation.cv = Some(CrossValidation::Folds(61)), "at most 60"),
        (|r| r.preparation.cv = Some(CrossValidation::LeaveOneGroupOut), "`group-col`"),
        (|r| r.training.epochs = Some(1 << 20), "fewer epochs"),
    ] {
        let error = refusal(change);
        assert!(error.contains(part), "{part}: {error}");
    }
    let own = data.clone().with_validation(vec![0, 1, 2, 3]);
    let error = cross_validated(4).resolve(&own).unwrap_err().to_string();
    assert!(error.contains("its own validation part of 4"), "{error}");
}
