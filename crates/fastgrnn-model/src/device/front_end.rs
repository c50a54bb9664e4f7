//! What an audio front end takes in addition to its network.

use super::Footprint;
use fastgrnn_data::features::{Spec, Tables};

impl Footprint {
    /// The footprint with the audio front end `spec`, and with a detector of `keywords` classes if there
    /// is one.
    ///
    /// A board without room for a front end, such as an Uno, takes frames of features: only the
    /// detector is added there.
    ///
    /// ```
    /// use fastgrnn_core::cells::{Cell, CellKind};
    /// use fastgrnn_model::device::{Board, Footprint};
    /// use fastgrnn_data::features::Spec;
    /// use fastgrnn_core::net::{Network, View};
    /// let spec = Spec::default();
    /// let network = Network::new(vec![Cell::new(CellKind::FastGrnn, spec.dim(), 20)], 4);
    /// let network = Footprint::of(&network, View::len);
    /// let whole = network.with_front_end(&spec, None);
    /// let more = |board| whole.estimate(board).ram_bytes() - network.estimate(board).ram_bytes();
    /// assert!(more(Board::M0plus) > 2_800 && more(Board::Uno) == 0);
    /// ```
    pub fn with_front_end(self, spec: &Spec, keywords: Option<usize>) -> Self {
        let tables = Tables::new(spec);
        let view = tables.view();
        // Sums, counters, the last detection, and padding.
        let detector = keywords.map_or(0, |n| 4 * n + 16);
        let class_list = keywords.map_or(0, |n| if n > 1 { 2 * n } else { 0 });
        Self {
            front_data: table_bytes(spec, view.window.len(), view.cosines.len()),
            other_bytes: self.other_bytes + class_list,
            front_ram: 4 * view.spectrum_len() + 2 * (view.samples_len() + view.row_len()) + 4 + detector,
            detects: keywords.is_some(),
            ..self
        }
    }
}

/// Bytes of the generated tables: pairs of window values, the order of the transform's input, its
/// twiddle factors in the order of their use, the filters, the logarithm's table and the cosine
/// transform.
fn table_bytes(spec: &Spec, window: usize, cosines: usize) -> usize {
    let points = spec.fft() / 2;
    let place = if points <= 256 { 1 } else { 2 };
    let first: usize = if points.trailing_zeros().is_multiple_of(2) { 1 } else { 2 };
    let stages = std::iter::successors(Some(first), |q| Some(4 * q)).take_while(|&q| q < points);
    let turns = stages.map(|q| 3 * (q - 1)).sum::<usize>() + points / 2;
    4 * window
        + place * points
        + 4 * turns
        + 2 * (spec.filters() + 2)
        + 4 * spec.filters()
        + 2 * 33
        + 2 * cosines
}
