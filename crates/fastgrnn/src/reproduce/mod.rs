//! The tables and figures of the paper, made again.
//!
//! A [`PaperTable`] consists of entries: a method on a data set, trained in a protocol. Each training of a seed is a job
//! with a key, which is a hash of everything that decides its result. What a job came to is a line of a store that is only
//! appended to, so that a run that was killed goes on where it was, and a job runs again only if its settings, its data or
//! the arithmetic of the program changed. Tables that share a training share its job.
//!
//! Choices are made on validation: where an entry has trials, these are jobs that never see the test part, and the best of
//! them decides the settings of the seeds that are measured.

mod boards;
mod collect;
mod driver;
mod entries;
mod error;
mod job;
mod methods;
mod published;
mod quantity;
mod results;
mod sets;
mod store;
mod table;

pub use boards::{BoardJob, BoardProblem, Measure};
pub use collect::stored;
pub use driver::{ReproduceOptions, run};
pub use error::ReproduceError;
pub use job::{BoardTime, Build, JobRecord, LearntScalar};
pub use methods::Protocol;
pub use published::{PaperFigure, published_tie};
pub(crate) use quantity::letter;
pub use results::{EntryResult, Reproduction, ShownResult, TableCell};
pub use sets::{DataSet, Figure};
pub use store::JOBS_FILE;
pub use table::PaperTable;
