//! The errors of this crate.

use fastgrnn_export::ExportError;
use std::io;
use std::path::PathBuf;

/// Why a board was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A tool is not installed.
    #[error(
        "the board {board} needs '{tool}', which is missing: run scripts/setup-boards (on Debian it is in {package})"
    )]
    MissingTool {
        /// The program or file.
        tool: &'static str,
        /// The board.
        board: &'static str,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// A compiler or linker failed.
    #[error("{tool} cannot build {what} for the board {board}:\n{output}")]
    Build {
        /// The compiler.
        tool: String,
        /// The file that it should make.
        what: String,
        /// The board.
        board: &'static str,
        /// Its messages.
        output: String,
    },
    /// The board has no room for the firmware.
    #[error(
        "the firmware needs {needed} bytes of {memory}, {over} more than the {available} that {name} has; \
         a model with fewer units, lower ranks or fewer weights is smaller",
        over = needed - available
    )]
    TooLarge {
        /// The full name of the board.
        name: &'static str,
        /// `flash` or `RAM`.
        memory: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that the board has.
        available: usize,
    },
    /// Sound cannot be measured.
    #[error("the board {board} cannot be fed sound: {why}")]
    NoSound {
        /// The board.
        board: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// The emulated machine has less memory than the test image needs, though the board may have enough.
    #[error(
        "the test image does not fit the machine '{machine}' that stands for the board {board}: {output}"
    )]
    EmulatorTooSmall {
        /// The machine.
        machine: &'static str,
        /// The board.
        board: &'static str,
        /// The linker's message.
        output: String,
    },
    /// The emulator ended with an error.
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
        /// Its messages, on lines of their own.
        output: String,
    },
    /// The emulator did not end in time.
    #[error("{program} did not end within {seconds} s on the board {board}")]
    Timeout {
        /// The emulator.
        program: &'static str,
        /// The board.
        board: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// The emulator wrote results that cannot be read.
    #[error("the emulated board {board} wrote {what}; this is a bug of the emulator or of the test firmware")]
    Results {
        /// The board.
        board: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A call used more stack than is watched.
    #[error("a call used {watched} bytes of stack or more on the board {board}, and no more are watched")]
    Stack {
        /// The board.
        board: &'static str,
        /// Bytes that are watched.
        watched: usize,
    },
    /// A window does not consist of whole frames.
    #[error(
        "window {window} has {counts} counts, which is not a multiple of {features}, the counts in a frame"
    )]
    Window {
        /// Its index.
        window: usize,
        /// Counts in the window.
        counts: usize,
        /// Counts in a frame.
        features: usize,
    },
    /// There are no windows, or not as many expected outcomes as windows.
    #[error(
        "there are {windows} windows and {expected} expected outcomes: at least one window is needed, and one outcome for each"
    )]
    Windows {
        /// Number of windows.
        windows: usize,
        /// Number of expected outcomes.
        expected: usize,
    },
    /// The expected scores are those of another network.
    #[error("window {window}: {found} scores are expected, but the firmware computes {outputs}")]
    Outputs {
        /// Its index.
        window: usize,
        /// Scores that are expected.
        found: usize,
        /// Scores of the firmware.
        outputs: usize,
    },
    /// The names in the C source have another prefix than the firmware expects.
    #[error(
        "the C source has the prefix '{found}', but the firmware calls functions with the prefix 'model'"
    )]
    Name {
        /// The prefix of the source.
        found: String,
    },
    /// The folder to keep files in exists already.
    #[error("the folder {} to keep files in exists already", path.display())]
    KeepExists {
        /// The folder.
        path: PathBuf,
    },
    /// The model cannot be exported as C.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
