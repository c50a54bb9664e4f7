//! Trainings whose recurrent matrix is orthogonal, or nearly so.

use crate::common::{classes, metrics, recipe, trained};
use fastgrnn::cells::CellKind;
use fastgrnn::device::Board;
use fastgrnn::model::Model;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::train::{Recipe, RecurrentForm};

const HIDDEN: usize = 24;

fn orthogonal(cell: CellKind, form: RecurrentForm) -> Recipe {
    recipe().with(|r| {
        r.network.cell = Some(cell);
        r.network.hidden = Some(HIDDEN);
        r.network.form_u = Some(form);
    })
}

/// `QᵀQ` of the blocks of U.
fn squares(model: &Model) -> Vec<Vec<f64>> {
    let layout = model.network.layout();
    let u = &model.params[layout.view("layer0.u").unwrap().range()];
    let of_block = |block: &[f32]| {
        let entry = |i: usize, j: usize| -> f64 {
            (0..HIDDEN).map(|k| f64::from(block[k * HIDDEN + i]) * f64::from(block[k * HIDDEN + j])).sum()
        };
        (0..HIDDEN * HIDDEN).map(|at| entry(at / HIDDEN, at % HIDDEN)).collect()
    };
    u.chunks(HIDDEN * HIDDEN).map(of_block).collect()
}

/// The largest distance of an entry from that of the identity.
fn distance_from_identity(square: &[f64]) -> f64 {
    let entry = |at: usize| f64::from(u8::from(at / HIDDEN == at % HIDDEN));
    square.iter().enumerate().map(|(at, value)| (value - entry(at)).abs()).fold(0.0, f64::max)
}

#[test]
fn reflections_and_rotations_stay_orthogonal_over_a_thousand_steps() {
    let data = classes(60, 2, 8);
    for (cell, form) in [
        (CellKind::Rnn, RecurrentForm::Reflections),
        (CellKind::Rnn, RecurrentForm::Rotations),
        (CellKind::Eurnn, RecurrentForm::Rotations),
        (CellKind::Eurnn, RecurrentForm::FftRotations),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // Five batches an epoch.
        let recipe = orthogonal(cell, form).with(|r| {
            r.training.epochs = Some(210);
            r.training.batch = Some(10);
        });
        let summary = trained(&recipe, &data, folder.path());
        let model = Model::load(&summary.model).unwrap();
        assert!(model.network.layers[0].orthogonal_u.is_none());
        for square in squares(&model) {
            let distance = distance_from_identity(&square);
            assert!(distance < 1e-6, "{cell} {form}: {distance}");
        }
        let accuracy = summary.test.unwrap().accuracy.unwrap();
        assert!(accuracy > 0.7, "{cell} {form}: {accuracy}");
    }
}

#[test]
fn the_matrix_of_an_eurnn_is_unitary_without_further_settings() {
    let (data, folder) = (classes(60, 2, 8), tempfile::tempdir().unwrap());
    let recipe = recipe().with(|r| {
        r.network.cell = Some(CellKind::Eurnn);
        r.network.hidden = Some(HIDDEN);
        r.training.epochs = Some(3);
    });
    let summary = trained(&recipe, &data, folder.path());
    let model = Model::load(&summary.model).unwrap();
    let u = &model.params[model.network.layout().view("layer0.u").unwrap().range()];
    // A complex number x + iy is the rows x, -y and y, x.
    for (upper, lower) in u.chunks(2 * HIDDEN).map(|rows| rows.split_at(HIDDEN)) {
        for (upper, lower) in upper.chunks(2).zip(lower.chunks(2)) {
            assert_eq!((upper[0], upper[1]), (lower[1], -lower[0]));
        }
    }
    assert!(distance_from_identity(&squares(&model)[0]) < 1e-6);
    let full = recipe.with(|r| r.network.form_u = Some(RecurrentForm::Full)).resolve(&data).unwrap();
    assert!(full.network(&data).layers[0].orthogonal_u.is_none());
}

#[test]
fn limits_of_a_board_leave_an_even_number_of_units() {
    let data = classes(60, 2, 8);
    for most in (3_560..3_660).step_by(10) {
        let recipe = recipe().with(|r| {
            r.network.cell = Some(CellKind::Rnn);
            r.network.form_u = Some(RecurrentForm::Rotations);
            r.network.hidden = None;
            r.limits.board = Some(Board::Uno);
            r.limits.max_flash = Some(most);
        });
        let config = recipe.resolve(&data).unwrap();
        assert!(config.network.hidden < 16, "the limit changes nothing");
        assert!(config.network.hidden.is_multiple_of(2) && config.fits(&data), "{}", config.network.hidden);
    }
}

