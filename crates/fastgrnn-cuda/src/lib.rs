//! The training step on NVIDIA GPUs.
//!
//! The library of CUDA's driver is loaded when a device is opened, so a program with this crate also starts on
//! machines without a GPU. The kernels are part of the crate, compiled: nothing of CUDA is needed to build it.
pub mod assemble;
pub mod driver;
pub mod gradient;
mod kernels;
mod layers;
pub mod optimize;
pub mod params;
pub mod trainer;

pub use driver::CudaError;
pub use gradient::head_bytes;
#[doc(hidden)]
pub use kernels::{cubin, ptx};
pub use layers::{Family, MAX_HIDDEN, layer_bytes, padded_units};
pub use params::{MAX_LAYERS, has_kernels};
