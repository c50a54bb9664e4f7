//! Language models: what they learn, the same bits on any number of threads and after any interruption.

use crate::common::{Stopper, metrics, options};
use fastgrnn::data::{DataRecipe, Dataset, Request, TaskKind, load_bytes, text_input};
use fastgrnn::model::{AnyModel, Model, Task};
use fastgrnn::train::{Optimizer, Rank, Recipe, RunOptions, Silent, Summary, TrainError, run};
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
        // So few units can spare none.
        r.training.input_dropout = Some(0.0);
        r.training.output_dropout = Some(0.0);
        r.training.weight_drop = Some(0.0);
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
    // 324 of the 360 lines that are not for testing.
    let train = summary.train.unwrap();
    assert_eq!(train.tokens, Some(324 * 5));
    assert!(train.perplexity.unwrap() < 1.4, "{train:?}");
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
fn language_models_have_defaults_of_their_own_and_what_is_given_holds() {
    let (text, numbers) = (data(), crate::common::classes(600, 2, 8));
    let of = |recipe: Recipe, data: &Dataset| recipe.resolve(data).unwrap().training;
    let named = Recipe::default().with(|r| r.source.dataset = Some("animals.txt".into()));
    let language = of(named.clone(), &text);
    assert_eq!((language.batch, language.lr, language.epochs, language.clip), (4, 0.005, 20, 0.25));
    assert_eq!((language.optimizer, language.weight_decay), (Optimizer::AdamW, 0.01));
    assert_eq!((language.input_dropout, language.output_dropout), (Some(0.5), Some(0.5)));
    let given = named.clone().with(|r| {
        r.training.optimizer = Some(Optimizer::Nesterov);
        r.training.output_dropout = Some(0.0);
    });
    let given = of(given, &text);
    assert_eq!((given.optimizer, given.lr, given.output_dropout), (Optimizer::Nesterov, 0.05, Some(0.0)));
    let other = of(named, &numbers);
    assert_eq!((other.optimizer, other.weight_decay, other.clip), (Optimizer::Adam, 1e-4, 1.0));
    assert_eq!((other.input_dropout, other.weight_drop, other.activation_penalty), (None, None, None));
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

/// Sentences with a good or a bad word in each.
fn opinions(request: impl FnOnce(&mut Request)) -> Dataset {
    let rows: String = (0..120)
        .map(|i| {
            let (word, label) = [("lovely", "good"), ("awful", "bad")][i % 2];
            format!("the {} was {word} and number {i},{label}\n", ["food", "room", "staff"][i % 3])
        })
        .collect();
    let mut given = Request::default().with_data(|data| {
        data.label_col = Some("label".into());
        data.test_split = Some(0.2);
    });
    given.text.text_col = Some("text".into());
    request(&mut given);
    load_bytes("opinions.csv", format!("text,label\n{rows}").as_bytes(), &given).unwrap()
}

fn opinion_recipe() -> Recipe {
    Recipe::default().with(|r| {
        r.source.dataset = Some("opinions.csv".into());
        r.preparation.val_split = Some(0.2);
        r.network.hidden = Some(8);
        r.training.epochs = Some(40);
        r.training.lr = Some(0.02);
    })
}

#[test]
fn texts_are_classified_and_the_model_file_reads_new_ones() {
    let (data, folder) = (opinions(|_| ()), tempfile::tempdir().unwrap());
    let recipe = opinion_recipe();
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
fn a_teacher_of_texts_must_read_the_same_tokens() {
    let (data, folder) = (opinions(|_| ()), tempfile::tempdir().unwrap());
    let config = opinion_recipe().resolve(&data).unwrap();
    let teacher = run(&config, &data, &options(folder.path()), &mut Silent).unwrap().summary.model;
    let taught = |data: &Dataset| {
        let folder = tempfile::tempdir().unwrap();
        let recipe = opinion_recipe().with(|r| {
            r.network.hidden = Some(4);
            r.training.teacher = Some(teacher.clone());
            r.training.teacher_weight = Some(1.0);
        });
        run(&recipe.resolve(data).unwrap(), data, &options(folder.path()), &mut Silent)
    };
    // The labels do not count: all is learnt from the teacher.
    assert_eq!(taught(&data).unwrap().summary.test.unwrap().accuracy, Some(1.0));
    let fewer = opinions(|request| request.text.vocabulary = 50);
    let numbers = crate::common::classes(60, 2, 8);
    for other in [&fewer, &numbers] {
        let error = taught(other).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("does not read the same tokens"), "{error}");
    }
}

#[test]
fn tokens_start_from_the_vectors_of_a_file() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let file = folder.path().join("vectors.txt");
    let row = |word: &str, value: f32| format!("{word}{}\n", format!(" {value}").repeat(12));
    std::fs::write(&file, row("cat", 0.25) + &row("horse", 9.0) + &row("<eos>", -0.5)).unwrap();
    let start = |recipe: Recipe, name: &str| {
        // A learning rate of almost nothing, so that the start can be seen.
        let recipe = recipe.with(|r| {
            r.training.epochs = Some(1);
            r.training.lr = Some(1e-30);
            r.parameters.word_vectors = Some(file.clone());
        });
        let out = folder.path().join(name);
        run(&recipe.resolve(&data).unwrap(), &data, &options(&out), &mut Silent)
            .map(|outcome| Model::load(&outcome.summary.model).unwrap())
    };
    let model = start(recipe(), "fits").unwrap();
    let table = model.params[model.network.layout().view("embedding.w").unwrap().range()].to_vec();
    let vector = |word: &str| {
        let token = data.text.as_ref().unwrap().vocabulary.get(word).unwrap() as usize;
        table[token * 12..][..12].to_vec()
    };
    assert_eq!((vector("cat"), vector("<eos>")), (vec![0.25; 12], vec![-0.5; 12]));
    assert!(vector("dog").iter().any(|&v| v != vector("dog")[0]), "others start at random");
    let error = start(recipe().with(|r| r.network.hidden = Some(8)), "narrow").unwrap_err().to_string();
    assert!(error.contains("have 12 numbers each, the embedding has 8; use `embedding = 12`"), "{error}");
    std::fs::write(&file, row("cat", 0.25) + "dog 1 2\n").unwrap();
    let error = start(recipe(), "damaged").unwrap_err().to_string();
    assert!(error.contains("vectors.txt: line 2 has 3 fields; a word and 12 numbers"), "{error}");
    let absent = recipe().with(|r| r.parameters.word_vectors = Some("absent.txt".into()));
    assert!(absent.clone().resolve(&crate::common::classes(60, 2, 8)).is_err(), "no texts");
    let absent = absent.resolve(&data).unwrap();
    let error = run(&absent, &data, &options(&folder.path().join("absent")), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("absent.txt"), "{error}");
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
        let fastgrnn::quantize::EntryGrid::Bytes(grid) = grid else { panic!("vectors of tokens are bytes") };
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
