//! The PyTorch side of the benchmark answers, compiled loops included.
//!
//! `FASTGRNN_PYTHON=… cargo test -p fastgrnn-bench -- --ignored`, with a Python that imports torch.

use fastgrnn_bench::{BenchOptions, RankName, SHAPES, Shape, ShapeKind};
use std::time::Duration;

#[test]
#[ignore = "needs a Python that imports torch, and some minutes for torch.compile"]
fn a_small_shape_is_measured_against_every_variant_of_torch() {
    let shape = Shape {
        name: "small",
        steps: 7,
        input: 2,
        hidden: 8,
        rank_w: 1,
        rank_u: 3,
        classes: 3,
        batch: 5,
        ..SHAPES[0]
    };
    let words = Shape { name: "words", input: 8, classes: 40, kind: ShapeKind::LanguageModel, ..shape };
    let options = BenchOptions {
        against_torch: true,
        python: std::env::var_os("FASTGRNN_PYTHON").map(Into::into),
        shapes: vec![shape, words],
        block: Duration::from_millis(50),
        blocks: 2,
        budget: Duration::from_secs(1500),
        ..BenchOptions::default()
    };
    let report = fastgrnn_bench::train(&options, &mut |line| eprintln!("{line}")).unwrap();
    eprintln!("{report}");
    assert!(report.torch_version.is_some());
    assert_eq!(report.rows.len(), 8);
    for row in &report.rows {
        let torch = row.torch.as_ref().unwrap();
        // Low rank in three modes factored and in four merged; of words, three kinds of softmax, and all of it
        // compiled.
        let is_low = row.rank == RankName::Low && row.shape == "small";
        assert_eq!(torch.len(), if is_low { 7 } else { 4 });
        let fastest = torch.iter().map(|time| time.ms.unwrap()).reduce(f64::min).unwrap();
        assert!(fastest > 0.0, "{row:?}");
        assert_eq!(row.ratio_vs_fastest_torch, Some(fastest / row.ms));
    }
}
