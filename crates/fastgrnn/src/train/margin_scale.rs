//! Where the margins of a network lie, so that a threshold can be carried to another network.
//!
//! A threshold is chosen on sequences that a network has not seen, but after a refit another network
//! is delivered, whose scores may lie elsewhere and further apart. Both know the sequences they were
//! trained on: the mean margins of the two classes there give each network a centre and a unit. The
//! threshold is kept in those units.

use serde::{Deserialize, Serialize};

/// Classes whose mean margins are nearer than this have no unit.
const LEAST_HALF: f64 = 1e-3;

/// The centre and the unit of the margins of one network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MarginScale {
    /// Midway between the mean margins of the positive and of the other class.
    centre: f64,
    /// Half the distance between them.
    half: f64,
}

impl MarginScale {
    /// The scale of a network with these margins on the sequences that it was trained on. A network
    /// that does not tell the classes apart keeps its own units.
    pub(super) fn of(margins: &[f64], positive: &[bool]) -> Self {
        let mean = |wanted: bool| {
            let own = || margins.iter().zip(positive).filter(|(_, is)| **is == wanted).map(|(m, _)| m);
            own().sum::<f64>() / own().count().max(1) as f64
        };
        let (high, low) = (mean(true), mean(false));
        let half = (high - low) / 2.0;
        match half.is_finite() && half > LEAST_HALF {
            true => Self { centre: (high + low) / 2.0, half },
            false => Self { centre: 0.0, half: 1.0 },
        }
    }

    /// An offset of this network in units that hold for every network.
    pub(super) fn normalized(&self, offset: f64) -> f64 {
        (offset - self.centre) / self.half
    }

    /// An offset in those units, in this network's own.
    pub(super) fn offset(&self, normalized: f64) -> f64 {
        self.centre + self.half * normalized
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_carried_to_a_network_with_other_units() {
        let (margins, positive) = ([4.0, 6.0, 0.0, -2.0], [true, true, false, false]);
        let first = MarginScale::of(&margins, &positive);
        assert_eq!(first, MarginScale { centre: 2.0, half: 3.0 });
        let second = MarginScale::of(&margins.map(|m| 10.0 * m + 1.0), &positive);
        // What cuts the first between 0 and 4 cuts the second between 1 and 41.
        assert!((second.offset(first.normalized(2.5)) - 26.0).abs() < 1e-12);
        assert!((first.offset(first.normalized(0.7)) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_network_that_tells_nothing_apart_keeps_its_units() {
        let scale = MarginScale::of(&[1.0, 1.0], &[true, false]);
        assert_eq!((scale.normalized(0.3), scale.offset(0.3)), (0.3, 0.3));
        assert_eq!(MarginScale::of(&[], &[]).offset(0.3), 0.3);
        assert_eq!(MarginScale::of(&[f64::NAN, 1.0], &[true, false]).offset(0.3), 0.3);
    }
}
