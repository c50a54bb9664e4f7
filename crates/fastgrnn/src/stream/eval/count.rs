//! Which detections are right.
//!
//! A target is open from its first frame until `tolerance` frames after its clip's end. A
//! detection of its class in that time is a hit, the first only; every other detection is a false
//! positive, wherever it lies. A target without a hit is a false negative. Where two targets are
//! open at once, the earlier one that has no hit yet takes it.

use crate::stream::Heard;
use serde::Serialize;

/// A target in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its class.
    pub class: usize,
    /// Its clip's first frame.
    pub start: u64,
    /// The first frame after its clip.
    pub end: u64,
    /// The frame in which the word ends.
    pub word_end: u64,
}

/// Hits and misses of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Targets played.
    pub targets: usize,
    /// Targets detected.
    pub hits: usize,
    /// Targets not detected.
    pub false_negatives: usize,
    /// Detections of nothing.
    pub false_positives: usize,
    /// Frames from each hit word's end to its detection; negative where it was told before.
    #[serde(skip)]
    pub latencies: Vec<i64>,
}

impl Counts {
    /// Compares detections with the targets, both in order of time.
    pub fn of(targets: &[Occurrence], heard: &[Heard], tolerance: u64) -> Self {
        let mut is_hit = vec![false; targets.len()];
        let mut counts = Self { targets: targets.len(), ..Self::default() };
        for found in heard {
            let open = |t: &Occurrence| (t.start..t.end + tolerance).contains(&found.frame);
            let of = (0..targets.len())
                .find(|&i| !is_hit[i] && targets[i].class == found.class && open(&targets[i]));
            match of {
                Some(i) => {
                    is_hit[i] = true;
                    counts.hits += 1;
                    counts.latencies.push(found.frame as i64 - targets[i].word_end as i64);
                }
                None => counts.false_positives += 1,
            }
        }
        counts.false_negatives = counts.targets - counts.hits;
        counts
    }

    /// Share of the targets that were missed.
    pub fn reject_rate(&self) -> f64 {
        self.false_negatives as f64 / self.targets.max(1) as f64
    }
}

/// Mean and quantiles of latencies, in frames after the word's end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Half are below.
    pub p50: i64,
    /// 95 % are below.
    pub p95: i64,
}

impl Latency {
    /// Of these; nothing of none.
    pub fn of(latencies: &[i64]) -> Option<Self> {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| sorted[(share * last as f64).round() as usize];
        let mean = sorted.iter().sum::<i64>() as f64 / sorted.len() as f64;
        Some(Self { mean, p50: at(0.5), p95: at(0.95) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(class: usize, start: u64) -> Occurrence {
        Occurrence { class, start, end: start + 100, word_end: start + 80 }
    }

    fn heard(class: usize, frame: u64) -> Heard {
        Heard { frame, class, confidence: 30_000 }
    }

    #[test]
    fn a_target_is_hit_once_and_only_while_it_is_open() {
        let targets = [target(1, 100), target(1, 400)];
        let of = |frames: &[u64]| {
            let heard: Vec<Heard> = frames.iter().map(|&f| heard(1, f)).collect();
            let counts = Counts::of(&targets, &heard, 50);
            (counts.hits, counts.false_negatives, counts.false_positives)
        };
        assert_eq!(of(&[]), (0, 2, 0));
        assert_eq!(of(&[100, 549]), (2, 0, 0));
        assert_eq!(of(&[99, 250, 550]), (0, 2, 3));
        assert_eq!(of(&[150, 200, 410]), (2, 0, 1));
    }

    #[test]
    fn another_class_is_no_hit() {
        let counts = Counts::of(&[target(1, 0), target(2, 300)], &[heard(2, 50), heard(2, 350)], 50);
        assert_eq!((counts.hits, counts.false_negatives, counts.false_positives), (1, 1, 1));
        assert_eq!(counts.latencies, [-30]);
        assert_eq!(counts.reject_rate(), 0.5);
    }

    #[test]
    fn latencies_are_told_by_mean_and_quantiles() {
        let latency = Latency::of(&[5, -10, 20, 0, 10]).unwrap();
        assert_eq!(latency, Latency { mean: 5.0, p50: 5, p95: 20 });
        assert_eq!(Latency::of(&[]), None);
    }
}
