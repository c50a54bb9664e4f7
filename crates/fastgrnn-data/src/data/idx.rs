//! IDX, the format of MNIST: two zero bytes, a type, a rank, the sides, then the cells, big-endian.
//!
//! Images and labels are two files whose names differ by `images` and `labels` (and `idx3` and
//! `idx1`). Images of H × W become H steps of W features; `--timesteps` makes them pixels.

use super::DataError;
use super::array::{Array, Cell};
use super::part::Part;
use super::part::RawLabels;

/// The most sides an array may have.
const MAX_RANK: u8 = 8;

/// Whether a file name is that of an IDX file.
pub(crate) fn is_idx(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".idx") || name.ends_with("-ubyte") || name.ends_with(".idx3-ubyte")
}

/// The name of the labels that go with the images called `name`.
pub(crate) fn labels_name(name: &str) -> Option<String> {
    let at = name.rfind("images")?;
    let (before, after) = (&name[..at], &name[at + "images".len()..]);
    let after = ["idx2", "idx3", "idx4"].iter().fold(after.to_string(), |a, r| a.replace(r, "idx1"));
    Some(format!("{before}labels{after}"))
}

/// Reads one IDX array.
pub(crate) fn read<'a>(file: &str, bytes: &'a [u8]) -> Result<Array<'a>, DataError> {
    let corrupt =
        |place: &str, problem: String| DataError::Corrupt { file: file.into(), place: place.into(), problem };
    if bytes.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "an IDX file was expected".into() });
    }
    let truncated = |expected: usize| DataError::Truncated {
        file: file.into(),
        what: "the header".into(),
        expected: expected as u64,
        found: bytes.len() as u64,
    };
    let [zero0, zero1, kind, rank, ..] = *bytes else { return Err(truncated(4)) };
    if (zero0, zero1) != (0, 0) || rank == 0 || rank > MAX_RANK {
        let found = format!("bytes {zero0:02x} {zero1:02x} {kind:02x} {rank:02x}");
        return Err(corrupt("byte 0", format!("{found} do not begin an IDX file")));
    }
    let cell = match kind {
        0x08 => Cell::U8,
        0x09 => Cell::I8,
        0x0b => Cell::I16,
        0x0c => Cell::I32,
        0x0d => Cell::F32,
        0x0e => Cell::F64,
        _ => return Err(corrupt("byte 2", format!("cell type {kind:#04x} is not known"))),
    };
    let start = 4 + 4 * usize::from(rank);
    let header = bytes.get(4..start).ok_or_else(|| truncated(start))?;
    let side = |b: &[u8]| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize;
    let shape = header.chunks_exact(4).map(side).collect();
    Array::new(file, shape, cell, true, false, &bytes[start..])
}

/// Joins images and, where there are any, their labels.
pub(crate) fn part(images: (&str, &[u8]), labels: Option<(&str, &[u8])>) -> Result<Part, DataError> {
    let array = read(images.0, images.1)?;
    let x = array.sequences()?;
    let y = match labels {
        None => RawLabels::None,
        Some((file, bytes)) => {
            let labels = read(file, bytes)?;
            if labels.shape != [x.len()] {
                return Err(DataError::Corrupt {
                    file: file.into(),
                    place: "header".into(),
                    problem: format!(
                        "labels of shape {:?} for the {} sequences of {}",
                        labels.shape,
                        x.len(),
                        images.0
                    ),
                });
            }
            RawLabels::Number { width: 1, values: labels.numbers()? }
        }
    };
    let mut part = Part::new(images.0, x, y);
    if let [_, height, width] = array.shape[..] {
        part.image = Some((height, width));
    }
    Ok(part)
}
