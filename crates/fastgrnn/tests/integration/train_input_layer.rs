//! Whole training runs of networks with an input layer, which take a step for several frames.

use crate::common::{Stopper, classes, numbers, options, recipe, trained};
use fastgrnn::cells::{CellKind, MatrixForm, Nonlinearity};
use fastgrnn::data::{CrossValidation, Dataset, Normalize, Sequences};
use fastgrnn::model::{AnyModel, Model, ModelError};
use fastgrnn::settings::ReadoutSetting;
use fastgrnn::train::{Recipe, RunOptions, Silent, TrainError, run};
use fastgrnn::window::Window;
use std::path::Path;

const LAYER: &str = "frames=3,stride=2,units=6,activation=relu";

fn with_layer(layer: &str) -> Recipe {
    recipe().with(|r| {
        r.network.input_layer = Some(layer.parse().unwrap());
        r.training.epochs = Some(20);
    })
}

fn models(folder: &Path) -> Vec<Vec<u8>> {
    [0, 1].map(|s| std::fs::read(folder.join(format!("seed-{s}/model.safetensors"))).unwrap()).to_vec()
}

// ---- learning ----

#[test]
fn every_kind_of_training_works_with_an_input_layer() {
    let data = classes(150, 3, 16);
    let plain = with_layer(LAYER);
    let kinds = [
        plain.clone(),
        plain.clone().with(|r| r.training.extra_loss_steps = Some(2)),
        plain.clone().with(|r| r.network.readout = Some(ReadoutSetting::Mean)),
        plain.clone().with(|r| r.preparation.augment = Some("noise=0.1,shift=3,crop=0.9".parse().unwrap())),
        plain.clone().with(|r| r.preparation.cv = Some(CrossValidation::Folds(2))),
        plain.clone().with(|r| (r.network.cell, r.network.layers) = (Some(CellKind::Gru), Some(2))),
        plain.clone().with(|r| (r.sparsity.keep_w, r.sparsity.keep_u) = (Some(0.5), Some(0.5))),
        plain.clone().with(|r| r.parameters.initial_state = Some("random".parse().unwrap())),
        plain.with(|r| r.training.layer_dropout = Some(0.1)),
    ];
    for recipe in kinds {
        let folder = tempfile::tempdir().unwrap();
        let summary = trained(&recipe, &data, folder.path());
        let accuracy = summary.test.unwrap().accuracy.unwrap();
        assert!(accuracy > 0.75, "{accuracy} with {recipe:?}");
    }
}

#[test]
fn numbers_are_learnt_behind_an_input_layer() {
    let folder = tempfile::tempdir().unwrap();
    let summary = trained(&with_layer("frames=2,stride=2,units=4"), &numbers(200), folder.path());
    let r2 = summary.test.unwrap().r2.unwrap();
    assert!(r2 > 0.8, "{r2}");
}

#[test]
fn the_network_is_what_the_setting_says_and_the_file_keeps_it() {
    let data = classes(60, 2, 9);
    let folder = tempfile::tempdir().unwrap();
    let recipe = with_layer("frames=4,stride=3,units=5,activation=tanh").with(|r| {
        r.training.epochs = Some(1);
        r.sparsity.keep_w = Some(0.5);
    });
    let model = Model::load(&trained(&recipe, &data, folder.path()).model).unwrap();
    let network = &model.network;
    assert_eq!(network.window, Window { frames: 4, stride: 3 });
    assert_eq!((network.input(), network.step_input(), network.layers.len()), (2, 8, 2));
    let projection = network.input_layer().unwrap();
    assert_eq!((projection.kind, projection.form_u), (CellKind::Rnn, MatrixForm::Absent));
    assert_eq!((projection.hidden, projection.update), (5, Nonlinearity::Tanh));
    assert_eq!((network.main_cell().kind, network.hidden()), (CellKind::FastGrnn, 8));
    let layout = network.layout();
    let zeros = |name: &str| {
        let view = layout.view(name).unwrap();
        model.params[view.range()].iter().filter(|v| **v == 0.0).count() * 2 / view.len()
    };
    assert_eq!((zeros("layer0.w"), zeros("layer1.w")), (0, 1), "the input layer stays dense");
    assert_eq!(model.normalizer.mean.len(), 2);

    // The last frames count only if a whole stride of them is there, and nothing after a step looks ahead.
    let mut x = Sequences::new(2);
    let frames: Vec<f32> = (0..24).map(|i| (i as f32).sin()).collect();
    [18, 20, 22, 24].into_iter().for_each(|numbers| x.push(&frames[..numbers]));
    let predictions = model.predict(&x, 1).unwrap();
    assert_eq!(predictions.row(0), predictions.row(1));
    assert_eq!(predictions.row(1), predictions.row(2));
    assert_ne!(predictions.row(2), predictions.row(3));
}

