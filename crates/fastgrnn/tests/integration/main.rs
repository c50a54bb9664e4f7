//! Training runs, streams and model files through the public interface.

mod common;
mod model_file;
mod run_report;
mod stream;
mod stream_eval;
mod train_bits;
mod train_config;
mod train_cross_validation;
mod train_folder;
mod train_input_layer;
mod train_orthogonal;
mod train_resume;
mod train_rsg;
mod train_run;
mod train_sets;
mod train_soft;
mod train_stages;
mod train_text;
