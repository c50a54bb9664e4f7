//! Splitting long recordings: blocks of time, with a gap of one window between the parts.
//!
//! Where labels change seldom, a block is a run of windows of one label, or the end of one, so that
//! every class is in both parts. Otherwise a few blocks are drawn at random. Windows that overlap a
//! block, or are nearer to it than one window, are in neither part.

use std::collections::BTreeMap;
use std::ops::Range;

use super::split_problem::SplitProblem;
use super::{Examples, Labels};
use fastgrnn_core::rng::{Rng, stream};

/// Draws of blocks among which the best is taken.
const ATTEMPTS: u64 = 64;

/// Blocks that are drawn where labels change often or are no classes.
const BLOCKS: usize = 4;

/// The two parts of `windows`, the ascending windows of one recording, both ascending: about `fraction`
/// of them in the second.
pub(super) fn split(
    examples: &Examples,
    windows: &[u32],
    fraction: f64,
    seed: u64,
) -> Result<(Vec<u32>, Vec<u32>), SplitProblem> {
    let problem = SplitProblem::ShortRecording { sequences: windows.len() };
    if windows.is_empty() {
        return Err(problem);
    }
    let timeline = Timeline::of(examples, windows);
    let runs = timeline.runs();
    let are_long = timeline.classes > 1 && timeline.class.len() >= 2 * timeline.gap() * runs.len();
    let candidates: Vec<Vec<Range<usize>>> = match are_long {
        true => (0..ATTEMPTS).map(|attempt| timeline.by_label(&runs, fraction, seed, attempt)).collect(),
        false => (0..ATTEMPTS).map(|attempt| timeline.at_random(fraction, seed, attempt)).collect(),
    };
    let target = fraction * windows.len() as f64;
    let (mut best, mut chosen) = ((usize::MAX, usize::MAX, u64::MAX), None);
    for blocks in candidates {
        let parts = timeline.parts(&blocks);
        let (lost_train, lost_second) = (timeline.lost(&parts.0), timeline.lost(&parts.1));
        let left_out = windows.len() - parts.0.len() - parts.1.len();
        let distance = (parts.1.len() as f64 - target).abs() as u64 + left_out as u64;
        let score = (lost_train, lost_second, distance);
        let is_possible = lost_train == 0 && !parts.0.is_empty() && !parts.1.is_empty();
        if is_possible && score < best {
            (best, chosen) = (score, Some(parts));
        }
    }
    chosen.ok_or(problem)
}

/// The parts of windows of several recordings: blocks of time of each that is long enough. Recordings that
/// are too short come last, each with its windows.
pub(super) struct RecordingBlocks {
    pub first: Vec<u32>,
    pub second: Vec<u32>,
    pub short: Vec<Vec<u32>>,
}

/// Splits each recording into blocks of time; without recordings, sequences are in the order of time.
pub(super) fn split_each(examples: &Examples, fraction: f64, seed: u64) -> RecordingBlocks {
    let mut recordings: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for i in 0..examples.len() {
        let recording = examples.recording.as_ref().map_or(0, |recording| recording[i]);
        recordings.entry(recording).or_default().push(i as u32);
    }
    let mut blocks = RecordingBlocks { first: Vec::new(), second: Vec::new(), short: Vec::new() };
    for windows in recordings.into_values() {
        match split(examples, &windows, fraction, seed) {
            Ok((first, second)) => {
                blocks.first.extend(first);
                blocks.second.extend(second);
            }
            Err(_) => blocks.short.push(windows),
        }
    }
    blocks
}

/// The windows in the order of time.
struct Timeline {
    /// Which window of the examples stands at each place.
    order: Vec<u32>,
    /// First step of each, by place.
    start: Vec<u64>,
    /// Class of each, by place.
    class: Vec<u32>,
    /// The windows in ascending order, as parts are, with their classes.
    class_of: Vec<(u32, u32)>,
    classes: usize,
    /// Steps of a window.
    window: u64,
}

