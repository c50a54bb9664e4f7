//! Columns that are clocks or counters, told by their values.
//!
//! A clock gives the class away: recordings made one after the other have times of their own. No list
//! of names is complete, so a column is judged by how it runs. It is a clock or a counter if within
//! every recording it moves in one direction by nearly equal steps, or if it never turns round and the
//! recordings have ranges that do not overlap.

/// Fewer steps than this, over all recordings, tell nothing.
const LEAST_STEPS: usize = 20;
/// Fewer recordings than this may have ranges of their own by chance.
const LEAST_RANGES: usize = 4;
/// Deviation of the steps of a clock, as a share of their mean.
const MOST_JITTER: f64 = 0.5;
/// Share of the steps of a counter that may go back to its start.
const MOST_WRAPS: f64 = 0.01;
/// Share of the steps that may be 0.
const MOST_PAUSES: f64 = 0.05;
/// Rounding that is lost in the range of a column, as a share of it.
const MOST_ROUNDING: f64 = 0.01;
/// Share of the recordings whose steps must be nearly equal.
const MOST_RECORDINGS: f64 = 0.9;

/// How a column runs within one recording. Values are added in the order of the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trend {
    rows: usize,
    last: f64,
    low: f64,
    high: f64,
    rises: usize,
    falls: usize,
    /// Steps that go back over more than half of the range so far.
    wraps: usize,
    /// Sum and sum of squares of the steps that do not wrap.
    sum: f64,
    squares: f64,
}

impl Trend {
    pub fn add(&mut self, value: f64) {
        if self.rows == 0 {
            (self.low, self.high) = (value, value);
        } else {
            let step = value - self.last;
            let range = self.high - self.low;
            let is_wrap = self.rows > 2 && range > 0.0 && step.abs() > range / 2.0 && step * self.sum < 0.0;
            if is_wrap {
                self.wraps += 1;
            } else {
                self.rises += usize::from(step > 0.0);
                self.falls += usize::from(step < 0.0);
                self.sum += step;
                self.squares += step * step;
            }
        }
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
        self.last = value;
        self.rows += 1;
    }

    /// Whether the changes of a column with these trends are less than its f32 values can hold.
    pub fn loses_digits<'a>(trends: impl Iterator<Item = &'a Trend>) -> bool {
        let ranges = trends.filter(|trend| trend.rows > 0).map(|trend| (trend.low, trend.high));
        let Some((low, high)) = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return false };
        let rounding = low.abs().max(high.abs()) * f64::from(f32::EPSILON) / 2.0;
        high > low && rounding > MOST_ROUNDING * (high - low)
    }

    fn steps(&self) -> usize {
        self.rows.saturating_sub(1)
    }

    /// Whether the column never turns round: 1 if it rises, -1 if it falls, 0 otherwise.
    fn direction(&self) -> i32 {
        match (self.rises, self.falls) {
            (1.., 0) => 1,
            (0, 1..) => -1,
            _ => 0,
        }
    }

    fn has_equal_steps(&self) -> bool {
        let n = (self.steps() - self.wraps.min(self.steps())) as f64;
        if n < 1.0 {
            return true;
        }
        let mean = self.sum / n;
        let deviation = (self.squares / n - mean * mean).max(0.0).sqrt();
        mean != 0.0 && deviation <= MOST_JITTER * mean.abs()
    }
}

