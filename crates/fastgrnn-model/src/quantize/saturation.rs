//! Which values saturated, and how often.

use fastgrnn_runtime::int::{Place, Watch};
use serde::Serialize;

/// Values cut to their width, by layer and place, over a number of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saturations {
    /// Steps watched.
    pub steps: u64,
    /// One row a layer, entries as in [`Place::ALL`].
    counts: Vec<[u64; Place::ALL.len()]>,
}

/// One line of a report on saturation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SaturationRow {
    /// The layer, from 0.
    pub layer: usize,
    /// Which value.
    pub place: &'static str,
    /// How often.
    pub count: u64,
}

impl Saturations {
    /// None so far.
    pub fn new(layers: usize) -> Self {
        Self { steps: 0, counts: vec![[0; Place::ALL.len()]; layers] }
    }

    /// How often a value of `layer` was cut at `place`.
    pub fn count(&self, layer: usize, place: Place) -> u64 {
        self.counts.get(layer).map_or(0, |row| row[place as usize])
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Where values were cut, worst first.
    pub fn rows(&self) -> Vec<SaturationRow> {
        let mut rows: Vec<SaturationRow> = Vec::new();
        for (layer, counts) in self.counts.iter().enumerate() {
            let places = Place::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
            rows.extend(places.map(|(p, &count)| SaturationRow { layer, place: p.name(), count }));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// Adds what another thread saw.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            own.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }

    /// Counts `times` more.
    pub(crate) fn note(&mut self, layer: usize, place: Place, times: u64) {
        if let Some(row) = self.counts.get_mut(layer) {
            row[place as usize] += times;
        }
    }
}

impl Watch for Saturations {
    fn saturated(&mut self, layer: usize, place: Place) {
        self.note(layer, place, 1);
    }
}
