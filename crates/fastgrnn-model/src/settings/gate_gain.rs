//! The setting that gives a FastGRNN gains: another name of the cell that has them.

use super::NetworkRecipe;
use fastgrnn_core::cells::CellKind;

/// A `gate-gain` that does not go with the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "gate-gain = {gate_gain}: a {cell} has {}; leave it out, or choose the `cell` fastgrnn",
    if *.gate_gain { "no gain for its gate" } else { "a gain for each unit" }
)]
pub struct GateGainConflict {
    /// The cell.
    pub cell: CellKind,
    /// Whether gains were chosen.
    pub gate_gain: bool,
}

impl NetworkRecipe {
    /// The cell that was chosen, or the default one. A `fastgrnn` with `gate-gain` is a `fastgrnn-gain`.
    pub fn chosen_cell(&self) -> CellKind {
        match (self.cell.unwrap_or(CellKind::FastGrnn), self.gate_gain) {
            (CellKind::FastGrnn, Some(true)) => CellKind::FastGrnnGain,
            (cell, _) => cell,
        }
    }

    /// Replaces the key `gate-gain` by the cell that it stands for.
    ///
    /// ```
    /// use fastgrnn_core::cells::CellKind;
    /// use fastgrnn_model::settings::NetworkRecipe;
    /// let mut network = NetworkRecipe { gate_gain: Some(true), ..NetworkRecipe::default() };
    /// network.settle_gate_gain().unwrap();
    /// assert_eq!((network.cell, network.gate_gain), (Some(CellKind::FastGrnnGain), None));
    /// let mut network = NetworkRecipe { cell: Some(CellKind::Gru), gate_gain: Some(true), ..network };
    /// assert!(network.settle_gate_gain().is_err());
    /// ```
    pub fn settle_gate_gain(&mut self) -> Result<(), GateGainConflict> {
        let Some(gate_gain) = self.gate_gain else { return Ok(()) };
        let cell = self.chosen_cell();
        if gate_gain != (cell == CellKind::FastGrnnGain) {
            return Err(GateGainConflict { cell, gate_gain });
        }
        (self.cell, self.gate_gain) = (Some(cell), None);
        Ok(())
    }
}
