//! The compiled kernels. `scripts/build-kernels` writes the files from the sources in `kernels/`.
use flate2::read::ZlibDecoder;
use std::io::Read;

/// A module as it is stored: text, and machine code.
struct Module {
    ptx: &'static [u8],
    cubin: &'static [u8],
}

/// The steps of matrices of 4 bits are kernels of a module of their own, which compiles in a second.
const MODULES: [Module; 2] = [
    Module {
        ptx: include_bytes!("../kernels/compiled/kernels.ptx.z"),
        cubin: include_bytes!("../kernels/compiled/kernels.sm_90.cubin.z"),
    },
    Module {
        ptx: include_bytes!("../kernels/compiled/steps.ptx.z"),
        cubin: include_bytes!("../kernels/compiled/steps.sm_90.cubin.z"),
    },
];

/// The modules as the text that a driver compiles for its GPU, of compute capability 8.0 or newer.
pub fn ptx() -> Vec<Vec<u8>> {
    MODULES.iter().map(|module| decompressed(module.ptx)).collect()
}

/// The modules compiled for GPUs of compute capability 9.0.
pub fn cubin() -> Vec<Vec<u8>> {
    MODULES.iter().map(|module| decompressed(module.cubin)).collect()
}

fn decompressed(stored: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(stored).read_to_end(&mut bytes).expect("scripts/build-kernels compressed it");
    bytes
}
