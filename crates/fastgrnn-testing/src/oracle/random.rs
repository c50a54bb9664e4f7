//! Random networks that a reader accepts, with inputs.

use super::image::Forms;
use super::network::{
    Cell, Curve, Head, Layer, Matrix, Network, Product, Vectors, bias_vectors, blocks, state_vectors,
    true_table,
};
use super::rules::{most_f_c, most_f_h, shift_fits, sums_fit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What a network and its inputs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Every parameter over its whole range, biased to its ends: nearly everything saturates.
    Wild,
    /// Shifts as a calibration would choose them: nothing ever saturates within `STEPS` steps,
    /// whatever the weights.
    Tame,
}

/// The most steps of a case.
pub const STEPS: usize = 12;
/// Codes of cells.
pub const CELLS: std::ops::RangeInclusive<u8> = 0..=8;

/// A network with a way to write it and a sequence for it.
#[derive(Clone, Debug)]
pub struct Case {
    pub network: Network,
    pub forms: Forms,
    pub inputs: Vec<Vec<i16>>,
}

/// A value of a strategy, the same on every run.
pub fn the_same<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(&mut TestRunner::deterministic()).expect("nothing is filtered out").current()
}

/// Cases whose first layer is the cell with this code.
pub fn case(code: u8, manner: Manner) -> impl Strategy<Value = Case> {
    let above = prop_oneof![3 => vec(CELLS, 0), 1 => vec(CELLS, 1), 1 => vec(CELLS, 2)];
    (above, vec(size(), 4)).prop_flat_map(move |(mut codes, sizes)| {
        codes.insert(0, code);
        let inputs = vec(numbers(sizes[0]), 1..=STEPS);
        // Vectors of all 16 bits could saturate what lies between two factors.
        let most_shift = if manner == Manner::Wild { 8_u8 } else { 6 };
        let tokens = proptest::option::weighted(0.25, (vectors(sizes[0]), 0..=most_shift, any::<bool>()));
        (network(codes, sizes, manner), forms(), inputs, tokens).prop_map(
            |(network, forms, inputs, tokens)| {
                let case = Case { network, forms, inputs };
                match tokens {
                    Some((table, shift, tied)) => reading_tokens(case, table, shift, tied),
                    None => case,
                }
            },
        )
    })
}

/// Cases of which parts are such as only version 3 holds.
pub fn extended(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    let m = prop_oneof![6 => 16384..=32767_u16, 1 => Just(0_u16), 1 => Just(16384_u16), 1 => Just(32767_u16)];
    let multipliers = vec(proptest::option::weighted(0.7, m), 7);
    (cases, multipliers, vec(any::<bool>(), 4)).prop_map(|(case, multipliers, byte_biases)| Case {
        network: with_4_bits(case.network, &multipliers, &byte_biases),
        ..case
    })
}

/// Cases whose network reads several frames in a step. What was one frame becomes as many as divide it.
pub fn windowed(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (cases, 2..=12_usize, any::<prop::sample::Index>()).prop_map(|(mut case, most, stride)| {
        let network = &mut case.network;
        let numbers = network.offsets.len();
        let frames = (1..=most).rev().find(|frames| numbers > 0 && numbers % frames == 0).unwrap_or(1);
        let features = numbers / frames;
        (network.frames, network.stride) = (frames as u8, 1 + stride.index(frames) as u8);
        network.offsets.truncate(features);
        network.factors.truncate(features);
        if features > 0 {
            case.inputs.iter_mut().for_each(|counts| counts.truncate(features));
        }
        case
    })
}

/// The network with entries of 4 bits where there is a multiplier (of the head, then of W and U of each
/// layer) and biases of 8 bits where it is true (in the head, then in each layer).
fn with_4_bits(mut network: Network, multipliers: &[Option<u16>], byte_biases: &[bool]) -> Network {
    let cut = |a: &mut Matrix| a.entries.iter_mut().for_each(|entry| *entry &= -16);
    let halves = |product: &mut Product, m: &Option<u16>| match product {
        Product::Full { a, .. } => m.inspect(|_| cut(a)),
        Product::Low { a1, a2, .. } => m.inspect(|_| {
            cut(a1);
            cut(a2);
        }),
        Product::Diagonal { .. } | Product::Absent => None,
    };
    let byte = |bias: &mut i16| *bias = i16::from(*bias as i8);
    for (i, layer) in network.layers.iter_mut().enumerate() {
        layer.m_w = halves(&mut layer.w, &multipliers[1 + 2 * i]);
        layer.m_u = halves(&mut layer.u, &multipliers[2 + 2 * i]);
        layer.byte_biases = byte_biases[1 + i];
        if layer.byte_biases {
            layer.biases.iter_mut().flatten().for_each(byte);
        }
    }
    let head = &mut network.head;
    if !network.vectors.as_ref().is_some_and(|vectors| vectors.tied) {
        head.m = multipliers[0].inspect(|_| cut(&mut head.a));
    }
    head.byte_biases = byte_biases[0];
    if head.byte_biases {
        head.biases.iter_mut().for_each(byte);
    }
    network
}

