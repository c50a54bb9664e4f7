//! The files in which the counting plugin and the simavr harness write what a run took.

/// What all calls of one function took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallCounts {
    pub(crate) calls: u64,
    pub(crate) instructions: u64,
    pub(crate) cycles: CycleCounts,
    /// Cycles of the longest call, with the board's flash.
    pub(crate) most: u64,
}

/// Cycles with three kinds of flash.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CycleCounts {
    /// Flash without wait states.
    pub(crate) zero_wait: u64,
    /// The board's flash, with the buffers that hide wait states.
    pub(crate) own: u64,
    /// Flash with wait states in every access.
    pub(crate) uncached: u64,
}

/// What a run took, by function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunCounts {
    pub(crate) reset: CallCounts,
    pub(crate) step: CallCounts,
    pub(crate) classify: CallCounts,
}

fn numbers(text: &str, lines: usize, fields: usize) -> Option<Vec<Vec<u64>>> {
    let rows: Option<Vec<Vec<u64>>> =
        text.lines().map(|line| line.split_whitespace().map(|n| n.parse().ok()).collect()).collect();
    rows.filter(|rows| rows.len() == lines && rows.iter().all(|r| r.len() == fields))
}

/// Reads what the plugin wrote for reset, step and classify.
pub(crate) fn read_plugin_counts(text: &str) -> Option<RunCounts> {
    let rows = numbers(text, 3, 6)?;
    let tally = |r: &Vec<u64>| CallCounts {
        calls: r[0],
        instructions: r[1],
        cycles: CycleCounts { zero_wait: r[2], own: r[3], uncached: r[4] },
        most: r[5],
    };
    Some(RunCounts { reset: tally(&rows[0]), step: tally(&rows[1]), classify: tally(&rows[2]) })
}

/// Reads what the harness wrote for init, reset, step and classify, and the deepest stack.
pub(crate) fn read_harness_counts(text: &str) -> Option<(RunCounts, usize)> {
    let rows = numbers(text, 4, 5)?;
    let tally = |r: &Vec<u64>| CallCounts {
        calls: r[0],
        instructions: r[1],
        cycles: CycleCounts { zero_wait: r[2], own: r[2], uncached: r[2] },
        most: r[3],
    };
    let stack = rows.iter().map(|r| r[4]).max()?;
    let counts = RunCounts { reset: tally(&rows[1]), step: tally(&rows[2]), classify: tally(&rows[3]) };
    Some((counts, stack as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_counters_are_read_and_broken_ones_are_not() {
        let text = "1 2 3 4 5 6\n10 20 30 40 50 60\n0 0 0 0 0 0\n";
        let counts = read_plugin_counts(text).unwrap();
        assert_eq!((counts.step.calls, counts.step.cycles.own, counts.step.most), (10, 40, 60));
        assert!(read_plugin_counts("1 2 3\n").is_none());
        assert!(read_plugin_counts(&text.replace("20", "x")).is_none());
        let (counts, stack) = read_harness_counts("1 2 3 4 9\n1 2 3 4 5\n1 2 3 4 50\n1 2 30 4 5\n").unwrap();
        assert_eq!((counts.classify.cycles.own, stack), (30, 50));
    }
}
