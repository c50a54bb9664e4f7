//! NPY, NumPy's array format: a magic number, a header that is a Python dictionary, raw cells.
//!
//! All integer and floating-point types, Booleans and text are read, in either byte order and in C
//! or Fortran order. Arrays of Python objects are refused: reading them would run code.

use super::DataError;
use super::array::{Array, Cell};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads one array.
pub(crate) fn read<'a>(file: &str, bytes: &'a [u8]) -> Result<Array<'a>, DataError> {
    let corrupt =
        |place: &str, problem: String| DataError::Corrupt { file: file.into(), place: place.into(), problem };
    if bytes.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "an NPY array was expected".into() });
    }
    let truncated = |expected: usize| DataError::Truncated {
        file: file.into(),
        what: "the header".into(),
        expected: expected as u64,
        found: bytes.len() as u64,
    };
    if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
        return Err(corrupt("byte 0", "this is not an NPY file (it must begin with \\x93NUMPY)".into()));
    }
    let &version = bytes.get(6).ok_or_else(|| truncated(10))?;
    let (start, length) = match version {
        1 => (10, bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])))),
        2 | 3 => {
            let length = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize;
            (12, bytes.get(8..12).map(length))
        }
        _ => return Err(corrupt("byte 6", format!("version {version} is not known"))),
    };
    let length = length.ok_or_else(|| truncated(start))?;
    let end = start.saturating_add(length);
    let header = bytes.get(start..end).ok_or_else(|| truncated(end))?;
    let header = String::from_utf8_lossy(header);
    let field = |key: &str| {
        value_of(&header, key).ok_or_else(|| corrupt("header", format!("no '{key}' in {}", header.trim())))
    };
    let descr = field("descr")?;
    let (big_endian, cell) = cell(descr.trim_matches(['\'', '"'])).ok_or_else(|| {
        let problem = match descr.contains('O') {
            true => "Python objects are not read; save text as y.astype(str), numbers as x.astype('float32'), and sequences of unequal length end to end with their `lengths`".into(),
            false => format!("cells of type {descr} are not read; use integers, floats or text"),
        };
        DataError::Unsupported { file: file.into(), problem }
    })?;
    let fortran = match field("fortran_order")? {
        "True" => true,
        "False" => false,
        other => return Err(corrupt("header", format!("fortran_order is {other}"))),
    };
    let shape = field("shape")?;
    let sides = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|s| !s.is_empty());
    let shape: Vec<usize> = sides
        .map(|side| side.trim_end_matches('L').parse().ok())
        .collect::<Option<_>>()
        .ok_or_else(|| corrupt("header", format!("shape is {shape}")))?;
    Array::new(file, shape, cell, big_endian, fortran, &bytes[end..])
}

/// The text of `key`'s value in a flat Python dictionary.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let (at, length) = quoted.iter().find_map(|q| Some((header.find(q.as_str())?, q.len())))?;
    let rest = header[at + length..].trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.as_bytes().first()? {
        b'(' => rest.find(')')? + 1,
        b'[' => rest.find(']')? + 1,
        &quote @ (b'\'' | b'"') => rest[1..].find(quote as char)? + 2,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim())
}

/// Whether a type such as `<f4` is big-endian, and its cells.
fn cell(descr: &str) -> Option<(bool, Cell)> {
    let (order, kind) = match descr.as_bytes().first()? {
        b'<' | b'|' | b'=' => (false, &descr[1..]),
        b'>' => (true, &descr[1..]),
        _ => (false, descr),
    };
    let size = kind.get(1..).and_then(|s| s.parse::<usize>().ok());
    let cell = match (kind, size) {
        ("i1", _) => Cell::I8,
        ("u1" | "b1" | "?", _) => Cell::U8,
        ("i2", _) => Cell::I16,
        ("u2", _) => Cell::U16,
        ("i4", _) => Cell::I32,
        ("u4", _) => Cell::U32,
        ("i8", _) => Cell::I64,
        ("u8", _) => Cell::U64,
        ("f2", _) => Cell::F16,
        ("f4", _) => Cell::F32,
        ("f8", _) => Cell::F64,
        (_, Some(chars)) if kind.starts_with('U') => Cell::Text(chars),
        (_, Some(bytes)) if kind.starts_with('S') => Cell::Bytes(bytes),
        _ => return None,
    };
    Some((order, cell))
}

/// The header of an array of type `descr` and shape `shape`, in C order.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sides}), }}");
    // NumPy aligns the cells to 64 bytes: 10 bytes precede the text and a line feed ends it.
    let padding = 63 - (10 + text.len()) % 64;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header
}
