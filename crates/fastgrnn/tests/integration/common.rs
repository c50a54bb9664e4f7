//! Small generated data sets and recipes for the training tests.
#![allow(dead_code, missing_docs)]

use fastgrnn::data::{CrossValidation, Dataset, Examples, Labels, Sequences};
use fastgrnn::rng::Rng;
use fastgrnn::train::{DeviceChoice, Observer, Recipe, RunOptions, Silent, Summary, run};
use std::path::Path;

fn dataset(make: impl Fn(usize, u64) -> Examples, n: usize) -> Dataset {
    let features = Some(vec!["wave".into(), "noise".into()]);
    Dataset::new("generated", make(n, 1)).with_test(make(n, 2)).with_features(features)
}

/// Waves whose frequency is the class, beside a feature of noise; lengths vary around `steps`.
pub fn classes(n: usize, classes: usize, steps: usize) -> Dataset {
    let make = |n: usize, stream: u64| {
        let mut x = Sequences::new(2);
        let mut index = Vec::new();
        for i in 0..n {
            let mut rng = Rng::keyed(99, &[stream, i as u64]);
            let class = i % classes;
            let length = steps + rng.below(3);
            let values: Vec<f32> = (0..length)
                .flat_map(|t| {
                    let wave = (t as f64 * (0.3 + 0.9 * class as f64)).cos();
                    [(wave + 0.1 * rng.normal()) as f32, rng.normal() as f32]
                })
                .collect();
            x.push(&values);
            index.push(class as u32);
        }
        let names = (0..classes).map(|c| format!("class {c}")).collect();
        Examples::new(x, Labels::Class { index, names })
    };
    dataset(make, n)
}

/// Sequences whose target is 1,000 times their mean plus 5,000.
pub fn numbers(n: usize) -> Dataset {
    let make = |n: usize, stream: u64| {
        let mut x = Sequences::new(2);
        let mut values = Vec::new();
        for i in 0..n {
            let mut rng = Rng::keyed(7, &[stream, i as u64]);
            let level = rng.range(-1.0, 1.0);
            let sequence: Vec<f32> =
                (0..6).flat_map(|_| [(level + 0.1 * rng.normal()) as f32, rng.normal() as f32]).collect();
            x.push(&sequence);
            values.push((5_000.0 + 1_000.0 * level) as f32);
        }
        Examples::new(x, Labels::Value { width: 1, values })
    };
    dataset(make, n)
}

/// A small network, quickly trained, with one validation part.
pub fn recipe() -> Recipe {
    Recipe::default().with(|r| {
        r.source.dataset = Some("generated".into());
        r.preparation.cv = Some(CrossValidation::Off);
        r.network.hidden = Some(8);
        r.training.epochs = Some(4);
        r.training.batch = Some(10);
        r.training.lr = Some(0.01);
    })
}

pub fn options(out: &Path) -> RunOptions {
    RunOptions { out: out.to_owned(), resume: false, threads: 1, device: DeviceChoice::Cpu }
}

pub fn trained(recipe: &Recipe, data: &Dataset, out: &Path) -> Summary {
    run(&recipe.resolve(data).unwrap(), data, &options(out), &mut Silent).unwrap().summary
}

/// Asks to stop once it has let `left` batches pass.
pub struct Stopper {
    pub asked: usize,
    left: usize,
}

impl Stopper {
    pub fn after(left: usize) -> Self {
        Self { asked: 0, left }
    }
}

impl Observer for Stopper {
    fn should_stop(&mut self) -> bool {
        self.asked += 1;
        self.asked > self.left
    }
}

/// The epochs of a run, as its folder lists them.
pub fn metrics(folder: &std::path::Path) -> Vec<fastgrnn::train::EpochReport> {
    let text = std::fs::read_to_string(folder.join("metrics.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
