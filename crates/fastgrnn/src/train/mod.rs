//! Training: what may be set, how parameters are updated, and the run itself.
//!
//! A [`Recipe`] holds what a person set; [`Recipe::resolve`] fills in the rest from the data and
//! gives a [`Config`]; [`run`] trains it for every seed into a run folder and returns a
//! [`Summary`]. The protocol is the paper's: best epoch on a validation part, an optional refit on
//! all training data, the test set read once.
//!
//! Results depend on configuration and data alone, to the bit: not on the number of threads, not
//! on the clock, not on how often the run was killed and resumed.
//!
//! | in the run folder | what it is |
//! | --- | --- |
//! | `config.toml` | the resolved configuration, itself a recipe |
//! | `metrics.jsonl` | a line an epoch |
//! | `seed-<n>/checkpoint.safetensors` | where to continue; gone once the seed is done |
//! | `seed-<n>/model.safetensors` | the seed's model: the integer one with `quantize` |
//! | `seed-<n>/model_float.safetensors` | with `quantize`, the float model behind it |
//! | `seed-<n>/result.json` | the seed's [`SeedRecord`] |
//! | `model.safetensors`, `model_float.safetensors` | those of the seed best on validation |
//! | `.lock` | held while a process trains into the folder |
//! | `summary.json` | the [`Summary`] |

mod average;
mod checkpoint;
mod choice;
mod config;
mod constraint;
mod deliver;
mod draws;
mod error;
mod fold;
mod observe;
mod optim;
mod plan;
mod recipe;
mod run;
mod schedule;
mod seed;
mod settings;
mod share;
mod soft;
mod stage;
mod summary;
mod teacher;

pub use choice::Choice;
pub use config::{Config, ConfigError};
pub use error::TrainError;
pub use fastgrnn_core::net::InitialState;
pub use observe::{EpochReport, Observer, Pass, Progress, SeedStarted, Silent};
pub use optim::{Optim, clip_norm};
pub use recipe::{Recipe, RecipeError};
pub use run::{CONFIG_FILE, RunOptions, SUMMARY_FILE, run};
pub use schedule::Rate;
pub use settings::{
    AugmentSetting, Axes, ClassWeight, FormSetting, Optimizer, Rank, Refit, ScalarSetting, Schedule,
};
pub use share::ClassShare;
pub use stage::{Stage, StageKind, Stages};
pub use summary::{Bytes, SeedRecord, SeedResult, Summary};
pub use teacher::TeacherError;
