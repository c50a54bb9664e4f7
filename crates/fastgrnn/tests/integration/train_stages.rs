//! Staged trainings: what they keep, what they choose, and which lists are refused.

use crate::common::{classes, metrics, options, recipe, trained};
use fastgrnn::cells::Role;
use fastgrnn::data::Normalize;
use fastgrnn::model::Model;
use fastgrnn::quantize::{EntryGrid, Grid, IntegerModel};
use fastgrnn::train::{
    Choice, ConfigError, EpochReport, Numbers, Observer, Pass, Recipe, Refit, Silent, StageName, Stages, run,
};
use safetensors::SafeTensors;
use std::path::{Path, PathBuf};

fn sparse() -> Recipe {
    recipe().with(|r| {
        r.network.rank_u = Some("4".parse().unwrap());
        r.sparsity.keep_w = Some(0.5);
        r.sparsity.keep_u = Some(0.3);
        r.training.epochs = Some(12);
    })
}

fn history(folder: &Path) -> Vec<EpochReport> {
    let text = std::fs::read_to_string(folder.join("metrics.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// ⌈s·n⌉ of each sparse tensor of the models below.
fn kept(name: &str, n: usize) -> usize {
    match name.split_once('.').unwrap().1 {
        "w" if name.starts_with("layer") => n.div_ceil(2),
        "u1" | "u2" => (3 * n).div_ceil(10),
        _ => n,
    }
}

// ---- the support ----

#[test]
fn a_sparse_model_keeps_exactly_the_fraction_asked_for() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let summary = trained(&sparse(), &data, folder.path());
    let model = Model::load(&summary.model).unwrap();
    for view in model.network.layout().views() {
        let nonzero = model.params[view.range()].iter().filter(|v| **v != 0.0).count();
        if view.role == Role::Weight {
            assert_eq!(nonzero, kept(&view.name, view.len()), "{}", view.name);
        }
    }
    assert!(summary.test.unwrap().accuracy.unwrap() > 0.7);
}

/// Reads the checkpoint that was written after every batch.
struct Auditor {
    checkpoint: PathBuf,
    layout: fastgrnn::net::Layout,
    supports: Vec<Vec<bool>>,
}

impl Observer for Auditor {
    fn should_stop(&mut self) -> bool {
        let Ok(file) = std::fs::read(&self.checkpoint) else { return false };
        let file = SafeTensors::deserialize(&file).unwrap();
        let floats = |name: &str| -> Vec<f32> {
            let bytes = file.tensor(name).unwrap().data().to_vec();
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
        };
        let (params, first, second) = (floats("params"), floats("first"), floats("second"));
        let mask: Vec<bool> = file.tensor("mask").unwrap().data().iter().map(|&m| m != 0).collect();
        for (i, _) in mask.iter().enumerate().filter(|(_, kept)| !**kept) {
            assert_eq!((params[i], first[i], second[i]), (0.0, 0.0, 0.0), "entry {i}");
        }
        for view in self.layout.views().iter().filter(|_| !mask.is_empty()) {
            let nonzero = mask[view.range()].iter().filter(|m| **m).count();
            assert_eq!(nonzero, kept(&view.name, view.len()), "{}", view.name);
        }
        self.supports.push(mask);
        false
    }
}

#[test]
fn at_every_batch_of_a_run_the_support_is_what_its_stage_says() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let stages = Some("dense:1/3,project:1/3:every=4,frozen:1/6,quantized:1/6".parse().unwrap());
    // A high learning rate, so that projections do change the support.
    let recipe = sparse().with(|r| {
        r.training.stages = stages;
        r.quantization.quantize = Some(true);
        r.training.checkpoint_every = Some(1e-9);
        r.training.lr = Some(0.1);
        r.training.schedule = Some(fastgrnn::train::Schedule::Constant);
    });
    let config = recipe.resolve(&data).unwrap();
    let mut auditor = Auditor {
        checkpoint: folder.path().join("seed-0/checkpoint.safetensors"),
        layout: config.network(&data).layout(),
        supports: Vec::new(),
    };
    run(&config, &data, &options(folder.path()), &mut auditor).unwrap();
    // 12 epochs of 5 batches, seen before each batch but the first.
    let supports = auditor.supports;
    assert_eq!(supports.len(), 59);
    assert!(supports[..20].iter().all(Vec::is_empty));
    assert!(supports[20..].iter().all(|s| !s.is_empty()));
    for done in 21..59 {
        let projected = done < 40 && (done - 20) % 4 == 0;
        assert!(projected || supports[done] == supports[done - 1], "after batch {done}");
    }
    assert!((20..40).any(|done| supports[done + 1] != supports[done]), "no projection changed anything");
}

// ---- what is chosen ----

#[test]
fn only_epochs_that_satisfy_the_end_can_be_best() {
    let data = classes(60, 2, 8);
    let best_of = |recipe: Recipe| {
        let folder = tempfile::tempdir().unwrap();
        let summary = trained(&recipe, &data, folder.path());
        let first = history(folder.path()).iter().find(|r| r.best).map(|r| r.epoch);
        (first, summary.seeds[0].best_epoch)
    };
    let (first, best) = best_of(sparse());
    assert_eq!(first, Some(8), "the epoch that ends with the projecting stage is the best so far");
    assert!(best >= 8);
    let (first, _) = best_of(sparse().with(|r| {
        r.training.stages = Some("dense:1/3,project:1/3:every=1:gradual,frozen:1/3".parse().unwrap())
    }));
    assert_eq!(first, Some(8));
    let (first, best) = best_of(sparse().with(|r| r.quantization.quantize = Some(true)));
    assert_eq!(first, Some(11));
    assert!(best >= 11);
    let late = Some("dense:0.99,quantized:0.01".parse().unwrap());
    let (first, best) = best_of(recipe().with(|r| {
        r.quantization.quantize = Some(true);
        r.training.stages = late;
    }));
    assert_eq!((first, best), (Some(4), 4), "a stage of one batch still ends the last epoch");
}

#[test]
fn patience_waits_for_the_stages_to_be_over() {
    let data = classes(60, 2, 8);
    // 30 epochs of 5 batches: projections end with epoch 20, grids begin in epoch 26.
    for (quantize, settled) in [(false, 20), (true, 26)] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = sparse().with(|r| {
            r.quantization.quantize = Some(quantize);
            r.training.patience = Some(1);
            r.training.epochs = Some(30);
            r.training.lr = Some(0.05);
        });
        let seed = trained(&recipe, &data, folder.path()).seeds.remove(0);
        assert!(seed.best_epoch >= settled && seed.epochs > settled, "{seed:?}");
        let history = history(folder.path());
        assert!(history.iter().all(|r| r.eligible == (r.epoch >= settled)), "{history:?}");
        assert!(history.iter().all(|r| r.eligible || !r.best));
        let waiting = history.iter().filter(|r| r.stage == StageName::Project);
        let losses: Vec<f64> = waiting.filter_map(|r| r.val_loss).collect();
        assert!(losses.windows(2).any(|pair| pair[1] > pair[0]), "nothing to be impatient about: {losses:?}");
    }
}