impl Timeline {
    fn of(examples: &Examples, windows: &[u32]) -> Self {
        let mut order: Vec<u32> = windows.to_vec();
        // Without times, sequences are in order and touch.
        let span = |i: u32| examples.span.as_ref().map_or([i, i + 1], |span| span[i as usize]);
        order.sort_by_key(|&i| span(i));
        let class_at = |&i: &u32| match &examples.y {
            Labels::Class { index, .. } => index[i as usize],
            _ => 0,
        };
        let steps = |&i: &u32| u64::from(span(i)[1] - span(i)[0]);
        Self {
            start: order.iter().map(|&i| u64::from(span(i)[0])).collect(),
            window: order.iter().map(steps).max().unwrap_or(1),
            class: order.iter().map(class_at).collect(),
            class_of: windows.iter().map(|i| (*i, class_at(i))).collect(),
            order,
            classes: examples.classes().max(1),
        }
    }

    /// Windows on one side of a block that are nearer to it than one window.
    fn gap(&self) -> usize {
        let steps = self.start.last().zip(self.start.first()).map_or(0, |(last, first)| last - first);
        let stride = (steps / (self.start.len() as u64 - 1).max(1)).max(1);
        ((2 * self.window).div_ceil(stride) as usize).saturating_sub(1).max(1)
    }

