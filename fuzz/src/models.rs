//! Model files to start from.

use fastgrnn::cells::{CELLS, Cell, Start};
use fastgrnn::model::{Model, Task};
use fastgrnn::net::Network;
use serde_json::Value;

/// Small models: one of each cell.
pub fn models() -> Vec<Model> {
    let labels = vec!["a".to_string(), "b".to_string()];
    let model = |kind| {
        let net = Network::new(vec![Cell::new(kind, 2, 3)], 2);
        let params = net.start(Start::default(), 10, 0);
        Model::new(net, params, Task::Classes { labels: labels.clone() })
    };
    CELLS.iter().map(|cell| model(cell.kind)).collect()
}

/// Reads a model file. One that is accepted can be written, and is the same model when read again.
pub fn read_model(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let written = model.to_bytes().expect("a model that was read can be written");
    let again = Model::from_bytes(&written).expect("what was written can be read");
    assert_eq!(model, again);
}

/// The text of a model file's metadata.
pub fn metadata(file: &[u8]) -> String {
    let (header, _) = split(file);
    header["__metadata__"]["fastgrnn"].as_str().expect("a model file").to_owned()
}

/// The same file with another text as its metadata.
pub fn with_metadata(file: &[u8], text: &str) -> Vec<u8> {
    let (mut header, tensors) = split(file);
    header["__metadata__"]["fastgrnn"] = Value::from(text);
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), tensors].concat()
}

/// The header of a safetensors file, which follows its length, and the tensors' bytes behind it.
fn split(file: &[u8]) -> (Value, &[u8]) {
    let (length, rest) = file.split_first_chunk().expect("a length");
    let (header, tensors) = rest.split_at(u64::from_le_bytes(*length) as usize);
    (serde_json::from_slice(header).expect("a header of JSON"), tensors)
}
