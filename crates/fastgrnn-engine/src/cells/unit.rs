//! What an element-wise rule reads of one unit, and of the parameters besides W and U.

use fastgrnn_core::cells::{Cell as Declared, Nonlinearity, NonlinearityF64, Scalar};
use std::cell::Cell;

/// Largest number of stacked blocks of any cell.
pub(crate) const BLOCKS: usize = 4;

/// One unit's share of the two products, and its old state. As a derivative: by each of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    /// `(W·x)` of the unit, block by block.
    pub wx: [f64; BLOCKS],
    /// `(U·h)` of the unit, block by block.
    pub uh: [f64; BLOCKS],
    /// The sum of both in the first block of the other unit of a pair, for cells whose rule reads pairs.
    pub partner: f64,
    /// The state before the step.
    pub old: Memory,
}

/// What a unit carries to the next step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The state h.
    pub h: f64,
    /// The LSTM's cell state, 0 elsewhere.
    pub c: f64,
}

/// Biases, gains, scalars and nonlinearities of a layer, wherever they are stored.
pub trait Parameters {
    /// The entry of bias `name` for this unit, or the pair that it belongs to.
    fn bias(&self, name: &str, unit: usize) -> f64;
    /// The gain `name` of this unit's gate.
    fn gain(&self, name: &str, unit: usize) -> f64;
    /// α, β, ζ or ν of this unit, after the sigmoid.
    fn scalar(&self, name: &str, unit: usize) -> f64;
    /// The gate nonlinearity.
    fn gate(&self, x: f64) -> f64;
    /// The update nonlinearity.
    fn update(&self, x: f64) -> f64;
    /// Takes note that the rule has no derivative at this distance from here.
    fn note_kink(&self, _distance: f64) {}
}

/// The [`Parameters`] of a layer in the flat buffer, with derivatives.
pub(crate) struct Pointwise<'a> {
    cell: &'a Declared,
    params: &'a [f64],
    places: &'a [Place],
    kink_margin: Cell<f64>,
}

/// Where a stored bias, gain or scalar lies.
pub(crate) struct Place {
    name: &'static str,
    start: usize,
    rows: usize,
}

/// Where the stored biases, gains and scalars of `cell` lie from `*offset` on; moves `*offset` past them.
pub(crate) fn places(cell: &Declared, offset: &mut usize) -> Vec<Place> {
    let pointwise = cell.params().into_iter().filter(|p| p.pointwise.is_some());
    pointwise
        .map(|p| {
            let start = *offset;
            *offset += p.rows;
            Place { name: p.name, start, rows: p.rows }
        })
        .collect()
}

impl<'a> Pointwise<'a> {
    pub(crate) fn new(cell: &'a Declared, params: &'a [f64], places: &'a [Place]) -> Self {
        Self { cell, params, places, kink_margin: Cell::new(f64::INFINITY) }
    }

    /// Smallest distance of an argument from a kink: of `gate` and `update`, and those that a rule noted.
    pub(crate) fn kink_margin(&self) -> f64 {
        self.kink_margin.get()
    }

    fn place(&self, name: &str, unit: usize) -> usize {
        let place = self.places.iter().find(|p| p.name == name).expect("a stored parameter");
        // One entry for each unit, for each pair, or for all.
        place.start + unit * place.rows / self.cell.hidden
    }

    pub(crate) fn add_bias(&self, gradient: &mut [f64], name: &str, unit: usize, d: f64) {
        gradient[self.place(name, unit)] += d;
    }

    pub(crate) fn add_gain(&self, gradient: &mut [f64], name: &str, unit: usize, d: f64) {
        gradient[self.place(name, unit)] += d;
    }

    /// Passes the derivative by α, β, ζ or ν on to whatever is stored for it.
    pub(crate) fn add_scalar(&self, gradient: &mut [f64], name: &str, unit: usize, d: f64) {
        match self.cell.scalars.mode(name) {
            Scalar::Learnt => {
                let slope = Nonlinearity::Sigmoid.slope_at_value(self.scalar(name, unit));
                gradient[self.place(name, unit)] += d * slope;
            }
            Scalar::Fixed(_) => {}
            Scalar::Tied => self.add_scalar(gradient, "alpha", unit, -d),
        }
    }

    /// Derivative of the gate nonlinearity where its value is `y`.
    pub(crate) fn gate_slope(&self, y: f64) -> f64 {
        self.cell.gate.slope_at_value(y)
    }

    /// Derivative of the update nonlinearity where its value is `y`.
    pub(crate) fn update_slope(&self, y: f64) -> f64 {
        self.cell.update.slope_at_value(y)
    }

    fn evaluate(&self, f: Nonlinearity, x: f64) -> f64 {
        kinks(f).iter().for_each(|kink| self.note_kink((x - kink).abs()));
        f.value(x)
    }
}

impl Parameters for Pointwise<'_> {
    fn bias(&self, name: &str, unit: usize) -> f64 {
        self.params[self.place(name, unit)]
    }

    fn gain(&self, name: &str, unit: usize) -> f64 {
        self.params[self.place(name, unit)]
    }

    /// The sigmoid of what is stored, the fixed value, or for a tied β `1 − α`.
    fn scalar(&self, name: &str, unit: usize) -> f64 {
        match self.cell.scalars.mode(name) {
            Scalar::Learnt => Nonlinearity::Sigmoid.value(self.params[self.place(name, unit)]),
            Scalar::Fixed(value) => f64::from(value),
            Scalar::Tied => 1.0 - self.scalar("alpha", unit),
        }
    }

    fn gate(&self, x: f64) -> f64 {
        self.evaluate(self.cell.gate, x)
    }

    fn update(&self, x: f64) -> f64 {
        self.evaluate(self.cell.update, x)
    }

    fn note_kink(&self, distance: f64) {
        if distance > 0.0 {
            self.kink_margin.set(self.kink_margin.get().min(distance));
        }
    }
}

/// Where a nonlinearity has no derivative.
fn kinks(f: Nonlinearity) -> &'static [f64] {
    match f {
        Nonlinearity::Tanh | Nonlinearity::Sigmoid | Nonlinearity::Identity => &[],
        Nonlinearity::Relu => &[0.0],
        Nonlinearity::QuantTanh | Nonlinearity::QuantSigm => &[-1.0, 1.0],
        Nonlinearity::QuantSigm4 => &[-2.0, 2.0],
    }
}
