//! Other bits for the matrices of a float model, without training it for them.

use super::StepGrid;
use crate::model::Model;
use fastgrnn_core::cells::{MatrixForm, WeightBits};
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
    /// Those of a model's cells and head.
    pub fn of(model: &Model) -> Self {
        let (cell, head) = (model.network.main_cell(), model.network.bits_head);
        Self { w: cell.bits_w, u: cell.bits_u, head }
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
            cell.bits_w = bits.w;
            // An input layer has no U.
            if cell.form_u != MatrixForm::Absent {
                cell.bits_u = bits.u;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Task;
    use fastgrnn_core::cells::{Cell, CellKind, Start};
    use fastgrnn_core::net::Network;
    use fastgrnn_core::window::Window;

    #[test]
    fn an_input_layer_and_the_cells_above_it_keep_their_bits() {
        let (four, eight) = (WeightBits::Four, WeightBits::Eight);
        let input = Cell::new(CellKind::Rnn, 6, 4).with_forms(MatrixForm::Full, MatrixForm::Absent);
        let cell = Cell::new(CellKind::FastGrnn, 4, 5).with_bits(four, four);
        let network = Network::new(vec![input.with_bits(four, eight), cell], 2);
        let network = Network { window: Window { frames: 3, stride: 2 }, bits_head: four, ..network };
        let params = network.start(Start::default(), 9, 0);
        let labels = vec!["still".to_string(), "moving".to_string()];
        let model = Model::new(network, params, Task::Classes { labels });
        let own = MatrixBits::of(&model);
        assert_eq!(own, MatrixBits { w: four, u: four, head: four });
        assert_eq!(model.with_bits(own).unwrap(), model);
        let coarse = MatrixBits { w: eight, u: eight, head: eight };
        let again = model.with_bits(coarse).unwrap().with_bits(own).unwrap();
        assert_eq!(again.network, model.network);
    }
}
