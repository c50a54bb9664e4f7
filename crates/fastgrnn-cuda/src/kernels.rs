//! The compiled kernels. `scripts/build-kernels` writes the files from the sources in `kernels/`.
use flate2::read::ZlibDecoder;
use std::io::Read;

const PTX: &[u8] = include_bytes!("../kernels/compiled/kernels.ptx.z");
const CUBIN: &[u8] = include_bytes!("../kernels/compiled/kernels.sm_90.cubin.z");

/// The kernels as the text that a driver compiles for its GPU, of compute capability 8.0 or newer.
pub fn ptx() -> Vec<u8> {
    decompressed(PTX)
}

/// The kernels compiled for GPUs of compute capability 9.0.
pub fn cubin() -> Vec<u8> {
    decompressed(CUBIN)
}

fn decompressed(stored: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(stored).read_to_end(&mut bytes).expect("scripts/build-kernels compressed it");
    bytes
}
