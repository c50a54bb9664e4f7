//! What the audio front end of a model that listens takes beside its network.

use super::Load;
use fastgrnn_data::features::{Spec, Tables};

impl Load {
    /// The same network behind the front end `spec`, with a detector of `keywords` classes or none.
    ///
    /// An Uno has no room for a front end and takes frames of features: only a detector is added there.
    ///
    /// ```
    /// use fastgrnn_core::cells::{Cell, CellKind};
    /// use fastgrnn_model::device::{Board, Load};
    /// use fastgrnn_data::features::Spec;
    /// use fastgrnn_core::net::{Network, View};
    /// let spec = Spec::default();
    /// let network = Network::new(vec![Cell::new(CellKind::FastGrnn, spec.dim(), 20)], 4);
    /// let load = Load::of(&network, View::len);
    /// let listening = load.listening(&spec, None);
    /// let more = |board| listening.on(board).ram_bytes() - load.on(board).ram_bytes();
    /// assert!(more(Board::M0plus) > 2_800 && more(Board::Uno) == 0);
    /// ```
    pub fn listening(self, spec: &Spec, keywords: Option<usize>) -> Self {
        let tables = Tables::new(spec);
        let view = tables.view();
        // Sums, counters, what was heard, and padding.
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

/// Bytes of the generated tables: pairs of the window, the order of the transform's input, its turns
/// in the order of their use, the filters, the logarithm's table and the cosine transform.
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
