//! Model files to start from.

use fastgrnn::cells::{CELLS, Cell, Declaration, Start, WeightBits};
use fastgrnn::data::Sequences;
use fastgrnn::model::{AnyModel, Model, Task, with_digest, without_digest};
use fastgrnn::net::Network;
use fastgrnn::quantize::{MatrixBits, Options, quantize};
use serde_json::Value;

/// Files of small models: of each cell a float one and, where the cell has an integer form, the integer ones made from it,
/// with entries of 8 and of 4 bits.
pub fn model_files() -> Vec<Vec<u8>> {
    let labels = vec!["a".to_string(), "b".to_string()];
    let mut x = Sequences::new(2);
    x.push(&[0.5, -0.5, 1.0, 0.25]);
    let files = |cell: &Declaration| {
        let hidden = if cell.has_pairs { 4 } else { 3 };
        let net = Network::new(vec![Cell::new(cell.kind, 2, hidden)], 2);
        let params = net.start(Start::default(), 10, 0);
        let model = Model::new(net, params, Task::Classes { labels: labels.clone() });
        let mut files = vec![model.to_bytes().expect("a new model")];
        if cell.code.is_some() {
            let integer = quantize(&model, &x, &[0], &Options::default()).expect("a model to quantise");
            files.push(integer.to_bytes().expect("a new model"));
            let u = if cell.reads_state { WeightBits::Four } else { WeightBits::Eight };
            let bits = MatrixBits { w: WeightBits::Four, u, head: WeightBits::Four };
            let model = model.with_bits(bits).expect("full matrices may have 4 bits");
            let integer = quantize(&model, &x, &[0], &Options::default()).expect("a model to quantise");
            files.push(integer.to_bytes().expect("a new model"));
        }
        files
    };
    CELLS.iter().flat_map(files).collect()
}

/// Reads a model file. One that is accepted can be written, and is the same model when read again.
pub fn read_model(bytes: &[u8]) {
    let Ok(model) = AnyModel::from_bytes(bytes) else { return };
    let written = match &model {
        AnyModel::Float(model) => model.to_bytes(),
        AnyModel::Integer(model) => model.to_bytes(),
    };
    let again = AnyModel::from_bytes(&written.expect("a model that was read can be written"));
    assert_eq!(model, again.expect("what was written can be read"));
}

/// The text of a model file's metadata, without the digest.
pub fn metadata(file: &[u8]) -> String {
    let (header, _) = split(file);
    without_digest(header["__metadata__"]["fastgrnn"].as_str().expect("a model file"))
}

/// The same file with another text as its metadata, and a digest that fits.
pub fn with_metadata(file: &[u8], text: &str) -> Vec<u8> {
    let (header, tensors) = split(file);
    let write = |text: String| {
        let mut header = header.clone();
        header["__metadata__"]["fastgrnn"] = Value::from(text);
        let header = header.to_string();
        let length = (header.len() as u64).to_le_bytes();
        Ok::<_, std::convert::Infallible>([&length, header.as_bytes(), tensors].concat())
    };
    let Ok(file) = with_digest(text, write);
    file
}

/// The header of a safetensors file, which follows its length, and the tensors' bytes behind it.
fn split(file: &[u8]) -> (Value, &[u8]) {
    let (length, rest) = file.split_first_chunk().expect("a length");
    let (header, tensors) = rest.split_at(u64::from_le_bytes(*length) as usize);
    (serde_json::from_slice(header).expect("a header of JSON"), tensors)
}