#[test]
fn an_eurnn_has_no_integer_form_and_says_what_has_one() {
    let data = classes(60, 2, 8);
    let eurnn = orthogonal(CellKind::Eurnn, RecurrentForm::Rotations);
    let quantized = eurnn.clone().with(|r| r.quantization.quantize = Some(true));
    let limited = eurnn.clone().with(|r| r.limits.max_flash = Some(10_000));
    for recipe in [quantized, limited] {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(
            error.contains("eurnn has no integer form") && error.contains("form-u = rotations"),
            "{error}"
        );
    }
    assert!(eurnn.resolve(&data).is_ok());
}

#[test]
fn what_is_delivered_is_what_was_validated_and_its_spectrum_is_within_the_margin() {
    let data = classes(60, 2, 8);
    for (cell, form, margin) in [
        (CellKind::Rnn, RecurrentForm::Reflections, 0.0),
        (CellKind::FastGrnn, RecurrentForm::Spectral, 0.3),
        (CellKind::Gru, RecurrentForm::Spectral, 0.3),
        (CellKind::Lstm, RecurrentForm::Factored, 0.3),
        (CellKind::Ugrnn, RecurrentForm::Rotations, 0.0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = orthogonal(cell, form).with(|r| {
            r.training.epochs = Some(8);
            r.network.spectral_margin = Some(0.3).filter(|_| margin > 0.0);
        });
        let summary = trained(&recipe, &data, folder.path());
        let epochs = metrics(folder.path());
        let best = epochs.iter().filter_map(|epoch| epoch.val_accuracy).fold(0.0, f64::max);
        assert_eq!(summary.val.unwrap().accuracy.unwrap(), best, "{cell} {form}");
        let model = Model::load(&summary.model).unwrap();
        for square in squares(&model) {
            // A product with a vector of length 1 is longer or shorter by the margin at most.
            for k in 0..HIDDEN {
                let length = square[k * HIDDEN + k].sqrt();
                assert!((length - 1.0).abs() < margin + 1e-5, "{cell} {form}: {length}");
            }
            assert_eq!(distance_from_identity(&square) > 1e-3, margin > 0.0, "{cell} {form}");
        }
    }
}

#[test]
fn orthogonal_matrices_become_bytes_like_any_other() {
    let data = classes(60, 2, 8);
    use RecurrentForm::{Factored, FftRotations, Reflections, Rotations, Spectral};
    for form in [Reflections, Spectral, Factored, Rotations, FftRotations] {
        let folder = tempfile::tempdir().unwrap();
        let recipe = orthogonal(CellKind::Rnn, form).with(|r| {
            r.training.epochs = Some(30);
            r.quantization.quantize = Some(true);
        });
        let summary = trained(&recipe, &data, folder.path());
        let model = IntegerModel::load(&summary.model).unwrap();
        assert_eq!(model.image().len(), summary.bytes.total, "{form}");
        assert!(summary.bytes.total > HIDDEN * HIDDEN, "{form}: U is stored whole");
        assert!(summary.test.unwrap().accuracy.unwrap() > 0.7, "{form}");
    }
}

#[test]
fn settings_without_an_effect_on_the_form_of_u_are_refused() {
    let data = classes(60, 2, 8);
    let refused = |recipe: Recipe, part: &str| {
        let error = recipe.resolve(&data).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    use RecurrentForm::{Factored, FftRotations, Full, Reflections, Rotations, Spectral};
    let with = |form, change: &dyn Fn(&mut Recipe)| orthogonal(CellKind::Rnn, form).with(change);
    refused(with(Full, &|r| r.network.reflections = Some(4)), "reflections");
    refused(with(Factored, &|r| r.network.reflections = Some(4)), "reflections");
    refused(with(Reflections, &|r| r.network.spectral_margin = Some(0.2)), "spectral-margin");
    refused(with(Spectral, &|r| r.network.rank_u = Some("4".parse().unwrap())), "rank-u");
    refused(with(Spectral, &|r| r.sparsity.keep_u = Some(0.5)), "keep-u");
    refused(with(Reflections, &|r| r.training.weight_drop = Some(0.5)), "weight-drop");
    refused(with(Reflections, &|r| r.network.reflections = Some(25)), "number of units, 24");
    refused(orthogonal(CellKind::MinGru, Reflections), "no matrix U");
    refused(with(Reflections, &|r| r.network.rotations = Some(4)), "rotations");
    refused(with(FftRotations, &|r| r.network.rotations = Some(4)), "how many layers there are");
    refused(with(Rotations, &|r| r.network.spectral_margin = Some(0.2)), "spectral-margin");
    refused(with(Rotations, &|r| r.network.rotations = Some(13)), "half of the units, 12");
    refused(with(Rotations, &|r| r.network.hidden = Some(25)), "such as 26");
    refused(with(FftRotations, &|r| r.network.rank_u = Some("4".parse().unwrap())), "rank-u");
    let odd = recipe().with(|r| (r.network.cell, r.network.hidden) = (Some(CellKind::Eurnn), Some(7)));
    refused(odd.clone(), "such as 8");
    refused(odd.with(|r| r.network.form_u = Some(Full)), "the cell eurnn needs an even number");
}
