//! Sections 1, 2, 3, 5 and 6: a step and the scores, value by value.

use super::curves::{ONE, in_32_bits, p, r, s, value, within};
use super::network::{Cell, Layer, Matrix, Network, Product, Vectors, blocks};
use std::collections::BTreeMap;

/// Where a value was cut to its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    Input,
    ProjectedW,
    ProjectedU,
    Recurrent,
    Update,
    Memory,
    State,
}

/// How often values were cut, by layer and place. The input belongs to layer 0.
pub type Cuts = BTreeMap<(usize, Cut), u64>;

/// What a layer remembers; `c` is empty but in an LSTM.
#[derive(Clone, Debug)]
struct Memory {
    h: Vec<i64>,
    c: Vec<i64>,
}

pub struct NetworkOracle<'a> {
    network: &'a Network,
    layers: Vec<Memory>,
    /// x of every frame so far.
    frames: Vec<Vec<i64>>,
    pub cuts: Cuts,
}

impl<'a> NetworkOracle<'a> {
    pub fn new(network: &'a Network) -> Self {
        let layers = network.layers.iter().map(start).collect();
        NetworkOracle { network, layers, frames: Vec::new(), cuts: Cuts::new() }
    }

    /// h of a layer, then an LSTM's c.
    pub fn state(&self, layer: usize) -> Vec<i64> {
        [self.layers[layer].h.as_slice(), &self.layers[layer].c].concat()
    }

    /// Makes the state of a layer what [`NetworkOracle::state`] gave.
    pub fn set_state(&mut self, layer: usize, values: &[i16]) {
        let memory = &mut self.layers[layer];
        let old = memory.h.iter_mut().chain(&mut memory.c);
        old.zip(values).for_each(|(old, value)| *old = i64::from(*value));
    }

    /// Takes a frame; whether the network took a step.
    pub fn step(&mut self, counts: &[i16]) -> bool {
        let network = self.network;
        let mut count = |layer: usize, cut: Cut| *self.cuts.entry((layer, cut)).or_default() += 1;
        let token = |vectors: &Vectors| -> Vec<i64> {
            let n = usize::from(counts[0] as u16);
            let row = if n < vectors.table.rows { n } else { 0 };
            let entry = |d: usize| i64::from(vectors.table.at(row, d)) * (1 << network.s_x);
            (0..vectors.table.columns).map(|d| s(entry(d))).collect()
        };
        let features = if network.vectors.is_some() { 0 } else { counts.len() };
        let mut x: Vec<i64> = (0..features)
            .map(|d| {
                let scaled = within(1 << 29, i64::from(counts[d]) * i64::from(network.factors[d] % 16384));
                let offset = within(1 << 29, i64::from(network.offsets[d]) * (1 << network.s_n));
                let shift = network.s_x + 4 * (network.factors[d] / 16384) as u8;
                saturated(r(added(scaled, -offset), shift), || count(0, Cut::Input))
            })
            .collect();
        if let Some(vectors) = &network.vectors {
            x = token(vectors);
        }
        self.frames.push(x);
        let (last, kappa) = (self.frames.len(), usize::from(network.frames));
        if last % usize::from(network.stride) != 0 {
            return false;
        }
        let zeros = vec![0; network.width()];
        let frame = |back: usize| last.checked_sub(back).map_or(&zeros, |at| &self.frames[at]);
        x = (1..=kappa).rev().flat_map(|back| frame(back).clone()).collect();
        for (index, (layer, memory)) in network.layers.iter().zip(&mut self.layers).enumerate() {
            let mut count = |cut: Cut| count(index, cut);
            *memory = Step::new(layer, &network.table, memory, &x, &mut count).run(&mut count);
            x.clone_from(&memory.h);
        }
        true
    }

    pub fn scores(&self) -> Vec<i64> {
        let head = &self.network.head;
        let h = &self.layers.last().expect("a network has a layer").h;
        let sums = (0..head.a.rows).map(|k| sum((0..h.len()).map(|j| i64::from(head.a.at(k, j)) * h[j])));
        let biased = |(sum, b): (Sum, &i16)| {
            let bias = i64::from(*b) * (1 << head.s_o);
            in_32_bits(sum.sizes + bias.abs());
            let product = p(sum.value, head.m.unwrap_or(0));
            in_32_bits(product.abs() + bias.abs());
            product + bias
        };
        sums.zip(&head.biases).map(biased).collect()
    }
}

fn start(layer: &Layer) -> Memory {
    let stored: Vec<i64> = layer.start.iter().flatten().map(|value| i64::from(*value)).collect();
    let vector = |index: usize| match layer.start {
        Some(_) => stored[index * layer.hidden..][..layer.hidden].to_vec(),
        None => vec![0; layer.hidden],
    };
    let c = if matches!(layer.cell, Cell::Lstm { .. }) { vector(1) } else { Vec::new() };
    Memory { h: vector(0), c }
}

/// S, telling `count` if it changed the value.
fn saturated(v: i64, mut count: impl FnMut()) -> i64 {
    if s(v) != v {
        count();
    }
    s(v)
}

