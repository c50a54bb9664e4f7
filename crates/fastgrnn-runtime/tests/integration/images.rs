//! Images that a reader must refuse, and what happens with those it does not.

use fastgrnn_runtime::int::Model;
use fastgrnn_testing::oracle::compare::agree_on;
use fastgrnn_testing::oracle::image::{Forms, crc16, reseal, seal, smallest, write};
use fastgrnn_testing::oracle::network::{Cell, Curve, Matrix, Network, Product};
use fastgrnn_testing::oracle::random::{CELLS, Case, Manner, case, extended, the_same, windowed};
use fastgrnn_testing::oracle::reader::read;
use fastgrnn_testing::oracle::rules::acceptable;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell as Count;

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

fn any_case() -> impl Strategy<Value = Case> {
    (CELLS, select(vec![Manner::Wild, Manner::Tame])).prop_flat_map(|(code, manner)| {
        prop_oneof![
            2 => case(code, manner).boxed(),
            1 => extended(case(code, manner)).boxed(),
            1 => windowed(extended(case(code, manner))).boxed(),
        ]
    })
}

/// Both readers refuse the image, or accept it and compute the same. Whether they accepted.
fn readers_agree(image: &[u8], counts: i16) -> bool {
    let (found, expected) = (Model::<3>::read(image), read(image, 3));
    assert_eq!(found.is_ok(), expected.is_some(), "{:?}", found.err());
    let Some(network) = expected else { return false };
    let inputs = vec![vec![counts; network.counts()]; 3];
    agree_on(image, &Case { network, forms: Forms::Smallest, inputs });
    true
}

#[test]
fn the_check_sum_is_the_one_with_a_known_check_value() {
    assert_eq!(crc16(b"123456789"), 0x29B1);
}

