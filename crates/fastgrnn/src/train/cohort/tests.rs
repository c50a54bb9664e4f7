//! A GPU learns what the CPU learns: the emulator trains the same configurations, epoch by epoch.

use crate::train::run::run_on;
use crate::train::{
    DeviceChoice, ERROR_FILE, EpochReport, Observer, Outcome, Progress, Recipe, RunOptions, Silent,
    TrainError,
};
use fastgrnn_core::rng::Rng;
use fastgrnn_cuda::driver::Device;
use fastgrnn_data::data::{Dataset, Examples, Labels, Sequences};
use fastgrnn_testing::emulator;
use std::path::Path;

const SEQUENCES: usize = 24;

/// Waves of three frequencies, of unequal length, with noise.
fn sequences() -> Sequences {
    let (mut x, mut rng) = (Sequences::new(2), Rng::new(5));
    for i in 0..SEQUENCES {
        let steps = 6 + i % 4;
        let value = |j: usize, rng: &mut Rng| {
            ((j / 2 * (1 + i % 3)) as f32 * 0.5 + (j % 2) as f32).sin() + 0.2 * rng.normal() as f32
        };
        let values: Vec<f32> = (0..2 * steps).map(|j| value(j, &mut rng)).collect();
        x.push(&values);
    }
    x
}

fn classes() -> Dataset {
    let index = (0..SEQUENCES as u32).map(|i| i % 3).collect();
    let names = ["slow", "middle", "fast"].map(str::to_owned).to_vec();
    let examples = Examples::new(sequences(), Labels::Class { index, names });
    let test = examples.clone();
    Dataset { test: Some(test), ..Dataset::new("waves", examples) }
}

fn numbers() -> Dataset {
    let values = (0..SEQUENCES).map(|i| 3.0 * (i % 3) as f32 - 1.0).collect();
    Dataset::new("waves", Examples::new(sequences(), Labels::Value { width: 1, values }))
}

/// Settings for the waves, with these keys in place of some.
fn recipe(keys: &str) -> Recipe {
    let base = "dataset = \"waves\"\nhidden = 5\nepochs = 4\nbatch = 7\nseeds = 2\nlr = 0.02\n";
    let read = |text: &str| Recipe::from_toml_str(text, "test").unwrap();
    let part = if keys.contains("cv = ") { "" } else { "cv = \"off\"\nval-split = 0.25\n" };
    read(&format!("{base}{part}")).overlay(read(keys))
}

fn options(out: &Path, resume: bool) -> RunOptions {
    RunOptions { out: out.to_owned(), resume, threads: 1, device: DeviceChoice::Cpu }
}

fn gpu() -> Option<Device> {
    Some(Device::with_library(emulator::library(), 0).unwrap())
}

fn train(device: Option<Device>, recipe: &Recipe, data: &Dataset) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let config = recipe.resolve(data).unwrap();
    run_on(device, &config, data, &options(folder.path(), false), false, &mut Silent).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-4 * a.abs().max(b.abs()).max(0.01)
}

/// Asserts that two runs had the same epochs, up to rounding.
fn assert_alike(cpu: &Outcome, gpu: &Outcome, what: &str) {
    assert_eq!(cpu.records.len(), gpu.records.len(), "{what}");
    for (a, b) in cpu.records.iter().zip(&gpu.records) {
        assert_eq!(a.history.len(), b.history.len(), "{what}");
        for (a, b) in a.history.iter().zip(&b.history) {
            let place = |r: &EpochReport| (r.seed, r.pass, r.fold, r.epoch, r.epochs, r.stage, r.eligible);
            assert_eq!(place(a), place(b), "{what}");
            assert_eq!(a.lr, b.lr, "{what}");
            assert!(near(a.train_loss, b.train_loss), "{what}: {a:?} {b:?}");
            assert_eq!(a.val_loss.is_some(), b.val_loss.is_some(), "{what}");
            let (x, y) = (a.val_loss.unwrap_or(0.0), b.val_loss.unwrap_or(0.0));
            assert!(near(x, y), "{what}: {a:?} {b:?}");
        }
        assert_eq!((a.result.seed, a.result.device.as_str()), (b.result.seed, "cpu"), "{what}");
        assert_eq!(b.result.device, "emulator", "{what}");
        assert_eq!(a.result.best_epoch, b.result.best_epoch, "{what}");
        let loss =
            |outcome: &Option<fastgrnn_core::metrics::Scores>| outcome.as_ref().map_or(0.0, |s| s.loss);
        assert!(near(loss(&a.result.val), loss(&b.result.val)), "{what}");
        assert!(near(loss(&a.result.test), loss(&b.result.test)), "{what}");
    }
}

