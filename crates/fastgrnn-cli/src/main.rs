//! The `fastgrnn` command: parses the command line, calls the library, prints the answer.
//!
//! Exit codes: 0 for success, 1 for a failure, 2 for a usage error, 128 and the number of the signal for a
//! command that was stopped. Answers go to stdout, everything else to stderr; with `--json` stdout gets
//! exactly one JSON document, which is the answer or the error.

mod args;
mod board_job;
mod board_sound;
mod board_table;
mod board_text;
mod commands;
mod components;
mod confusion;
mod console;
mod dataset;
mod date;
mod detector;
mod failure;
mod flags;
mod integer_tables;
mod interrupt;
mod listening;
mod misuse;
mod model;
mod program;
mod progress;
mod remedy;
mod report;
mod runs;
mod saturation;
mod scores;
mod searching;
mod shell;
mod signals;
mod table;
mod training;

use args::{Cli, Command, DataCommand};
use commands::{
    analyze, bench, board, compare, completions, data, demo, eval, export, generate, info, new, pareto,
    predict, quantize, reproduce, runs as list, search, stream, stream_eval, train, tune,
};
use console::Console;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = args::parse().and_then(run);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::print_error(&error);
            let failure = Failure::of(&error);
            // Also after a command line that cannot be parsed.
            if std::env::args_os().any(|word| word == "--json") {
                print_json(&failure);
            }
            ExitCode::from(failure.exit_code)
        }
    }
}

fn print_json(failure: &Failure) {
    let console = Console { json: true, quiet: true };
    let document = serde_json::json!({ "error": failure });
    // There is nobody left to tell that stdout is closed.
    let _ = console.answer(&document, String::new);
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let console = Console { json: cli.json, quiet: cli.quiet };
    match cli.command {
        Command::Demo(args) => demo::run(args, console),
        Command::Train(args) => train::run(*args, console),
        Command::Eval(args) => eval::run(args, console),
        Command::Predict(args) => predict::run(args, console),
        Command::Generate(args) => generate::run(args, console),
        Command::Runs(args) => list::run(&args, console),
        Command::Info(args) => info::run(&args, console),
        Command::New(args) => new::run(args, console),
        Command::Search(args) => search::run(*args, console),
        Command::Tune(args) => tune::run(*args, console),
        Command::Reproduce(args) => reproduce::run(args, console),
        Command::Analyze(args) => analyze::run(*args, console),
        Command::Pareto(args) => pareto::run(*args, console),
        Command::Compare(args) => compare::run(args, console),
        Command::Quantize(args) => quantize::run(args, console),
        Command::Board(args) => board::run(args, console),
        Command::Export(args) => export::run(args, console),
        Command::Stream(args) => stream::run(args, console),
        Command::StreamEval(args) => stream_eval::run(args, console),
        Command::Data(DataCommand::List(args)) => data::list(&args, console),
        Command::Data(DataCommand::Inspect(args)) => data::inspect(args, console),
        Command::Data(DataCommand::Doctor(args)) => data::doctor(args, console),
        Command::Data(DataCommand::Convert(args)) => data::convert(args, console),
        Command::Bench(args) => bench::run(args, console),
        Command::Completions(args) => completions::run(&args, console),
    }
}
