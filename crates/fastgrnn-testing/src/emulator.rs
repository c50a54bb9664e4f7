//! The emulator of GPUs: a library with the functions of CUDA's driver that runs the kernels on the CPU.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;
use std::time::SystemTime;

/// Whether the emulator can be compiled here. If not, says that the calling test is skipped; where `scripts/test` has
/// installed all tools, that is a failure instead.
///
/// # Panics
/// If there is no C++ compiler although there should be one.
pub fn is_available() -> bool {
    let found = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("FASTGRNN_TOOLS").is_none(), "there is no C++ compiler (c++)");
    if !found {
        crate::skipped("training on a GPU: there is no C++ compiler (c++) for the emulator");
    }
    found
}

/// The library, compiled at the first call if the sources are newer. Its first GPU runs the threads of a block in
/// ascending order, its second one in descending order; the third one has less memory for a block.
///
/// # Panics
/// If there is no C++ compiler `c++`, or it fails.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fastgrnn-cuda/kernels");
        let program = std::env::current_exe().expect("the test program has a path");
        let library = program.with_file_name("fastgrnn-cuda-emulator.so");
        if changed(&library).is_none_or(|built| built <= newest(&kernels)) {
            compile(&kernels.join("emulator/driver.cc"), &library);
        }
        library
    })
}

fn compile(source: &Path, library: &Path) {
    // Another test program may use the old library or compile the same one.
    let unfinished = library.with_extension(format!("{}.so", process::id()));
    let mut compiler = Command::new("c++");
    compiler
        .args(["-std=c++17", "-O2", "-Wall", "-Wno-unknown-pragmas", "-shared", "-fPIC", "-o"])
        .arg(&unfinished)
        .arg(source);
    let done = compiler.output().expect("the C++ compiler c++ compiles the emulator");
    assert!(done.status.success(), "{compiler:?}\n{}", String::from_utf8_lossy(&done.stderr));
    fs::rename(&unfinished, library).expect("the compiled library gets its name");
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|about| about.modified()).ok()
}

/// When a source was last changed.
fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).expect("the kernels are there").flatten().map(|entry| entry.path());
    let times = entries.filter_map(|path| if path.is_dir() { Some(newest(&path)) } else { changed(&path) });
    times.max().expect("the folder has files")
}
