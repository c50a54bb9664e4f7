//! Tests of the command as a user runs it.

// Helpers: runs the command and checks its output.
mod command;

// The theory of the paper, measured.
mod analyze;
// Emulated boards, and training for their limits.
mod board;
mod fit;
// The JSON that commands print and the files they write.
mod contracts;
// The demo from start to end.
mod demo;
// The documentation agrees with the declarations in the code.
mod docs;
mod doctor;
// Error messages and exit codes.
mod errors;
// Code that is written for boards, crates and web pages.
mod export;
// Training on a GPU.
mod gpu;
// Integer models.
mod integer;
// Runs that are stopped and continued.
#[cfg(unix)]
mod interrupt;
// Random models and random data.
mod new;
// Accuracy against bytes.
mod pareto;
mod report;
mod reproduce;
// The list of runs, and the short help.
mod runs;
mod search;
// Listening to streams.
mod stream;
mod text;
