//! `digits`: 1,797 handwritten digits of 8×8 pixels, part of the library.
//!
//! Rows are time steps. The split is ours and fixed: of each digit's images, in file order, every
//! fifth is a test image (355 of them).

use std::path::Path;

use super::super::part::Part;
use super::super::part::RawLabels;
use super::super::parts::Parts;
use super::super::{DataError, Request, archive, idx};
use super::set::{Found, KnownSpec, is_whole, no_axes};

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "digits",
    description: "handwritten digits, 8x8 pixels, row by row (built in)",
    licence: "CC BY 4.0 (Alpaydin and Kaynak, UCI)",
    sizes: [1442, 355, 8, 8, 10],
    places: &[],
    marker: "",
    fetch: "",
    checksums: &[],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read,
};

/// Every how many images of a digit one is a test image.
const TEST_EVERY: usize = 5;

/// The largest value of a pixel in the file.
const FULL: f32 = 16.0;

const IMAGES: &[u8] = include_bytes!("digits/images-idx3-ubyte.gz");
const LABELS: &[u8] = include_bytes!("digits/labels-idx1-ubyte.gz");

fn read(_: &Path, _: &Request) -> Result<Found, DataError> {
    let unpacked = |name, bytes| -> Result<Vec<u8>, DataError> {
        archive::Tree::from_bytes(name, bytes, 1 << 20)?.read(0)
    };
    let (images, labels) = (unpacked("images.gz", IMAGES)?, unpacked("labels.gz", LABELS)?);
    let mut all = idx::part(("digits", &images), Some(("digits", &labels)))?;
    all.x = all.x.divided(FULL);
    let RawLabels::Number { values: digits, .. } = &all.y else {
        return Err(DataError::NoLabels { file: "digits".into(), hint: "not built in".into() });
    };
    let mut seen = [0usize; 10];
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (i, &digit) in digits.iter().enumerate() {
        let count = &mut seen[digit as usize % 10];
        *count += 1;
        let side = if count.is_multiple_of(TEST_EVERY) { &mut test } else { &mut train };
        side.push(i as u32);
    }
    let part = |indices: &[u32]| {
        let values = indices.iter().map(|&i| digits[i as usize]).collect();
        let mut part = Part::new("digits", all.x.select(indices), RawLabels::Number { width: 1, values });
        part.image = all.image;
        Some(part)
    };
    let parts = Parts { train: part(&train), test: part(&test), ..Parts::default() };
    Ok(Found::new(parts, Vec::new()))
}
