//! How well a model listens: streams made of clips and noise, and what was detected in them.
//!
//! A stream is drawn from a seed: targets and other words in random order, at least half a second
//! apart, under background noise that changes every 10 to 30 seconds. The operating point comes
//! from a stream of validation clips; test clips are heard afterwards, once. Counting is that of
//! [`Counts`], the rule of the streaming wake-word benchmarks: false negatives and false positives.

mod choose;
mod count;
mod evaluate;
mod folder;
mod material;
mod recordings;
mod report;
mod schedule;
mod search;
mod settings;
mod trace;
mod words;

pub use choose::{Choice, SMOOTHINGS, choose, thresholds};
pub use count::{Counts, Latency, Occurrence};
pub use evaluate::{evaluate, listen, operating_point};
pub use folder::Folder;
pub use material::Material;
pub use recordings::Recordings;
pub use report::{DetPoint, EvalReport, Negatives, StreamResult};
pub use schedule::{NoiseSegment, Schedule, ScheduleParts, ScheduledClip};
pub use settings::{EvalError, EvalSettings, Resets};
pub use trace::Trace;
pub use words::{AUDIBLE_DB, Words};
