//! Short names for large things, to notice that they changed.

use fastgrnn_data::data::{Dataset, Labels};

/// A hash over numbers, in their order.
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }

    pub(super) fn add_floats(&mut self, values: &[f32]) {
        values.iter().for_each(|v| self.add(u64::from(v.to_bits())));
    }

    pub(super) fn add_whole(&mut self, values: &[u32]) {
        values.iter().for_each(|&v| self.add(u64::from(v)));
    }

    pub(super) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// A short name for the numbers and labels of a data set.
pub(crate) fn of_data(data: &Dataset) -> String {
    let mut fingerprint = Fingerprint::new();
    for examples in [Some(&data.train), data.test.as_ref()].into_iter().flatten() {
        fingerprint.add(examples.len() as u64);
        for i in 0..examples.len() {
            fingerprint.add(examples.x.steps(i) as u64);
            fingerprint.add_floats(examples.x.get(i));
            fingerprint.add_whole(examples.x.tokens(i));
        }
        match &examples.y {
            Labels::Class { index, .. } => fingerprint.add_whole(index),
            Labels::Value { values, .. } => fingerprint.add_floats(values),
            Labels::Sets { sets, .. } => sets.iter().for_each(|set| {
                fingerprint.add(set.len() as u64);
                fingerprint.add_whole(set);
            }),
            Labels::Next | Labels::None => {}
        }
        for units in [&examples.group, &examples.recording].into_iter().flatten() {
            fingerprint.add_whole(units);
        }
    }
    data.validation.iter().for_each(|part| fingerprint.add_whole(part));
    for noise in data.background.iter() {
        (0..noise.len()).for_each(|i| fingerprint.add_floats(noise.get(i)));
    }
    fingerprint.text()
}
