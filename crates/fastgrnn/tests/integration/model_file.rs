//! Model files: round trips, the fixtures of past formats, and files that are something else.

use crate::common::{classes, recipe, trained};
use fastgrnn::cells::{Cell, CellKind, Scalar, Start};
use fastgrnn::data::{Labels, Normalize, Normalizer};
use fastgrnn::model::{AnyModel, Model, ModelError, ModelProblem, Task, with_digest, without_digest};
use fastgrnn::net::Network;
use fastgrnn::quantize::{IntegerModel, Options, quantize};
use fastgrnn::train::InitialState;
use proptest::prelude::*;

fn small() -> Model {
    let cell = Cell::new(CellKind::FastGrnn, 2, 3).with_ranks(Some(1), Some(2));
    let net = Network::new(vec![cell], 2);
    // A formula, not a start: starts may be tuned, a stored model may not change.
    let params = (0..net.layout().len()).map(|i| (i * 37 % 19) as f32 / 8.0 - 1.0).collect();
    let mut model = Model::new(net, params, Task::Classes { labels: vec!["no".into(), "yes".into()] });
    model.normalizer =
        Normalizer { mode: Normalize::PerFeature, mean: vec![0.1, 1e-7], scale: vec![3.0, 1.0 / 3.0] };
    model.features = Some(vec!["x".into(), "y".into()]);
    model.dataset = "small".into();
    model.steps = 10;
    model
}

/// The JSON of the metadata, changed by `change`, back in its file with a digest that fits.
fn with_metadata(model: &Model, change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let bytes = model.to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let text = without_digest(header["__metadata__"]["fastgrnn"].as_str().unwrap());
    let mut metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    change(&mut metadata);
    let write = |text: String| {
        let mut header = header.clone();
        header["__metadata__"]["fastgrnn"] = text.into();
        let mut text = header.to_string().into_bytes();
        text.resize(text.len().div_ceil(8) * 8, b' ');
        Ok::<_, ()>([&(text.len() as u64).to_le_bytes()[..], &text, &bytes[8 + length..]].concat())
    };
    with_digest(&metadata.to_string(), write).unwrap()
}

fn problem(bytes: &[u8]) -> String {
    Model::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn the_fixture_of_format_1_still_loads_and_predicts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model-v1.safetensors");
    if std::env::var_os("FASTGRNN_WRITE_FIXTURE").is_some() {
        small().save(path).unwrap();
    }
    let model = Model::load(path).unwrap();
    assert_eq!(model, small());
    let mut x = fastgrnn::data::Sequences::new(2);
    x.push(&[0.5, -0.5, 0.25, 1.0]);
    let predicted = model.predict(&x, 1).unwrap();
    assert!((predicted.row(0)[1] - PREDICTED).abs() < 1e-5, "{:?}", predicted.row(0));
}

/// What the fixture says about that sequence, computed from the equation in Python.
const PREDICTED: f32 = 0.298397;

#[test]
fn the_fixture_of_format_2_still_loads_and_scores() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model-v2.safetensors");
    let mut x = fastgrnn::data::Sequences::new(2);
    x.push(&[0.5, -0.5, 0.25, 1.0]);
    if std::env::var_os("FASTGRNN_WRITE_FIXTURE").is_some() {
        quantize(&small(), &x, &[0], &Options::default()).unwrap().save(path).unwrap();
    }
    let bytes = std::fs::read(path).unwrap();
    let model = IntegerModel::from_bytes(&bytes).unwrap();
    assert_eq!(model.to_bytes().unwrap(), bytes);
    assert_eq!(model.scores(&x, &[0], 1).scores, SCORED);
    let predicted = model.predict(&x, 1).unwrap().0;
    assert!((predicted.row(0)[1] - PREDICTED).abs() < 0.02, "{:?}", predicted.row(0));
}

/// What the fixture of format 2 scores on that sequence.
const SCORED: [i32; 2] = [609_056, -287_520];

#[test]
fn a_model_is_always_written_as_the_same_bytes_with_sorted_metadata() {
    let bytes = small().to_bytes().unwrap();
    assert_eq!(bytes, small().to_bytes().unwrap());
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes().unwrap(), bytes);
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["fastgrnn"]);
    let places: Vec<usize> = ["\"dataset\"", "\"features\"", "\"format\"", "\"network\"", "\"task\""]
        .iter()
        .map(|key| metadata["fastgrnn"].find(key).unwrap())
        .collect();
    assert!(places.is_sorted(), "{}", metadata["fastgrnn"]);
}

