//! The run folder: replacing a run, settings that were edited, files that are lost or cannot be written.

use crate::common::{Stopper, classes, metrics, options, recipe};
use fastgrnn::data::Dataset;
use fastgrnn::train::{
    Config, EpochReport, Observer, Progress, RunOptions, Silent, TrainError, run, run_anew,
};
use std::path::Path;

fn resuming(folder: &Path) -> RunOptions {
    RunOptions { resume: true, ..options(folder) }
}

fn config(lr: f64, data: &Dataset) -> Config {
    recipe().with(|r| r.training.lr = Some(lr)).resolve(data).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let list = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = list.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_can_be_replaced_by_another() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let out = folder.path();
    let (first, second) = (config(0.01, &data), config(0.002, &data));
    let two = recipe().with(|r| r.training.seeds = Some(2)).resolve(&data).unwrap();
    run(&two, &data, &options(out), &mut Silent).unwrap();
    assert!(matches!(run(&second, &data, &options(out), &mut Silent), Err(TrainError::Occupied { .. })));
    let replaced = run_anew(&second, &data, &options(out), &mut Silent).unwrap();
    assert!(!out.join("seed-1").exists(), "nothing of the old run is left");
    let fresh = tempfile::tempdir().unwrap();
    let expected = run(&second, &data, &options(fresh.path()), &mut Silent).unwrap();
    assert_eq!(replaced.model, expected.model);
    assert_eq!(names(out), names(fresh.path()));
    // A folder without a run is simply trained into.
    run_anew(&first, &data, &options(&fresh.path().join("new")), &mut Silent).unwrap();
}

#[test]
fn a_folder_with_other_files_or_in_use_is_not_replaced() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let out = folder.path();
    let config = config(0.01, &data);
    run(&config, &data, &options(out), &mut Silent).unwrap();
    for other in ["notes.txt", "seed-0/notes.txt", "plots/mine.svg", "seed-x/model.safetensors"] {
        let path = out.join(other);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine").unwrap();
        let before = names(out);
        match run_anew(&config, &data, &options(out), &mut Silent) {
            Err(error @ TrainError::OtherFiles { .. }) => {
                let shown = if other.starts_with("seed-x") { "seed-x" } else { other };
                assert!(error.to_string().contains(shown), "{error}");
            }
            result => panic!("{other}: {result:?}"),
        }
        assert_eq!(names(out), before, "nothing was removed");
        std::fs::remove_file(&path).unwrap();
        let _ = std::fs::remove_dir(path.parent().unwrap());
    }
    let lock = std::fs::File::options().write(true).open(out.join(".lock")).unwrap();
    lock.try_lock().unwrap();
    assert!(matches!(run_anew(&config, &data, &options(out), &mut Silent), Err(TrainError::Busy { .. })));
    assert!(out.join("model.safetensors").exists());
    drop(lock);
    run_anew(&config, &data, &options(out), &mut Silent).unwrap();
}

#[test]
fn settings_that_were_edited_between_stop_and_resume_are_found() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let out = folder.path();
    let (before, edited) = (config(0.01, &data), config(0.05, &data));
    let stopped = run(&before, &data, &options(out), &mut Stopper::after(7));
    assert!(matches!(stopped, Err(TrainError::Interrupted { .. })));
    let refused = || match run(&edited, &data, &resuming(out), &mut Silent) {
        Err(TrainError::ConfigChanged { differences, .. }) => {
            assert_eq!(differences, ["lr was 0.01, is now 0.05"]);
        }
        result => panic!("{result:?}"),
    };
    let replace_config = |config: &Config| std::fs::write(out.join("config.toml"), config.to_toml()).unwrap();
    replace_config(&edited);
    refused();
    replace_config(&before);
    run(&before, &data, &resuming(out), &mut Silent).unwrap();
    // A finished seed remembers its settings, too.
    replace_config(&edited);
    refused();
}

#[test]
fn epochs_that_were_cut_from_the_metrics_come_back() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let out = folder.path();
    let config = config(0.01, &data);
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let timeless = |folder: &Path| -> Vec<EpochReport> {
        let mut all = metrics(folder);
        all.iter_mut().for_each(|report| report.seconds = 0.0);
        all
    };
    let stopped = run(&config, &data, &options(out), &mut Stopper::after(17));
    assert!(matches!(stopped, Err(TrainError::Interrupted { .. })));
    assert!(metrics(out).len() >= 2);
    for text in ["", "{\"seed\": 0, \"pa"] {
        std::fs::write(out.join("metrics.jsonl"), text).unwrap();
        let _ = run(&config, &data, &resuming(out), &mut Stopper::after(0));
        assert!(metrics(out).len() >= 2, "they come from the checkpoint");
    }
    std::fs::remove_file(out.join("metrics.jsonl")).unwrap();
    let outcome = run(&config, &data, &resuming(out), &mut Silent).unwrap();
    assert_eq!(timeless(out), timeless(whole.path()));
    assert_eq!(outcome.records[0].history.len(), 4, "the report has them, too");
}

/// Puts folders where files are to be written, as soon as training has begun.
struct Obstacle<'a> {
    out: &'a Path,
    warnings: Vec<String>,
}

impl Observer for Obstacle<'_> {
    fn progress(&mut self, _: &Progress) {
        let checkpoint = self.out.join("seed-0/checkpoint.safetensors");
        std::fs::create_dir_all(checkpoint.join("inside")).unwrap();
    }

    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_a_warning_and_a_result_an_error() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let out = folder.path();
    let recipe = recipe().with(|r| r.training.checkpoint_every = Some(0.0));
    let config = recipe.resolve(&data).unwrap();
    let mut observer = Obstacle { out, warnings: Vec::new() };
    let outcome = run(&config, &data, &options(out), &mut observer).unwrap();
    assert_eq!(observer.warnings.len(), 1, "one warning for all epochs: {:?}", observer.warnings);
    assert!(observer.warnings[0].contains("checkpoint.safetensors"), "{:?}", observer.warnings);
    let plain = tempfile::tempdir().unwrap();
    assert_eq!(outcome.model, run(&config, &data, &options(plain.path()), &mut Silent).unwrap().model);

    std::fs::create_dir_all(plain.path().join("other/seed-0/model.safetensors/inside")).unwrap();
    let error = run(&config, &data, &options(&plain.path().join("other")), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("model.safetensors"), "{error}");
}
