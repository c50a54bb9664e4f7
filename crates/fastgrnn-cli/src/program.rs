//! Which build of the program gave an answer.

use fastgrnn::engine;
use serde::Serialize;

/// A JSON answer, with a key `program` that says which build gave it.
#[derive(Serialize)]
pub struct Document<'a, A: Serialize> {
    #[serde(flatten)]
    answer: &'a A,
    program: Program,
}

impl<'a, A: Serialize> Document<'a, A> {
    /// `answer` must be a struct or a map.
    pub fn of(answer: &'a A) -> Self {
        let program = Program {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("FASTGRNN_COMMIT"),
            isa: engine::best_isa().name(),
        };
        Self { answer, program }
    }
}

#[derive(Serialize)]
struct Program {
    version: &'static str,
    /// The commit it was built from; null outside a Git repository.
    commit: Option<&'static str>,
    /// The instruction set that trains and scores float networks on this CPU. Another one rounds differently.
    isa: &'static str,
}
