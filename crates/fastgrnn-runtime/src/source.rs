//! The crate's own source, for tools that write crates which must build anywhere, without a
//! registry. Feature `source`; costs nothing without it.
//!
//! ```
//! let lib = fastgrnn_runtime::source::FILES.iter().find(|(path, _)| *path == "src/lib.rs");
//! assert!(lib.is_some_and(|(_, text)| text.starts_with(b"//!")));
//! ```

macro_rules! files {
    ($($path:literal),* $(,)?) => { &[$(($path, include_bytes!(concat!("../", $path)))),*] };
}

/// Path in the crate, and bytes, of every file but `Cargo.toml`.
pub const FILES: &[(&str, &[u8])] = files![
    "src/cells.rs",
    "src/lib.rs",
    "src/matrix_form.rs",
    "src/nonlinearity.rs",
    "src/source.rs",
    "src/audio/fft.rs",
    "src/audio/frame.rs",
    "src/audio/mel.rs",
    "src/audio/mod.rs",
    "src/audio/stream.rs",
    "src/audio/tables.rs",
    "src/float/head.rs",
    "src/float/layer.rs",
    "src/float/math.rs",
    "src/float/matrix.rs",
    "src/float/mod.rs",
    "src/float/shape.rs",
    "src/int/arithmetic.rs",
    "src/int/bias.rs",
    "src/int/bytes.rs",
    "src/int/cell.rs",
    "src/int/checksum.rs",
    "src/int/decision.rs",
    "src/int/detector.rs",
    "src/int/error.rs",
    "src/int/image.rs",
    "src/int/input.rs",
    "src/int/layer.rs",
    "src/int/matrix.rs",
    "src/int/mod.rs",
    "src/int/nonlinear.rs",
    "src/int/sample.rs",
    "src/int/state.rs",
    "src/int/watch.rs",
    "src/int/window.rs",
    "tests/fixtures/front.rs",
    "tests/fixtures/tiny.image",
];

#[cfg(test)]
mod tests {
    extern crate std;
    use std::path::Path;
    use std::{format, string::String, vec::Vec};

    #[test]
    fn every_file_of_the_crate_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for folder in ["src", "src/audio", "src/float", "src/int", "tests/fixtures"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("the folder is there") {
                let entry = entry.expect("it can be read");
                if entry.path().is_file() {
                    found.push(format!("{folder}/{}", entry.file_name().to_string_lossy()));
                }
            }
        }
        found.sort();
        let mut listed: Vec<String> = super::FILES.iter().map(|(path, _)| String::from(*path)).collect();
        listed.sort();
        assert_eq!(listed, found);
    }
}
