//! The codes of device images, value by value: none of them may ever change.

use fastgrnn_runtime::cells::CELLS;
use fastgrnn_runtime::int::{Meaning, NO_GATE, Storage, VERSION};
use fastgrnn_runtime::{CellKind, Nonlinearity};

#[test]
fn cells_have_their_codes() {
    let codes: Vec<(&str, u8)> = CELLS.iter().filter_map(|d| Some((d.name, d.code?))).collect();
    let without: Vec<&str> = CELLS.iter().filter(|d| !d.has_integers()).map(|d| d.name).collect();
    assert_eq!(without, ["eurnn"]);
    let expected = [
        ("rnn", 0),
        ("fastrnn", 1),
        ("fastrnn-vector", 2),
        ("fastgrnn", 3),
        ("fastgrnn-gain", 8),
        ("ugrnn", 4),
        ("gru", 5),
        ("lstm", 6),
        ("mingru", 7),
    ];
    assert_eq!(codes, expected);
    for (name, code) in expected {
        assert_eq!(CellKind::from_code(code).map(CellKind::name), Some(name));
    }
    assert_eq!(CellKind::from_code(expected.len() as u8), None);
    assert_eq!(NO_GATE, 255);
}

#[test]
fn nonlinearities_have_their_codes() {
    let codes: Vec<(&str, u8)> = Nonlinearity::ALL.iter().map(|f| (f.name(), f.code())).collect();
    let expected = [
        ("tanh", 0),
        ("sigmoid", 1),
        ("relu", 2),
        ("quantTanh", 3),
        ("quantSigm", 4),
        ("quantSigm4", 5),
        ("identity", 6),
    ];
    assert_eq!(codes, expected);
    for (name, code) in expected {
        assert_eq!(Nonlinearity::from_code(code).map(Nonlinearity::name), Some(name));
    }
    assert_eq!(Nonlinearity::from_code(expected.len() as u8), None);
}

#[test]
fn matrix_storages_have_their_codes() {
    let codes: Vec<(&str, u8)> = Storage::ALL.iter().map(|s| (s.name(), s.code())).collect();
    let expected = [
        ("dense", 0),
        ("by-row", 1),
        ("by-column", 2),
        ("bitmap", 3),
        ("diagonal", 4),
        ("none", 5),
        ("4-bit", 6),
    ];
    assert_eq!(codes, expected);
}

#[test]
fn meanings_and_the_version_have_their_codes() {
    let codes: Vec<u8> = Meaning::ALL.iter().map(|m| m.code()).collect();
    assert_eq!(codes, [0, 1, 2, 3]);
    assert_eq!(Meaning::ALL, [Meaning::Classes, Meaning::Binary, Meaning::OneAgainstAll, Meaning::Values]);
    assert_eq!(VERSION, 1);
}
