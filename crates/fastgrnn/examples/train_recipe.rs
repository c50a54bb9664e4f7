//! Trains a recipe file and prints its epochs: what `fastgrnn train` does, without the comfort.
//!
//! `cargo run --release --example train_recipe -- recipes/digits.toml runs/digits`

use fastgrnn::data;
use fastgrnn::train::{DeviceChoice, EpochReport, Observer, Recipe, RunOptions, run};

struct Print;

impl Observer for Print {
    fn epoch(&mut self, r: &EpochReport) {
        let val = r.val_accuracy.map_or(String::new(), |a| format!("  val {:.4}", a));
        println!("{:>4}/{}  loss {:.4}{val}  {:.2} s", r.epoch, r.epochs, r.train_loss, r.seconds);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recipe, out] = arguments.as_slice() else {
        return Err("usage: train_recipe RECIPE.toml OUT".into());
    };
    let recipe = Recipe::from_toml(recipe)?;
    let data = data::load(&recipe.request())?;
    let config = recipe.resolve(&data)?;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let options = RunOptions { out: out.into(), resume: true, threads, device: DeviceChoice::Cpu };
    let outcome = run(&config, &data, &options, &mut Print)?;
    println!("{}", serde_json::to_string_pretty(&outcome.summary)?);
    Ok(())
}
