//! Whole training runs with targets between classes: label smoothing, mixup and a teacher.
//!
//! - learning: each of them changes the model and still learns
//! - bits: threads, interruption and resumption leave no trace
//! - refusals: teachers that do not fit, and another teacher than the run began with

use crate::common::{Stopper, classes, numbers, options, recipe, trained};
use fastgrnn::cells::CellKind;
use fastgrnn::data::{Dataset, Labels, Normalize, Sequences};
use fastgrnn::train::{Observer, Recipe, Refit, RunOptions, Silent, TeacherError, TrainError, run};
use std::path::{Path, PathBuf};

/// Generated classes, cut to one length: others cannot be mixed.
fn equal(n: usize, count: usize, steps: usize) -> Dataset {
    let mut data = classes(n, count, steps);
    for part in [Some(&mut data.train), data.test.as_mut()].into_iter().flatten() {
        let (mut x, length) = (Sequences::new(part.x.dim()), part.x.min_steps().min(steps / 2));
        (0..part.x.len()).for_each(|i| x.push(&part.x.get(i)[..length * part.x.dim()]));
        part.x = x;
    }
    data
}

/// A teacher of another cell, in another normalisation, with its classes in another order.
fn teacher(data: &Dataset, folder: &Path) -> PathBuf {
    let mut other = data.clone();
    for part in [Some(&mut other.train), other.test.as_mut()].into_iter().flatten() {
        let Labels::Class { index, names } = &mut part.y else { panic!("classes") };
        names.reverse();
        let last = names.len() as u32 - 1;
        index.iter_mut().for_each(|c| *c = last - *c);
    }
    let recipe = recipe().with(|r| {
        r.network.cell = Some(CellKind::Gru);
        r.preparation.normalize = Some(Normalize::None);
        r.network.hidden = Some(12);
        r.training.epochs = Some(20);
    });
    trained(&recipe, &other, folder).model
}

fn soft(teacher: Option<PathBuf>) -> Recipe {
    recipe().with(|r| {
        r.training.epochs = Some(6);
        r.training.seeds = Some(2);
        r.training.label_smoothing = Some(0.1);
        r.training.mixup = Some(0.3);
        r.training.teacher = teacher;
        r.preparation.augment = Some("noise=0.1,shift=2".parse().unwrap());
    })
}

fn models(folder: &Path) -> Vec<Vec<u8>> {
    [0, 1].map(|s| std::fs::read(folder.join(format!("seed-{s}/model.safetensors"))).unwrap()).to_vec()
}

// ---- learning ----

#[test]
fn each_kind_of_soft_target_changes_the_model_and_still_learns() {
    let (data, school) = (equal(150, 3, 16), tempfile::tempdir().unwrap());
    let teacher = teacher(&data, school.path());
    let plain = recipe().with(|r| r.training.epochs = Some(30));
    let kinds = [
        plain.clone(),
        plain.clone().with(|r| r.training.label_smoothing = Some(0.1)),
        plain.clone().with(|r| r.training.mixup = Some(0.2)),
        plain.clone().with(|r| r.training.teacher = Some(teacher.clone())),
        plain.with(|r| {
            r.training.teacher = Some(teacher);
            r.training.teacher_weight = Some(1.0);
        }),
    ];
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for recipe in kinds {
        let folder = tempfile::tempdir().unwrap();
        let summary = trained(&recipe, &data, folder.path());
        let accuracy = summary.test.unwrap().accuracy.unwrap();
        assert!(accuracy > 0.8, "{accuracy} with {recipe:?}");
        let model = fastgrnn::model::Model::load(&summary.model).unwrap();
        let params: Vec<u8> = model.params.iter().flat_map(|v| v.to_le_bytes()).collect();
        assert!(!seen.contains(&params), "{recipe:?}");
        seen.push(params);
    }
}

