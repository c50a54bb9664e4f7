//! Other bits for the matrices of a float model, without training it for them.

use super::StepGrid;
use crate::model::Model;
use fastgrnn_core::cells::WeightBits;
use fastgrnn_core::net::NetworkError;

/// Bits of the entries of all matrices of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixBits {
    /// Of W, or its factors, of every layer.
    pub w: WeightBits,
    /// Of U, or its factors, of every layer.
    pub u: WeightBits,
    /// Of the head's matrix.
    pub head: WeightBits,
}

impl MatrixBits {
    /// Those of a model's first layer and head.
    pub fn of(model: &Model) -> Self {
        let network = &model.network;
        let layer = network.layers.first();
        let bits = |of: Option<WeightBits>| of.unwrap_or_default();
        let (w, u) = (bits(layer.map(|cell| cell.bits_w)), bits(layer.map(|cell| cell.bits_u)));
        Self { w, u, head: network.bits_head }
    }
}

impl Model {
    /// The model with matrices of these bits. One that now has 4 gets the step with a small error for its values;
    /// those that had 4 already keep theirs.
    ///
    /// ```
    /// use fastgrnn_core::cells::{Cell, CellKind, Start, WeightBits};
    /// use fastgrnn_core::net::Network;
    /// use fastgrnn_model::model::{Model, Task};
    /// use fastgrnn_model::quantize::MatrixBits;
    /// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], 2);
    /// let params = net.start(Start::default(), 3, 0);
    /// let labels = vec!["still".to_string(), "moving".to_string()];
    /// let model = Model::new(net, params, Task::Classes { labels });
    /// let bits = MatrixBits { u: WeightBits::Four, ..MatrixBits::of(&model) };
    /// let four = model.with_bits(bits)?;
    /// assert_eq!(four.params.len(), model.params.len() + 1);
    /// assert_eq!(four.with_bits(MatrixBits::of(&model))?, model);
    /// # Ok::<(), fastgrnn_core::net::NetworkError>(())
    /// ```
    pub fn with_bits(&self, bits: MatrixBits) -> Result<Self, NetworkError> {
        let mut network = self.network.clone();
        for cell in &mut network.layers {
            (cell.bits_w, cell.bits_u) = (bits.w, bits.u);
        }
        network.bits_head = bits.head;
        network.check()?;
        let (before, after) = (self.network.layout(), network.layout());
        let mut params = vec![0.0; after.len()];
        for view in after.views() {
            if let Some(old) = before.view(&view.name) {
                params[view.range()].copy_from_slice(&self.params[old.range()]);
            }
        }
        for (matrix, step) in after.stepped().filter(|(_, step)| before.view(&step.name).is_none()) {
            params[step.offset] = StepGrid::of(&params[matrix.range()]).step.ln();
        }
        Ok(Self { network, params, ..self.clone() })
    }
}