#[test]
fn what_one_reader_accepts_the_other_reads_as_it_was_written() {
    runner(300)
        .run(&any_case(), |case| {
            let image = write(&case.network, &case.forms);
            let network = read(&image, 3).expect("the image keeps all rules");
            prop_assert_eq!(format!("{:?}", network.layers), format!("{:?}", case.network.layers));
            prop_assert_eq!(&write(&network, &case.forms), &image);
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_truncation_and_every_extension_is_refused() {
    runner(60)
        .run(&any_case(), |case| {
            let image = write(&case.network, &case.forms);
            for length in 0..image.len() {
                prop_assert!(Model::<3>::read(&image[..length]).is_err(), "{} of {}", length, image.len());
                let mut shorter = image[..length].to_vec();
                if length >= 10 {
                    seal(&mut shorter);
                    prop_assert!(
                        Model::<3>::read(&shorter).is_err(),
                        "sealed, {} of {}",
                        length,
                        image.len()
                    );
                }
            }
            let mut longer = [image.as_slice(), &[0]].concat();
            prop_assert!(Model::<3>::read(&longer).is_err());
            seal(&mut longer);
            prop_assert!(Model::<3>::read(&longer).is_err());
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_change_of_one_byte_is_refused() {
    for (code, version) in CELLS.flat_map(|code| [(code, 1), (code, 3)]) {
        let mut case = sample(code);
        if version == 3 {
            case = the_same(extended(Just(case)));
        }
        let image = write(&case.network, &Forms::InTurn(vec![3, 0, 1, 2]));
        assert!(Model::<3>::read(&image).is_ok());
        let mut changed = image.clone();
        for place in 0..image.len() {
            for change in 1..=255 {
                changed[place] ^= change;
                assert!(Model::<3>::read(&changed).is_err(), "byte {place} changed by {change:#x}");
                changed[place] = image[place];
            }
        }
    }
}

/// A small network of one layer, the same on every run.
fn sample(code: u8) -> Case {
    let network = the_same(fastgrnn_testing::oracle::random::network(vec![code], vec![2, 3], Manner::Tame));
    Case { network, forms: Forms::Smallest, inputs: vec![vec![100, -100]; 3] }
}

#[test]
fn a_resealed_image_with_changed_bytes_is_refused_by_both_readers_or_computes_the_same() {
    let byte = prop_oneof![any::<u8>(), select(vec![0, 1, 2, 13, 14, 15, 16, 29, 30, 31, 127, 128, 255])];
    // Half of the places lie where the header and the first layer's fields are.
    let change = (any::<Index>(), any::<bool>(), byte);
    let changes = vec(change, 1..4);
    let accepted = Count::new(0);
    let cases = 4000;
    runner(cases)
        .run(&(any_case(), changes, select(vec![i16::MIN, -1, 0, i16::MAX])), |(case, changes, counts)| {
            let mut image = write(&case.network, &case.forms);
            let fields = (17 + 4 * case.network.width() + 18).min(image.len());
            for (place, front, byte) in changes {
                let place = place.index(if front { fields } else { image.len() });
                image[place] = byte;
            }
            reseal(&mut image);
            accepted.set(accepted.get() + u32::from(readers_agree(&image, counts)));
            Ok(())
        })
        .unwrap();
    assert!((cases / 10..cases * 9 / 10).contains(&accepted.get()), "{} accepted", accepted.get());
}

#[test]
fn a_resealed_image_with_bytes_moved_is_refused_by_both_readers_or_computes_the_same() {
    let piece = (any::<Index>(), any::<Index>(), vec(any::<u8>(), 0..6));
    runner(1000)
        .run(&(any_case(), piece), |(case, (from, to, inserted))| {
            let mut image = write(&case.network, &case.forms);
            let from = 10 + from.index(image.len() - 10);
            let to = from + to.index((image.len() - from).min(6) + 1);
            image.splice(from..to, inserted);
            seal(&mut image);
            readers_agree(&image, 1000);
            Ok(())
        })
        .unwrap();
}

#[test]
fn arbitrary_bytes_behind_a_good_header_never_panic() {
    runner(2000)
        .run(&(vec(any::<u8>(), 0..200), 0..6_u8, 1..=3_u8), |(bytes, layers, version)| {
            let mut image = [b"FG".as_slice(), &[version, layers, 0, 0, 0, 0, 0, 0], &bytes].concat();
            seal(&mut image);
            readers_agree(&image, 1);
            prop_assert!(Model::<3>::read(&bytes).is_err());
            Ok(())
        })
        .unwrap();
}

#[test]
fn numbers_beyond_their_ranges_are_refused_and_the_last_ones_within_accepted() {
    let value = prop_oneof![0..=40_u16, 16380..=16390_u16, 32765..=32771_u16, any::<u16>()];
    let (accepted, refused) = (Count::new(0), Count::new(0));
    runner(4000)
        .run(&(any_case(), 0..25_usize, value), |(mut case, field, value)| {
            set(&mut case.network, field, value);
            let image = write(&case.network, &case.forms);
            let acceptable = acceptable(&case.network);
            let found = Model::<3>::read(&image);
            prop_assert_eq!(found.is_ok(), acceptable, "field {} is {}: {:?}", field, value, found.err());
            if acceptable {
                agree_on(&image, &case);
            }
            let count = if acceptable { &accepted } else { &refused };
            count.set(count.get() + 1);
            Ok(())
        })
        .unwrap();
    assert!(accepted.get() > 500 && refused.get() > 500, "{accepted:?} accepted, {refused:?} refused");
}

/// Sets a number of the network, by a number of its own.
fn set(network: &mut Network, field: usize, value: u16) {
    let byte = value as u8;
    let Network { layers, head, .. } = network;
    let layer = layers.last_mut().expect("a network has a layer");
    match field {
        0 => network.s_x = byte,
        // A network that reads tokens has neither.
        1 | 2 if network.vectors.is_some() => {}
        1 => network.s_n = byte,
        2 => network.factors[0] = value,
        3 => network.meaning = byte % 6,
        4 => layer.f_a = byte,
        5 => layer.f_h = byte,
        6 => layer.s_b = byte,
        7..10 => first_shift(if field == 7 { &mut layer.w } else { &mut layer.u }, byte),
        10..13 => last_shift(if field == 10 { &mut layer.w } else { &mut layer.u }, byte),
        13 => head.s_o = byte,
        14 => head.f_s = byte as i8,
        15 => network.table[usize::from(value) % 65] = value,
        16 => layer.update = Curve::ALL[usize::from(byte) % 7],
        20 => layer.m_w.iter_mut().for_each(|m| *m = value),
        21 => layer.m_u.iter_mut().for_each(|m| *m = value),
        // What the first layer reads must stay as wide, or nothing behind it can be read.
        23 if network.frames > 1 => network.stride = byte,
        24 if network.vectors.is_some() => (network.frames, network.stride) = (1, byte),
        23 | 24 => {}
        22 => head.m.iter_mut().for_each(|m| *m = value),
        _ => set_cell(&mut layer.cell, field, value),
    }
}

fn set_cell(cell: &mut Cell, field: usize, value: u16) {
    let curve = Curve::ALL[usize::from(value) % 7];
    match cell {
        Cell::Rnn => {}
        Cell::FastRnn { alpha, beta } => *if field == 17 { alpha } else { beta } = value,
        Cell::FastRnnVector { alpha, zeta, nu } => *[&mut alpha[0], zeta, nu][field - 17] = value,
        Cell::FastGrnn { gate, .. } | Cell::FastGrnnGain { gate, .. } if field == 17 => *gate = curve,
        Cell::FastGrnn { zeta, nu, .. } | Cell::FastGrnnGain { zeta, nu, .. } => {
            *if field == 18 { zeta } else { nu } = value;
        }
        Cell::Lstm { f_c, .. } if field == 18 => *f_c = value as u8,
        Cell::Ugrnn { gate } | Cell::Gru { gate } | Cell::MinGru { gate } => *gate = curve,
        Cell::Lstm { gate, .. } => *gate = curve,
    }
}

fn first_shift(product: &mut Product, shift: u8) {
    if let Product::Low { s2, .. } = product {
        *s2 = shift;
    }
}

fn last_shift(product: &mut Product, shift: u8) {
    match product {
        Product::Full { s1, .. } | Product::Low { s1, .. } | Product::Diagonal { s1, .. } => *s1 = shift,
        Product::Absent => {}
    }
}

#[test]
fn the_smallest_form_is_the_smallest_and_the_first_of_equals() {
    let matrix = |rows, columns, full: usize| {
        let entries = (0..rows * columns).map(|i| i8::from(i < full)).collect();
        Matrix { rows, columns, entries }
    };
    // 2 × 8: 16 bytes whole; 2 + 2n by rows; 8 + 2n by columns; 2 + n with a bitmap.
    assert_eq!(smallest(&matrix(2, 8, 0)), 1);
    assert_eq!(smallest(&matrix(2, 8, 1)), 3);
    assert_eq!(smallest(&matrix(2, 8, 13)), 3);
    assert_eq!(smallest(&matrix(2, 8, 14)), 0);
    assert_eq!(smallest(&matrix(40, 1, 1)), 2);
}

/// What follows the fields of the first layer of [`sample`]: W's form.
const W_FORM_AT: usize = 17 + 4 * 2 + 18;

#[test]
fn matrices_are_diagonal_or_absent_only_where_the_page_allows_it() {
    let network = |sizes: [usize; 2]| {
        let mut network =
            the_same(fastgrnn_testing::oracle::random::network(vec![0], sizes.to_vec(), Manner::Tame));
        let full = |columns: usize| Matrix { rows: 3, columns, entries: vec![1; 3 * columns] };
        network.layers[0].w = Product::Full { a: full(sizes[0]), s1: 9 };
        network.layers[0].u = Product::Full { a: full(3), s1: 9 };
        network
    };
    let accepted = |network: &Network| {
        let image = write(network, &Forms::Smallest);
        assert_eq!(read(&image, 3).is_some(), Model::<3>::read(&image).is_ok());
        Model::<3>::read(&image).is_ok()
    };
    let diagonal = || Product::Diagonal { a: vec![-128, 0, 127], s1: 7 };
    for (inputs, expected) in [(2, false), (3, true)] {
        let mut own = network([inputs, 3]);
        assert!(accepted(&own));
        own.layers[0].w = diagonal();
        assert_eq!(accepted(&own), expected, "a diagonal W of {inputs} inputs");
        own.layers[0].w = Product::Absent;
        assert!(!accepted(&own), "no W");
    }
    let mut own = network([2, 3]);
    own.layers[0].u = diagonal();
    assert!(accepted(&own));
    own.layers[0].u = Product::Absent;
    assert!(accepted(&own));
    // The shift of a U that is not there.
    let mut image = write(&own, &Forms::Smallest);
    image[W_FORM_AT - 1] = 1;
    reseal(&mut image);
    assert!(Model::<3>::read(&image).is_err() && read(&image, 3).is_none());
    // Codes that mean nothing, and a head that claims to be a diagonal or absent.
    let image = write(&network([2, 3]), &Forms::InTurn(vec![0]));
    let head_at = W_FORM_AT + (1 + 6) + (1 + 9) + 6;
    for (place, codes) in [(W_FORM_AT, vec![6, 7, 255]), (head_at, vec![4, 5])] {
        for code in codes {
            let mut changed = image.clone();
            assert_eq!(changed[place], 0);
            changed[place] = code;
            reseal(&mut changed);
            assert!(Model::<3>::read(&changed).is_err() && read(&changed, 3).is_none(), "{code} at {place}");
        }
    }
}

/// A network of one RNN of 3 units with entries of 4 bits, two inputs and two outputs.
fn of_4_bits() -> Network {
    let mut network = the_same(fastgrnn_testing::oracle::random::network(vec![0], vec![2, 3], Manner::Tame));
    let full = |columns: usize| Matrix { rows: 3, columns, entries: vec![-16; 3 * columns] };
    let layer = &mut network.layers[0];
    layer.w = Product::Full { a: full(2), s1: 9 };
    layer.u = Product::Low { a1: full(2), a2: full(2), s1: 9, s2: 9 };
    (layer.m_w, layer.m_u) = (Some(20_000), Some(16_384));
    network
}

#[test]
fn entries_of_4_bits_lie_where_the_page_says() {
    let image = write(&of_4_bits(), &Forms::InTurn(vec![0]));
    let w_at = W_FORM_AT + 3 + 5;
    assert_eq!(image[w_at..w_at + 5], [6, 0xFF, 0xFF, 0x0F, 0x0F]);
    assert!(Model::<3>::read(&image).is_ok());
    let refused = |place: usize, byte: u8, what: &str| {
        let mut changed = image.clone();
        assert_ne!(changed[place], byte);
        changed[place] = byte;
        reseal(&mut changed);
        let found = Model::<3>::read(&changed);
        assert!(read(&changed, 3).is_none() && found.is_err(), "{what}");
        found.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let error = refused(w_at + 3, 0x1F, "an entry of a fourth row");
    assert!(error.contains("odd number of rows"), "{error}");
    let error = refused(w_at - 4, 0x3F, "a multiplier below a half");
    assert!(error.contains("is not between 16384 and 32767"), "{error}");
    let error = refused(w_at - 1, 3, "biases of three bytes");
    assert!(error.contains("bytes of a bias: 3"), "{error}");
    // A matrix whose entries have 8 bits: its multiplier.
    let mut plain = of_4_bits();
    plain.layers[0].m_u = None;
    let mut image = write(&plain, &Forms::InTurn(vec![0]));
    assert!(Model::<3>::read(&image).is_ok());
    image[w_at - 3..w_at - 1].copy_from_slice(&20_000_u16.to_le_bytes());
    reseal(&mut image);
    let error = Model::<3>::read(&image).expect_err("a multiplier without entries of 4 bits").to_string();
    assert!(read(&image, 3).is_none() && error.contains("without entries of 4 bits"), "{error}");
}

#[test]
fn factors_have_the_same_number_of_bits() {
    let network = of_4_bits();
    let image = write(&network, &Forms::InTurn(vec![0]));
    // U1 and U2 are the same matrix of 3 rows and 2 columns: in 8 bits it takes 6 bytes more than 2 pairs of rows.
    let u_at = W_FORM_AT + 3 + 5 + 5;
    for at in [u_at, u_at + 5] {
        let mut changed = image.clone();
        changed.splice(at..at + 5, [0, 1, 2, 3, 4, 5, 6]);
        seal(&mut changed);
        let error = Model::<3>::read(&changed).expect_err("factors of 4 and of 8 bits").to_string();
        assert!(read(&changed, 3).is_none() && error.contains("form of this factor"), "{error}");
    }
}

#[test]
fn more_layers_than_a_reader_holds_are_refused() {
    let network = the_same(fastgrnn_testing::oracle::random::network(vec![0; 4], vec![1; 5], Manner::Tame));
    let image = write(&network, &Forms::Smallest);
    assert!(Model::<3>::read(&image).is_err());
    assert!(Model::<4>::read(&image).is_ok());
}
