//! The largest sums, products and shifts that a reader accepts, where a step has least room.

use fastgrnn_runtime::int::{ImageError, Model};
use fastgrnn_testing::oracle::compare::agree;
use fastgrnn_testing::oracle::image::{Forms, write};
use fastgrnn_testing::oracle::network::{
    Cell, Curve, Head, Layer, Matrix, Network, Product, bias_vectors, blocks, state_vectors, true_table,
};
use fastgrnn_testing::oracle::random::{CELLS, Case};
use fastgrnn_testing::oracle::rules::{acceptable, most_f_c, most_f_h, shift_fits, sums_fit};

/// Every scalar at its top and as the page's argument fears it most.
fn cells(code: u8, hidden: usize, update: Curve, f_a: u8) -> Vec<Cell> {
    let gates =
        Curve::ALL.into_iter().filter(|gate| gate.is_bounded() && (f_a < 14 || *gate != Curve::QuantSigm4));
    let positive = gates.clone().filter(|gate| !gate.may_be_negative());
    match code {
        0 => vec![Cell::Rnn],
        1 => vec![Cell::FastRnn { alpha: 32768, beta: 32768 }],
        2 => [0, 32768]
            .map(|alpha| Cell::FastRnnVector { alpha: vec![alpha; hidden], zeta: 16384, nu: 16384 })
            .to_vec(),
        3 => gates.map(|gate| Cell::FastGrnn { gate, zeta: 16384, nu: 16384 }).collect(),
        4 => positive.map(|gate| Cell::Ugrnn { gate }).collect(),
        5 => positive.map(|gate| Cell::Gru { gate }).collect(),
        8 => {
            let of_gate = |gate| {
                [-128, 127].map(|gain| {
                    let gamma = vec![gain; hidden];
                    Cell::FastGrnnGain { gate, gamma, zeta: 16384, nu: 16384 }
                })
            };
            gates.flat_map(of_gate).collect()
        }
        7 => positive.map(|gate| Cell::MinGru { gate }).collect(),
        6 => gates.map(|gate| Cell::Lstm { gate, f_c: most_f_c(update, f_a) }).collect(),
        _ => panic!("the cell with code {code} has no arm here"),
    }
}

fn constant(rows: usize, columns: usize, entry: i8) -> Matrix {
    Matrix { rows, columns, entries: vec![entry; rows * columns] }
}

/// W and U with all entries equal and the least shifts, or the largest, that rules 1 and 2 allow.
fn products(
    rows: usize,
    inputs: usize,
    hidden: usize,
    entries: (i8, i8),
    least: bool,
    s_b: u8,
) -> (Product, Product) {
    let shifts = (0..=30_u8).flat_map(|s_w| (0..=30_u8).map(move |s_u| (s_w, s_u)));
    let fitting = shifts.filter(|(s_w, s_u)| {
        let single = shift_fits(inputs, *s_w) && shift_fits(hidden, *s_u);
        single && sums_fit((inputs, *s_w), (hidden, *s_u), 15 + s_b)
    });
    let sum = |(s_w, s_u): &(u8, u8)| s_w + s_u;
    let (s_w, s_u) = if least { fitting.min_by_key(sum) } else { fitting.max_by_key(sum) }.expect("some fit");
    (
        Product::Full { a: constant(rows, inputs, entries.0), s1: s_w },
        Product::Full { a: constant(rows, hidden, entries.1), s1: s_u },
    )
}

struct Corner {
    inputs: usize,
    hidden: usize,
    entries: (i8, i8),
    least: bool,
    number: i16,
    s_b: u8,
}

fn network(corner: &Corner, cell: Cell, update: Curve, f_a: u8) -> Network {
    let Corner { inputs, hidden, entries, least, number, s_b } = *corner;
    let code = cell.code();
    let (w, mut u) = products(blocks(code) * hidden, inputs, hidden, entries, least, s_b);
    if code == 7 {
        u = Product::Absent;
    }
    let f_h = most_f_h(&cell, update);
    let biases = vec![vec![number; hidden]; bias_vectors(code)];
    let start = Some(vec![number; state_vectors(code) * hidden]);
    let (m_w, m_u, byte_biases) = (None, None, false);
    let layer = Layer { cell, update, hidden, f_a, f_h, s_b, w, u, m_w, m_u, byte_biases, biases, start };
    let a = constant(1, hidden, entries.0);
    let head = Head { a, m: None, byte_biases, s_o: 14, f_s: -8, biases: vec![number] };
    Network {
        vectors: None,
        offsets: vec![0; inputs],
        factors: vec![16383; inputs],
        s_x: 0,
        s_n: 14,
        frames: 1,
        stride: 1,
        layers: vec![layer],
        head,
        meaning: 1,
        table: true_table(),
    }
}

fn run(corner: &Corner, code: u8, update: Curve, f_a: u8) -> usize {
    let cells = cells(code, corner.hidden, update, f_a);
    for cell in &cells {
        let network = network(corner, cell.clone(), update, f_a);
        assert!(acceptable(&network));
        let inputs = [i16::MIN, i16::MAX].map(|count| vec![count; corner.inputs]).to_vec();
        agree(&Case { network, forms: Forms::Smallest, inputs });
    }
    cells.len()
}

