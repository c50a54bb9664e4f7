//! The ways in which PyTorch can train the cells that are compared.

use fastgrnn_core::cells::CellKind;
use serde::Serialize;

/// How PyTorch runs a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// `nn.GRU` or `nn.LSTM`.
    Module,
    /// A loop over time, as it stands.
    Eager,
    /// The loop under TorchScript.
    Script,
    /// The loop under `torch.compile`.
    Compile,
    /// The same with `mode="max-autotune"`.
    Autotune,
}

impl Mode {
    /// All modes, in the order of the report.
    pub const ALL: [Self; 5] = [Self::Module, Self::Eager, Self::Script, Self::Compile, Self::Autotune];

    /// The name in the report and in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Eager => "eager",
            Self::Script => "script",
            Self::Compile => "compile",
            Self::Autotune => "autotune",
        }
    }

    /// Whether the loop is compiled, which takes minutes.
    pub(super) fn is_compiled(self) -> bool {
        matches!(self, Self::Compile | Self::Autotune)
    }
}

/// How W and U are held and applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// Full matrices.
    Full,
    /// Two factors, applied one after the other at every time step.
    Factored,
    /// Two factors, multiplied out once for each training step.
    Merged,
}

impl Weights {
    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Factored => "factored",
            Self::Merged => "merged",
        }
    }

    /// Whether the network is low-rank.
    pub(super) fn is_low_rank(self) -> bool {
        self != Self::Full
    }
}

/// One way in which PyTorch trains a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The cell.
    #[serde(skip)]
    pub cell: CellKind,
    /// How it runs.
    pub mode: Mode,
    /// How it holds W and U.
    pub weights: Weights,
}

impl Variant {
    /// Every variant. The compiled ones come last, because they may not be ready in time.
    pub(super) fn all() -> Vec<Self> {
        const HELD: [(CellKind, Weights); 5] = [
            (CellKind::FastGrnn, Weights::Factored),
            (CellKind::FastGrnn, Weights::Merged),
            (CellKind::FastGrnn, Weights::Full),
            (CellKind::Gru, Weights::Full),
            (CellKind::Lstm, Weights::Full),
        ];
        let of = |mode| HELD.into_iter().map(move |(cell, weights)| Self { cell, mode, weights });
        Mode::ALL.into_iter().flat_map(of).filter(Self::is_offered).collect()
    }

    /// Whether torch offers it and it is measured. Tuning takes minutes more than compiling, so only the
    /// FastGRNN with one product for each time step is tuned.
    fn is_offered(&self) -> bool {
        match self.mode {
            Mode::Module => self.cell != CellKind::FastGrnn,
            Mode::Autotune => self.cell == CellKind::FastGrnn && self.weights != Weights::Factored,
            _ => true,
        }
    }

    /// A name that no other variant has.
    pub(super) fn id(&self) -> String {
        format!("{} {} {}", self.mode.name(), self.cell, self.weights.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_the_modes_that_torch_offers_for_it() {
        let all = Variant::all();
        let count = |cell, mode| all.iter().filter(|v| v.cell == cell && v.mode == mode).count();
        assert_eq!(Mode::ALL.map(|mode| count(CellKind::FastGrnn, mode)), [0, 3, 3, 3, 2]);
        for cell in [CellKind::Gru, CellKind::Lstm] {
            assert_eq!(Mode::ALL.map(|mode| count(cell, mode)), [1, 1, 1, 1, 0]);
        }
        let ids: std::collections::BTreeSet<_> = all.iter().map(Variant::id).collect();
        assert_eq!(ids.len(), all.len());
    }
}
