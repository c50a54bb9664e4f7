//! Training: settings, optimisers and the run itself.
//!
//! A [`Recipe`] holds the keys that were given; [`Recipe::resolve`] fills in the rest from the data and
//! gives a [`Config`]; [`run`] trains it for every seed into a run folder and returns an
//! [`Outcome`]. The protocol is the paper's: best epoch on a validation part, an optional refit on
//! all training data, the test set read once.
//!
//! Results depend on configuration and data alone, to the bit: not on the number of threads, not
//! on the clock, not on how often the run was killed and resumed.
//!
//! | in the run folder | what it is |
//! | --- | --- |
//! | `config.toml` | the resolved configuration, itself a recipe |
//! | `metrics.jsonl` | one line for each epoch |
//! | `seed-<n>/checkpoint.safetensors` | where to continue; gone once the seed is done |
//! | `seed-<n>/model.safetensors` | the seed's model: the integer one with `quantize` |
//! | `seed-<n>/model_float.safetensors` | with `quantize`, the float model behind it |
//! | `seed-<n>/result.json` | the seed's [`SeedRecord`] |
//! | `model.safetensors`, `model_float.safetensors` | those of the seed best on validation |
//! | `.lock` | held while a process trains into the folder |
//! | `summary.json` | the [`Summary`] |

mod average;
mod changes;
mod checkpoint;
mod clear;
mod cohort;
mod config;
mod constraint;
mod cpu_trainer;
mod cross_validation;
mod deliver;
mod device;
mod epoch;
mod error;
mod fingerprint;
mod first_biases;
mod folder;
mod job;
mod learnt_steps;
mod listing;
mod margin_scale;
mod observe;
mod optim;
mod pass_data;
mod pass_run;
mod plateau;
mod random_stop;
mod recipe;
mod run;
mod sampler;
mod schedule;
mod seed;
mod sequence_results;
mod soft_targets;
mod start_parameters;
mod summary;
mod teacher;
mod teacher_error;
mod timeline;
mod token_streams;
mod untrained;
mod weight_drop;

pub(crate) use changes::lasting_settings;
pub(crate) use cohort::{is_shared_key, shared_settings};
pub use config::ConfigError;
pub(crate) use config::metric;
pub use device::DeviceChoice;
pub(crate) use device::{are_trained_on_gpu, is_gpu_used};
pub use epoch::{EpochReport, Pass};
pub use error::TrainError;
pub use fastgrnn_core::net::InitialState;
pub use fastgrnn_core::settings::Choice;
pub use fastgrnn_model::settings::{
    AugmentSetting, Axes, ClassShare, ClassWeight, FormSetting, Numbers, Optimizer, Rank, RecurrentForm,
    Refit, ScalarSetting, Schedule, Stage, StageKind, StageName, Stages,
};
pub(crate) use fingerprint::of_data as data_fingerprint;
pub use folder::{
    CHECKPOINT_FILE, CONFIG_FILE, ERROR_FILE, FLOAT_MODEL_FILE, METRICS_FILE, MODEL_FILE, PLOTS_FOLDER,
    REPORT_FILE, RESULT_FILE, SUMMARY_FILE, seed_folder,
};
pub use listing::{ListedRun, RunState, list_runs};
pub use observe::{Observer, Progress, SeedStarted, Silent};
pub use optim::{Optim, clip_norm};
pub(crate) use recipe::is_local;
pub use recipe::{Config, RENAMED_KEYS, Recipe, RecipeError, SEARCH_KEY};
pub(crate) use run::lock;
pub use run::{Outcome, RunOptions, run, run_all, run_anew};
pub use schedule::Rate;
pub use sequence_results::{JudgedPart, Mistake, SequenceResults};
pub use summary::{Bytes, Delivered, FoldResult, SeedRecord, SeedResult, Summary};
pub use teacher_error::TeacherError;
pub use untrained::starting_model;
