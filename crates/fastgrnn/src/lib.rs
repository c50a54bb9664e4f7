//! Train recurrent networks that fit a microcontroller.
//!
//! The crate implements FastRNN and FastGRNN and the RNNs they are compared with. It differs from
//! a tensor framework in its unit of work: not an operation on a graph but a whole training step
//! on a batch, hand-written forward and backward through time on flat buffers.
//!
//! ```rust
//! # use fastgrnn::{data, data::Request, train, train::{DeviceChoice, Recipe, RunOptions}};
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("run");
//! let data = data::load(&Request::new("digits"))?;
//! let config = Recipe::default().with(|r| r.training.epochs = Some(2)).resolve(&data)?;
//! let options = RunOptions { out, resume: false, threads: 2, device: DeviceChoice::Cpu };
//! let outcome = train::run(&config, &data, &options, &mut train::Silent)?;
//! # assert!(outcome.summary.model.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`cells`] | what each cell is: equations, parameters, starting values |
//! | [`net`] | a network: stacked cells, a head, one flat parameter layout |
//! | [`mod@reference`] | the same in plain scalar f64: the oracle |
//! | [`engine`] | the fast multi-threaded f32 training step |
//! | [`audio`] | recordings: WAV and FLAC as samples |
//! | [`data`] | sequences, readers, splits, normalisation, augmentation |
//! | [`features`] | the audio front end: what is computed of sound, in floats and in integers |
//! | [`text`] | texts as tokens, and vocabularies |
//! | [`regularize`] | dropout and penalties of a training step |
//! | [`metrics`] | accuracy, F1, confusion, regression errors |
//! | [`model`] | the trained model and its file |
//! | [`train`] | optimisers, schedules, the training run, checkpoints |
//! | [`settings`] | the settings of a run, declared once |
//! | [`quantize`] | integers instead of floats: grids, calibration, the device image |
//! | [`generate`] | text from a language model |
//! | [`stream`] | listening: network and detector on a stream |
//! | [`random`] | integer models of any shape with random weights, to measure before training |
//! | [`device`] | boards: their memory and clock |
//! | [`compare`] | two models on the same data: agreement, drift of states, saturation |
//! | [`search`] | the best network for a budget: which settings to try, and how long |
//! | [`pareto`] | accuracy against bytes: networks for a budget, what each compression costs |
//! | [`analyze`](mod@analyze) | the theory of the paper, measured on a network |
//! | [`reproduce`] | the tables and figures of the paper, made again |
//! | [`files`] | files that are there whole or not at all |
//! | [`report`] | a run as a page: curves, confusion matrix, sizes |
pub mod analyze;
mod lines;
mod pages;
pub mod pareto;
pub mod reproduce;
pub mod search;
pub mod stream;
pub mod train;

pub use fastgrnn_core::{batch, cells, files, format, metrics, net, regularize, rng, window};
pub use fastgrnn_data::{audio, data, features, text};
pub use fastgrnn_engine::{engine, reference};
pub use fastgrnn_model::{compare, device, generate, quantize, random};

/// The settings of a run, declared once, and the traits that all settings share.
pub mod settings {
    pub use fastgrnn_core::settings::*;
    pub use fastgrnn_model::settings::*;
}

/// Trained models, and what a model file holds.
pub mod model {
    pub use fastgrnn_model::any::AnyModel;
    pub use fastgrnn_model::model::*;
}

/// Charts and pages, and the pages of runs, comparisons, searches and size sweeps.
pub mod report {
    pub use crate::pages::{
        AnalysisReport, AnalyzedNetwork, BOARD_COLUMNS, BOUND_COLUMNS, BOUND_NOTE, BoardRow,
        CONDITION_COLUMNS, CONDITION_NOTE, CONDITIONS_COLUMNS, CompareReport, FRONT_HEADING,
        GRADIENT_COLUMNS, GRADIENT_NOTE, IMPORTANCE_HEADING, Named, PARETO_HEADING, ParetoReport,
        QUANTITY_COLUMNS, ReproductionReport, STATE_COLUMNS, STATE_NOTE, SearchReport, SetTable,
        WEIGHT_COLUMNS, WEIGHT_NOTE, board_notes, board_rows, bound_rows, condition_rows, conditions_rows,
        front_row, gradient_rows, importance_row, pareto_row, power_of_ten, quantity_rows, ratio_lines,
        reproduction_summary, run_report, sequence_lines, state_rows, tensors, weight_rows,
    };
    pub use fastgrnn_core::format::{bytes, count, duration, fraction, number, number_sd, quantity};
    pub use fastgrnn_report::*;
}
