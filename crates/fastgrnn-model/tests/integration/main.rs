//! Quantisation and integer models against the oracle, the runtime and their files.

mod detector;
mod generate;
mod integer_engine;
mod integer_text;
mod quantize;
mod quantized;
mod random;
mod threshold;
