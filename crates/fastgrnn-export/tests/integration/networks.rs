//! The random networks of the integer oracle as [`IntegerNetwork`]s.

use fastgrnn::cells::{Cell, CellKind, MatrixForm, Nonlinearity};
use fastgrnn::quantize::{
    BiasBits, EntryGrid, Grid, InputScale, IntegerEmbedding, IntegerFactors, IntegerLayer, IntegerMatrix,
    IntegerNetwork, StepGrid,
};
use fastgrnn::window::Window;
use fastgrnn_runtime::int::{Meaning, Shifts};
use fastgrnn_testing::oracle::network::{Cell as OracleCell, Curve, Layer, Matrix, Network, Product};

/// The same network. Its table is the true one, whatever the oracle's was.
pub fn integer_network(network: &Network) -> IntegerNetwork {
    let mut inputs = usize::from(network.frames) * network.width();
    let layers: Vec<IntegerLayer> = network
        .layers
        .iter()
        .map(|l| {
            let layer = layer(l, inputs);
            inputs = l.hidden;
            layer
        })
        .collect();
    let state = layers.last().map_or(0, |l| l.shifts.state as i32);
    let bits = i32::from(network.head.f_s) - state;
    let mut head = matrix(&network.head.a, network.head.m);
    head.grid = match network.head.m {
        None => EntryGrid::Bytes(Grid { exponent: bits }),
        Some(m) => step(m, bits),
    };
    let embedding = network.vectors.as_ref().map(|vectors| IntegerEmbedding {
        // A tied table is the head's matrix, grid and all.
        vectors: if vectors.tied { head.clone() } else { matrix(&vectors.table, None) },
        tied: vectors.tied,
    });
    let tokens = usize::from(embedding.is_some());
    IntegerNetwork {
        input: InputScale {
            lsb: vec![1.0; network.counts()],
            offsets: [network.offsets.clone(), vec![0; tokens]].concat(),
            factors: [network.factors.clone(), vec![1; tokens]].concat(),
            shift: network.s_x.into(),
            offset_shift: network.s_n.into(),
            bits: 8,
        },
        window: Window { frames: network.frames.into(), stride: network.stride.into() },
        embedding,
        layers,
        head,
        head_biases: network.head.biases.clone(),
        head_bias_bits: bias_bits(network.head.byte_biases),
        head_shift: network.head.s_o.into(),
        meaning: Meaning::ALL[usize::from(network.meaning)],
    }
}

fn layer(l: &Layer, inputs: usize) -> IntegerLayer {
    let (alpha, beta, zeta, nu) = match &l.cell {
        OracleCell::FastRnn { alpha, beta } => (vec![*alpha], *beta, 0, 0),
        OracleCell::FastRnnVector { alpha, zeta, nu } => (alpha.clone(), 0, *zeta, *nu),
        OracleCell::FastGrnn { zeta, nu, .. } | OracleCell::FastGrnnGain { zeta, nu, .. } => {
            (Vec::new(), 0, *zeta, *nu)
        }
        _ => (Vec::new(), 0, 0, 0),
    };
    let (w, w_form, w2, w1) = product(&l.w, l.m_w);
    let (u, u_form, u2, u1) = product(&l.u, l.m_u);
    let gate = l.cell.gate().map_or(Nonlinearity::QuantSigm, nonlinearity);
    let cell = Cell::new(CellKind::from_code(l.cell.code()).expect("the code of a cell"), inputs, l.hidden)
        .with_nonlinearities(gate, nonlinearity(l.update));
    IntegerLayer {
        cell: cell.with_forms(w_form, u_form),
        shifts: Shifts {
            sums: l.f_a.into(),
            state: l.f_h.into(),
            memory: l.cell.f_c().into(),
            bias: l.s_b.into(),
            w2,
            w1,
            u2,
            u1,
        },
        w,
        u,
        biases: l.biases.clone(),
        gains: l.cell.gains().to_vec(),
        bias_bits: bias_bits(l.byte_biases),
        alpha,
        beta,
        zeta,
        nu,
        start: l.start.clone().unwrap_or_default(),
    }
}

fn bias_bits(byte_biases: bool) -> BiasBits {
    if byte_biases { BiasBits::Eight } else { BiasBits::Sixteen }
}

/// The multiplier is that of the oracle, except where it is 1/2: a product is then shifted once more.
fn product(p: &Product, m: Option<u16>) -> (IntegerFactors, MatrixForm, u32, u32) {
    let whole = |a: &Matrix| IntegerFactors { first: matrix(a, m), second: None };
    match p {
        Product::Full { a, s1 } => (whole(a), MatrixForm::Full, 0, (*s1).into()),
        Product::Low { a1, a2, s2, s1 } => {
            let second = matrix(a2, m.map(|_| 0));
            let factors = IntegerFactors { first: matrix(a1, m), second: Some(second) };
            (factors, MatrixForm::LowRank(a1.columns), (*s2).into(), (*s1).into())
        }
        Product::Diagonal { a, s1 } => {
            let column = Matrix { rows: a.len(), columns: 1, entries: a.clone() };
            (whole(&column), MatrixForm::Diagonal, 0, (*s1).into())
        }
        Product::Absent => (IntegerFactors::absent(), MatrixForm::Absent, 0, 0),
    }
}

/// A matrix whose entries have 4 bits if it has a multiplier.
fn matrix(a: &Matrix, m: Option<u16>) -> IntegerMatrix {
    let grid = m.map_or(EntryGrid::Bytes(Grid { exponent: 0 }), |m| step(m, 0));
    IntegerMatrix { rows: a.rows, cols: a.columns, entries: a.entries.clone(), grid }
}

/// The step of entries of 4 bits with a multiplier, of which a byte has so many fraction bits with it.
fn step(m: u16, bits: i32) -> EntryGrid {
    let multiplier = if m == 0 { 1.0 } else { f32::from(m) / 32_768.0 };
    EntryGrid::FourBits(StepGrid { step: 16.0 * multiplier * (-bits as f32).exp2() })
}

fn nonlinearity(curve: Curve) -> Nonlinearity {
    match curve {
        Curve::Tanh => Nonlinearity::Tanh,
        Curve::Sigmoid => Nonlinearity::Sigmoid,
        Curve::Relu => Nonlinearity::Relu,
        Curve::QuantTanh => Nonlinearity::QuantTanh,
        Curve::QuantSigm => Nonlinearity::QuantSigm,
        Curve::QuantSigm4 => Nonlinearity::QuantSigm4,
        Curve::Identity => Nonlinearity::Identity,
    }
}
