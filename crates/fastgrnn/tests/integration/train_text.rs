//! Language models: what they learn, the same bits on any number of threads and after any interruption.

use crate::common::{Stopper, metrics, options};
use fastgrnn::data::{DataRecipe, Dataset, Request, TaskKind, load_bytes, text_input};
use fastgrnn::model::{AnyModel, Model, Task};
use fastgrnn::train::{Rank, Recipe, RunOptions, Silent, Summary, TrainError, run};
use std::path::Path;

/// Sentences of a small grammar, in which the next word is nearly certain.
fn text(lines: usize) -> String {
    let animals = ["cat", "dog", "cow"];
    let sounds = ["meows", "barks", "moos"];
    (0..lines).map(|i| format!("the {} {} .\n", animals[i * 7 % 3], sounds[i * 7 % 3])).collect()
}

fn data() -> Dataset {
    let mut request = Request::default().with_data(|data| data.test_split = Some(0.1));
    request.text.task = Some(TaskKind::LanguageModel);
    load_bytes("animals.txt", text(400).as_bytes(), &request).unwrap()
}

fn recipe() -> Recipe {
    Recipe::default().with(|r| {
        r.source.dataset = Some("animals.txt".into());
        r.network.hidden = Some(12);
        r.training.epochs = Some(6);
        r.training.batch = Some(4);
        r.training.sequence_length = Some(20);
        r.training.lr = Some(0.02);
    })
}

/// Every regulariser, so that resuming has to come back to every draw.
fn regularized() -> Recipe {
    recipe().with(|r| {
        r.network.layers = Some(2);
        r.training.embedding_dropout = Some(0.1);
        r.training.input_dropout = Some(0.1);
        r.training.layer_dropout = Some(0.1);
        r.training.output_dropout = Some(0.2);
        r.training.weight_drop = Some(0.2);
        r.training.activation_penalty = Some(0.1);
        r.training.temporal_penalty = Some(0.1);
        r.training.ema = Some(0.9);
    })
}

fn model_bytes(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("seed-0/model.safetensors")).unwrap()
}

#[test]
fn a_language_model_learns_a_grammar_and_its_file_scores_the_same() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let config = recipe().with(|r| r.training.epochs = Some(30)).resolve(&data).unwrap();
    let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
    let test = summary.test.unwrap();
    // Three animals follow each other: one choice of three in five tokens is all there is to learn.
    assert!(test.perplexity.unwrap() < 1.4, "{test:?}");
    assert_eq!((test.tokens, test.vocabulary, test.unknown_rate), (Some(40 * 5), Some(10), Some(0.0)));
    assert!((test.loss.exp() - test.perplexity.unwrap()).abs() < 1e-9);
    let model = Model::load(&summary.model).unwrap();
    assert_eq!(model.task, Task::NextToken);
    assert!(model.network.is_tied());
    // 12 units on vectors of 12 numbers: W, U, two biases, zeta and nu. The head's biases are not among them.
    let cells = 4 * (2 * 144 + 2 * 12 + 2);
    assert_eq!((summary.bytes.cells, summary.bytes.embedding), (Some(cells), Some(4 * 10 * 12)));
    assert_eq!(summary.bytes.total, cells + 4 * 10 * 12 + 4 * 10);
    assert_eq!(model.sizes().bytes_as_in_paper, cells);
    let (again, _) = model.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
    assert!((again.scores.loss - test.loss).abs() < 1e-6);
    assert!(metrics(folder.path()).iter().all(|epoch| epoch.val_perplexity.is_some()));
}

#[test]
fn a_language_model_is_the_same_on_any_number_of_threads_and_after_any_stop() {
    let data = data();
    let config = regularized().resolve(&data).unwrap();
    let whole = tempfile::tempdir().unwrap();
    run(&config, &data, &options(whole.path()), &mut Silent).unwrap();
    let expected = model_bytes(whole.path());
    let threads = tempfile::tempdir().unwrap();
    let three = RunOptions { threads: 3, ..options(threads.path()) };
    run(&config, &data, &three, &mut Silent).unwrap();
    assert!(model_bytes(threads.path()) == expected, "three threads");
    for batches in [1, 9, 30, 50] {
        let folder = tempfile::tempdir().unwrap();
        let stopped = run(&config, &data, &options(folder.path()), &mut Stopper::after(batches));
        assert!(matches!(stopped, Err(TrainError::Interrupted { .. })), "{batches}");
        let resume = RunOptions { resume: true, ..options(folder.path()) };
        run(&config, &data, &resume, &mut Silent).unwrap();
        assert!(model_bytes(folder.path()) == expected, "stopped after {batches} batches");
    }
}

