//! Ctrl-C: the first asks the run to stop at a safe place, the second ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

static PRESSED: AtomicUsize = AtomicUsize::new(0);

/// Exit code of a program ended by the interrupt signal.
const INTERRUPTED: i32 = 130;

/// Takes over Ctrl-C for the rest of the program. Without a handler the run still resumes from
/// its last checkpoint, so that this fails is no reason to stop.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(INTERRUPTED);
        }
        let _ =
            writeln!(std::io::stderr(), "\nstopping after this batch; press Ctrl-C again to stop at once");
    });
}

/// Takes over Ctrl-C and the request to terminate while boards are built and run: what runs is ended,
/// and nothing of it stays.
pub fn end_boards() {
    let _ = ctrlc::set_handler(|| {
        if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(INTERRUPTED);
        }
        fastgrnn_boards::stop();
    });
}

/// Takes over Ctrl-C while a stream is heard: it ends, and the answer is printed.
pub fn end_stream() {
    let _ = ctrlc::set_handler(|| {
        if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn is_requested() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
