//! An integer network as the vectors read it: weights packed once, constants in 32 bits.

use super::super::model::HostModel;
use super::curve::offset;
use fastgrnn_core::cells::{Alphas, CellKind, Nonlinearity, Usage};
use fastgrnn_engine::simd::int::{Rows, Table};
use fastgrnn_runtime::int::{Layer, Matrix, Shifts, Window};

/// A network, ready for groups of sequences.
pub(super) struct Plan {
    pub(super) input: InputPlan,
    pub(super) layers: Vec<LayerPlan>,
    pub(super) head: Rows,
    pub(super) head_multiplier: u16,
    pub(super) head_biases: Vec<i32>,
    /// The table of the smooth nonlinearities; zeros if there is none.
    pub(super) table: Table,
}

/// How values become the first layer's input.
pub(super) struct InputPlan {
    /// How many frames a step reads, and how many it moves on.
    pub(super) window: Window,
    /// What a count of each feature is worth.
    pub(super) lsb: Vec<f32>,
    /// How counts of each feature are normalised, for an even number of them.
    pub(super) scales: Vec<FeatureScale>,
}

/// `R(n · factor − offset, shift)`
#[derive(Clone, Copy, Default)]
pub(super) struct FeatureScale {
    pub(super) factor: i32,
    /// The rounding's half less the offset.
    pub(super) added: i32,
    pub(super) shift: u32,
}

/// A layer.
pub(super) struct LayerPlan {
    pub(super) kind: CellKind,
    pub(super) hidden: usize,
    /// Whether the last block of U's product stays apart from W's.
    pub(super) keeps_apart: bool,
    pub(super) gate: Nonlinearity,
    pub(super) update: Nonlinearity,
    pub(super) shifts: Shifts,
    pub(super) w: FactorsPlan,
    pub(super) u: FactorsPlan,
    /// The biases of each unit, their shift and the nonlinearity's [`offset`] applied.
    pub(super) biases: Vec<[i32; 4]>,
    /// The gain of each unit's gate.
    pub(super) gains: Vec<i32>,
    /// α of each unit.
    pub(super) alpha: Vec<i32>,
    pub(super) beta: i32,
    pub(super) zeta: i32,
    pub(super) nu: i32,
    /// The state to start from.
    pub(super) start: Vec<i16>,
}

/// A full matrix, or two factors; the first factor is cut into blocks of `hidden` rows.
pub(super) struct FactorsPlan {
    pub(super) first: Vec<Rows>,
    pub(super) second: Option<Rows>,
    /// Of the product with the first; 0 for none.
    pub(super) multiplier: u16,
}

impl Plan {
    pub(super) fn new(model: &HostModel, lsb: &[f32]) -> Self {
        let mut scales: Vec<FeatureScale> = Vec::new();
        for d in 0..model.inputs() {
            let (offset, factor, shift) = model.input_scale(d).unwrap_or_default();
            scales.push(FeatureScale { factor, added: ((1 << shift) >> 1) - offset, shift });
        }
        // A feature that is not there is 0.
        scales.resize(scales.len().next_multiple_of(2), FeatureScale::default());
        let window = model.window();
        let input = InputPlan { window, lsb: lsb.to_vec(), scales };
        let features = model.inputs();
        let head = model.head();
        let table = |i: usize| model.table(i).unwrap_or(0);
        Self {
            input,
            layers: model
                .layers()
                .iter()
                .enumerate()
                .map(|(i, l)| LayerPlan::new(l, (i == 0).then_some(features)))
                .collect(),
            head: Rows::new(head.rows(), head.cols(), |each| head.for_each(each)),
            head_multiplier: model.head_multiplier(),
            head_biases: (0..model.outputs()).map(|k| model.head_bias(k)).collect(),
            table: Table::new(table),
        }
    }

    pub(super) fn inputs(&self) -> usize {
        self.input.lsb.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.head_biases.len()
    }

    pub(super) fn layers(&self) -> usize {
        self.layers.len()
    }
}

impl LayerPlan {
    /// A layer; the first one reads frames of so many features.
    fn new(layer: &Layer, features: Option<usize>) -> Self {
        let (kind, hidden) = (layer.kind(), layer.hidden());
        let shape = kind.shape();
        let has_alpha = shape.alphas != Alphas::None;
        let units = || 0..hidden;
        let shifts = *layer.shifts();
        let [multiplier_w, multiplier_u] = layer.multipliers();
        let usages: Vec<Usage> = kind.declaration().biases().map(|p| p.usage).collect();
        let bias = |vector: usize, unit: usize| {
            let offset = match usages.get(vector) {
                None => return 0,
                Some(Usage::GateBias) => offset(layer.gate(), shifts.sums),
                Some(Usage::UpdateBias) => offset(layer.update(), shifts.sums),
                Some(Usage::RecurrentBias | Usage::GateGain | Usage::Scalar(_)) => 0,
            };
            layer.bias(vector, unit) + offset
        };
        Self {
            kind,
            hidden,
            keeps_apart: shape.keeps_apart,
            gate: layer.gate(),
            update: layer.update(),
            shifts,
            w: FactorsPlan::new(layer.w(), multiplier_w, hidden, features),
            u: FactorsPlan::new(layer.u(), multiplier_u, hidden, None),
            biases: units().map(|k| [0, 1, 2, 3].map(|v| bias(v, k))).collect(),
            gains: units().map(|k| if shape.has_gain { layer.gain(k) } else { 0 }).collect(),
            alpha: units().map(|k| if has_alpha { layer.alpha(k) } else { 0 }).collect(),
            beta: layer.beta(),
            zeta: layer.zeta(),
            nu: layer.nu(),
            start: (0..layer.state_len()).map(|i| layer.start(i)).collect(),
        }
    }
}

impl FactorsPlan {
    /// A matrix that reads frames of `features` numbers reads each frame from an even place on.
    fn new(
        (first, second): (Matrix, Option<Matrix>),
        multiplier: u16,
        hidden: usize,
        features: Option<usize>,
    ) -> Self {
        let read = |column: usize| match features {
            Some(features) => column / features * features.next_multiple_of(2) + column % features,
            None => column,
        };
        let has_second = second.is_some();
        let first_read = |column: usize| if has_second { column } else { read(column) };
        let read_columns = |columns: usize| read(columns.saturating_sub(1)) + usize::from(columns > 0);
        let first_columns = if has_second { first.cols() } else { read_columns(first.cols()) };
        let block = |b: usize| {
            Rows::new(hidden, first_columns, |each| {
                first.for_each(|row, col, value| {
                    if row / hidden == b {
                        each(row % hidden, first_read(col), value);
                    }
                });
            })
        };
        let transposed = |m: Matrix| {
            Rows::new(m.cols(), read_columns(m.rows()), |each| {
                m.for_each(|row, col, value| each(col, read(row), value));
            })
        };
        let first = (0..first.rows() / hidden).map(block).collect();
        Self { first, second: second.map(transposed), multiplier }
    }

    /// Entries between the factors, 0 if the matrix is full.
    pub(super) fn rank(&self) -> usize {
        self.second.as_ref().map_or(0, Rows::rows)
    }
}
