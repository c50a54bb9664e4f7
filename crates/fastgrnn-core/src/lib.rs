//! What every part of fastgrnn shares: cells, networks and their parameter layout, batches, keyed
//! random numbers, metrics, durable file writes and number formatting.
//!
//! Nothing here trains, reads data sets or computes a step; those crates build on this one.
//!
//! | module | contents |
//! | --- | --- |
//! | [`cells`] | the declaration of each cell: equations, parameters, starting values |
//! | [`net`] | a network: stacked cells, a head, one flat parameter layout |
//! | [`batch`] | sequences and targets of one training step |
//! | [`window`] | how many frames of the input a step reads |
//! | [`regularize`] | dropout and penalties of a training step |
//! | [`rng`] | random numbers that depend on a key, not on the order of draws |
//! | [`metrics`] | accuracy, F1, confusion, regression errors |
//! | [`files`] | atomic, durable file writes |
//! | [`mod@format`] | numbers as people read them |
//! | [`mod@settings`] | settings declared once: recipe keys, flags, help, defaults, ranges |
pub mod batch;
pub mod cells;
pub mod files;
pub mod format;
pub mod initial;
pub mod metrics;
pub mod net;
pub mod regularize;
pub mod rng;
pub mod settings;
pub mod window;
