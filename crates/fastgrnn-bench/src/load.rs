//! How much of the machine others used: the reason to discard a measured block.
//!
//! Reads Linux's `/proc`; elsewhere nothing is known and no block is discarded.

use std::time::Instant;

/// Ticks a second in `/proc`; fixed by Linux for all programs, whatever the kernel's own rate.
const TICKS: f64 = 100.0;

/// CPU time of the machine and of the measured processes at one moment.
pub(super) struct Moment {
    at: Instant,
    machine: Option<(f64, usize)>,
    own: Option<f64>,
    rest: f64,
}

/// What happened between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    /// Seconds that passed.
    pub(super) wall: f64,
    /// CPU seconds of this process.
    pub(super) own: Option<f64>,
    /// Share of all cores that other processes took.
    pub(super) others: Option<f64>,
}

impl Moment {
    /// Now, measuring this process and those with the given ids.
    pub(super) fn now(others: &[u32]) -> Self {
        let read = |name: String| std::fs::read_to_string(format!("/proc/{name}/stat")).ok();
        let own = read("self".into()).and_then(|text| process_seconds(&text));
        let rest = others.iter().filter_map(|id| process_seconds(&read(id.to_string())?)).sum::<f64>();
        let machine = std::fs::read_to_string("/proc/stat").ok().and_then(|text| busy_seconds(&text));
        Self { at: Instant::now(), machine, own, rest }
    }

    /// What happened between `self` and `later`.
    pub(super) fn until(&self, later: &Self) -> Usage {
        let wall = later.at.duration_since(self.at).as_secs_f64();
        let own = self.own.zip(later.own).map(|(before, after)| after - before);
        let others = self.machine.zip(later.machine).zip(own).map(|((before, after), own)| {
            let measured = own + later.rest - self.rest;
            (after.0 - before.0 - measured).max(0.0) / (wall * after.1 as f64)
        });
        Usage { wall, own, others }
    }
}

/// CPU seconds and number of cores in a `/proc/stat`.
fn busy_seconds(text: &str) -> Option<(f64, usize)> {
    let fields: Vec<f64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .filter_map(|f| f.parse().ok())
        .collect();
    // user, nice, system, (idle, iowait,) irq, softirq, steal; guest time is part of user.
    let busy: f64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|&i| fields.get(i)).sum();
    let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
    (cores > 0).then_some((busy / TICKS, cores))
}

/// CPU seconds of all threads in a process's `stat`.
fn process_seconds(text: &str) -> Option<f64> {
    // The name, in parentheses, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_leaves_out_idle_and_waiting() {
        let text = "cpu  100 20 30 4000 500 6 7 8 90 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n";
        assert_eq!(busy_seconds(text), Some((1.71, 2)));
        assert_eq!(busy_seconds("nonsense"), None);
    }

    #[test]
    fn a_process_name_with_spaces_and_parentheses_is_skipped() {
        let text = "12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20";
        assert_eq!(process_seconds(text), Some(2.0));
        assert_eq!(process_seconds("12 (a"), None);
    }

    #[test]
    fn others_take_what_the_measured_processes_did_not() {
        let at = Instant::now();
        let later = at + std::time::Duration::from_secs(1);
        let before = Moment { at, machine: Some((10.0, 2)), own: Some(1.0), rest: 3.0 };
        let after = Moment { at: later, machine: Some((12.0, 2)), own: Some(2.0), rest: 3.5 };
        let usage = before.until(&after);
        assert_eq!(usage, Usage { wall: 1.0, own: Some(1.0), others: Some(0.25) });
    }
}