#[test]
fn every_epoch_says_which_stage_it_ended_in() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    trained(
        &sparse().with(|r| {
            r.quantization.quantize = Some(true);
            r.training.refit = Some(Refit::Full);
        }),
        &data,
        folder.path(),
    );
    let history = history(folder.path());
    let stages: Vec<&str> = history.iter().map(|r| r.stage.choice_name()).collect();
    let once = [["dense"; 4], ["project"; 4], ["frozen", "frozen", "quantized", "quantized"]].concat();
    assert_eq!(stages, [&once[..], &once[..]].concat());
    let eligible: Vec<usize> = (0..24).filter(|&i| history[i].eligible).collect();
    assert_eq!(eligible, [10, 11], "the refit chooses nothing");
    let line = serde_json::to_value(&history[10]).unwrap();
    assert_eq!((&line["pass"], &line["stage"]), (&"choose".into(), &"quantized".into()));
}

#[test]
fn a_refit_goes_through_all_stages_even_if_it_stops_early() {
    let data = classes(60, 2, 8);
    for refit in [Refit::Full, Refit::BestEpochs] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = sparse().with(|r| {
            r.training.refit = Some(refit);
            r.quantization.quantize = Some(true);
        });
        let summary = trained(&recipe, &data, folder.path());
        let last = metrics(folder.path()).pop().unwrap();
        assert_eq!((last.pass, last.stage), (Pass::Refit, StageName::Quantized));
        assert!(refit == Refit::Full || last.epoch == summary.seeds[0].best_epoch, "{last:?}");
        let float = Model::load(summary.model_float.as_ref().unwrap()).unwrap();
        for view in float.network.layout().views().iter().filter(|v| v.role == Role::Weight) {
            let nonzero = float.params[view.range()].iter().filter(|v| **v != 0.0).count();
            assert_eq!(nonzero, kept(&view.name, view.len()), "{}", view.name);
        }
    }
}

// ---- the integer model ----