/// A table of vectors of `width` bytes.
fn vectors(width: usize) -> impl Strategy<Value = Matrix> {
    (1..=9_usize).prop_flat_map(move |rows| matrix(rows, width))
}

/// The case with the network reading tokens, which are tied to the head if that has the shape for it.
pub fn reading_tokens(mut case: Case, table: Matrix, shift: u8, tied: bool) -> Case {
    let network = &mut case.network;
    let tied = tied && network.head.a.columns == table.columns;
    let table = if tied { network.head.a.clone() } else { table };
    // Also numbers that no token has: the next ones, and the last one of 16 bits.
    let token = |count: i16| match count {
        i16::MAX => -1,
        count => (count as u16 % (table.rows as u16 + 2)) as i16,
    };
    case.inputs = case.inputs.iter().map(|counts| vec![token(counts[0])]).collect();
    (network.offsets, network.factors, network.s_x, network.s_n) = (Vec::new(), Vec::new(), shift, 0);
    network.vectors = Some(Vectors { table, tied });
    case
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1..=9_usize, 1 => 10..=33_usize]
}

fn forms() -> impl Strategy<Value = Forms> {
    prop_oneof![Just(Forms::Smallest), vec(0..4_u8, 1..8).prop_map(Forms::InTurn)]
}

/// A network of cells with these codes; `sizes` are those of the input and of each layer.
pub fn network(codes: Vec<u8>, sizes: Vec<usize>, manner: Manner) -> impl Strategy<Value = Network> {
    let layers: Vec<_> =
        codes.iter().zip(sizes.windows(2)).map(|(code, io)| layer(*code, io[0], io[1], manner)).collect();
    let factor = prop_oneof![4 => 0..=16383_u16, 1 => Just(16383_u16)];
    let s_x = match manner {
        Manner::Wild => prop_oneof![0..=30_u8, Just(0_u8), Just(30_u8)].boxed(),
        Manner::Tame => (16..=18_u8).boxed(),
    };
    // The high bits of a factor lengthen its shift; a wild network takes what there is room for.
    let wild = manner == Manner::Wild;
    let longer = move |s_x: u8| if wild { (30 - u16::from(s_x)) / 4 } else { 0 };
    let scales = (s_x, vec((factor, 0..4_u16), sizes[0])).prop_map(move |(s_x, factors)| {
        let word = |(factor, k): (u16, u16)| factor + 16384 * k.min(longer(s_x)).min(3);
        (factors.into_iter().map(word).collect::<Vec<u16>>(), s_x)
    });
    let input = (numbers(sizes[0]), scales, 0..=14_u8);
    (input, layers, head(sizes[codes.len()], manner), table()).prop_map(
        |((offsets, (factors, s_x), s_n), layers, (meaning, head), table)| Network {
            vectors: None,
            offsets,
            factors,
            s_x,
            s_n,
            frames: 1,
            stride: 1,
            layers,
            head,
            meaning,
            table,
        },
    )
}

fn table() -> impl Strategy<Value = Vec<u16>> {
    let rising = vec(0..=32768_u16, 65).prop_map(|mut table| {
        table.sort_unstable();
        table
    });
    prop_oneof![4 => Just(true_table()), 1 => rising]
}

fn head(hidden: usize, manner: Manner) -> impl Strategy<Value = (u8, Head)> {
    let shape = (0..4_u8, 1..=7_usize).prop_map(|(meaning, n)| (meaning, if meaning == 1 { 1 } else { n }));
    shape.prop_flat_map(move |(meaning, outputs)| {
        let f_s = match manner {
            Manner::Wild => prop_oneof![-8..=34_i8, 15..=34_i8].boxed(),
            Manner::Tame => (13..=18_i8).boxed(),
        };
        (matrix(outputs, hidden), 0..=14_u8, f_s, numbers(outputs)).prop_map(move |(a, s_o, f_s, biases)| {
            (meaning, Head { a, m: None, byte_biases: false, s_o, f_s, biases })
        })
    })
}

