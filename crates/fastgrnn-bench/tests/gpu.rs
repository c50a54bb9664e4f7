//! The benchmark on a GPU: our side runs on an emulator of CUDA's driver.

use fastgrnn_bench::{Basis, BenchError, GPU_SIZES, GpuCase, GpuOptions, SHAPES, Shape};
use fastgrnn_core::cells::CellKind;
use fastgrnn_testing::emulator;
use serde_json::Value;
use std::time::Duration;

/// A shape of few steps, sequences and units.
fn small() -> Shape {
    Shape { name: "small", steps: 3, input: 2, hidden: 8, classes: 3, batch: 2, ..SHAPES[0] }
}

fn options(cases: Vec<GpuCase>) -> GpuOptions {
    GpuOptions {
        library: Some(emulator::library().to_path_buf()),
        cases,
        block: Duration::from_micros(100),
        blocks: 2,
        ..GpuOptions::default()
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn one_network_and_several_are_measured() {
    if !emulator::is_available() {
        return;
    }
    let all = vec![CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm];
    let cases = vec![
        GpuCase { shape: small(), networks: 1, cells: all },
        GpuCase { shape: small(), networks: 2, cells: vec![CellKind::FastGrnn] },
    ];
    let mut said = Vec::new();
    let report =
        fastgrnn_bench::train_on_gpu(&options(cases), &mut |line| said.push(line.to_owned())).unwrap();
    assert_eq!(said, ["small: 1 x 2 sequences", "small: 2 x 2 sequences"]);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(keys(&json), ["device", "driver", "gpu", "rows", "torch"]);
    assert_eq!(json["device"], "cuda:0");
    assert!(json["torch"].is_null());
    let rows = json["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| (row["cell"].as_str().unwrap(), &row["networks"])).collect();
    let expected = [("fastgrnn", 1), ("gru", 1), ("lstm", 1), ("fastgrnn", 2)];
    assert_eq!(names.iter().map(|(cell, n)| (*cell, n.as_u64().unwrap())).collect::<Vec<_>>(), expected);
    for row in rows {
        let expected = [
            "batch",
            "cell",
            "networks",
            "peer",
            "peer_basis",
            "peer_us",
            "peers",
            "ratio",
            "shape",
            "us",
            "us_range",
            "why",
        ];
        assert_eq!(keys(row), expected);
        let number = |value: &Value| value.as_f64().unwrap();
        let (us, range) = (number(&row["us"]), row["us_range"].as_array().unwrap());
        assert!(number(&range[0]) > 0.0 && number(&range[0]) <= us && us <= number(&range[1]), "{row}");
        assert!(row["peers"].is_null() && row["ratio"].is_null() && row["why"].is_null());
        assert_eq!((&row["shape"], &row["batch"]), (&"small".into(), &2.into()));
    }
    let text = report.to_string();
    assert!(text.contains("small       lstm             1     2 "), "{text}");
}

#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    if !emulator::is_available() {
        return;
    }
    let error = |options: &GpuOptions| fastgrnn_bench::train_on_gpu(options, &mut |_| {}).unwrap_err();
    let other = error(&GpuOptions { device: 7, ..options(Vec::new()) });
    assert!(other.to_string().contains("there is no GPU 7"), "{other}");
    let none = error(&GpuOptions { library: Some("no-such-library.so".into()), ..options(Vec::new()) });
    assert!(none.to_string().contains("no-such-library.so"), "{none}");
}

#[test]
fn a_language_model_is_an_error() {
    if !emulator::is_available() {
        return;
    }
    let words = Shape::from_name("ptb").unwrap();
    let cases = GpuCase::usual(&[words], &GPU_SIZES);
    let error = fastgrnn_bench::train_on_gpu(&options(cases), &mut |_| {}).unwrap_err();
    assert!(matches!(error, BenchError::Cohort(_)), "{error}");
}

#[test]
#[cfg(unix)]
fn the_ratio_is_over_what_torch_says() {
    if !emulator::is_available() {
        return;
    }
    let shape = Shape { steps: 1, batch: 1, ..small() };
    let case = |networks| GpuCase { shape, networks, cells: vec![CellKind::FastGrnn] };
    let cases = vec![case(1), case(2), case(20)];
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-torch");
    let options = GpuOptions { against_torch: true, python: Some(python), ..options(cases) };
    let report = fastgrnn_bench::train_on_gpu(&options, &mut |_| {}).unwrap();
    assert_eq!(report.torch.as_ref().unwrap().cudnn, "9.0.0");
    let peer = |i: usize| {
        let row = &report.rows[i];
        let us = row.peer_us.unwrap();
        assert_eq!(row.ratio, Some(us / row.us.unwrap()));
        (row.peer.as_deref().unwrap(), us, row.peer_basis.unwrap())
    };
    assert_eq!(peer(0), ("cuDNN GRU", 4e9, Basis::Measured));
    assert_eq!(peer(1), ("cuDNN LSTM, 2 streams", 2e9, Basis::Measured));
    assert_eq!(peer(2), ("cuDNN GRU, 16 streams", 5e9, Basis::Scaled));
    let why = |i: usize| {
        let peers = report.rows[i].peers.iter().flatten();
        peers.filter_map(|peer| Some((peer.name.as_str(), peer.why.as_deref()?))).collect::<Vec<_>>()
    };
    let [no_compiler, no_memory] =
        ["no compiler", "out of memory"].map(|why| format!("PyTorch's side failed: RuntimeError: {why}"));
    assert_eq!(why(0), [("PyTorch FastGRNN", &*no_compiler)]);
    assert_eq!(why(1), []);
    assert_eq!(why(2), [("cuDNN LSTM, 16 streams", &*no_memory)]);
    let text = report.to_string();
    assert!(text.contains("small fastgrnn 1 x 1: without PyTorch FastGRNN: "), "{text}");
}

#[test]
#[cfg(unix)]
fn what_the_budget_leaves_no_time_for_is_missing() {
    if !emulator::is_available() {
        return;
    }
    let cases = vec![GpuCase { shape: small(), networks: 1, cells: vec![CellKind::FastGrnn] }];
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-torch");
    let budget = Duration::ZERO;
    let options = GpuOptions { against_torch: true, python: Some(python), budget, ..options(cases) };
    let report = fastgrnn_bench::train_on_gpu(&options, &mut |_| {}).unwrap();
    let row = &report.rows[0];
    assert!(row.us.is_some() && row.ratio.is_none());
    let peers = row.peers.as_ref().unwrap();
    assert_eq!(peers.len(), 3);
    assert!(peers.iter().all(|peer| peer.why.as_ref().unwrap().contains("--budget")), "{peers:?}");
}

#[test]
fn the_default_rows_are_those_of_the_documentation() {
    let cases = GpuOptions::default().cases;
    assert_eq!(cases.len(), 4 * GPU_SIZES.len());
    assert_eq!(cases.iter().map(|case| case.cells.len()).sum::<usize>(), 20);
}