#[test]
fn a_quantised_run_delivers_the_integer_model_and_the_float_one_beside_it() {
    let data = classes(120, 2, 10);
    // With a stage that trains through the grids, and by rounding alone.
    for stages in [None, Some("dense:1".parse::<Stages>().unwrap())] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe().with(|r| {
            r.quantization.quantize = Some(true);
            r.training.stages = stages;
            r.training.epochs = Some(40);
        });
        let summary = trained(&recipe, &data, folder.path());
        let integer = IntegerModel::load(&summary.model).unwrap();
        let float = Model::load(summary.model_float.as_ref().unwrap()).unwrap();
        let mut moved = 0;
        for view in float.network.layout().views().iter().filter(|v| v.role == Role::Weight) {
            let (values, from) = (&integer.model.params[view.range()], &float.params[view.range()]);
            let grid = Grid::of(values);
            assert!(values.iter().zip(from).all(|(a, b)| *a == grid.nearest(*b)), "{}", view.name);
            moved += values.iter().zip(from).filter(|(a, b)| a != b).count();
        }
        assert!(moved > 0);
        let seed = &summary.seeds[0];
        let (test, _, _) = integer.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        assert_eq!(summary.test.as_ref(), Some(&test.scores));
        assert_eq!(summary.bytes.total, integer.image().len());
        assert_eq!(seed.bytes, Some(integer.image().len()));
        assert!(test.scores.accuracy.unwrap() > 0.95);
        let (float_test, _) = float.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        assert_eq!(summary.test_float.as_ref(), Some(&float_test.scores));
        assert!(seed.agreement.unwrap() > 0.95, "{:?}", seed.agreement);
        let resume = fastgrnn::train::RunOptions { resume: true, ..options(folder.path()) };
        let config = recipe.resolve(&data).unwrap();
        assert_eq!(run(&config, &data, &resume, &mut Silent).unwrap().summary, summary);
    }
}

#[test]
fn figures_of_several_seeds_are_those_of_their_integer_models() {
    let (data, folder) = (classes(60, 3, 8), tempfile::tempdir().unwrap());
    let recipe = sparse().with(|r| {
        r.quantization.quantize = Some(true);
        r.training.seeds = Some(2);
        r.sparsity.keep_head = Some(0.5);
    });
    let summary = trained(&recipe, &data, folder.path());
    let (mut accuracies, mut images) = (Vec::new(), Vec::new());
    for seed in &summary.seeds {
        let integer = IntegerModel::load(&seed.model).unwrap();
        let float = Model::load(seed.model_float.as_ref().unwrap()).unwrap();
        let (test, decided, _) = integer.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        let (_, by_float) = float.evaluate(data.test.as_ref().unwrap(), 1).unwrap();
        assert_eq!(seed.test.as_ref(), Some(&test.scores));
        let alike = decided.classes.iter().zip(&by_float.classes).filter(|(a, b)| a == b).count();
        assert_eq!(seed.agreement, Some(alike as f64 / decided.classes.len() as f64));
        accuracies.push(test.scores.accuracy.unwrap());
        images.push(integer.image().len());
        are_the_rounded_weights(&integer, &float);
    }
    let mean = (accuracies[0] + accuracies[1]) / 2.0;
    assert!((summary.test.unwrap().accuracy.unwrap() - mean).abs() < 1e-12);
    let sd = summary.test_sd.unwrap().accuracy.unwrap();
    assert!((sd - (accuracies[0] - accuracies[1]).abs() / 2f64.sqrt()).abs() < 1e-12, "{sd}");
    assert_eq!(summary.seeds.iter().map(|s| s.bytes.unwrap()).collect::<Vec<_>>(), images);
    assert_eq!(Some(&summary.bytes.total), images.iter().max());
}

/// Every byte of every matrix, the head's included, stands for the float weight on one grid.
fn are_the_rounded_weights(integer: &IntegerModel, float: &Model) {
    let layout = float.network.layout();
    let weights: Vec<_> = layout.views().iter().filter(|v| v.role == Role::Weight).collect();
    let matrices: Vec<_> = integer.network.matrices().collect();
    assert_eq!(matrices.len(), weights.len());
    for (view, matrix) in weights.iter().zip(matrices) {
        let from = &float.params[view.range()];
        assert_eq!(matrix.entries.len(), from.len(), "{}", view.name);
        // Bytes may be written on a finer grid than they were trained on; their values may not change.
        let same = |grid: Grid| {
            matrix.entries.iter().zip(from).all(|(&byte, &w)| matrix.grid.value(byte) == grid.nearest(w))
        };
        let EntryGrid::Bytes(Grid { exponent }) = matrix.grid else { panic!("entries of 4 bits") };
        let trained_on = (Grid::COARSEST..=exponent).find(|&exponent| same(Grid { exponent }));
        assert!(trained_on.is_some(), "{}", view.name);
        let nonzero = from.iter().filter(|w| **w != 0.0).count();
        let cut =
            if view.name.starts_with("head") { from.len().div_ceil(2) } else { kept(&view.name, from.len()) };
        assert_eq!(nonzero, cut, "{}", view.name);
        assert!(matrix.nonzero() > nonzero / 2, "{}: hardly a weight is left", view.name);
    }
}

