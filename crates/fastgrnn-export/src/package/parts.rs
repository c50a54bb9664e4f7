//! What a package is: its target, its options, its files.

use super::info::PackageInfo;
use crate::c::Optimize;
use crate::golden::Windows;

/// The tool chain that a package is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Plain C99 with a Makefile.
    C,
    /// An Arduino library.
    Arduino,
    /// A PlatformIO library.
    PlatformIo,
    /// A Zephyr module.
    Zephyr,
    /// An ESP-IDF component.
    EspIdf,
    /// A `no_std` crate.
    Rust,
    /// WebAssembly with a JavaScript module.
    Wasm,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 7] =
        [Self::C, Self::Arduino, Self::PlatformIo, Self::Zephyr, Self::EspIdf, Self::Rust, Self::Wasm];

    /// The name in commands and JSON.
    ///
    /// ```
    /// use fastgrnn_export::Target;
    /// assert!(Target::ALL.iter().all(|t| Target::from_name(t.name()) == Some(*t)));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Arduino => "arduino",
            Self::PlatformIo => "platformio",
            Self::Zephyr => "zephyr",
            Self::EspIdf => "esp-idf",
            Self::Rust => "rust",
            Self::Wasm => "wasm",
        }
    }

    /// The target with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// Options of [`package`](super::package()).
#[derive(Clone, Debug)]
pub struct PackageOptions {
    /// The prefix of every C name, which is also the name of the files.
    pub name: String,
    /// The most bytes of RAM for state, buffers, a frame and scores; checked here and when the package is
    /// compiled.
    pub max_ram: Option<usize>,
    /// Whether the C core should be small or fast.
    pub optimize: Optimize,
    /// Soft float instead of integers, for comparisons.
    pub float: bool,
    /// Windows for the golden vectors; by default four of [`Windows::random`].
    pub windows: Option<Windows>,
}

impl Default for PackageOptions {
    fn default() -> Self {
        Self {
            name: "model".to_owned(),
            max_ram: None,
            optimize: Optimize::default(),
            float: false,
            windows: None,
        }
    }
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path in the package, with `/` between folders.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: content.into() }
    }
}

/// The files of a package and what is known about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// The files, each path once.
    pub files: Vec<File>,
    /// Sizes, shape and origin.
    pub info: PackageInfo,
}

/// The default number of golden windows.
pub const GOLDEN_WINDOWS: usize = 4;
/// The seed of random golden windows.
pub const GOLDEN_SEED: u64 = 1;