/// What of a training on a GPU differs from recipe to recipe.
const RECIPES: [(&str, &str); 10] = [
    (
        "few draws and no patience",
        "epoch-draws = 10\npatience = 1\nepochs = 6\nlr = 0.3\nrefit = \"best-epochs\"\ncell = \"ugrnn\"",
    ),
    ("a refit", "refit = \"best-epochs\"\nclass-weight = \"balanced\"\nschedule = \"cosine\""),
    (
        "stages to the integer grid",
        "quantize = true\nkeep-u = 0.4\nema = 0.8\nepochs = 6\nclip = 0.5\nrank-u = 3\n\
         stages = \"dense:1/4,project:1/4:every=3,frozen:1/4,quantized:1/4\"",
    ),
    (
        "matrices of 4 bits",
        "quantize = true\nbits-w = 4\nbits-u = 4\nbits-head = 4\nema = 0.8\nclip = 0.5\nrank-u = 3\n\
         refit = \"full\"\nweight-drop = 0.2",
    ),
    (
        "matrices of 4 and of 8 bits",
        "quantize = true\nbits-u = 4\nkeep-w = 0.5\nepochs = 6\noptimizer = \"nesterov\"\n\
         stages = \"project:1/3,quantized:2/3\"",
    ),
    (
        "gains of gates",
        "cell = \"fastgrnn-gain\"\nquantize = true\nkeep-u = 0.5\nweight-decay = 0.05\nema = 0.8\nepochs = 6\n\
         stages = \"dense:1/3,project:1/3,quantized:1/3\"",
    ),
    ("folds", "cv = \"3\"\nepochs = 2\nseeds = 1\noptimizer = \"nesterov\""),
    (
        "averaged descent",
        "optimizer = \"asgd\"\nschedule = \"plateau\"\nplateau-epochs = 1\nepochs = 5\nlr = 0.2",
    ),
    (
        "changes of sequences",
        "augment = \"noise=0.1,shift=1,crop=0.7\"\nlabel-smoothing = 0.1\nweight-drop = 0.2",
    ),
    (
        "another cell and readout",
        "cell = \"gru\"\nlayers = 2\nreadout = \"mean\"\noptimizer = \"adamw\"\nweight-decay = 0.01",
    ),
];

#[test]
fn seeds_learn_on_a_gpu_what_they_learn_on_the_cpu() {
    if !emulator::is_available() {
        return;
    }
    let data = classes();
    for (what, keys) in RECIPES {
        let recipe = recipe(keys);
        assert_alike(&train(None, &recipe, &data), &train(gpu(), &recipe, &data), what);
    }
}

#[test]
fn numbers_are_learnt_on_a_gpu_in_the_units_of_the_training_part() {
    if !emulator::is_available() {
        return;
    }
    let data = numbers();
    for seeds in [1, 2] {
        let recipe = recipe(&format!("refit = \"full\"\nseeds = {seeds}\n"));
        assert_alike(&train(None, &recipe, &data), &train(gpu(), &recipe, &data), "numbers");
    }
}

#[test]
fn a_layer_that_needs_too_much_of_a_small_gpu_has_other_kernels() {
    if !emulator::is_available() {
        return;
    }
    // The fast kernels of this layer need more memory for a block than this GPU has.
    let small = Device::with_library(emulator::library(), 2).unwrap();
    let (recipe, data) = (recipe("cell = \"lstm\"\nhidden = 70\nepochs = 1\nseeds = 1\n"), classes());
    let (cpu, gpu) = (train(None, &recipe, &data), train(Some(small), &recipe, &data));
    let loss = |outcome: &Outcome| outcome.records[0].history[0].train_loss;
    assert!(near(loss(&cpu), loss(&gpu)));
}