    /// Runs of windows of one class.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (i, class) in self.class.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if self.class[run.start] == *class => run.end = i + 1,
                _ => runs.push(i..i + 1),
            }
        }
        runs
    }

    /// Of every class about `fraction`: whole runs, the last of which may be the end of one.
    fn by_label(&self, runs: &[Range<usize>], fraction: f64, seed: u64, attempt: u64) -> Vec<Range<usize>> {
        let mut of_class: BTreeMap<u32, Vec<Range<usize>>> = BTreeMap::new();
        for run in runs {
            of_class.entry(self.class[run.start]).or_default().push(run.clone());
        }
        let mut blocks = Vec::new();
        for (class, mut runs) in of_class {
            let all: usize = runs.iter().map(Range::len).sum();
            let mut wanted = ((fraction * all as f64).round() as usize).clamp(1, all);
            Rng::keyed(seed, &[stream::SPLIT, u64::from(class), attempt]).shuffle(&mut runs);
            for run in runs {
                if wanted == 0 {
                    break;
                }
                let taken = wanted.min(run.len());
                blocks.push(run.end - taken..run.end);
                wanted -= taken;
            }
        }
        blocks
    }

    /// A few blocks, one in each of as many stretches of time.
    fn at_random(&self, fraction: f64, seed: u64, attempt: u64) -> Vec<Range<usize>> {
        let n = self.class.len();
        let count = (n / (8 * self.gap())).clamp(1, BLOCKS);
        let mut rng = Rng::keyed(seed, &[stream::SPLIT, attempt]);
        let mut blocks = Vec::new();
        for block in 0..count {
            let (from, to) = (n * block / count, n * (block + 1) / count);
            let length = ((fraction * (to - from) as f64).round() as usize).clamp(1, to - from);
            let start = from + rng.below(to - from - length + 1);
            blocks.push(start..start + length);
        }
        blocks
    }

    /// The windows far from `blocks`, and those in them.
    fn parts(&self, blocks: &[Range<usize>]) -> (Vec<u32>, Vec<u32>) {
        let mut places: Vec<usize> = blocks.iter().cloned().flatten().collect();
        places.sort_unstable();
        let is_near = |place: usize| {
            let next = places.partition_point(|&chosen| chosen < place);
            let near = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|i| places.get(i));
            near.into_iter().any(|&other| self.start[place].abs_diff(self.start[other]) < 2 * self.window)
        };
        let far = (0..self.order.len()).filter(|&place| !is_near(place));
        let mut first: Vec<u32> = far.map(|place| self.order[place]).collect();
        let mut second: Vec<u32> = places.iter().map(|&place| self.order[place]).collect();
        first.sort_unstable();
        second.sort_unstable();
        (first, second)
    }

    /// How many classes that there are `part` lacks.
    fn lost(&self, part: &[u32]) -> usize {
        let (mut has, mut there) = (vec![false; self.classes], vec![false; self.classes]);
        let mut part = part.iter().peekable();
        for &(i, class) in &self.class_of {
            there[class as usize] = true;
            has[class as usize] |= part.next_if(|&&own| own == i).is_some();
        }
        there.iter().zip(has).filter(|(there, has)| **there && !has).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Sequences;
    use super::*;

    /// Windows of one recording, with these classes.
    fn windows(classes: &[u32], window: u32, stride: u32) -> Examples {
        let mut x = Sequences::new(1);
        classes.iter().for_each(|_| x.push(&vec![0.0; window as usize]));
        let names = (0..=classes.iter().copied().max().unwrap_or(0)).map(|c| c.to_string()).collect();
        let span = (0..classes.len() as u32).map(|i| [i * stride, i * stride + window]).collect();
        Examples {
            recording: Some(vec![0; classes.len()]),
            span: Some(span),
            ..Examples::new(x, Labels::Class { index: classes.to_vec(), names })
        }
    }

    fn split_all(data: &Examples, fraction: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>), SplitProblem> {
        split(data, &(0..data.len() as u32).collect::<Vec<_>>(), fraction, seed)
    }

    fn is_apart(data: &Examples, first: &[u32], second: &[u32]) -> bool {
        let span = |i: u32| data.span.as_ref().unwrap()[i as usize];
        let is_far = |a: [u32; 2], b: [u32; 2]| {
            let window = a[1] - a[0];
            a[1] + window <= b[0] || b[1] + window <= a[0]
        };
        first.iter().all(|&t| second.iter().all(|&v| is_far(span(t), span(v))))
    }

    #[test]
    fn every_class_is_in_both_parts_and_a_window_lies_between_them() {
        // Segments of 12 windows, as in half an hour of labelled movement.
        let segments: Vec<u32> = (0..360).map(|i| i / 12 % 3).collect();
        // Three classes recorded one after the other.
        let blocks: Vec<u32> = (0..90).map(|i| i / 30).collect();
        for (classes, stride) in [(&segments, 100), (&segments, 50), (&blocks, 100), (&blocks, 50)] {
            let data = windows(classes, 100, stride);
            let (first, second) = split_all(&data, 0.2, 7).unwrap();
            assert!(is_apart(&data, &first, &second));
            for class in 0..3 {
                let has = |part: &[u32]| part.iter().any(|&i| classes[i as usize] == class);
                assert!(has(&first) && has(&second), "{class}");
            }
            assert!((classes.len() / 7..classes.len() / 4).contains(&second.len()), "{}", second.len());
            assert!(first.len() * 2 > classes.len(), "{} of {}", first.len(), classes.len());
            assert_eq!(split_all(&data, 0.2, 7).unwrap(), (first, second));
        }
    }

    #[test]
    fn a_recording_too_short_for_both_parts_is_an_error() {
        for classes in [&[0, 1][..], &[0], &[0, 0, 0, 1]] {
            assert!(split_all(&windows(classes, 10, 5), 0.2, 0).is_err(), "{classes:?}");
        }
    }

    proptest! {
        #[test]
        fn the_parts_never_touch(
            classes in prop::collection::vec(0u32..3, 1..120),
            window in 1u32..20,
            stride in 1u32..20,
            fraction in 0.01f64..0.99,
            seed: u64,
        ) {
            let data = windows(&classes, window, stride);
            if let Ok((first, second)) = split_all(&data, fraction, seed) {
                prop_assert!(!first.is_empty() && !second.is_empty());
                prop_assert!(is_apart(&data, &first, &second));
                prop_assert!(first.is_sorted() && second.is_sorted());
            }
        }
    }
}
