//! What can go wrong.

use fastgrnn_export::ExportError;
use std::io;
use std::path::PathBuf;

/// Why a board was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A program that is not installed.
    #[error(
        "'{tool}' is missing, which the board {board} needs: run scripts/setup-boards (on Debian it is in {package})"
    )]
    MissingTool {
        /// The program or library.
        tool: &'static str,
        /// The board.
        board: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// A compiler or linker that refused.
    #[error("{tool} cannot build {what} for the board {board}:\n{output}")]
    Build {
        /// The compiler.
        tool: String,
        /// The file.
        what: String,
        /// The board.
        board: &'static str,
        /// What it said.
        output: String,
    },
    /// Firmware that the board has no room for.
    #[error(
        "the firmware needs {needed} bytes of {memory}, {over} more than the {available} that {name} has; \
         a smaller model fits: fewer units, lower ranks or fewer weights kept",
        over = needed - available
    )]
    TooLarge {
        /// The board, for people.
        name: &'static str,
        /// `flash` or `RAM`.
        memory: &'static str,
        /// Bytes it takes.
        needed: usize,
        /// Bytes there are.
        available: usize,
    },
    /// No front end for sound, or a board without room for one.
    #[error("the board {board} is not fed sound: {why}")]
    NoSound {
        /// The board.
        board: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// More than the emulated machine has, though the board may have it.
    #[error(
        "the test image does not fit the machine '{machine}' that stands for the board {board}: {output}"
    )]
    EmulatorTooSmall {
        /// The machine.
        machine: &'static str,
        /// The board.
        board: &'static str,
        /// What the linker said.
        output: String,
    },
    /// An emulator that ended with an error.
    #[error("{program} ended with {status} ({meaning}) on the board {board}{output}")]
    Emulator {
        /// The emulator.
        program: &'static str,
        /// Its exit status.
        status: String,
        /// What the status means.
        meaning: &'static str,
        /// The board.
        board: &'static str,
        /// What it said, on lines of its own.
        output: String,
    },
    /// An emulator that did not end.
    #[error("{program} did not end within {seconds} s on the board {board}")]
    Timeout {
        /// The emulator.
        program: &'static str,
        /// The board.
        board: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// Results that are not what the firmware writes.
    #[error(
        "the emulated board {board} wrote {what}; this is a bug of the emulator or of the firmware's frame"
    )]
    Results {
        /// The board.
        board: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A call that used all of the stack that is watched.
    #[error("a call used {watched} bytes of stack or more on the board {board}: more than is watched")]
    Stack {
        /// The board.
        board: &'static str,
        /// The bytes that are watched.
        watched: usize,
    },
    /// A window that is not whole frames, or none.
    #[error(
        "window {window} has {counts} counts, which is not a multiple of {features}, the counts in a frame"
    )]
    Window {
        /// Which.
        window: usize,
        /// Its counts.
        counts: usize,
        /// Counts in a frame.
        features: usize,
    },
    /// Nothing to run on, or not as many expected outcomes as windows.
    #[error(
        "{windows} windows with {expected} expected outcomes: one for each of at least one window is needed"
    )]
    Windows {
        /// Windows.
        windows: usize,
        /// Outcomes.
        expected: usize,
    },
    /// Expected scores of another network.
    #[error("window {window}: {found} scores are expected, but the firmware has {outputs}")]
    Outputs {
        /// Which.
        window: usize,
        /// Scores that are expected.
        found: usize,
        /// Scores of the firmware.
        outputs: usize,
    },
    /// C source with names that the firmware does not call.
    #[error(
        "the C source has the prefix '{found}', but the firmware calls functions with the prefix 'model'"
    )]
    Name {
        /// The prefix of the source.
        found: String,
    },
    /// A folder to keep files in that is there already.
    #[error("the folder {} to keep files in exists already", path.display())]
    KeepExists {
        /// The folder.
        path: PathBuf,
    },
    /// A model that cannot be written as C.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A file that could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