#[test]
fn the_keys_in_which_networks_of_a_cohort_differ_are_keys() {
    let keys = Recipe::keys();
    for own in super::OWN_KEYS {
        assert!(keys.iter().any(|key| key.name() == own), "{own}");
    }
}

/// Stops a run after some batches or epochs.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn progress(&mut self, _: &Progress) {
        self.0 = self.0.saturating_sub(1);
    }

    fn should_stop(&mut self) -> bool {
        self.0 == 0
    }
}

#[test]
fn either_device_continues_what_the_other_has_begun() {
    continued(
        "refit = \"best-epochs\"\nkeep-u = 0.5\nema = 0.9\nstages = \"project:1/2:every=4,frozen:1/2\"\n",
    );
}

#[test]
fn either_device_goes_on_learning_the_steps_that_the_other_has_learnt() {
    continued(
        "quantize = true\nbits-w = 4\nbits-u = 4\nema = 0.9\nrefit = \"full\"\nstages = \"dense:1/6,quantized:5/6\"\n",
    );
}

fn continued(keys: &str) {
    if !emulator::is_available() {
        return;
    }
    let data = classes();
    let config = recipe(keys).resolve(&data).unwrap();
    let whole = train(None, &recipe(keys), &data);
    // On the CPU that is in the middle of an epoch of the first seed; on the GPU both seeds have done two epochs.
    for (first, second, after) in [(None, gpu(), 7), (gpu(), None, 2), (gpu(), gpu(), 5)] {
        let folder = tempfile::tempdir().unwrap();
        let run = |device, resume, observer: &mut dyn Observer| {
            run_on(device, &config, &data, &options(folder.path(), resume), false, observer)
        };
        let stopped = run(first, false, &mut StopAfter(after));
        assert!(matches!(stopped, Err(TrainError::Interrupted { .. })), "{stopped:?}");
        let resumed = run(second, true, &mut Silent).unwrap();
        for (a, b) in whole.records.iter().zip(&resumed.records) {
            assert_eq!(a.history.len(), b.history.len());
            let losses = a.history.iter().zip(&b.history).map(|(a, b)| (a.train_loss, b.train_loss));
            losses.for_each(|(a, b)| assert!(near(a, b), "{a} {b}"));
        }
    }
}

#[test]
fn a_run_on_a_gpu_repeats_to_the_bit_and_a_seed_is_itself_among_others() {
    if !emulator::is_available() {
        return;
    }
    let (data, three) = (classes(), recipe("seeds = 3\nquantize = true\n"));
    let (a, b) = (train(gpu(), &three, &data), train(gpu(), &three, &data));
    assert!(a.model == b.model);
    let one = train(gpu(), &recipe("seeds = 1\nseed = 2\nquantize = true\n"), &data);
    let losses = |outcome: &Outcome, i: usize| -> Vec<f64> {
        outcome.records[i].history.iter().map(|epoch| epoch.train_loss).collect()
    };
    assert_eq!(losses(&a, 2), losses(&one, 0));
}

#[test]
fn a_seed_that_diverges_is_named_and_its_run_says_why() {
    if !emulator::is_available() {
        return;
    }
    let data = classes();
    let config = recipe("lr = 1e30\noptimizer = \"sgd\"\nclip = 0.0\ncell = \"rnn\"\nupdate = \"relu\"\n")
        .resolve(&data)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let failed = run_on(gpu(), &config, &data, &options(folder.path(), false), false, &mut Silent);
    let Err(TrainError::Diverged { seed: 0, epoch: 1, what, .. }) = failed else { panic!("{failed:?}") };
    assert!(what.contains("NaN") || what.contains("inf"), "{what}");
    assert!(folder.path().join(ERROR_FILE).exists());
}
