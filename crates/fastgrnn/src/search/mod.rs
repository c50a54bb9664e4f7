//! Finding the best network for a budget.
//!
//! A [`Space`] says which settings may change and to what, a [`Budget`] what the network may need. What a network needs
//! is counted before it is trained, so nothing is trained that would not fit. A [`Plan`] holds both and how the search
//! goes: it is a succession of rounds. A bracket begins with a round of short trainings, whose best go on to longer ones
//! ([`Halving`]); what was tried decides what is tried next ([`Proposer`]). The best settings are trained in full with
//! several seeds, the finals, and the best of these on validation is the winner. Only its models are measured on the test
//! part.
//!
//! The folder of a search holds its plan, the store of its trials, and the runs of the finals. A round is stored before
//! any of its trials is trained, so that a search that was killed goes on as if nothing had happened, and so that several
//! machines can train a part of each round ([`Shard`], [`merge`]).

mod candidate;
pub(crate) mod clock;
mod datasets;
mod driver;
mod error;
pub(crate) mod evaluate;
mod folders;
mod merge;
mod options;
mod outcome;
mod plan;
mod planner;
mod propose;
mod schedule;
pub(crate) mod sizing;
mod space;
mod store;
mod usual;

pub use candidate::Size;
pub use datasets::{Datasets, Load};
pub use driver::run;
pub use error::SearchError;
pub use merge::merge;
pub use options::{Limit, SearchObserver, SearchOptions, Shard};
pub use outcome::{Change, FrontPoint, Importance, SearchOutcome, ValueMean, Waiting, Winner};
pub use plan::{MAX_COHORT, MAX_RUNGS, PLAN_FILE, Plan};
pub use propose::Proposer;
pub use schedule::Halving;
pub use sizing::Budget;
pub use space::{Dimension, Point, Proportion, Range, Space, Values, value_text};
pub use store::{Part, Records, Round, TRIALS_FILE, Trial};

/// The recipe of the winner, in the folder of a search.
pub const WINNER_FILE: &str = "winner.toml";