/// 16-bit numbers, each vector of one kind.
pub fn numbers(len: usize) -> impl Strategy<Value = Vec<i16>> {
    prop_oneof![
        3 => vec(any::<i16>(), len),
        2 => vec(-300..=300_i16, len),
        1 => vec(select(vec![-32768, -32767, 32767]), len),
        1 => select(vec![-32768, 0, 32767]).prop_map(move |value| vec![value; len]),
    ]
}

/// Bytes, each matrix of one kind; the third kind is sparse.
pub fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = Matrix> {
    let len = rows * columns;
    prop_oneof![
        3 => vec(any::<i8>(), len),
        1 => vec(-9..=9_i8, len),
        3 => vec(prop_oneof![4 => Just(0_i8), 1 => any::<i8>()], len),
        1 => vec(select(vec![-128_i8, -127, 127]), len),
        1 => select(vec![-128_i8, 0, 127]).prop_map(move |value| vec![value; len]),
    ]
    .prop_map(move |entries| Matrix { rows, columns, entries })
}

/// A layer of the cell with this code, reading `inputs` values.
fn layer(code: u8, inputs: usize, hidden: usize, manner: Manner) -> impl Strategy<Value = Layer> {
    let rows = blocks(code) * hidden;
    let curves = Curve::ALL.into_iter().filter(move |curve| manner == Manner::Wild || curve.is_bounded());
    (cell(code, hidden, manner), select(curves.collect::<Vec<_>>())).prop_flat_map(move |(cell, update)| {
        let fourth = [cell.gate(), Some(update)].contains(&Some(Curve::QuantSigm4));
        let (f_a, f_h, start) = match manner {
            Manner::Wild => (4..=if fourth { 13 } else { 14_u8 }, 0..=14_u8, numbers(hidden * 2).boxed()),
            Manner::Tame => (8..=11_u8, 4..=9_u8, vec(-1000..=1000_i16, hidden * 2).boxed()),
        };
        let products = (product(rows, inputs, hidden, false, manner), recurrent(code, rows, hidden, manner));
        let biases = vec(numbers(hidden), bias_vectors(code));
        let start = proptest::option::of(start);
        (Just(cell), f_a, f_h, 0..=14_u8, products, biases, start).prop_map(
            move |(cell, f_a, f_h, s_b, (w, u), biases, start)| {
                let start = start.map(|start| start[..state_vectors(code) * hidden].to_vec());
                let (m_w, m_u, byte_biases) = (None, None, false);
                let layer =
                    Layer { cell, update, hidden, f_a, f_h, s_b, w, u, m_w, m_u, byte_biases, biases, start };
                accepted(layer, manner)
            },
        )
    })
}

fn cell(code: u8, hidden: usize, manner: Manner) -> BoxedStrategy<Cell> {
    let one = prop_oneof![3 => 0..=32768_u16, 1 => Just(0_u16), 1 => Just(32768_u16)];
    // A FastRNN-vector grows without bound where ζ + ν > 1.
    let most = if manner == Manner::Wild { 16384_u16 } else { 8192 };
    let scalars = (prop_oneof![3 => 0..=most, 1 => Just(most)], prop_oneof![3 => 0..=most, 1 => Just(most)]);
    let gates = match code {
        3 | 6 | 8 => vec![Curve::Sigmoid, Curve::QuantSigm, Curve::QuantSigm4, Curve::Tanh, Curve::QuantTanh],
        _ => vec![Curve::Sigmoid, Curve::QuantSigm, Curve::QuantSigm4],
    };
    match code {
        0 => Just(Cell::Rnn).boxed(),
        1 => (one.clone(), one).prop_map(|(alpha, beta)| Cell::FastRnn { alpha, beta }).boxed(),
        2 => (vec(one, hidden), scalars)
            .prop_map(|(alpha, (zeta, nu))| Cell::FastRnnVector { alpha, zeta, nu })
            .boxed(),
        3 => {
            (select(gates), scalars).prop_map(|(gate, (zeta, nu))| Cell::FastGrnn { gate, zeta, nu }).boxed()
        }
        4 => select(gates).prop_map(|gate| Cell::Ugrnn { gate }).boxed(),
        5 => select(gates).prop_map(|gate| Cell::Gru { gate }).boxed(),
        7 => select(gates).prop_map(|gate| Cell::MinGru { gate }).boxed(),
        8 => {
            // Around 1, anywhere, and at the ends.
            let ends = select(vec![-128_i8, -1, 0, 1, 32, 127]);
            let gain = prop_oneof![2 => 16..=48_i8, 2 => any::<i8>(), 1 => ends];
            (select(gates), vec(gain, hidden), scalars)
                .prop_map(|(gate, gamma, (zeta, nu))| Cell::FastGrnnGain { gate, gamma, zeta, nu })
                .boxed()
        }
        6 => (select(gates), 0..=14_u8).prop_map(|(gate, f_c)| Cell::Lstm { gate, f_c }).boxed(),
        _ => panic!("the cell with code {code} has no arm here"),
    }
}

