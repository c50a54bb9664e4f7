//! `fastgrnn completions SHELL`

use crate::args::{self, CompletionsArgs};
use crate::console::Console;

/// Prints the script.
pub fn run(args: &CompletionsArgs, console: Console) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "fastgrnn", &mut script);
    let script = String::from_utf8(script)?;
    let answer = serde_json::json!({ "shell": args.shell.to_string(), "script": script });
    console.answer(&answer, || script.clone())
}
