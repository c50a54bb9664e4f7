//! What an element-wise rule sees of one unit, and of the parameters that are no matrices.

use fastgrnn_core::cells::{Cell as Declared, Nonlinearity, Role, Scalar};
use std::cell::Cell;

/// Largest number of stacked blocks of any cell.
const BLOCKS: usize = 4;

/// One unit's share of the two products, and its old state. As a derivative: by each of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Unit {
    /// `(W·x)` of the unit, block by block.
    pub(super) wx: [f64; BLOCKS],
    /// `(U·h)` of the unit, block by block.
    pub(super) uh: [f64; BLOCKS],
    pub(super) old: Memory,
}

/// What a unit carries to the next step; `c` is the LSTM's cell state and 0 elsewhere.
#[derive(Clone, Copy, Default)]
pub(super) struct Memory {
    pub(super) h: f64,
    pub(super) c: f64,
}

/// Biases, scalars and nonlinearities of a layer.
pub(super) struct Pointwise<'a> {
    cell: &'a Declared,
    params: &'a [f64],
    places: &'a [Place],
    kink_margin: Cell<f64>,
}

/// Where a stored bias or scalar lies.
pub(super) struct Place {
    name: &'static str,
    start: usize,
    rows: usize,
}

/// Where the stored biases and scalars of `cell` lie from `*offset` on; moves `*offset` past them.
pub(super) fn places(cell: &Declared, offset: &mut usize) -> Vec<Place> {
    let pointwise = cell.params().into_iter().filter(|p| p.role != Role::Weight);
    pointwise
        .map(|p| {
            let start = *offset;
            *offset += p.rows;
            Place { name: p.name, start, rows: p.rows }
        })
        .collect()
}

impl<'a> Pointwise<'a> {
    pub(super) fn new(cell: &'a Declared, params: &'a [f64], places: &'a [Place]) -> Self {
        Self { cell, params, places, kink_margin: Cell::new(f64::INFINITY) }
    }

    /// Smallest distance of an argument given to `gate` or `update` from a kink.
    pub(super) fn kink_margin(&self) -> f64 {
        self.kink_margin.get()
    }

    fn place(&self, name: &str, unit: usize) -> usize {
        let place = self.places.iter().find(|p| p.name == name).expect("a stored parameter");
        place.start + unit.min(place.rows - 1)
    }

    /// The entry of bias `name` for this unit.
    pub(super) fn bias(&self, name: &str, unit: usize) -> f64 {
        self.params[self.place(name, unit)]
    }

    pub(super) fn add_bias(&self, gradient: &mut [f64], name: &str, unit: usize, d: f64) {
        gradient[self.place(name, unit)] += d;
    }

    /// α, β, ζ or ν: the sigmoid of what is stored, the fixed value, or for a tied β `1 − α`.
    pub(super) fn scalar(&self, name: &str, unit: usize) -> f64 {
        match self.cell.scalars.mode(name) {
            Scalar::Learnt => Nonlinearity::Sigmoid.value(self.params[self.place(name, unit)]),
            Scalar::Fixed(value) => f64::from(value),
            Scalar::Tied => 1.0 - self.scalar("alpha", unit),
        }
    }

    /// Passes the derivative by α, β, ζ or ν on to whatever is stored for it.
    pub(super) fn add_scalar(&self, gradient: &mut [f64], name: &str, unit: usize, d: f64) {
        match self.cell.scalars.mode(name) {
            Scalar::Learnt => {
                let slope = Nonlinearity::Sigmoid.slope_at_value(self.scalar(name, unit));
                gradient[self.place(name, unit)] += d * slope;
            }
            Scalar::Fixed(_) => {}
            Scalar::Tied => self.add_scalar(gradient, "alpha", unit, -d),
        }
    }

    /// The gate nonlinearity.
    pub(super) fn gate(&self, x: f64) -> f64 {
        self.evaluate(self.cell.gate, x)
    }

    /// Derivative of the gate nonlinearity where its value is `y`.
    pub(super) fn gate_slope(&self, y: f64) -> f64 {
        self.cell.gate.slope_at_value(y)
    }

    /// The update nonlinearity.
    pub(super) fn update(&self, x: f64) -> f64 {
        self.evaluate(self.cell.update, x)
    }

    /// Derivative of the update nonlinearity where its value is `y`.
    pub(super) fn update_slope(&self, y: f64) -> f64 {
        self.cell.update.slope_at_value(y)
    }

    fn evaluate(&self, f: Nonlinearity, x: f64) -> f64 {
        for kink in kinks(f) {
            let distance = (x - kink).abs();
            if distance > 0.0 {
                self.kink_margin.set(self.kink_margin.get().min(distance));
            }
        }
        f.value(x)
    }
}

/// Where a nonlinearity has no derivative.
fn kinks(f: Nonlinearity) -> &'static [f64] {
    match f {
        Nonlinearity::Tanh | Nonlinearity::Sigmoid => &[],
        Nonlinearity::Relu => &[0.0],
        Nonlinearity::QuantTanh | Nonlinearity::QuantSigm => &[-1.0, 1.0],
        Nonlinearity::QuantSigm4 => &[-2.0, 2.0],
    }
}