/// Whether a column with these trends, one for each recording, is a clock or a counter.
pub(crate) fn is_clock<'a>(trends: impl Iterator<Item = &'a Trend> + Clone) -> bool {
    let runs = trends.clone().filter(|trend| trend.steps() > 0);
    let steps: usize = runs.clone().map(Trend::steps).sum();
    if steps < LEAST_STEPS {
        return false;
    }
    let direction = runs.clone().map(Trend::direction).next().unwrap_or(0);
    if direction == 0 || !runs.clone().all(|trend| trend.direction() == direction) {
        return false;
    }
    let (count, moves, wraps) = runs.clone().fold((0usize, 0, 0), |(count, moves, wraps), trend| {
        (count + 1, moves + trend.rises + trend.falls, wraps + trend.wraps)
    });
    let pauses = steps - moves - wraps;
    let is_even = runs.clone().filter(|trend| trend.has_equal_steps()).count();
    let are_steps_equal = is_even as f64 >= MOST_RECORDINGS * count as f64
        && wraps as f64 <= MOST_WRAPS * steps as f64
        && pauses as f64 <= MOST_PAUSES * steps as f64;
    are_steps_equal || (wraps == 0 && have_own_ranges(trends))
}

/// Whether no two recordings have ranges that overlap.
fn have_own_ranges<'a>(trends: impl Iterator<Item = &'a Trend>) -> bool {
    let mut ranges: Vec<(f64, f64)> = trends.filter(|t| t.rows > 0).map(|t| (t.low, t.high)).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.len() >= LEAST_RANGES && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::rng::Rng;

    fn trends(recordings: usize, rows: usize, value: impl Fn(usize, usize, &mut Rng) -> f64) -> Vec<Trend> {
        let mut rng = Rng::new(3);
        let mut all = vec![Trend::default(); recordings];
        for (recording, trend) in all.iter_mut().enumerate() {
            (0..rows).for_each(|row| trend.add(value(recording, row, &mut rng)));
        }
        all
    }

    fn is_found(trends: &[Trend]) -> bool {
        is_clock(trends.iter())
    }

    #[test]
    fn clocks_and_counters_are_found() {
        let row = |recording: usize, row: usize| (recording * 40 + row) as f64;
        assert!(is_found(&trends(30, 40, |r, t, _| row(r, t))), "rows of the file");
        assert!(
            is_found(&trends(30, 40, |_, t, _| t as f64 * 0.02)),
            "seconds since the start of a recording"
        );
        assert!(is_found(&trends(30, 40, |r, t, _| 1.7e18 + row(r, t) * 1e7)), "nanoseconds since 1970");
        assert!(
            is_found(&trends(30, 40, |r, t, rng| row(r, t) + 0.3 * rng.uniform())),
            "a clock that jitters"
        );
        assert!(is_found(&trends(30, 40, |r, t, _| 1e6 - row(r, t))), "time that is left");
        assert!(is_found(&trends(1, 4_000, |_, t, _| (t % 1_000) as f64)), "a counter that wraps");
        let bursts = |r: usize, t: usize| row(r, t) + if t > 20 { 30.0 } else { 0.0 } + 80.0 * r as f64;
        assert!(is_found(&trends(30, 40, |r, t, _| bursts(r, t))), "unequal steps, ranges of their own");
        assert!(is_found(&trends(60, 2, |r, t, _| row(r, t))), "short recordings");
    }

    #[test]
    fn signals_are_not() {
        assert!(!is_found(&trends(30, 40, |_, _, rng| rng.normal())));
        assert!(!is_found(&trends(30, 40, |_, t, _| (t as f64 * 0.2).sin())));
        assert!(!is_found(&trends(30, 40, |_, _, _| 7.0)), "a constant");
        assert!(!is_found(&trends(30, 40, |r, t, rng| r as f64 * 100.0 + t as f64 * 0.1 + rng.normal())));
        let slopes = |r: usize, t: usize| if r.is_multiple_of(2) { t as f64 } else { -(t as f64) };
        assert!(!is_found(&trends(30, 40, |r, t, _| slopes(r, t))), "ramps in both directions");
        assert!(
            !is_found(&trends(30, 40, |_, t, rng| (t as f64).powi(3) + rng.uniform())),
            "curves that overlap"
        );
        assert!(!is_found(&trends(3, 3, |_, t, _| t as f64)), "too little to tell");
        assert!(!is_found(&trends(0, 0, |_, _, _| 0.0)));
    }
}
