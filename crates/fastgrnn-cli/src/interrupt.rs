//! Requests to stop (Ctrl-C, and the signals to terminate and to hang up): the first asks the command to stop
//! at a safe place, the second ends the program.

use crate::signals;
use std::sync::atomic::{AtomicI32, Ordering};

/// The first signal that arrived; 0 before there is one.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Exit codes of programs that a signal ended are this and the number of the signal.
const SIGNAL_EXIT: i32 = 128;

/// The exit code after Ctrl-C.
const CTRL_C_EXIT: u8 = 130;

/// What is said after the first request.
const STOPPING: &str = "\nstopping, and saving what is trained; press Ctrl-C again to stop at once\n";

/// Handles requests to stop for the rest of the program: a training stops after its batch, or
/// after its epoch on a GPU.
pub fn listen() {
    signals::on_signals(|signal| {
        note(signal);
        signals::write_stderr(STOPPING);
    });
}

/// The same while boards are built and run: what runs is ended, and nothing of it stays.
pub fn end_boards() {
    signals::on_signals(|signal| {
        note(signal);
        fastgrnn_boards::stop();
    });
}

/// The same for a command that trains and also runs boards.
pub fn listen_and_end_boards() {
    signals::on_signals(|signal| {
        note(signal);
        fastgrnn_boards::stop();
        signals::write_stderr(STOPPING);
    });
}

/// The same while a stream is heard: it ends, and the answer is printed.
pub fn end_stream() {
    signals::on_signals(note);
}

/// The same while a network is analysed: the analysis ends soon, and nothing is written.
pub fn end_analysis() {
    signals::on_signals(note);
}

fn note(signal: i32) {
    if SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        signals::exit_at_once(SIGNAL_EXIT + signal);
    }
}

/// Whether a request to stop arrived.
pub fn is_requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// The exit code of a command that stopped on request.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => CTRL_C_EXIT,
        signal => u8::try_from(SIGNAL_EXIT + signal).unwrap_or(CTRL_C_EXIT),
    }
}
