//! `fastgrnn demo`: the main job on built-in data, from a float network to integers only.

use crate::args::DemoArgs;
use crate::components::{self, ComponentRow};
use crate::console::Console;
use crate::misuse::misuse;
use crate::runs;
use crate::scores::short;
use crate::training::outcome_text;
use anyhow::Context;
use fastgrnn::pareto::{self, Component};
use fastgrnn::train::{CONFIG_FILE, Recipe, Summary};
use serde::Serialize;

/// The recipes of the demo: copies of files in `recipes/`, because a package holds only its own files. A
/// test checks that they are equal.
const SPARSE: &str = include_str!("../recipes/digits-sparse.toml");
const TINY: &str = include_str!("../recipes/digits-tiny.toml");
/// The folder of the networks before the last one.
const STAGES: &str = "stages";

#[derive(Serialize)]
struct DemoOutput<'a> {
    /// The run of the integer model.
    #[serde(flatten)]
    summary: &'a Summary,
    /// From the float network of full rank to the integer model.
    components: &'a [ComponentRow],
}

/// Trains on the digits, component by component, and prints what to try next.
pub fn run(args: DemoArgs, console: Console) -> anyhow::Result<()> {
    console.note("Training a FastGRNN on 8 x 8 images of handwritten digits, read row by row.");
    let mut components = pareto::components(&Recipe::from_toml_str(SPARSE, "digits-sparse.toml")?)?;
    let tiny = Recipe::from_toml_str(TINY, "digits-tiny.toml")?;
    components.push(Component { name: "tiny", recipe: tiny });
    let out = match args.out {
        Some(out) if out.join(CONFIG_FILE).exists() || out.join(STAGES).exists() => {
            return Err(misuse(format!(
                "{} already holds a run; choose another folder with --out",
                out.display()
            )));
        }
        Some(out) => out,
        None => runs::fresh("digits", "fastgrnn")?,
    };
    let last = components.last().map_or("", |c| c.name);
    let folder = |name: &str| if name == last { out.clone() } else { out.join(STAGES).join(name) };
    let (rows, outcome) = components::train_all(&components, folder, args.threads.count(), console)?;
    let outcome = outcome.context("the recipe of the demo has no components")?;
    let answer = DemoOutput { summary: &outcome.summary, components: &rows };
    console.answer(&answer, || {
        let run = short(&outcome.summary.run);
        format!("{}\n{}{}", outcome_text(&outcome), components::text(&rows), next(&run))
    })
}

fn next(run: &str) -> String {
    let mut text = format!(
        "
Everything is in {run}

Try next:
  fastgrnn info {run}
  fastgrnn eval {run} --dataset digits --predictions predictions.csv
  fastgrnn compare {run}/model_float.safetensors {run} --dataset digits --report compare.html
  fastgrnn train --dataset digits --cell gru --seeds 3 --quantize
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
