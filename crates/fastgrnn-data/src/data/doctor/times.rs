//! The order of rows in time, gaps and sample rates.

use super::super::{Finding, FindingCode, Severity};
use fastgrnn_core::format::number;

/// A step this many times the usual one is a gap.
const GAP: f64 = 5.0;
/// The usual steps of two recordings differ by more than this factor if their rates differ.
const RATE: f64 = 1.2;
/// Fewer steps than this have no usual one.
const LEAST_STEPS: usize = 8;

/// The time that a cell gives, in units of its own: a number, an ISO 8601 date with or without a time,
/// or a time of day.
pub(crate) fn time(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    if let Ok(value) = text.parse::<f64>() {
        return value.is_finite().then_some(value);
    }
    match text.split_once(['T', ' ']) {
        Some((date, time)) => Some(days(date)? * 86_400.0 + time_of_day(time.trim())?),
        None => days(text).map(|days| days * 86_400.0).or_else(|| time_of_day(text)),
    }
}

/// Days from some day on to a date such as 2024-02-29.
fn days(date: &str) -> Option<f64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_possible = (0..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && parts.next().is_none();
    // The year begins in March, so that a leap day is its last.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    is_possible.then(|| (365 * year + leap + (153 * month + 2) / 5 + day) as f64)
}

/// Seconds since midnight, from a time such as 12:30:05.25Z or 12:30:05+02:00.
fn time_of_day(text: &str) -> Option<f64> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (clock, zone) = match text.rfind(['+', '-']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let seconds = |text: &str| {
        let mut parts = text.split(':');
        let (hours, minutes) = (parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?);
        let seconds = parts.next().map_or(Some(0.0), |s| s.parse::<f64>().ok())?;
        let is_possible =
            hours <= 24 && minutes < 60 && (0.0..61.0).contains(&seconds) && parts.next().is_none();
        is_possible.then(|| f64::from(hours * 3600 + minutes * 60) + seconds)
    };
    let zone = match zone {
        None => 0.0,
        Some(zone) => {
            let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
            let hours = &zone[1..];
            sign * if hours.contains(':') { seconds(hours)? } else { hours.parse::<f64>().ok()? * 3600.0 }
        }
    };
    Some(seconds(clock)? - zone)
}

/// The rows of a table with their times.
pub(crate) struct TimedRows<'a> {
    /// The file, for messages.
    pub file: &'a str,
    /// The column of the times.
    pub column: &'a str,
    /// The time of each row.
    pub times: &'a [f64],
    /// The line of each row.
    pub lines: &'a [u64],
}

impl TimedRows<'_> {
    /// Puts the rows of each recording into the order of their times, and says what was found: rows that
    /// were sorted, an order that is unknown, gaps, sample rates that differ.
    pub fn order(&self, recordings: &mut [Vec<usize>]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let (mut sorted, mut unknown, mut first) = (0usize, None, 0);
        for rows in recordings.iter_mut() {
            let fall = rows.windows(2).find(|pair| self.times[pair[1]] < self.times[pair[0]]);
            let Some(line) = fall.map(|pair| self.lines[pair[1]]) else { continue };
            let mut order = rows.clone();
            order.sort_by(|&a, &b| self.times[a].total_cmp(&self.times[b]));
            match order.windows(2).find(|pair| self.times[pair[0]] == self.times[pair[1]]) {
                Some(pair) => {
                    unknown.get_or_insert((line, self.lines[pair[1]]));
                }
                None => {
                    first = if sorted == 0 { line } else { first };
                    sorted += 1;
                    *rows = order;
                }
            }
        }
        if let Some((line, repeat)) = unknown {
            findings.push(Finding::new(
                FindingCode::TimesRepeat,
                Severity::Error,
                format!(
                    "{}, line {line}: rows are out of the order of '{}', and times repeat (line {repeat}), so the order is unknown",
                    self.file, self.column
                ),
                "sort the rows, or name the column that tells recordings apart with `id-col`",
            ));
        } else if sorted > 0 {
            findings.push(Finding::warning(
                FindingCode::RowsSorted,
                format!(
                    "{}, line {first}: rows were out of the order of '{}'; those of {sorted} of {} sequences were sorted",
                    self.file,
                    self.column,
                    recordings.len()
                ),
                "check that the rows of a sequence belong together",
            ));
        }
        if unknown.is_none() {
            findings.extend(self.gaps(recordings));
            findings.extend(self.rates(recordings));
        }
        findings
    }

    fn steps(&self, rows: &[usize]) -> Vec<f64> {
        rows.windows(2).map(|pair| self.times[pair[1]] - self.times[pair[0]]).collect()
    }

    fn gaps(&self, recordings: &[Vec<usize>]) -> Option<Finding> {
        let (mut count, mut first) = (0, None);
        for rows in recordings {
            let steps = self.steps(rows);
            let Some(usual) = median(&steps) else { continue };
            for (i, step) in steps.iter().enumerate().filter(|(_, step)| **step > GAP * usual) {
                count += 1;
                first.get_or_insert((self.lines[rows[i + 1]], *step, usual));
            }
        }
        let (line, step, usual) = first?;
        Some(Finding::warning(
            FindingCode::TimeGaps,
            format!(
                "{}, line {line}: '{}' jumps by {}, where steps are usually {}; {count} such gaps in all",
                self.file,
                self.column,
                number(step),
                number(usual)
            ),
            "split recordings at their gaps",
        ))
    }

    fn rates(&self, recordings: &[Vec<usize>]) -> Option<Finding> {
        let mut usual: Vec<f64> = recordings.iter().filter_map(|rows| median(&self.steps(rows))).collect();
        usual.sort_by(f64::total_cmp);
        let (&low, &high) = (usual.first()?, usual.last()?);
        (high > RATE * low).then(|| {
            Finding::warning(
                FindingCode::SampleRates,
                format!(
                    "{}: sequences have different sample rates: usual steps of '{}' are from {} to {}",
                    self.file,
                    self.column,
                    number(low),
                    number(high)
                ),
                "resample the recordings to one rate",
            )
        })
    }
}

