//! What a run took, as the counters write it.

/// Sums over the calls of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    pub(crate) instructions: u64,
    pub(crate) cycles: Cycles,
    /// Cycles of the longest call, with the board's flash.
    pub(crate) most: u64,
}

/// Cycles, with three kinds of flash.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cycles {
    /// Without wait states.
    pub(crate) zero_wait: u64,
    /// With the board's wait states and what it has against them.
    pub(crate) own: u64,
    /// With the wait states of every access.
    pub(crate) uncached: u64,
}

/// What a whole run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counts {
    pub(crate) reset: Tally,
    pub(crate) step: Tally,
    pub(crate) classify: Tally,
}

fn numbers(text: &str, lines: usize, fields: usize) -> Option<Vec<Vec<u64>>> {
    let rows: Option<Vec<Vec<u64>>> =
        text.lines().map(|line| line.split_whitespace().map(|n| n.parse().ok()).collect()).collect();
    rows.filter(|rows| rows.len() == lines && rows.iter().all(|r| r.len() == fields))
}

/// Reads what the plugin wrote for reset, step and classify.
pub(crate) fn of_plugin(text: &str) -> Option<Counts> {
    let rows = numbers(text, 3, 6)?;
    let tally = |r: &Vec<u64>| Tally {
        calls: r[0],
        instructions: r[1],
        cycles: Cycles { zero_wait: r[2], own: r[3], uncached: r[4] },
        most: r[5],
    };
    Some(Counts { reset: tally(&rows[0]), step: tally(&rows[1]), classify: tally(&rows[2]) })
}

/// Reads what the harness wrote for init, reset, step and classify, and the deepest stack.
pub(crate) fn of_harness(text: &str) -> Option<(Counts, usize)> {
    let rows = numbers(text, 4, 5)?;
    let tally = |r: &Vec<u64>| Tally {
        calls: r[0],
        instructions: r[1],
        cycles: Cycles { zero_wait: r[2], own: r[2], uncached: r[2] },
        most: r[3],
    };
    let stack = rows.iter().map(|r| r[4]).max()?;
    let counts = Counts { reset: tally(&rows[1]), step: tally(&rows[2]), classify: tally(&rows[3]) };
    Some((counts, stack as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_counters_are_read_and_broken_ones_are_not() {
        let text = "1 2 3 4 5 6\n10 20 30 40 50 60\n0 0 0 0 0 0\n";
        let counts = of_plugin(text).unwrap();
        assert_eq!((counts.step.calls, counts.step.cycles.own, counts.step.most), (10, 40, 60));
        assert!(of_plugin("1 2 3\n").is_none());
        assert!(of_plugin(&text.replace("20", "x")).is_none());
        let (counts, stack) = of_harness("1 2 3 4 9\n1 2 3 4 5\n1 2 3 4 50\n1 2 30 4 5\n").unwrap();
        assert_eq!((counts.classify.cycles.own, stack), (30, 50));
    }
}