/// A sum of 32 bits in whatever order: even the sizes of its terms add up to less.
struct Sum {
    value: i64,
    sizes: i64,
}

#[track_caller]
fn sum(terms: impl Iterator<Item = i64> + Clone) -> Sum {
    Sum { value: terms.clone().sum(), sizes: in_32_bits(terms.map(i64::abs).sum()) }
}

/// Section 2: the sums of the last product before their shift. `cut` is told of each entry of m
/// that was saturated.
fn sums(product: &Product, rows_of_layer: usize, v: &[i64], mut cut: impl FnMut()) -> Vec<Sum> {
    match product {
        Product::Diagonal { a, .. } => {
            let entry = |i: usize| i64::from(a[i]) * v[i % v.len()];
            (0..a.len()).map(|i| sum(std::iter::once(entry(i)))).collect()
        }
        Product::Absent => (0..rows_of_layer).map(|_| Sum { value: 0, sizes: 0 }).collect(),
        Product::Full { a, .. } => rows(a, v),
        Product::Low { a1, a2, s2, .. } => {
            let column = |j: usize| sum((0..a2.rows).map(move |k| i64::from(a2.at(k, j)) * v[k]));
            let m: Vec<i64> = (0..a2.columns).map(|j| saturated(r(column(j).value, *s2), &mut cut)).collect();
            rows(a1, &m)
        }
    }
}

fn rows(a: &Matrix, v: &[i64]) -> Vec<Sum> {
    (0..a.rows).map(|i| sum((0..a.columns).map(|k| i64::from(a.at(i, k)) * v[k]))).collect()
}

/// What rule 2 promises of one accumulator for both products: that starting the one with the
/// smaller shift from the other's rounded sum gives their sum, without leaving 32 bits.
#[track_caller]
fn share_an_accumulator((w, s_w): (&Sum, u8), (u, s_u): (&Sum, u8)) {
    let ((first, s), (second, t)) = if s_w >= s_u { ((w, s_w), (u, s_u)) } else { ((u, s_u), (w, s_w)) };
    let begun = in_32_bits(r(first.value, s) * (1 << t));
    in_32_bits(begun.abs() + second.sizes);
    assert_eq!(r(begun + second.value, t), r(first.value, s) + r(second.value, t));
}

/// A layer's step: everything that the rules of section 5 read.
struct Step<'a> {
    layer: &'a Layer,
    table: &'a [u16],
    old: &'a Memory,
    p: Vec<i64>,
    q: Vec<i64>,
}

impl<'a> Step<'a> {
    fn new(
        layer: &'a Layer,
        table: &'a [u16],
        old: &'a Memory,
        x: &[i64],
        count: &mut impl FnMut(Cut),
    ) -> Self {
        let rows = blocks(layer.cell.code()) * layer.hidden;
        let w = sums(&layer.w, rows, x, || count(Cut::ProjectedW));
        let u = sums(&layer.u, rows, &old.h, || count(Cut::ProjectedU));
        let (s_w, s_u) = (layer.w.last().1, layer.u.last().1);
        let (m_w, m_u) = (layer.m_w.unwrap_or(0), layer.m_u.unwrap_or(0));
        if (m_w, m_u) == (0, 0) {
            w.iter().zip(&u).for_each(|(w, u)| share_an_accumulator((w, s_w), (u, s_u)));
        }
        let shifted = |sums: &[Sum], m: u16, shift: u8| -> Vec<i64> {
            sums.iter().map(|sum| r(p(sum.value, m), shift)).collect()
        };
        Step { layer, table, old, p: shifted(&w, m_w, s_w), q: shifted(&u, m_u, s_u) }
    }

    fn run(&self, count: &mut impl FnMut(Cut)) -> Memory {
        let units = (0..self.layer.hidden).map(|unit| self.unit(unit, count));
        let (h, c): (Vec<i64>, Vec<Option<i64>>) = units.unzip();
        Memory { h, c: c.into_iter().flatten().collect() }
    }

    /// p of a block, for one unit; `q` and `b` likewise.
    fn p(&self, block: usize, unit: usize) -> i64 {
        self.p[block * self.layer.hidden + unit]
    }

    fn q(&self, block: usize, unit: usize) -> i64 {
        self.q[block * self.layer.hidden + unit]
    }

    fn b(&self, vector: usize, unit: usize) -> i64 {
        i64::from(self.layer.biases[vector][unit]) * (1 << self.layer.s_b)
    }

    /// p + q + b, below 2^30 in whatever order it is added.
    fn sum(&self, block: usize, bias: usize, unit: usize) -> i64 {
        before_nonlinearity([self.p(block, unit), self.q(block, unit), self.b(bias, unit)])
    }

    /// The gate's nonlinearity.
    fn g(&self, t: i64) -> i64 {
        let gate = self.layer.cell.gate().expect("only cells with gates ask");
        value(gate, t, self.layer.f_a, self.table).0
    }

    /// The update's nonlinearity.
    fn f(&self, t: i64, count: &mut impl FnMut(Cut)) -> i64 {
        let (value, cut) = value(self.layer.update, t, self.layer.f_a, self.table);
        if cut {
            count(Cut::Update);
        }
        value
    }

