//! Sound to frames of counts.

use crate::features::{COUNT, Front, Spec};

/// The front end of a listener.
pub(super) struct Frames {
    front: Front,
    counts: Vec<i16>,
}

impl Frames {
    pub(super) fn new(spec: &Spec) -> Self {
        Self { front: Front::new(spec), counts: Vec::new() }
    }

    pub(super) fn push(&mut self, samples: &[i16], frame: &mut impl FnMut(&[i16])) {
        let counts = &mut self.counts;
        self.front.push(samples, &mut |row| frame(counted(row, counts)));
    }

    pub(super) fn finish(&mut self, frame: &mut impl FnMut(&[i16])) {
        let counts = &mut self.counts;
        self.front.finish(&mut |row| frame(counted(row, counts)));
    }
}

fn counted<'c>(row: &[f32], counts: &'c mut Vec<i16>) -> &'c [i16] {
    counts.clear();
    counts.extend(row.iter().map(|v| (v / COUNT).round() as i16));
    counts
}