#[test]
fn a_trained_model_file_names_no_path_and_no_time() {
    let (data, folder) = (classes(60, 2, 6), tempfile::tempdir().unwrap());
    let summary = trained(&recipe(), &data, folder.path());
    let text = String::from_utf8_lossy(&std::fs::read(&summary.model).unwrap()).into_owned();
    let folder = folder.path().file_name().unwrap().to_str().unwrap();
    for word in [folder, "seconds", "thread", "checkpoint"] {
        assert!(!text.contains(word), "{word}");
    }
    let model = Model::load(&summary.model).unwrap();
    assert_eq!(model.recipe.network.hidden, Some(8));
    assert_eq!(model.dataset, "generated");
}

#[test]
fn files_from_somewhere_else_are_told_apart() {
    assert!(problem(b"").contains("not a safetensors file"));
    assert!(problem(b"PK\x03\x04 a zip file, not a model").contains("not a safetensors file"));
    let header = br#"{"encoder.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}     "#;
    let foreign = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]].concat();
    let message = problem(&foreign);
    assert!(message.contains("not one of fastgrnn's") && message.contains("encoder.weight"), "{message}");
    let bytes = small().to_bytes().unwrap();
    assert!(matches!(Model::from_bytes(&bytes[..bytes.len() - 1]), Err(ModelProblem::NotSafetensors { .. })));
}

#[test]
fn a_newer_format_asks_for_an_update() {
    let bytes = with_metadata(&small(), |m| m["format"] = 3.into());
    assert_eq!(problem(&bytes), "the model has format 3; this release reads up to 2: update fastgrnn");
    let bytes = with_metadata(&small(), |m| m["format"] = 2.into());
    assert!(problem(&bytes).contains("format 2 without the scales of an integer model"));
}

#[test]
fn metadata_that_contradict_the_tensors_are_refused() {
    let small = small();
    let refused = |change: &dyn Fn(&mut serde_json::Value), message: &str| {
        let text = problem(&with_metadata(&small, change));
        assert!(text.contains(message), "{text:?} should say {message:?}");
    };
    refused(&|m| m["network"]["layers"][0]["hidden"] = 4.into(), "tensor `layer0.w1` has shape [3, 1]");
    refused(&|m| m["network"]["layers"][0]["form_u"] = "full".into(), "tensor `layer0.u` is missing");
    refused(&|m| m["network"]["layers"][0]["hidden"] = (1u64 << 60).into(), "a size of 1152921504606846976");
    refused(&|m| m["network"]["layers"] = serde_json::json!([]), "at least one layer");
    refused(&|m| m["network"]["outputs"] = 3.into(), "3 outputs for 2 labels");
    refused(&|m| m["normalize"] = "none".into(), "tensor `normalizer.mean` does not belong");
    refused(&|m| m["initial_state"] = "given".into(), "tensor `initial_state` is missing");
    refused(&|m| m["features"] = serde_json::json!(["x"]), "1 feature names for 2 features");
    refused(&|m| m["loss"] = "squared-error".into(), "squared error of classes");
    refused(&|m| m["surprise"] = 1.into(), "surprise");
    refused(&|m| *m = serde_json::json!([1, 2]), "no `format` number");
}

#[test]
fn values_that_are_not_finite_are_refused_with_their_place() {
    let mut model = small();
    model.params[1] = 12345.0;
    let mut bytes = model.to_bytes().unwrap();
    // No model is written with a NaN, so one is put into its bytes.
    let at = bytes.windows(4).position(|w| w == 12345f32.to_le_bytes()).unwrap();
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let text = problem(&bytes);
    assert_eq!(text, "tensor `layer0.w1`, entry 1: NaN is not finite");
}

#[test]
fn errors_of_files_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thing.safetensors");
    assert!(Model::load(&path).unwrap_err().to_string().contains("thing.safetensors"));
    std::fs::write(&path, b"no").unwrap();
    assert!(Model::load(&path).unwrap_err().to_string().contains("thing.safetensors: not a safetensors"));
}

#[test]
fn data_that_do_not_fit_the_model_are_refused() {
    let model = small();
    let mut other = classes(10, 2, 5).train;
    let error = model.evaluate(&other, 1).unwrap_err();
    assert!(matches!(&error, ModelError::UnknownLabel { label, .. } if label == "class 0"), "{error}");
    other.y = Labels::None;
    assert!(matches!(model.evaluate(&other, 1), Err(ModelError::Labels { .. })));
    let error = model.predict(&fastgrnn::data::Sequences::new(5), 1).unwrap_err().to_string();
    assert_eq!(error, "the data has 5 features a step, the model reads 2 (x, y)");
}

