//! The integration tests of this crate, as one program, so that the library is linked once. They run the kernels on
//! the CPU.

// Helpers.
mod emulated;

mod assemble;
mod driver;
mod gradient;
mod optimize;
mod params;
mod trainer;
