//! The integer runtime computes, bit for bit, what `docs/integer-arithmetic.md` says: it equals a
//! second implementation of that page on random networks of every cell.

use fastgrnn_testing::oracle::compare::agree;
use fastgrnn_testing::oracle::random::{Case, Manner, case, extended, windowed};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};

/// Networks of each cell and manner.
const CASES: u32 = 400;

/// Compares random networks whose first layer is the cell with this code.
#[track_caller]
fn equals_the_oracle(code: u8) {
    for manner in [Manner::Wild, Manner::Tame] {
        agree_on_all(case(code, manner), manner);
        agree_on_all(extended(case(code, manner)), manner);
        agree_on_all(windowed(case(code, manner)), manner);
        agree_on_all(windowed(extended(case(code, manner))), manner);
    }
}

#[track_caller]
fn agree_on_all(cases: impl Strategy<Value = Case>, manner: Manner) {
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&cases, |case| {
        let cuts = agree(&case);
        assert!(manner == Manner::Wild || cuts.is_empty(), "a tame network saturated: {cuts:?}");
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{manner:?}: {failure}");
    }
}

#[test]
fn an_rnn_equals_the_oracle() {
    equals_the_oracle(0);
}

#[test]
fn a_fast_rnn_equals_the_oracle() {
    equals_the_oracle(1);
}

#[test]
fn a_fast_rnn_vector_equals_the_oracle() {
    equals_the_oracle(2);
}

#[test]
fn a_fast_grnn_equals_the_oracle() {
    equals_the_oracle(3);
}

#[test]
fn a_ugrnn_equals_the_oracle() {
    equals_the_oracle(4);
}

#[test]
fn a_gru_equals_the_oracle() {
    equals_the_oracle(5);
}

#[test]
fn an_lstm_equals_the_oracle() {
    equals_the_oracle(6);
}

#[test]
fn a_min_gru_equals_the_oracle() {
    equals_the_oracle(7);
}

#[test]
fn a_fast_grnn_with_gains_equals_the_oracle() {
    equals_the_oracle(8);
}