    /// What a FastGRNN-gain gives to g: γ times the clipped sum, and b_z.
    fn gained_sum(&self, gamma: i64, unit: usize) -> i64 {
        let a = (self.p(0, unit) + self.q(0, unit)).clamp(-(1 << 23), (1 << 23) - 1);
        let product = times_32(gamma, a);
        within(1 << 30, product.abs());
        before_nonlinearity([r(product, 5), 0, self.b(0, unit)])
    }

    /// The new h of FastGRNN for a gate z, before its S.
    fn fast_grnn(&self, z: i64, [zeta, nu]: [u16; 2], unit: usize, count: &mut impl FnMut(Cut)) -> i64 {
        let (f, f_h) = (self.layer.update.fraction_bits(), self.layer.f_h);
        let c = self.f(self.sum(0, 1, unit), count);
        let e = added(i64::from(nu), r(times_32(i64::from(zeta), ONE - z), 15));
        r(added(r(times_32(e, c), f - 1 - f_h), times_32(z, self.old.h[unit])), 15)
    }

    /// The new h of a unit, and an LSTM's new c.
    fn unit(&self, unit: usize, count: &mut impl FnMut(Cut)) -> (i64, Option<i64>) {
        let h = self.old.h[unit];
        let (f, f_h, f_a) = (self.layer.update.fraction_bits(), self.layer.f_h, self.layer.f_a);
        let mut memory = None;
        let new = match &self.layer.cell {
            Cell::Rnn => r(self.f(self.sum(0, 0, unit), count), f - f_h),
            Cell::FastRnn { alpha, beta } => {
                let (alpha, beta) = (i64::from(*alpha), i64::from(*beta));
                let c = self.f(self.sum(0, 0, unit), count);
                r(added(r(times_32(alpha, c), f - f_h), times_32(beta, h)), 15)
            }
            Cell::FastRnnVector { alpha, zeta, nu } => {
                let alpha = i64::from(alpha[unit]);
                let c = self.f(self.sum(0, 0, unit), count);
                let beta = added(i64::from(*nu), r(times_32(i64::from(*zeta), ONE - alpha), 15));
                r(added(r(times_32(alpha, c), f + 1 - f_h), times_32(beta, h)), 14)
            }
            Cell::FastGrnn { zeta, nu, .. } => {
                let z = self.g(self.sum(0, 0, unit));
                self.fast_grnn(z, [*zeta, *nu], unit, count)
            }
            Cell::FastGrnnGain { gamma, zeta, nu, .. } => {
                let z = self.g(self.gained_sum(i64::from(gamma[unit]), unit));
                self.fast_grnn(z, [*zeta, *nu], unit, count)
            }
            Cell::Ugrnn { .. } => {
                let z = self.g(self.sum(0, 0, unit));
                let c = self.f(self.sum(1, 1, unit), count);
                r(added(r(times_32(ONE - z, c), f - f_h), times_32(z, h)), 15)
            }
            Cell::MinGru { .. } => {
                let z = self.g(self.sum(0, 0, unit));
                let c = self.f(self.sum(1, 1, unit), count);
                r(added(r(times_32(z, c), f - f_h), times_32(ONE - z, h)), 15)
            }
            Cell::Gru { .. } => {
                let reset = self.g(self.sum(0, 0, unit));
                let z = self.g(self.sum(1, 1, unit));
                let recurrent = before_nonlinearity([0, self.q(2, unit), self.b(3, unit)]);
                let v = saturated(recurrent, || count(Cut::Recurrent));
                let past = r(times_32(reset, v), 15);
                let n = self.f(before_nonlinearity([self.p(2, unit), self.b(2, unit), past]), count);
                r(added(r(times_32(ONE - z, n), f - f_h), times_32(z, h)), 15)
            }
            Cell::Lstm { f_c, .. } => {
                let i = self.g(self.sum(0, 0, unit));
                let k = self.g(self.sum(1, 1, unit));
                let u = self.f(self.sum(2, 2, unit), count);
                let o = self.g(self.sum(3, 3, unit));
                let sum = added(r(times_32(i, u), f - f_c), times_32(k, self.old.c[unit]));
                let c = saturated(r(sum, 15), || count(Cut::Memory));
                memory = Some(c);
                let seen = self.f(in_32_bits(c * (1 << (f_a - f_c))), count);
                r(times_32(o, seen), 15 + f - f_h)
            }
        };
        (saturated(new, || count(Cut::State)), memory)
    }
}

/// A sum in any order, with the bound of rule 2.
#[track_caller]
fn before_nonlinearity(terms: [i64; 3]) -> i64 {
    within((1 << 30) - 1, terms.iter().map(|term| term.abs()).sum());
    terms.iter().sum()
}

#[track_caller]
fn times_32(a: i64, b: i64) -> i64 {
    in_32_bits(a * b)
}

#[track_caller]
fn added(a: i64, b: i64) -> i64 {
    in_32_bits(a + b)
}