#[test]
fn a_student_can_learn_from_its_teacher_alone_though_every_label_is_wrong() {
    let (data, school) = (equal(150, 3, 16), tempfile::tempdir().unwrap());
    let teacher = Some(teacher(&data, school.path()));
    let mut wrong = data.clone();
    let Labels::Class { index, .. } = &mut wrong.train.y else { panic!("classes") };
    index.iter_mut().for_each(|c| *c = (*c + 1) % 3);
    let recipe = recipe().with(|r| {
        r.training.teacher = teacher;
        r.training.teacher_weight = Some(1.0);
        r.training.epochs = Some(30);
        r.preparation.val_split = Some(0.0);
    });
    let folder = tempfile::tempdir().unwrap();
    let accuracy = trained(&recipe, &wrong, folder.path()).test.unwrap().accuracy.unwrap();
    assert!(accuracy > 0.8, "{accuracy}");
}

#[derive(Default)]
struct Warnings(Vec<String>);

impl Observer for Warnings {
    fn warning(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}

#[test]
fn a_teacher_that_learnt_from_the_validation_part_is_reported() {
    let (data, school) = (equal(100, 2, 8), tempfile::tempdir().unwrap());
    let short = || recipe().with(|r| r.training.epochs = Some(2));
    let same = short();
    let other = short().with(|r| r.preparation.split_seed = Some(7));
    let everything = short().with(|r| r.training.refit = Some(Refit::Full));
    for (i, (recipe, warned)) in [(same, false), (other, true), (everything, true)].into_iter().enumerate() {
        let teacher = trained(&recipe, &data, &school.path().join(format!("teacher-{i}"))).model;
        let config = short().with(|r| r.training.teacher = Some(teacher)).resolve(&data).unwrap();
        let mut warnings = Warnings::default();
        run(&config, &data, &options(&school.path().join(format!("student-{i}"))), &mut warnings).unwrap();
        assert_eq!(
            warnings.0.iter().any(|text| text.contains("the teacher learnt from")),
            warned,
            "{warnings:?}",
            warnings = warnings.0
        );
    }
}

// ---- bits ----

#[test]
fn soft_runs_are_the_same_on_any_number_of_threads_and_after_any_interruption() {
    let (data, school) = (equal(60, 2, 12), tempfile::tempdir().unwrap());
    let config = soft(Some(teacher(&data, school.path()))).resolve(&data).unwrap();
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

// ---- refusals ----

#[test]
fn resuming_with_another_teacher_is_refused_and_a_moved_one_is_not() {
    let (data, school) = (equal(60, 2, 12), tempfile::tempdir().unwrap());
    let path = teacher(&data, school.path());
    let folder = tempfile::tempdir().unwrap();
    let config = |path: &Path| soft(Some(path.to_owned())).resolve(&data).unwrap();
    run(&config(&path), &data, &options(folder.path()), &mut Stopper::after(2)).unwrap_err();
    let moved = school.path().join("moved.safetensors");
    std::fs::rename(&path, &moved).unwrap();
    let resume = RunOptions { resume: true, ..options(folder.path()) };
    let error = run(&config(&moved), &data, &resume, &mut Stopper::after(2)).unwrap_err();
    assert!(matches!(error, TrainError::Interrupted { .. }), "{error}");
    let other = tempfile::tempdir().unwrap();
    let stranger = trained(&recipe().with(|r| r.training.epochs = Some(1)), &data, other.path()).model;
    let error = run(&config(&stranger), &data, &resume, &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::DataChanged { .. }), "{error}");
    assert!(error.to_string().contains("teacher"));
}

#[test]
fn a_teacher_that_does_not_fit_is_refused_before_anything_is_written() {
    let (data, school) = (equal(60, 2, 12), tempfile::tempdir().unwrap());
    let three = teacher(&equal(60, 3, 12), &school.path().join("three"));
    let values = trained(&recipe(), &numbers(60), &school.path().join("values")).model;
    let integer = recipe().with(|r| r.quantization.quantize = Some(true));
    let integer = trained(&integer, &data, &school.path().join("integer")).model;
    for (path, part) in [
        (three, "the data class 0, class 1; train a teacher on the same classes"),
        (values, "the teacher"),
        (integer, "integer"),
        (school.path().join("nowhere"), "nowhere"),
    ] {
        let out = school.path().join("out");
        let config = soft(Some(path)).resolve(&data).unwrap();
        let error = run(&config, &data, &options(&out), &mut Silent).unwrap_err();
        assert!(matches!(error, TrainError::Teacher(_) | TrainError::Model(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!out.exists());
    }
    assert!(TeacherError::Features { path: "t".into(), found: 3, expected: 2 }.to_string().contains('3'));
}