#[test]
fn the_largest_numbers_stay_in_32_bits_in_every_cell_and_equal_the_oracle() {
    let mut runs = 0;
    for (inputs, hidden) in [(1, 1), (509, 2), (128, 127)] {
        for entries in [(-128, -128), (127, 127), (-128, 127)] {
            for (least, number, s_b) in [(true, i16::MIN, 0), (true, i16::MAX, 14), (false, i16::MIN, 14)] {
                let corner = Corner { inputs, hidden, entries, least, number, s_b };
                for code in CELLS.filter(|code| hidden < 100 || *code == 3) {
                    for update in Curve::ALL {
                        let f_as = if hidden < 100 { vec![4, 13, 14] } else { vec![13] };
                        let f_as = f_as.into_iter().filter(|f_a| *f_a < 14 || update != Curve::QuantSigm4);
                        runs += f_as.map(|f_a| run(&corner, code, update, f_a)).sum::<usize>();
                    }
                }
            }
        }
    }
    assert!(runs > 3000, "{runs} runs");
}

#[test]
fn the_largest_numbers_of_4_bits_stay_in_32_bits_in_every_cell_and_equal_the_oracle() {
    for (inputs, hidden) in [(1, 1), (509, 2), (128, 127)] {
        for (entries, number) in [((-128, -128), -128), ((112, 112), 127), ((-128, 112), -128)] {
            let corner = Corner { inputs, hidden, entries, least: true, number, s_b: 0 };
            for (code, m) in CELLS.flat_map(|code| [0, 16_384, 32_767].map(|m| (code, m))) {
                for cell in cells(code, hidden, Curve::Identity, 13).into_iter().take(2) {
                    let mut network = network(&corner, cell, Curve::Identity, 13);
                    let Network { layers, head, .. } = &mut network;
                    (layers[0].m_w, head.m) = (Some(m), Some(m));
                    layers[0].m_u = (code != 7).then_some(m);
                    (layers[0].byte_biases, head.byte_biases, head.s_o) = (true, true, 22);
                    assert!(acceptable(&network));
                    let inputs = [i16::MIN, i16::MAX].map(|count| vec![count; inputs]).to_vec();
                    agree(&Case { network, forms: Forms::Smallest, inputs });
                }
            }
        }
    }
}

#[test]
fn sums_and_heads_are_refused_from_the_first_size_that_could_overflow() {
    let read = |network: &Network| {
        let image = write(network, &Forms::InTurn(vec![0]));
        Model::<3>::read(&image).map(|model| model.inputs())
    };
    let corner = |inputs| Corner { inputs, hidden: 1, entries: (1, 1), least: true, number: 0, s_b: 0 };
    let fitting = |inputs| network(&corner(inputs), Cell::Rnn, Curve::QuantTanh, 10);
    assert_eq!(read(&fitting(510)), Ok(510));
    // One feature more, everything else as it was.
    let mut wider = fitting(510);
    wider.offsets.push(0);
    wider.factors.push(1);
    if let Product::Full { a, .. } = &mut wider.layers[0].w {
        *a = constant(1, 511, 1);
    }
    assert!(matches!(read(&wider), Err(ImageError::Overflow { .. })));

    // 255 entries of U and 255 of a rank-1 W2: the shifts of 30 fit 255 entries and not 256.
    let shifted = |inputs: usize| {
        let mut network = fitting(1);
        network.offsets = vec![0; inputs];
        network.factors = vec![1; inputs];
        network.layers[0].w =
            Product::Low { a1: constant(1, 1, 1), a2: constant(inputs, 1, 1), s2: 30, s1: 0 };
        network
    };
    assert_eq!(read(&shifted(255)), Ok(255));
    assert!(matches!(read(&shifted(256)), Err(ImageError::Overflow { .. })));

    // With biases of 2^29 the head holds 383 entries.
    let head = |hidden: usize| {
        let corner = Corner { inputs: 1, hidden, entries: (-128, 0), least: true, number: i16::MAX, s_b: 0 };
        network(&corner, Cell::Rnn, Curve::Relu, 10)
    };
    let inputs = vec![vec![i16::MIN]; 2];
    agree(&Case { network: head(383), forms: Forms::Smallest, inputs });
    assert!(matches!(read(&head(384)), Err(ImageError::Overflow { .. })));
}

#[test]
fn lists_hold_255_entries_of_256_places_in_every_form() {
    for places in [255, 256, 257] {
        for entries in [254, 255, 256] {
            for form in 0..4 {
                let corner =
                    Corner { inputs: places, hidden: 2, entries: (0, 1), least: true, number: 9, s_b: 0 };
                let mut network = network(&corner, Cell::Rnn, Curve::QuantTanh, 10);
                network.s_x = 16;
                if let Product::Full { a, .. } = &mut network.layers[0].w {
                    // The first row from its beginning, the last from its end.
                    (0..entries.min(places)).for_each(|i| a.entries[i] = (i % 100 + 1) as i8);
                    (0..entries.min(places))
                        .for_each(|i| a.entries[2 * places - 1 - i] = -((i % 90) as i8) - 1);
                }
                let inputs = vec![(0..places as i16).map(|i| i * 100 - 7777).collect(); 2];
                agree(&Case { network, forms: Forms::InTurn(vec![form]), inputs });
            }
        }
    }
}
