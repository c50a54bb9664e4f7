//! What several files of these tests share.

use std::fs;
use std::path::Path;

use fastgrnn_data::data::{self, DataError, Dataset, Examples, Labels, Request};

pub fn csv(text: impl AsRef<[u8]>) -> Result<Dataset, DataError> {
    data::load_bytes("a.csv", text.as_ref(), &Request::default())
}

pub fn at(path: &Path) -> Request {
    Request::new(path.to_str().unwrap())
}

pub fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub fn classes(examples: &Examples) -> Vec<&str> {
    let Labels::Class { index, names } = &examples.y else { panic!("{:?}", examples.y) };
    index.iter().map(|&c| names[c as usize].as_str()).collect()
}

pub fn names(examples: &Examples) -> &[String] {
    let Labels::Class { names, .. } = &examples.y else { panic!("{:?}", examples.y) };
    names
}

pub fn has_note(notes: &[String], part: &str) -> bool {
    notes.iter().any(|note| note.contains(part))
}

pub fn npy(descr: &str, shape: &str, cells: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), cells].concat()
}

/// An array of f32 numbers.
pub fn floats(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// An array of bytes as text of `width` characters.
pub fn words(width: usize, words: &[&str]) -> Vec<u8> {
    let mut cells = Vec::new();
    for word in words {
        cells.extend(word.bytes().chain(std::iter::repeat(0)).take(width));
    }
    npy(&format!("|S{width}"), &format!("({},)", words.len()), &cells)
}

pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        writer.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn load_npz(arrays: &[(&str, Vec<u8>)], request: &Request) -> Result<Dataset, DataError> {
    data::load_bytes("a.npz", &npz(arrays), request)
}
