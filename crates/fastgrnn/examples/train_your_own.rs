//! Trains on sequences that a program has in memory: slow waves against fast ones.
//!
//! `cargo run --example train_your_own`

use fastgrnn::data::{Dataset, Examples, Labels, Sequences};
use fastgrnn::model::Model;
use fastgrnn::rng::Rng;
use fastgrnn::train::{self, DeviceChoice, Recipe, RunOptions, Silent};

/// `n` noisy sines of 40 to 60 steps; class 1 is twice as fast as class 0.
fn waves(n: usize, seed: u64) -> Examples {
    let mut rng = Rng::new(seed);
    let mut x = Sequences::new(1);
    let mut index = Vec::new();
    for i in 0..n {
        let class = (i % 2) as u32;
        let step = 0.3 * f64::from(class + 1);
        let start = rng.range(0.0, 6.0);
        let steps = 40 + rng.below(21);
        let wave: Vec<f32> =
            (0..steps).map(|t| ((start + step * t as f64).sin() + 0.3 * rng.normal()) as f32).collect();
        x.push(&wave);
        index.push(class);
    }
    Examples::new(x, Labels::Class { index, names: vec!["slow".into(), "fast".into()] })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Dataset::new("waves", waves(200, 1)).with_test(waves(100, 2));
    let recipe = Recipe::default().with(|r| {
        r.source.dataset = Some(data.name.clone());
        r.network.hidden = Some(12);
        r.training.epochs = Some(40);
    });
    let config = recipe.resolve(&data)?;
    let folder = tempfile::tempdir()?;
    let options =
        RunOptions { out: folder.path().join("run"), resume: false, threads: 2, device: DeviceChoice::Cpu };
    let summary = train::run(&config, &data, &options, &mut Silent)?.summary;
    println!("{} parameters, {} bytes", summary.params, summary.bytes.total);
    println!("test: {:?}", summary.test);

    let model = Model::load(&summary.model)?;
    let predictions = model.predict(&waves(2, 3).x, 1)?;
    for i in 0..predictions.len() {
        println!("{} {:?}", model.labels()[predictions.classes[i] as usize], predictions.row(i));
    }
    Ok(())
}
