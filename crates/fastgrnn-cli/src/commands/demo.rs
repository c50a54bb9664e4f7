//! `fastgrnn demo`: the main job on built-in data.

use crate::args::DemoArgs;
use crate::commands::train::{self, Place};
use crate::console::Console;
use fastgrnn::train::Recipe;

/// The settings we stand behind for this set, whatever folder the command runs in: a copy of
/// `recipes/digits.toml`, because a package holds only its own files. A test keeps them equal.
const RECIPE: &str = include_str!("digits.toml");

/// Trains on the digits and says what to try next.
pub fn run(args: DemoArgs, console: Console) -> anyhow::Result<()> {
    console.note("Training a FastGRNN on 8 x 8 images of handwritten digits, read row by row.");
    let recipe = Recipe::from_toml_str(RECIPE, "digits.toml")?;
    let place = Place { out: args.out, resume: false };
    let done = train::train(&recipe, place, args.threads.count(), console)?;
    console.answer(&done.summary, || format!("{}{}", done.text(), next(&train::short(&done.summary.run))))
}

fn next(run: &str) -> String {
    let mut text = format!(
        "
Everything is in {run}

Try next:
  fastgrnn info {run}
  fastgrnn eval {run} --dataset digits --predictions predictions.csv
  fastgrnn train --dataset digits --cell gru --seeds 3
  fastgrnn train --dataset your.csv --label-col LABEL     (also .npz, .ts, folders of CSV)
  fastgrnn train --help
"
    );
    let from_checkout = std::env::current_exe().is_ok_and(|exe| exe.iter().any(|part| part == "target"));
    if from_checkout {
        text.push_str(
            "(To have the command `fastgrnn`: cargo install --locked --path crates/fastgrnn-cli)\n",
        );
    }
    text
}
