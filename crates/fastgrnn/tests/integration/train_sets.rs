//! Several labels a sequence: what is learnt, the threshold, the same bits after any stop.

use crate::common::{Stopper, metrics, options};
use fastgrnn::data::{CrossValidation, Dataset, Examples, Labels, Request, Sequences, TaskKind, load_bytes};
use fastgrnn::model::{Model, Task};
use fastgrnn::report::run_report;
use fastgrnn::train::{Recipe, RunOptions, Silent, TrainError, run};

/// Texts whose labels are the animals in them; some have none.
fn texts(n: usize) -> Dataset {
    let animals = ["cat", "dog", "cow"];
    let rows: String = (0..n)
        .map(|i| {
            let chosen: Vec<&str> =
                (0..3).filter(|k| (i * 5 / 3) >> k & 1 == 1).map(|k| animals[k]).collect();
            format!("the {} ran number {i}\t{}\n", chosen.join(" and the "), chosen.join("|"))
        })
        .collect();
    let mut request = Request::default().with_data(|data| {
        data.label_col = Some("label".into());
        data.test_split = Some(0.2);
    });
    request.text.text_col = Some("text".into());
    request.text.task = Some(TaskKind::MultiLabel);
    load_bytes("animals.tsv", format!("text\tlabel\n{rows}").as_bytes(), &request).unwrap()
}

/// Two features, each of which is a wave or nothing: a label for each wave.
fn waves(n: usize) -> Dataset {
    let mut x = Sequences::new(2);
    let mut sets = fastgrnn::batch::Sets::default();
    for i in 0..n {
        let is_on = |k: usize| i >> k & 1 == 1;
        let value =
            |t: usize, k: usize| if is_on(k) { ((t * (k + 1)) as f32).sin() } else { 0.01 * i as f32 };
        x.push(&(0..12).flat_map(|t| [value(t, 0), value(t, 1)]).collect::<Vec<f32>>());
        sets.push(&(0..2).filter(|&k| is_on(k)).map(|k| k as u32).collect::<Vec<u32>>());
    }
    let names = vec!["slow".into(), "fast".into()];
    let y = Labels::Sets { sets, names, unseen: Vec::new() };
    Dataset::new("waves", Examples::new(x, y))
}

fn recipe() -> Recipe {
    Recipe::default().with(|r| {
        r.preparation.cv = Some(CrossValidation::Off);
        r.network.hidden = Some(12);
        r.training.epochs = Some(25);
        r.training.batch = Some(10);
        r.training.lr = Some(0.02);
    })
}

#[test]
fn labels_of_texts_are_learnt_and_the_file_scores_the_same() {
    let (data, folder) = (texts(300), tempfile::tempdir().unwrap());
    let config = recipe().resolve(&data).unwrap();
    let outcome = run(&config, &data, &options(folder.path()), &mut Silent).unwrap();
    let summary = &outcome.summary;
    let test = summary.test.as_ref().unwrap();
    let sets = test.sets.as_ref().unwrap();
    assert!(sets.micro_f1.unwrap() > 0.98 && sets.macro_f1.unwrap() > 0.98, "{test:?}");
    assert!(test.accuracy.is_none() && test.threshold.is_some(), "{test:?}");
    let model = Model::load(&summary.model).unwrap();
    let Task::Sets { labels, threshold } = &model.task else { panic!("sets") };
    assert_eq!((labels.join(" "), Some(*threshold)), ("cat cow dog".into(), test.threshold));
    let (again, _) = model.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
    assert_eq!(again.scores.sets, test.sets);
    assert!(metrics(folder.path()).iter().all(|epoch| epoch.val_micro_f1.is_some()));
    let predicted = model.predict_sets(&data.train.x, 1).unwrap();
    let Labels::Sets { sets, .. } = &data.train.y else { panic!("sets") };
    let is_right = |i: &usize| {
        let mut found: Vec<u32> = predicted[*i].labels().collect();
        found.sort_unstable();
        found == sets.get(*i)
    };
    assert!((0..data.train.len()).filter(is_right).count() > 230);
    let page = run_report(summary, &config, &outcome.records, &outcome.model, &data, "train").html();
    for part in ["micro F1", "precision@5", "nDCG@3", "sequences with each label"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Confusion"));
}

#[test]
fn a_training_is_the_same_on_any_number_of_threads_and_after_any_stop() {
    let data = texts(120);
    let config = recipe().with(|r| r.training.epochs = Some(4)).resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let bytes = |folder: &std::path::Path| std::fs::read(folder.join("seed-0/model.safetensors")).unwrap();
    let stopped = tempfile::tempdir().unwrap();
    let interrupted = RunOptions { threads: 2, ..options(stopped.path()) };
    let error = run(&config, &data, &interrupted, &mut Stopper::after(11));
    assert!(matches!(error, Err(TrainError::Interrupted { .. })));
    let resumed = RunOptions { resume: true, ..options(stopped.path()) };
    run(&config, &data, &resumed, &mut Silent).unwrap();
    assert_eq!(bytes(whole.path()), bytes(stopped.path()));
}

#[test]
fn small_sets_are_cross_validated_with_one_threshold() {
    let (data, folder) = (waves(64), tempfile::tempdir().unwrap());
    let config =
        recipe().with(|r| r.preparation.cv = Some(CrossValidation::Folds(4))).resolve(&data).unwrap();
    let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
    let val = summary.val.unwrap();
    assert!(val.sets.as_ref().unwrap().micro_f1.unwrap() > 0.9, "{val:?}");
    assert_eq!((val.n, summary.cv.len()), (64, 4));
    let model = Model::load(&summary.model).unwrap();
    assert_eq!(model.threshold_of_sets(), val.threshold);
}

#[test]
fn settings_about_single_classes_are_refused_for_sets() {
    let data = waves(32);
    let error =
        |change: &dyn Fn(&mut Recipe)| recipe().with(|r| change(r)).resolve(&data).unwrap_err().to_string();
    assert!(error(&|r| r.training.positive = Some("slow".into())).contains("positive"));
    assert!(error(&|r| r.training.label_smoothing = Some(0.1)).contains("label-smoothing"));
    assert!(
        error(&|r| r.training.loss = Some(fastgrnn::net::Loss::SoftmaxCrossEntropy))
            .contains("binary-cross-entropy")
    );
    assert!(error(&|r| r.quantization.quantize = Some(true)).contains("no integer form"));
}

#[test]
fn pooled_states_learn_and_refuse_what_needs_the_last_state() {
    use fastgrnn::settings::ReadoutSetting;
    let data = texts(200);
    for readout in [ReadoutSetting::Mean, ReadoutSetting::Max] {
        let folder = tempfile::tempdir().unwrap();
        let pooled = recipe().with(|r| r.network.readout = Some(readout));
        let config = pooled.resolve(&data).unwrap();
        let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
        let test = summary.test.unwrap();
        assert!(test.sets.as_ref().unwrap().micro_f1.unwrap() > 0.95, "{readout:?}: {test:?}");
        let (again, _) =
            Model::load(&summary.model).unwrap().evaluate(data.test.as_ref().unwrap(), 2).unwrap();
        assert_eq!(again.scores.sets, test.sets);
        let extra = pooled.clone().with(|r| r.training.extra_loss_steps = Some(1));
        assert!(extra.resolve(&data).unwrap_err().to_string().contains("readout = last"));
    }
}
