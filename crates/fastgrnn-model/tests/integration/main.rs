//! Quantisation and integer models against the oracle, the runtime and their files.

mod detector;
mod integer_engine;
mod quantize;
mod quantized;
mod random;
mod threshold;