#[test]
fn classes_are_matched_by_name_not_by_number() {
    let model = small();
    let mut examples = classes(10, 2, 5).train;
    let Labels::Class { names, .. } = &mut examples.y else { panic!("classes") };
    *names = vec!["no".into(), "yes".into()];
    let (straight, _) = model.evaluate(&examples, 1).unwrap();
    let Labels::Class { index: flipped, names: reversed } = &mut examples.y else { panic!("classes") };
    reversed.reverse();
    flipped.iter_mut().for_each(|c| *c = 1 - *c);
    let (reordered, _) = model.evaluate(&examples, 1).unwrap();
    assert_eq!(straight, reordered);
}

fn any_model() -> impl Strategy<Value = Model> {
    let kinds = prop::sample::select(fastgrnn::cells::CELLS.iter().map(|d| d.kind).collect::<Vec<_>>());
    let initial = prop_oneof![
        Just(InitialState::Zero),
        Just(InitialState::Random),
        Just(InitialState::Given(vec![0.5]))
    ];
    (kinds, 1usize..5, 1usize..6, 1usize..3, any::<u64>(), any::<bool>(), initial, any::<bool>()).prop_map(
        |(kind, input, hidden, layers, seed, regression, initial, low)| {
            let rank = low.then_some(1);
            let hidden = if kind.declaration().has_pairs { 2 * hidden } else { hidden };
            let mut cells = vec![Cell::new(kind, input, hidden).with_ranks(rank, rank)];
            cells.extend((1..layers).map(|_| Cell::new(kind, hidden, hidden)));
            cells[0].scalars.nu = Scalar::Fixed(0.1);
            let net = Network::new(cells, 3);
            let params = net.start(Start::Authors, 5, seed);
            let task = if regression {
                Task::Values { mean: vec![1.0; 3], scale: vec![2.0; 3] }
            } else {
                Task::Classes { labels: vec!["a".into(), "ü\"\n".into(), String::new()] }
            };
            let mut model = Model::new(net, params, task);
            // A single given number is stored for every state entry.
            model.initial_state = match initial {
                InitialState::Given(values) => InitialState::Given(vec![values[0]; hidden * layers]),
                other => other,
            };
            model.seed = seed;
            model
        },
    )
}

proptest! {
    #[test]
    fn every_model_survives_its_file(model in any_model()) {
        prop_assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    }

    #[test]
    fn any_bytes_are_a_model_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Model::from_bytes(&bytes);
    }

    #[test]
    fn a_damaged_model_is_an_error_or_the_same_model(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        for whole in [small().to_bytes().unwrap(), small_integer().to_bytes().unwrap()] {
            let mut bytes = whole.clone();
            bytes[at.index(whole.len())] = to;
            if let Ok(model) = AnyModel::from_bytes(&bytes) {
                prop_assert_eq!(model, AnyModel::from_bytes(&whole).unwrap());
            }
        }
    }
}

fn small_integer() -> IntegerModel {
    let mut x = fastgrnn::data::Sequences::new(2);
    x.push(&[0.5, -0.5, 0.25, 1.0]);
    quantize(&small(), &x, &[0], &Options::default()).unwrap()
}

#[test]
fn a_flipped_bit_in_a_tensor_is_damage_and_the_error_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.safetensors");
    for mut bytes in [small().to_bytes().unwrap(), small_integer().to_bytes().unwrap()] {
        // The lowest bit of the last tensor's first byte changes a value a little.
        let at = bytes.len() - 4;
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = AnyModel::load(&path).unwrap_err().to_string();
        assert!(error.contains("flipped.safetensors") && error.contains("damaged"), "{error}");
    }
    let mut bytes = with_metadata(&small(), |_| {});
    Model::from_bytes(&bytes).unwrap();
    let at = bytes.windows(6).position(|w| w == b"sha256").unwrap();
    bytes[at..at + 6].copy_from_slice(b"sha257");
    assert!(Model::from_bytes(&bytes).is_err());
}

#[test]
fn a_model_that_cannot_be_used_is_not_written() {
    let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], 2);
    let params = net.start(Start::default(), 10, 0);
    let task = || Task::Classes { labels: vec!["a".into(), "b".into()] };
    let mut broken = Model::new(net.clone(), params.clone(), task());
    broken.params[3] = f32::NAN;
    let error = broken.to_bytes().unwrap_err().to_string();
    assert!(error.contains("layer0.w") && error.contains("entry 3: NaN is not finite"), "{error}");
    let every = Network { readout: fastgrnn::net::Readout::Every, ..net };
    let error = Model::new(every, params, task()).to_bytes().unwrap_err().to_string();
    assert!(error.contains("every state"), "{error}");
}
