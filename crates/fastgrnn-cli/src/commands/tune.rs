//! `fastgrnn tune`

use crate::args::TuneArgs;
use crate::console::Console;
use crate::searching::{self, Given};
use fastgrnn::search::{Limit, Plan, Shard};
use std::time::Duration;

/// Searches for some minutes and leaves the test part unread.
pub fn run(args: TuneArgs, console: Console) -> anyhow::Result<()> {
    let given = Given {
        kind: "tune",
        recipe: args.recipe,
        flags: args.flags,
        budget_bytes: args.budget_bytes,
        out: args.out,
        resume: args.resume,
        threads: args.threads.count(),
        device: args.device.choice(),
        shard: Shard::WHOLE,
    };
    let limit = |_| Limit::Time(Duration::from_secs_f64(60.0 * args.minutes));
    searching::run(given, &limit, &|plan| Plan { reads_test: false, ..plan }, console)
}