/// U; a minGRU has none.
fn recurrent(code: u8, rows: usize, hidden: usize, manner: Manner) -> BoxedStrategy<Product> {
    match code {
        7 => Just(Product::Absent).boxed(),
        _ => product(rows, hidden, hidden, true, manner),
    }
}

/// A product of a layer of `hidden` units; a square one may be diagonal.
fn product(
    rows: usize,
    columns: usize,
    hidden: usize,
    may_be_absent: bool,
    manner: Manner,
) -> BoxedStrategy<Product> {
    let shift = move || match manner {
        Manner::Wild => prop_oneof![0..=30_u8, 5..=14_u8, Just(0_u8)].boxed(),
        Manner::Tame => Just(0_u8).boxed(), // chosen below, from the sizes
    };
    let full = (matrix(rows, columns), shift()).prop_map(|(a, s1)| Product::Full { a, s1 });
    let low = (1..=7_usize).prop_flat_map(move |rank| {
        (matrix(rows, rank), matrix(columns, rank), shift(), shift())
            .prop_map(|(a1, a2, s2, s1)| Product::Low { a1, a2, s2, s1 })
    });
    if columns != hidden {
        return prop_oneof![full, low].boxed();
    }
    let diagonal = (matrix(rows, 1), shift()).prop_map(|(a, s1)| Product::Diagonal { a: a.entries, s1 });
    if !may_be_absent {
        return prop_oneof![2 => full, 2 => low, 1 => diagonal].boxed();
    }
    prop_oneof![3 => full, 3 => low, 2 => diagonal, 1 => Just(Product::Absent)].boxed()
}

/// The layer with its fraction bits and shifts moved to where a reader accepts them.
fn accepted(mut layer: Layer, manner: Manner) -> Layer {
    layer.f_h = layer.f_h.min(most_f_h(&layer.cell, layer.update));
    if let Cell::Lstm { f_c, .. } = &mut layer.cell {
        let most = if manner == Manner::Wild { 14 } else { 9 };
        *f_c = (*f_c).min(most).min(most_f_c(layer.update, layer.f_a));
    }
    if manner == Manner::Tame {
        tame(&mut layer);
    }
    for product in [&mut layer.w, &mut layer.u] {
        if let Product::Low { a2, s2, .. } = product {
            *s2 = (0..=*s2).rev().find(|s2| shift_fits(a2.rows, *s2)).expect("shift 0 fits 511 entries");
        }
        if matches!(product, Product::Absent) {
            continue;
        }
        let (entries, shift) = product.last();
        let fits = (0..=shift).rev().find(|shift| shift_fits(entries, *shift));
        *last_shift(product) = fits.expect("shift 0 fits 511 entries");
    }
    while !sums_fit(layer.w.last(), layer.u.last(), 15 + layer.s_b) {
        let ((k_w, s_w), (k_u, s_u)) = (layer.w.last(), layer.u.last());
        let larger = if k_w >> s_w >= k_u >> s_u { &mut layer.w } else { &mut layer.u };
        *last_shift(larger) += 1;
    }
    layer
}

fn last_shift(product: &mut Product) -> &mut u8 {
    match product {
        Product::Full { s1, .. } | Product::Low { s1, .. } | Product::Diagonal { s1, .. } => s1,
        Product::Absent => unreachable!("an absent matrix has no shift"),
    }
}

/// Shifts with which m fits 16 bits, and sums are at most 4 (and a GRU's v fits 16 bits).
fn tame(layer: &mut Layer) {
    let f_a = layer.f_a;
    for product in [&mut layer.w, &mut layer.u] {
        if let Product::Low { a2, s2, .. } = product {
            *s2 = 7 + bits(a2.rows);
        }
        if matches!(product, Product::Absent) {
            continue;
        }
        let entries = product.last().0;
        *last_shift(product) = 22 + bits(entries) - (f_a + 2);
    }
    layer.s_b = 0;
    let limit = 1 << f_a;
    layer.biases.iter_mut().flatten().for_each(|b| *b = (*b).clamp(-limit, limit));
}

/// The least b with `entries` ≤ 2^b.
fn bits(entries: usize) -> u8 {
    entries.next_power_of_two().trailing_zeros() as u8
}
