//! The measured blocks of one side, and the number that stands for them.

use super::load::Usage;

/// Share of all cores that other processes may take during a block.
const TOLERATED: f64 = 0.02;

/// Blocks of one side.
#[derive(Debug, Default)]
pub(super) struct Samples {
    kept: Vec<Block>,
    disturbed: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    times: Vec<f64>,
    usage: Usage,
}

impl Samples {
    /// Adds a block: the seconds of its steps, and what the machine did meanwhile.
    pub(super) fn add(&mut self, times: Vec<f64>, usage: Usage) {
        let quiet = usage.others.is_none_or(|share| share <= TOLERATED);
        let blocks = if quiet { &mut self.kept } else { &mut self.disturbed };
        blocks.push(Block { times, usage });
    }

    /// Blocks during which others were quiet.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Blocks during which others were not.
    pub(super) fn disturbed(&self) -> usize {
        self.disturbed.len()
    }

    /// Blocks that count: the quiet ones, or without any the quarter that was disturbed least.
    fn counted(&self) -> Vec<&Block> {
        if !self.kept.is_empty() {
            return self.kept.iter().collect();
        }
        let mut blocks: Vec<&Block> = self.disturbed.iter().collect();
        blocks
            .sort_by(|a, b| a.usage.others.partial_cmp(&b.usage.others).unwrap_or(std::cmp::Ordering::Equal));
        blocks.truncate(blocks.len().div_ceil(4));
        blocks
    }

    /// The median of the fastest quarter of the steps, in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        let times = self.counted().into_iter().flat_map(|block| block.times.iter().copied()).collect();
        fastest_quarter_median(times)
    }

    /// CPU time over wall time × `threads`: 1 if the threads never waited for a core or each other.
    pub(super) fn on_cpu(&self, threads: usize) -> Option<f64> {
        let blocks = self.counted();
        let wall: f64 = blocks.iter().map(|block| block.usage.wall).sum();
        let own: Option<f64> = blocks.iter().map(|block| block.usage.own).sum();
        own.filter(|_| wall > 0.0).map(|own| own / (wall * threads as f64))
    }
}

fn fastest_quarter_median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.truncate(times.len().div_ceil(4));
    match times.len() {
        0 => None,
        n if n % 2 == 1 => Some(times[n / 2]),
        n => Some(0.5 * (times[n / 2 - 1] + times[n / 2])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(others: f64) -> Usage {
        Usage { wall: 0.5, own: Some(0.75), others: Some(others) }
    }

    #[test]
    fn the_median_of_the_fastest_quarter_ignores_slow_steps() {
        let times = vec![9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 100.0, 6.0, 5.0, 4.0, 50.0, 60.0];
        assert_eq!(fastest_quarter_median(times), Some(2.0));
        assert_eq!(fastest_quarter_median(vec![3.0]), Some(3.0));
        assert_eq!(fastest_quarter_median(vec![]), None);
    }

    #[test]
    fn disturbed_blocks_do_not_count() {
        let mut samples = Samples::default();
        samples.add(vec![1.0], usage(0.05));
        samples.add(vec![2.0], usage(0.01));
        assert_eq!((samples.kept(), samples.disturbed()), (1, 1));
        assert_eq!(samples.seconds(), Some(2.0));
        assert_eq!(samples.on_cpu(2), Some(0.75));
    }

    #[test]
    fn on_a_machine_that_is_never_quiet_the_least_disturbed_blocks_count() {
        let mut samples = Samples::default();
        for (time, others) in [(1.0, 0.5), (2.0, 0.1), (3.0, 0.9), (4.0, 0.4)] {
            samples.add(vec![time], usage(others));
        }
        assert_eq!(samples.seconds(), Some(2.0));
    }
}