#[test]
fn what_integers_cannot_do_is_refused_before_training() {
    let data = classes(60, 2, 8);
    let quantize = |recipe: Recipe| recipe.with(|r| r.quantization.quantize = Some(true));
    let lsb = |values: &[f64]| recipe().with(|r| r.quantization.input_lsb = Some(Numbers(values.to_vec())));
    for (recipe, part) in [
        (
            quantize(recipe().with(|r| r.parameters.initial_state = Some("random".parse().unwrap()))),
            "random states",
        ),
        (
            quantize(recipe().with(|r| r.preparation.normalize = Some(Normalize::PerCoordinate))),
            "per-feature",
        ),
        (quantize(lsb(&[0.1, 0.1, 0.1])), "3 values of `input-lsb` for 2 features"),
        (quantize(lsb(&[-1.0])), "must be a positive number"),
        (quantize(lsb(&[1e-6])), "counts have 16 bits"),
        (lsb(&[0.1]), "choose `quantize`"),
    ] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    quantize(lsb(&[0.001])).resolve(&data).unwrap();
}

#[test]
fn a_run_without_quantize_has_no_float_model_apart() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let summary = trained(&recipe(), &data, folder.path());
    assert_eq!((summary.model_float, summary.test_float), (None, None));
    let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert!(!text.contains("float"), "{text}");
}

// ---- lists ----

#[test]
fn the_usual_stages_are_the_papers_thirds_and_a_last_sixth_on_grids() {
    let data = classes(60, 2, 8);
    let stages = |recipe: Recipe| recipe.resolve(&data).unwrap().training.stages.to_string();
    assert_eq!(stages(recipe()), "dense:1");
    assert_eq!(stages(sparse()), "dense:1/3,project:1/3:every=15,frozen:1/3");
    let quantize = Some(true);
    assert_eq!(stages(recipe().with(|r| r.quantization.quantize = quantize)), "dense:5/6,quantized:1/6");
    let both = stages(sparse().with(|r| r.quantization.quantize = quantize));
    assert_eq!(both, "dense:1/3,project:1/3:every=15,frozen:1/6,quantized:1/6");
}

#[test]
fn stages_that_contradict_other_settings_are_refused() {
    let data = classes(60, 2, 8);
    let with = |stages: &str, base: Recipe| base.with(|r| r.training.stages = Some(stages.parse().unwrap()));
    let quantize = |base: Recipe| base.with(|r| r.quantization.quantize = Some(true));
    for (recipe, part) in [
        (with("dense:1", sparse()), "needs a project stage"),
        (with("project:1/2,dense:1/2", sparse()), "no dense one after it"),
        (with("project:1", recipe()), "nothing is sparse; set `keep-w`"),
        (with("frozen:1/2,project:1/2", sparse()), "put one before it"),
        (with("project:1/3,dense:1/3,frozen:1/3", sparse()), "put one before it"),
        (with("dense:1/2,quantized:1/2", recipe()), "set `quantize`"),
        (with("quantized:1/2,dense:1/2", quantize(recipe())), "nothing may follow"),
        (with("project:1:keep=0.9", sparse()), "the last projection uses"),
        (
            sparse().with(|r| {
                r.training.epochs = Some(1);
                r.training.batch = Some(60);
            }),
            "more `epochs`",
        ),
    ] {
        let error = recipe.resolve(&data).unwrap_err();
        assert!(matches!(error, ConfigError::Stages { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    for bad in [0.0, 1.1, -0.5, f64::NAN] {
        let error = recipe().with(|r| r.sparsity.keep_u = Some(bad)).resolve(&data).unwrap_err();
        assert!(error.to_string().starts_with("keep-u = "), "{error}");
    }
    with("project:1/3:keep=0.7,dense:1/3,project:1/3", sparse()).resolve(&data).unwrap();
    with("dense:1", quantize(recipe())).resolve(&data).unwrap();
}
