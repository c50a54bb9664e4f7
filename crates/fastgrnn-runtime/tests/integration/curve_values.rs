//! Nonlinearities and e^(−D): the runtime over their ranges, and how far both are from the truth.

use fastgrnn_testing::oracle::compare::agree;
use fastgrnn_testing::oracle::curves::value;
use fastgrnn_testing::oracle::image::Forms;
use fastgrnn_testing::oracle::network::{Cell, Curve, Head, Layer, Matrix, Network, Product, true_table};
use fastgrnn_testing::oracle::random::Case;
use fastgrnn_testing::oracle::score::e;

/// An RNN of one unit whose sum before the nonlinearity is `weight` times the count.
fn of_one_unit(update: Curve, f_a: u8, weight: i8) -> Network {
    let product =
        |entry: i8| Product::Full { a: Matrix { rows: 1, columns: 1, entries: vec![entry] }, s1: 0 };
    let layer = Layer {
        cell: Cell::Rnn,
        update,
        hidden: 1,
        f_a,
        f_h: update.fraction_bits().min(14),
        s_b: 0,
        w: product(weight),
        u: product(0),
        m_w: None,
        m_u: None,
        byte_biases: false,
        biases: vec![vec![0]],
        start: None,
    };
    let a = Matrix { rows: 1, columns: 1, entries: vec![1] };
    let head = Head { a, m: None, byte_biases: false, s_o: 0, f_s: 14, biases: vec![0] };
    Network {
        vectors: None,
        offsets: vec![0],
        factors: vec![1],
        s_x: 0,
        s_n: 0,
        frames: 1,
        stride: 1,
        layers: vec![layer],
        head,
        meaning: 1,
        table: true_table(),
    }
}

#[test]
fn every_curve_equals_the_oracle_over_its_whole_range() {
    for update in Curve::ALL {
        let most = if update == Curve::QuantSigm4 { 13 } else { 14 };
        for f_a in 4..=most {
            // Finely about 0, then beyond 16, where the last of them end.
            for (weight, step) in [(1, 5), (127, 17)] {
                let inputs = (i16::MIN..=i16::MAX).step_by(step).map(|count| vec![count]).collect();
                agree(&Case { network: of_one_unit(update, f_a, weight), forms: Forms::Smallest, inputs });
            }
        }
    }
}

/// The largest distance of a curve's value from `truth`, over all arguments up to 20 in size.
fn worst(curve: Curve, f_a: u8, truth: impl Fn(f64) -> f64) -> f64 {
    let table = true_table();
    let unit = f64::from(1 << f_a);
    let error = |t: i64| (value(curve, t, f_a, &table).0 as f64 / 32768.0 - truth(t as f64 / unit)).abs();
    (-(20 << f_a)..=20 << f_a).map(error).fold(0.0, f64::max)
}

#[test]
fn the_table_is_within_4e_4_of_sigmoid_and_tanh() {
    for f_a in 4..=14 {
        let sigmoid = worst(Curve::Sigmoid, f_a, |x| 1.0 / (1.0 + (-x).exp()));
        let tanh = worst(Curve::Tanh, f_a, f64::tanh);
        assert!(sigmoid <= 4e-4 && tanh <= 4e-4, "F_a = {f_a}: sigmoid {sigmoid:e}, tanh {tanh:e}");
    }
}

#[test]
fn piecewise_linear_curves_are_exact_on_their_grid() {
    for f_a in 4..=13 {
        assert_eq!(worst(Curve::QuantTanh, f_a, |x| x.clamp(-1.0, 1.0)), 0.0);
        assert_eq!(worst(Curve::QuantSigm, f_a, |x| ((x + 1.0) / 2.0).clamp(0.0, 1.0)), 0.0);
        assert_eq!(worst(Curve::QuantSigm4, f_a, |x| ((x + 2.0) / 4.0).clamp(0.0, 1.0)), 0.0);
    }
}

#[test]
fn the_identity_is_exact_between_minus_16_and_16_and_saturates_beyond() {
    let table = true_table();
    for f_a in 4..=11_u8 {
        let unit = 1_i64 << f_a;
        for t in -20 * unit..=20 * unit {
            let exact = t * (1 << (11 - f_a));
            let expected = (exact.clamp(-32768, 32767), !(-32768..=32767).contains(&exact));
            assert_eq!(value(Curve::Identity, t, f_a, &table), expected, "{t} with F_a = {f_a}");
        }
        assert_eq!(value(Curve::Identity, -(1 << 29), f_a, &table), (-32768, true));
        assert_eq!(value(Curve::Identity, 1 << 29, f_a, &table), (32767, true));
    }
}

#[test]
fn e_of_a_difference_is_within_three_thousandths_and_never_rises() {
    for f_s in -8..=34_i8 {
        let mut last = 32768;
        // Up to 17 in size: beyond, both are 0 to the fourth digit.
        let most = 17.0 * f64::from(f_s).exp2();
        let step = (most / 100_000.0).ceil().max(1.0) as usize;
        for difference in (0..=most.min(f64::from(u32::MAX)) as u64).step_by(step) {
            let found = e(difference, f_s);
            let truth = (-(difference as f64) / f64::from(f_s).exp2()).exp();
            assert!((found as f64 / 32768.0 - truth).abs() <= 0.003, "E({difference}) with F_s = {f_s}");
            assert!(found <= last, "E rises at {difference} with F_s = {f_s}");
            last = found;
        }
    }
}
