//! A cell in the device runtime's terms.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! let shape: fastgrnn_runtime::float::Shape = (&Cell::new(CellKind::Gru, 3, 8)).into();
//! assert_eq!((shape.input, shape.hidden), (3, 8));
//! ```

use super::{Cell, CellKind, Nonlinearity, Scalar};
use fastgrnn_runtime::float;

impl From<&Cell> for float::Shape {
    fn from(cell: &Cell) -> Self {
        let nonlinearity = |f| match f {
            Nonlinearity::Tanh => float::Nonlinearity::Tanh,
            Nonlinearity::Sigmoid => float::Nonlinearity::Sigmoid,
            Nonlinearity::Relu => float::Nonlinearity::Relu,
            Nonlinearity::QuantTanh => float::Nonlinearity::QuantTanh,
            Nonlinearity::QuantSigm => float::Nonlinearity::QuantSigm,
            Nonlinearity::QuantSigm4 => float::Nonlinearity::QuantSigm4,
        };
        let scalar = |mode| match mode {
            Scalar::Learnt => float::Scalar::Learnt,
            Scalar::Fixed(value) => float::Scalar::Fixed(value),
            Scalar::Tied => float::Scalar::Tied,
        };
        let kind = match cell.kind {
            CellKind::Rnn => float::Kind::Rnn,
            CellKind::FastRnn => float::Kind::FastRnn,
            CellKind::FastRnnVector => float::Kind::FastRnnVector,
            CellKind::FastGrnn => float::Kind::FastGrnn,
            CellKind::Ugrnn => float::Kind::Ugrnn,
            CellKind::Gru => float::Kind::Gru,
            CellKind::Lstm => float::Kind::Lstm,
        };
        float::Shape {
            rank_w: cell.rank_w,
            rank_u: cell.rank_u,
            gate: nonlinearity(cell.gate),
            update: nonlinearity(cell.update),
            alpha: scalar(cell.scalars.alpha),
            beta: scalar(cell.scalars.beta),
            zeta: scalar(cell.scalars.zeta),
            nu: scalar(cell.scalars.nu),
            ..float::Shape::new(kind, cell.input, cell.hidden)
        }
    }
}
