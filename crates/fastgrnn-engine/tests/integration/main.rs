//! The engine against the f64 reference, the reference against differences and PyTorch.

mod eurnn;
mod gradients;
mod reference_flow;
mod reference_gradients;
mod runtime_float;
mod text;
mod torch_vectors;
mod window;