#[test]
fn texts_are_classified_and_the_model_file_reads_new_ones() {
    let rows: String = (0..120)
        .map(|i| {
            let (word, label) = [("lovely", "good"), ("awful", "bad")][i % 2];
            format!("the {} was {word} and number {i},{label}\n", ["food", "room", "staff"][i % 3])
        })
        .collect();
    let mut request = Request::default().with_data(|data| {
        data.label_col = Some("label".into());
        data.test_split = Some(0.2);
    });
    request.text.text_col = Some("text".into());
    let data = load_bytes("reviews.csv", format!("text,label\n{rows}").as_bytes(), &request).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recipe = Recipe::default().with(|r| {
        r.source.dataset = Some("reviews.csv".into());
        r.preparation.val_split = Some(0.2);
        r.network.hidden = Some(8);
        r.training.epochs = Some(40);
        r.training.lr = Some(0.02);
    });
    let config = recipe.resolve(&data).unwrap();
    let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
    assert_eq!(summary.test.unwrap().accuracy, Some(1.0));
    let model = Model::load(&summary.model).unwrap();
    let request = model.request("", None, DataRecipe::default());
    for (text, expected) in [("An awful Room!", "bad"), ("lovely", "good")] {
        let input = text_input(text, &request);
        let predictions = model.predict(&input.x, 1).unwrap();
        assert_eq!(model.labels()[predictions.classes[0] as usize], expected, "{text}");
    }
}

#[test]
fn settings_about_texts_are_refused_where_there_are_none() {
    let (numbers, text) = (crate::common::classes(60, 2, 8), data());
    let refused = |data: &Dataset, change: fn(&mut Recipe)| {
        let mut recipe = recipe();
        recipe.training.sequence_length = None;
        change(&mut recipe);
        recipe.resolve(data).unwrap_err().to_string()
    };
    for (error, part) in [
        (refused(&numbers, |r| r.network.embedding = Some(8)), "the data holds no texts"),
        (refused(&numbers, |r| r.training.sequence_length = Some(8)), "this is no language model"),
        (refused(&text, |r| r.training.layer_dropout = Some(0.1)), "there is one layer"),
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// A run of the recipe that is changed: its summary, its model and its folder.
fn trained(change: impl FnOnce(&mut Recipe)) -> (Summary, AnyModel, tempfile::TempDir) {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let config = recipe().with(change).resolve(&data).unwrap();
    let summary = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary;
    let model = AnyModel::load(&summary.model).unwrap();
    (summary, model, folder)
}

#[test]
fn a_language_model_can_have_low_rank() {
    let (_, model, _folder) = trained(|r| {
        r.network.rank_w = Some(Rank::Of(4));
        r.network.rank_u = Some(Rank::Of(3));
    });
    let cell = &model.float().network.layers[0];
    assert_eq!((cell.form_w.rank(), cell.form_u.rank()), (Some(4), Some(3)));
}

#[test]
fn a_language_model_can_be_sparse_and_its_vectors_stay_whole() {
    let (_, model, _folder) = trained(|r| {
        r.network.embedding = Some(8);
        r.sparsity.keep_w = Some(0.5);
        r.sparsity.keep_u = Some(0.25);
        r.sparsity.keep_head = Some(0.5);
    });
    let model = model.float();
    let kept = |name: &str| {
        let view = model.network.layout().view(name).unwrap().clone();
        model.params[view.range()].iter().filter(|p| **p != 0.0).count()
    };
    assert_eq!((kept("layer0.w"), kept("layer0.u"), kept("head.w")), (48, 36, 60));
    assert!(kept("embedding.w") > 60, "vectors are not pruned");
}

#[test]
fn a_language_model_is_delivered_in_integers_that_were_trained_through() {
    for tied in [true, false] {
        let (summary, model, _folder) = trained(|r| {
            r.training.epochs = Some(30);
            r.network.tied = Some(tied);
            r.quantization.quantize = Some(true);
        });
        let AnyModel::Integer(integer) = &model else { panic!("the run delivers integers") };
        let (found, float) = (summary.test.unwrap(), summary.test_float.unwrap());
        assert!(found.perplexity.unwrap() < 1.4, "{found:?}");
        assert!((found.loss - float.loss).abs() < 0.02, "{found:?} {float:?}");
        assert_eq!(summary.bytes.total, integer.image().len());
        assert_eq!(summary.bytes.embedding, Some(10 * 12));
        let rest = summary.bytes.total - summary.bytes.cells.unwrap() - 10 * 12;
        assert_eq!(rest, 2 * 10 + if tied { 0 } else { 10 * 12 }, "the head");
        assert_eq!(integer.network.is_tied(), tied);
        let (again, _, _) = model.evaluate(data().test.as_ref().unwrap(), 2).unwrap();
        assert_eq!(again.scores.loss, found.loss);
        // Trained through the grid: the float model of the run is on it after rounding.
        let grid = integer.network.embedding.as_ref().unwrap().vectors.grid;
        let float = Model::load(summary.model_float.unwrap()).unwrap();
        let limit = grid.limit() * 1.001;
        assert!(float.vectors().unwrap().iter().all(|v| v.abs() <= limit), "clamped to the grid's reach");
    }
}

#[test]
fn untied_vectors_of_another_size_are_trained_too() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let config = recipe().with(|r| r.network.embedding = Some(5)).resolve(&data).unwrap();
    run(&config, &data, &options(folder.path()), &mut Silent).unwrap();
    let model = Model::load(folder.path().join("model.safetensors")).unwrap();
    assert!(!model.network.is_tied());
    assert_eq!(model.network.input(), 5);
    assert_eq!(model.sizes().embedding, 4 * 10 * 5);
}
