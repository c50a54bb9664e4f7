//! `fastgrnn demo`: the main job on built-in data.

use crate::args::DemoArgs;
use crate::commands::train::{self, Place};
use crate::console::Console;
use fastgrnn::train::Recipe;

/// Settings that learn the digits well within a minute on two cores.
const RECIPE: &str = include_str!("demo.toml");

/// Trains on the digits and says what to try next.
pub fn run(args: DemoArgs, console: Console) -> anyhow::Result<()> {
    console.note("Training a FastGRNN on 8 x 8 images of handwritten digits, read row by row.");
    let recipe = Recipe::from_toml_str(RECIPE, "demo.toml")?;
    let place = Place { out: args.out, resume: false };
    let done = train::train(&recipe, place, args.threads.count(), console)?;
    console.answer(&done.summary, || {
        let run = done.summary.run.display();
        format!(
            "{}
Everything is in {run}

Try next:
  fastgrnn info {run}
  fastgrnn eval {run} --dataset digits --predictions predictions.csv
  fastgrnn train --dataset digits --cell gru --seeds 3
  fastgrnn train --dataset your.csv --label-col LABEL     (also .npz, .ts, folders of CSV)
  fastgrnn train --help
",
            done.text()
        )
    })
}
