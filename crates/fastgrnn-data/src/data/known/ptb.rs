//! `ptb`: the Penn Treebank as Mikolov prepared it, for language models.

use std::path::Path;

use super::super::texts::{self, LanguageTexts, NamedText};
use super::super::{DataError, Request, archive::Tree};
use super::set::{Found, KnownSpec, is_whole, no_axes};
use crate::text::{TokenKind, Tokenizer};

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "ptb",
    description: "Penn Treebank, 10,000 words, for language models (task = lm)",
    licence: "Linguistic Data Consortium: for research only",
    sizes: [1, 1, 929_589, 0, 10_000],
    places: &["ptb", "PTB", "simple-examples/data"],
    marker: "ptb.train.txt",
    fetch: "the three files ptb.train.txt, ptb.valid.txt and ptb.test.txt of Mikolov's simple-examples (as they are, or packed with gzip)",
    checksums: &[
        ("ptb.train.txt.gz", "c4c6455d85f60640431f7bc738d51265ba2d55dcce10e8906322d6f9e3dcca81"),
        ("ptb.valid.txt.gz", "f2148d96d82f827399b7e5040868a4541bd2d2612ebaf5a2ff213bc07fd74eb8"),
        ("ptb.test.txt.gz", "5015d206077ff3e96161868c5c280ec8a28e9ad5617ef99ee0e734aaef6130c5"),
    ],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read,
};

fn read(folder: &Path, request: &Request) -> Result<Found, DataError> {
    let text = |part: &str| -> Result<NamedText, DataError> {
        let name = format!("ptb.{part}.txt");
        let packed = folder.join(format!("{name}.gz"));
        let path = if packed.exists() { packed } else { folder.join(&name) };
        let bytes = Tree::open(&path, request.data.size_limit)
            .and_then(|mut tree| tree.read(0))
            .map_err(|error| SPEC.explain(error, &path))?;
        NamedText::decode(&name, &bytes, request)
    };
    let texts = LanguageTexts {
        train: Some(text("train")?),
        validation: Some(text("valid")?),
        test: Some(text("test")?),
    };
    let usual = Tokenizer { kind: TokenKind::Blanks, lowercase: false };
    Ok(Found::new(texts::language_parts(texts, usual, request)?, Vec::new()))
}
