//! What is played when: words, the gaps between them and the noise beneath, drawn from a seed.
//!
//! A schedule knows lengths only, in frames; [`Words`](super::Words) and
//! [`Recordings`](super::Recordings) play it as features or as sound.

use fastgrnn_core::rng::{Rng, stream};

/// One word of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledClip {
    /// Which clip.
    pub clip: usize,
    /// Its first frame.
    pub start: usize,
    /// Its frames.
    pub frames: usize,
}

/// A stretch of one background recording.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseSegment {
    /// The first frame.
    pub start: usize,
    /// The first frame after it.
    pub end: usize,
    /// Which recording.
    pub recording: usize,
    /// The recording's frame at the start; a recording that ends begins again.
    pub offset: usize,
    /// How far words are above it, in dB.
    pub snr: f64,
}

/// A stream on paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Frames of all.
    pub frames: usize,
    /// The words in order; none overlap.
    pub items: Vec<ScheduledClip>,
    /// The noise in order, without gaps; empty where there is none.
    pub segments: Vec<NoiseSegment>,
}

/// What a schedule is made of.
#[derive(Clone, Debug)]
pub struct ScheduleParts<'a> {
    /// Frames of each clip.
    pub clips: &'a [usize],
    /// Clips that must be played, each once.
    pub targets: &'a [usize],
    /// Clips to fill up with, each once before any comes again.
    pub others: &'a [usize],
    /// Frames of each background recording.
    pub recordings: &'a [usize],
    /// Frames of the stream.
    pub frames: usize,
    /// Share of the time that words take.
    pub share: f64,
    /// The shortest gap before a word, in frames.
    pub gap: usize,
    /// Words are this many dB above the noise, from and to.
    pub snr: (f64, f64),
}

/// Frames of a stretch of one recording, from and to: 10 to 30 seconds at 100 frames a second.
const BED: (usize, usize) = (1_000, 3_000);

impl ScheduleParts<'_> {
    /// Draws a schedule. Where the targets do not fit the time asked for, it is longer.
    pub fn schedule(&self, seed: u64) -> Schedule {
        let mut rng = Rng::keyed(seed, &[stream::LISTEN, 0]);
        let mut order: Vec<usize> = self.targets.to_vec();
        let mut taken: usize = order.iter().map(|&clip| self.clips[clip]).sum();
        let room = (self.frames as f64 * self.share) as usize;
        let mut left: Vec<usize> = Vec::new();
        while taken < room && !self.others.is_empty() {
            if left.is_empty() {
                left = self.others.to_vec();
                rng.shuffle(&mut left);
            }
            let Some(clip) = left.pop() else { break };
            taken += self.clips[clip].max(1);
            order.push(clip);
        }
        rng.shuffle(&mut order);
        let least = taken + (order.len() + 1) * self.gap;
        let spare = self.frames.saturating_sub(least);
        let mut cuts: Vec<usize> = (0..order.len()).map(|_| rng.below(spare + 1)).collect();
        cuts.sort_unstable();
        let (mut items, mut at, mut before) = (Vec::new(), 0, 0);
        for (clip, cut) in order.into_iter().zip(cuts) {
            at += self.gap + cut - before;
            before = cut;
            items.push(ScheduledClip { clip, start: at, frames: self.clips[clip] });
            at += self.clips[clip];
        }
        let frames = self.frames.max(at + self.gap);
        Schedule { frames, items, segments: self.segments(frames, seed) }
    }

    fn segments(&self, frames: usize, seed: u64) -> Vec<NoiseSegment> {
        let mut rng = Rng::keyed(seed, &[stream::LISTEN, 1]);
        let (mut segments, mut start) = (Vec::new(), 0);
        let usable: Vec<usize> = (0..self.recordings.len()).filter(|&r| self.recordings[r] > 0).collect();
        while start < frames && !usable.is_empty() {
            let end = (start + BED.0 + rng.below(BED.1 - BED.0 + 1)).min(frames);
            let recording = usable[rng.below(usable.len())];
            let offset = rng.below(self.recordings[recording]);
            let snr = rng.range(self.snr.0, self.snr.1);
            segments.push(NoiseSegment { start, end, recording, offset, snr });
            start = end;
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(clips: &'a [usize], targets: &'a [usize], others: &'a [usize]) -> ScheduleParts<'a> {
        let (recordings, snr) = (&[700, 0, 1_500][..], (5.0, 20.0));
        ScheduleParts { clips, targets, others, recordings, frames: 20_000, share: 0.5, gap: 50, snr }
    }

    #[test]
    fn every_target_comes_once_and_nothing_overlaps() {
        let clips = [99; 40];
        let (targets, others): (Vec<usize>, Vec<usize>) = ((0..10).collect(), (10..40).collect());
        let schedule = parts(&clips, &targets, &others).schedule(3);
        assert_eq!(schedule.frames, 20_000);
        for target in targets {
            assert_eq!(schedule.items.iter().filter(|item| item.clip == target).count(), 1);
        }
        let words: usize = schedule.items.iter().map(|item| item.frames).sum();
        assert!((10_000..10_000 + 99).contains(&words), "{words} frames of words");
        for pair in schedule.items.windows(2) {
            assert!(pair[1].start >= pair[0].start + pair[0].frames + 50);
        }
        assert!(schedule.items.last().is_some_and(|item| item.start + item.frames <= 20_000));
        assert_eq!(schedule.segments[0].start, 0);
        assert!(schedule.segments.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(schedule.segments.last().map(|segment| segment.end), Some(20_000));
        assert!(
            schedule
                .segments
                .iter()
                .all(|segment| segment.recording != 1 && (5.0..=20.0).contains(&segment.snr))
        );
    }

    #[test]
    fn a_seed_gives_one_plan_and_another_seed_another() {
        let (clips, targets, others) = ([99; 40], [0, 1, 2], [10, 11, 12, 13]);
        let parts = parts(&clips, &targets, &others);
        assert_eq!(parts.schedule(3), parts.schedule(3));
        assert_ne!(parts.schedule(3), parts.schedule(4));
    }

    #[test]
    fn targets_that_do_not_fit_make_the_stream_longer() {
        let (clips, targets) = ([300; 100], (0..100).collect::<Vec<_>>());
        let schedule = parts(&clips, &targets, &[]).schedule(0);
        assert_eq!(schedule.items.len(), 100);
        assert_eq!(schedule.frames, 100 * 300 + 101 * 50);
    }
}