/// The median of the steps, if there are enough and time goes on.
fn median(steps: &[f64]) -> Option<f64> {
    if steps.len() < LEAST_STEPS {
        return None;
    }
    let mut sorted = steps.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted[sorted.len() / 2]).filter(|step| *step > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_numbers_dates_or_times_of_day() {
        let of = |text: &str| time(text.as_bytes());
        assert_eq!(of("1.5"), Some(1.5));
        assert_eq!(of("00:01:00.5"), Some(60.5));
        let day = of("2024-02-29").unwrap();
        assert_eq!(of("2024-03-01").unwrap() - day, 86_400.0);
        assert_eq!(of("2024-03-01T00:00:01Z").unwrap() - day, 86_401.0);
        assert_eq!(of("2024-02-29 02:00:00.25+02:00").unwrap() - day, 0.25);
        assert_eq!(of("2023-12-31 23:59:59").unwrap() + 1.0, of("2024-01-01").unwrap());
        for text in ["", "noon", "nan", "2024-13-01", "2024-02", "25:00", "1:2:3:4", "2024-02-29Tx"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_cell_panics(cell in prop::collection::vec(any::<u8>(), 0..30), text in "[0-9TZ:+. -]{0,30}") {
            let _ = (time(&cell), time(text.as_bytes()));
        }

        #[test]
        fn dates_are_in_order(a in (0i64..10_000, 1i64..=12, 1i64..=28), b in (0i64..10_000, 1i64..=12, 1i64..=28)) {
            let of = |(y, m, d): (i64, i64, i64)| time(format!("{y:04}-{m:02}-{d:02}").as_bytes()).unwrap();
            prop_assert_eq!(a.cmp(&b), of(a).total_cmp(&of(b)));
        }
    }

    fn order(times: &[f64], recordings: &mut [Vec<usize>]) -> Vec<Finding> {
        let lines: Vec<u64> = (0..times.len() as u64).map(|i| i + 2).collect();
        TimedRows { file: "a.csv", column: "t", times, lines: &lines }.order(recordings)
    }

    #[test]
    fn rows_are_sorted_within_their_sequence_where_times_tell_the_order() {
        let mut recordings = [vec![0, 2, 4], vec![1, 3]];
        let findings = order(&[3.0, 1.0, 1.0, 2.0, 2.0], &mut recordings);
        assert_eq!(recordings, [vec![2, 4, 0], vec![1, 3]]);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].code, findings[0].severity), (FindingCode::RowsSorted, Severity::Warning));
        assert!(findings[0].message.contains("line 4") && findings[0].message.contains("1 of 2"));
        // Equal times in order are no riddle.
        assert!(order(&[1.0, 1.0, 2.0], &mut [vec![0, 1, 2]]).is_empty());
    }

    #[test]
    fn an_unknown_order_stays_and_is_an_error() {
        let mut recordings = [vec![0, 1, 2, 3]];
        let findings = order(&[0.0, 1.0, 0.0, 1.0], &mut recordings);
        assert_eq!(recordings, [vec![0, 1, 2, 3]]);
        assert_eq!((findings[0].code, findings[0].severity), (FindingCode::TimesRepeat, Severity::Error));
    }

    #[test]
    fn gaps_and_rates_are_named() {
        let mut times: Vec<f64> = (0..40).map(f64::from).collect();
        times[30..].iter_mut().for_each(|t| *t += 100.0);
        let findings = order(&times, &mut [(0..40).collect()]);
        assert_eq!(findings[0].code, FindingCode::TimeGaps);
        assert!(findings[0].message.contains("line 32") && findings[0].message.contains("1 such gap"));
        let times: Vec<f64> =
            (0..40).map(|i| if i < 20 { f64::from(i) } else { 2.0 * f64::from(i) }).collect();
        let findings = order(&times, &mut [(0..20).collect(), (20..40).collect()]);
        assert_eq!(findings[0].code, FindingCode::SampleRates);
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(order(&even, &mut [(0..20).collect(), (20..40).collect()]).is_empty());
    }
}
