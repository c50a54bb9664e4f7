//! Integer models of any shape with random weights.

use fastgrnn_core::cells::{CELLS, Cell, CellKind, MatrixForm, Nonlinearity, WeightBits};
use fastgrnn_data::data::{self, Request};
use fastgrnn_model::quantize::kept_entries;
use fastgrnn_model::random::RandomModel;
use fastgrnn_model::settings::InputLayer;

#[test]
fn every_matrix_of_every_cell_has_exactly_the_entries_that_are_kept() {
    for declaration in CELLS.iter().filter(|cell| cell.has_integers()) {
        for (ranks, kept) in [(None, 0.25), (Some(3), 0.5), (Some(2), 0.07)] {
            let cell = Cell::new(declaration.kind, 5, 11).with_ranks(ranks, ranks);
            let shape = RandomModel { kept_w: kept, kept_u: 2.0 * kept, ..RandomModel::new(cell, 3, 20) };
            let model = RandomModel { layers: 2, kept_head: 0.5, seed: 4, ..shape }.build().unwrap();
            for layer in &model.network.layers {
                for (factors, kept) in [(&layer.w, kept), (&layer.u, 2.0 * kept)] {
                    for m in factors.matrices() {
                        assert_eq!(m.nonzero(), kept_entries(kept, m.entries.len()), "{}", layer.cell.kind);
                    }
                }
            }
            assert_eq!(model.network.head.nonzero(), kept_entries(0.5, 33));
        }
    }
}

#[test]
fn states_move_and_nothing_saturates() {
    for declaration in CELLS.iter().filter(|cell| cell.has_integers()) {
        for (gate, update) in
            [(Nonlinearity::QuantSigm, Nonlinearity::QuantTanh), (Nonlinearity::Sigmoid, Nonlinearity::Tanh)]
        {
            let cell = Cell::new(declaration.kind, 6, 24).with_ranks(None, Some(8));
            let mut shape = RandomModel { kept_u: 0.5, ..RandomModel::new(cell, 4, 60) };
            (shape.cell.gate, shape.cell.update) = (gate, update);
            let model = shape.build().unwrap();
            let expect = Some(model.model.expects());
            let request = Request { expect, ..Request::new("random:100") };
            let data = data::load(&request).unwrap();
            let (_, predictions, saturations) = model.evaluate(&data.train, 1).unwrap();
            let name = declaration.name;
            assert_eq!(saturations.total(), 0, "{name}");
            for class in 0..4 {
                let n = predictions.classes.iter().filter(|&&c| c == class).count();
                assert!(n >= 3, "{name}: class {class} was decided {n} times of 100");
            }
        }
    }
}

#[test]
fn a_diagonal_or_absent_u_gives_a_model_whose_classes_all_occur() {
    for kind in [CellKind::FastGrnn, CellKind::Gru] {
        for form_u in [MatrixForm::Diagonal, MatrixForm::Absent] {
            let cell = Cell::new(kind, 6, 24).with_forms(MatrixForm::Full, form_u);
            let model = RandomModel { layers: 2, ..RandomModel::new(cell, 4, 60) }.build().unwrap();
            let request = Request { expect: Some(model.model.expects()), ..Request::new("random:100") };
            let data = data::load(&request).unwrap();
            let (_, predictions, _) = model.evaluate(&data.train, 1).unwrap();
            for class in 0..4 {
                let n = predictions.classes.iter().filter(|&&c| c == class).count();
                assert!(n >= 3, "{kind} {form_u}: class {class} was decided {n} times of 100");
            }
        }
    }
}

#[test]
fn an_input_layer_reads_several_frames_whole() {
    let four = WeightBits::Four;
    let cell = Cell::new(CellKind::FastGrnnGain, 6, 24).with_ranks(Some(4), Some(8)).with_bits(four, four);
    let input_layer: InputLayer = "frames=3,stride=2,units=10".parse().unwrap();
    let shape = RandomModel { bits_head: four, ..RandomModel::new(cell, 4, 61) };
    let shape = RandomModel { input_layer: Some(input_layer), ..shape };
    let model = shape.build().unwrap();
    let widths: Vec<_> =
        model.network.layers.iter().map(|layer| (layer.cell.input, layer.cell.hidden)).collect();
    assert_eq!(widths, [(18, 10), (10, 24)]);
    assert_eq!(model.model.recipe.network.input_layer, Some(input_layer));
    let request = Request { expect: Some(model.model.expects()), ..Request::new("random:100") };
    let data = data::load(&request).unwrap();
    let (_, predictions, saturations) = model.evaluate(&data.train, 1).unwrap();
    assert_eq!(saturations.total(), 0);
    for class in 0..4 {
        let n = predictions.classes.iter().filter(|&&c| c == class).count();
        assert!(n >= 3, "class {class} was decided {n} times of 100");
    }
    let error = RandomModel { steps: 1, ..shape }.build().unwrap_err().to_string();
    assert!(error.contains("steps = 1: it must be between 2 and"), "{error}");
}

#[test]
fn the_seed_decides_everything() {
    let shape = RandomModel::new(Cell::new(CellKind::Gru, 2, 4), 2, 10);
    let bytes = |seed| RandomModel { seed, ..shape.clone() }.build().unwrap().to_bytes().unwrap();
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn shapes_that_cannot_be_are_named() {
    let cell = || Cell::new(CellKind::FastGrnn, 3, 8);
    let shape = |cell| RandomModel::new(cell, 2, 5);
    for (shape, part) in [
        (
            RandomModel { kept_u: 0.5, ..shape(cell().with_forms(MatrixForm::Full, MatrixForm::Diagonal)) },
            "keep-u = 0.5: the form of this matrix is diagonal, which is stored whole",
        ),
        (RandomModel { kept_u: 0.0, ..shape(cell()) }, "keep-u = 0: it must be the fraction to keep"),
        (RandomModel { kept_w: f64::NAN, ..shape(cell()) }, "keep-w = NaN"),
        (RandomModel { classes: 1, ..shape(cell()) }, "classes = 1: it must be between 2"),
        (RandomModel { steps: 0, ..shape(cell()) }, "steps = 0"),
        (shape(cell().with_ranks(Some(4), None)), "rank-w 4 is larger"),
        (shape(Cell { hidden: usize::MAX, ..cell() }), "hidden = 18446744073709551615"),
        (shape(Cell { hidden: 600, ..cell() }), "603 products"),
    ] {
        let error = shape.build().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
