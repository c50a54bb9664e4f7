//! Devices for tests. The emulator is a library with the functions of CUDA's driver that runs the kernels on the CPU.
use fastgrnn_cuda::driver::{CudaError, Device};
pub use fastgrnn_testing::emulator::library;

/// A device that runs the threads of a block in ascending order.
pub fn device() -> Device {
    Device::with_library(library(), 0).expect("the emulator opens")
}

/// A device that runs the threads of a block in descending order. A kernel without races gives the same bits on both.
pub fn descending_device() -> Device {
    Device::with_library(library(), 1).expect("the emulator opens")
}

/// The first GPU of this machine. Without one, says that the calling test is skipped.
pub fn gpu() -> Option<Device> {
    match Device::open(0) {
        Ok(device) => Some(device),
        Err(error @ (CudaError::NoDriver { .. } | CudaError::NoGpu)) => {
            fastgrnn_testing::skipped(&format!("a GPU: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}
