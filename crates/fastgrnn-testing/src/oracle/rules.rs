//! Which networks a reader accepts: the ranges of the page and the six rules of "Why nothing
//! overflows".

use super::network::{Cell, Curve, Head, Layer, Network, Product, bias_bits};

/// Whether the image of `network` is to be accepted.
pub fn acceptable(network: &Network) -> bool {
    let outputs = network.head.a.rows;
    !network.layers.is_empty()
        && network.width() > 0
        && network.vectors.as_ref().is_none_or(|vectors| vectors.table.rows > 0 && network.s_x <= 8)
        && outputs > 0
        && network.meaning <= 3
        && (network.meaning != 1 || outputs == 1)
        && (1..=network.frames).contains(&network.stride)
        && (network.vectors.is_none() || network.frames == 1)
        && usize::from(network.frames) * network.width() <= 65535
        && network.s_x <= 30
        && network.s_n <= 14
        && network.factors.iter().all(|factor| u16::from(network.s_x) + 4 * (factor / 16384) <= 30)
        && network.layers.iter().all(layer)
        && head(&network.head)
        && (!network.reads_the_table() || table(&network.table))
}

fn table(table: &[u16]) -> bool {
    table.windows(2).all(|pair| pair[0] <= pair[1]) && table[64] <= 32768
}

fn layer(layer: &Layer) -> bool {
    let curves = [Some(layer.update), layer.cell.gate()];
    layer.hidden > 0
        && (4..=14).contains(&layer.f_a)
        && (layer.f_a <= 13 || !curves.contains(&Some(Curve::QuantSigm4)))
        && layer.s_b <= 14
        && gate(&layer.cell)
        && layer.f_h <= most_f_h(&layer.cell, layer.update)
        && layer.cell.f_c() <= most_f_c(layer.update, layer.f_a)
        && scalars(&layer.cell)
        && product(&layer.w)
        && product(&layer.u)
        && four_bits(&layer.w, layer.m_w)
        && four_bits(&layer.u, layer.m_u)
        && sums_fit(layer.w.last(), layer.u.last(), bias_bits(layer.byte_biases) - 1 + layer.s_b)
}

/// A multiplier, which only a product of matrices can have.
fn four_bits(product: &Product, m: Option<u16>) -> bool {
    multiplier(m) && (m.is_none() || matches!(product, Product::Full { .. } | Product::Low { .. }))
}

fn multiplier(m: Option<u16>) -> bool {
    m.is_none_or(|m| m == 0 || (16384..=32767).contains(&m))
}

fn gate(cell: &Cell) -> bool {
    match cell.gate() {
        None => true,
        Some(gate) if !gate.is_bounded() => false,
        Some(gate) => {
            !(gate.may_be_negative()
                && matches!(cell, Cell::Ugrnn { .. } | Cell::Gru { .. } | Cell::MinGru { .. }))
        }
    }
}

fn scalars(cell: &Cell) -> bool {
    match cell {
        Cell::FastRnn { alpha, beta } => *alpha <= 32768 && *beta <= 32768,
        Cell::FastRnnVector { alpha, zeta, nu } => {
            alpha.iter().all(|alpha| *alpha <= 32768) && *zeta <= 16384 && *nu <= 16384
        }
        Cell::FastGrnn { zeta, nu, .. } | Cell::FastGrnnGain { zeta, nu, .. } => {
            *zeta <= 16384 && *nu <= 16384
        }
        _ => true,
    }
}

fn product(product: &Product) -> bool {
    match product {
        Product::Full { a, s1 } => shift_fits(a.columns, *s1),
        Product::Low { a1, a2, s2, s1 } => shift_fits(a2.rows, *s2) && shift_fits(a1.columns, *s1),
        Product::Diagonal { s1, .. } => shift_fits(1, *s1),
        Product::Absent => true,
    }
}

/// Rule 1.
pub fn shift_fits(entries: usize, shift: u8) -> bool {
    shift <= 30 && (entries as u64) * (1 << 22) + (1 << shift) < 1 << 31
}

/// Rule 2, of the entries and shifts of W's and U's last products; a bias is at most 2^`bias`.
pub fn sums_fit((k_w, s_w): (usize, u8), (k_u, s_u): (usize, u8), bias: u8) -> bool {
    let most = |entries: usize, shift: u8| (entries as u64) * (1 << 22) / (1 << shift);
    most(k_w, s_w) + most(k_u, s_u) + (1 << bias) + (1 << 17) < 1 << 30
        && ((k_w + k_u) as u64) * (1 << 22) + (1 << s_w.max(s_u)) < 1 << 31
}

/// Rule 3.
fn head(head: &Head) -> bool {
    let bias_bits = bias_bits(head.byte_biases);
    head.s_o <= if head.byte_biases { 22 } else { 14 }
        && (-8..=34).contains(&head.f_s)
        && multiplier(head.m)
        && (head.a.columns as u64) * (1 << 22) + (1 << (bias_bits - 1 + head.s_o)) < 1 << 31
}

/// Rule 4 for the state.
pub fn most_f_h(cell: &Cell, update: Curve) -> u8 {
    let f = update.fraction_bits();
    let bound = match cell {
        Cell::FastGrnn { gate, .. } | Cell::FastGrnnGain { gate, .. } if gate.may_be_negative() => f - 2,
        Cell::FastGrnn { .. } | Cell::FastGrnnGain { .. } => f - 1,
        _ => f,
    };
    bound.min(14)
}

/// Rule 4 for an LSTM's memory.
pub fn most_f_c(update: Curve, f_a: u8) -> u8 {
    (update.fraction_bits() - 1).min(f_a).min(14)
}