#[test]
fn teacher_and_student_may_have_different_windows() {
    let (data, school) = (classes(150, 3, 16), tempfile::tempdir().unwrap());
    let teacher = with_layer("frames=5,stride=5,units=8").with(|r| {
        r.preparation.normalize = Some(Normalize::None);
    });
    let teacher = trained(&teacher, &data, &school.path().join("teacher")).model;
    for (name, student) in [("with", with_layer(LAYER)), ("without", recipe())] {
        let student = student.with(|r| {
            r.training.teacher = Some(teacher.clone());
            r.training.teacher_weight = Some(1.0);
            r.training.epochs = Some(30);
        });
        let accuracy = trained(&student, &data, &school.path().join(name)).test.unwrap().accuracy.unwrap();
        assert!(accuracy > 0.75, "{accuracy} {name}");
    }
    let short = classes(60, 3, 3);
    let student = recipe().with(|r| r.training.teacher = Some(teacher.clone())).resolve(&short).unwrap();
    let error = run(&student, &short, &options(&school.path().join("short")), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("takes a step for every 5 frames"), "{error}");
}

// ---- bits ----

#[test]
fn runs_are_the_same_on_any_number_of_threads_and_after_any_interruption() {
    let data = classes(60, 2, 12);
    let recipe = with_layer(LAYER).with(|r| {
        r.training.epochs = Some(6);
        r.training.seeds = Some(2);
        r.preparation.augment = Some("noise=0.1,shift=2".parse().unwrap());
    });
    let config = recipe.resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let expected = models(whole.path());
    let threaded = tempfile::tempdir().unwrap();
    run(&config, &data, &RunOptions { threads: 3, ..options(threaded.path()) }, &mut Silent).unwrap();
    assert_eq!(models(threaded.path()), expected);
    let folder = tempfile::tempdir().unwrap();
    let mut interruptions = 0;
    loop {
        let options = RunOptions { resume: interruptions > 0, ..options(folder.path()) };
        match run(&config, &data, &options, &mut Stopper::after(7)) {
            Err(TrainError::Interrupted { .. }) => interruptions += 1,
            other => break drop(other.unwrap()),
        }
    }
    assert!(interruptions > 3, "{interruptions}");
    assert_eq!(models(folder.path()), expected);
}

// ---- integers ----

#[test]
fn integer_models_with_an_input_layer_are_trained_stored_and_read() {
    let data = classes(150, 3, 16);
    let folder = tempfile::tempdir().unwrap();
    let recipe = with_layer(LAYER).with(|r| {
        r.training.epochs = Some(30);
        r.quantization.quantize = Some(true);
    });
    let summary = trained(&recipe, &data, folder.path());
    let accuracy = summary.test.unwrap().accuracy.unwrap();
    assert!(accuracy > 0.75, "{accuracy}");
    let AnyModel::Integer(model) = AnyModel::load(&summary.model).unwrap() else { panic!("integers") };
    assert_eq!(model.network.window, Window { frames: 3, stride: 2 });
    assert_eq!(model.view().window().stride, 2);
    let test = data.test.as_ref().unwrap();
    let (integer, _, _) = model.evaluate(test, 1).unwrap();
    assert_eq!(integer.scores.accuracy.unwrap(), accuracy);
    let (float, _) = model.model.evaluate(test, 1).unwrap();
    assert!((float.scores.accuracy.unwrap() - accuracy).abs() < 0.05);
    let copy = folder.path().join("copy.safetensors");
    model.save(&copy).unwrap();
    assert_eq!(AnyModel::load(&copy).unwrap(), AnyModel::Integer(model));
}

// ---- refusals ----

#[test]
fn sequences_shorter_than_the_stride_are_refused() {
    let mut data = classes(60, 2, 9);
    let refused = |recipe: Recipe, data: &Dataset| recipe.resolve(data).unwrap_err().to_string();
    let text = refused(with_layer("frames=12,stride=12,units=2"), &data);
    assert!(text.contains("training set has"), "{text}");
    assert!(text.contains("the stride of `input-layer` is 12"), "{text}");
    let crop = with_layer("frames=8,stride=8,units=2")
        .with(|r| r.preparation.augment = Some("crop=0.5".parse().unwrap()));
    let text = refused(crop, &data);
    assert!(text.contains("(`augment crop` leaves"), "{text}");
    let test = data.test.as_mut().unwrap();
    let mut x = Sequences::new(2);
    (0..test.len()).for_each(|i| x.push(if i == 7 { &[0.0; 6] } else { test.x.get(i) }));
    test.x = x;
    let text = refused(with_layer("frames=4,stride=4,units=2"), &data);
    assert!(text.contains("sequence 7 of the test set has 3 frames"), "{text}");

    let folder = tempfile::tempdir().unwrap();
    data.test = None;
    let recipe = with_layer("frames=4,stride=4,units=2").with(|r| r.training.epochs = Some(1));
    let model = AnyModel::load(&trained(&recipe, &data, folder.path()).model).unwrap();
    let mut x = Sequences::new(2);
    x.push(&[0.0; 8]);
    x.push(&[0.0; 6]);
    let error = model.float().predict(&x, 1).unwrap_err();
    assert!(matches!(error, ModelError::Short { index: 1, frames: 3, stride: 4 }), "{error}");
}
