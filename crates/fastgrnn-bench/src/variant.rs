//! The ways in which PyTorch can train the cells that are compared.

use super::shape::ShapeKind;
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

/// How the loss of a language model over all words is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Softmax {
    /// `cross_entropy` of all scores at once.
    Plain,
    /// Rows in chunks, each with its gradient, so that never all scores are in memory.
    Chunked,
    /// The plain one under `torch.compile`.
    Compiled,
}

impl Softmax {
    /// The name in the report and in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Chunked => "chunked",
            Self::Compiled => "compiled",
        }
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
    /// How it computes the loss.
    pub softmax: Softmax,
}

impl Variant {
    /// Every variant for a kind of shape. The compiled ones come last, because they may not be ready in time.
    pub(super) fn all(kind: ShapeKind) -> Vec<Self> {
        const HELD: [(CellKind, Weights); 5] = [
            (CellKind::FastGrnn, Weights::Factored),
            (CellKind::FastGrnn, Weights::Merged),
            (CellKind::FastGrnn, Weights::Full),
            (CellKind::Gru, Weights::Full),
            (CellKind::Lstm, Weights::Full),
        ];
        let softmax: &[Softmax] = match kind {
            ShapeKind::Classifier => &[Softmax::Plain],
            ShapeKind::LanguageModel => &[Softmax::Plain, Softmax::Chunked, Softmax::Compiled],
        };
        let of = |(mode, softmax)| {
            HELD.into_iter().map(move |(cell, weights)| Self { cell, mode, weights, softmax })
        };
        let ways = Mode::ALL.into_iter().flat_map(|mode| softmax.iter().map(move |&softmax| (mode, softmax)));
        let mut all: Vec<Self> = ways.flat_map(of).filter(|v| v.is_offered(kind)).collect();
        all.sort_by_key(Self::is_compiled);
        all
    }

    /// Whether a part of it is compiled, which takes minutes.
    pub(super) fn is_compiled(&self) -> bool {
        matches!(self.mode, Mode::Compile | Mode::Autotune) || self.softmax == Softmax::Compiled
    }

    /// Whether torch offers it and it is measured. Tuning takes minutes more than compiling, so only the
    /// FastGRNN with one product for each time step is tuned.
    ///
    /// The softmax is most of the work of a language model. So it is measured in all three ways with the
    /// fastest loops over time only, and what is compiled as a whole has its softmax compiled, too.
    fn is_offered(&self, kind: ShapeKind) -> bool {
        if kind == ShapeKind::LanguageModel {
            let is_held = self.weights != Weights::Factored;
            return is_held
                && match self.mode {
                    Mode::Module => self.cell != CellKind::FastGrnn,
                    Mode::Script => self.cell == CellKind::FastGrnn,
                    Mode::Compile => self.softmax == Softmax::Compiled,
                    Mode::Eager | Mode::Autotune => false,
                };
        }
        match self.mode {
            Mode::Module => self.cell != CellKind::FastGrnn,
            Mode::Autotune => self.cell == CellKind::FastGrnn && self.weights != Weights::Factored,
            _ => true,
        }
    }

    /// A name that no other variant has.
    pub(super) fn id(&self) -> String {
        format!("{} {} {} {}", self.mode.name(), self.cell, self.weights.name(), self.softmax.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_the_modes_that_torch_offers_for_it() {
        let all = Variant::all(ShapeKind::Classifier);
        let count = |cell, mode| all.iter().filter(|v| v.cell == cell && v.mode == mode).count();
        assert_eq!(Mode::ALL.map(|mode| count(CellKind::FastGrnn, mode)), [0, 3, 3, 3, 2]);
        for cell in [CellKind::Gru, CellKind::Lstm] {
            assert_eq!(Mode::ALL.map(|mode| count(cell, mode)), [1, 1, 1, 1, 0]);
        }
        let ids: std::collections::BTreeSet<_> = all.iter().map(Variant::id).collect();
        assert_eq!(ids.len(), all.len());
    }

    #[test]
    fn a_language_model_has_three_kinds_of_softmax_for_every_cell() {
        let all = Variant::all(ShapeKind::LanguageModel);
        for cell in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm] {
            for softmax in [Softmax::Plain, Softmax::Chunked, Softmax::Compiled] {
                let found = all.iter().any(|v| v.cell == cell && v.softmax == softmax);
                assert!(found, "{cell} {}", softmax.name());
            }
        }
        let first_compiled = all.iter().position(Variant::is_compiled).unwrap();
        assert!(all[first_compiled..].iter().all(Variant::is_compiled));
    }
}
