//! The digest by which a damaged file is recognised.
//!
//! The metadata of a file hold the SHA-256 of everything else: of the metadata themselves, with zeros in the
//! place of the digits, and of the bytes of the tensors.

use super::ModelProblem;
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};

/// The key of the digest in the metadata.
const DIGEST_KEY: &str = "sha256";
/// Digits of a digest.
const DIGITS: usize = 64;

/// Puts the digest into the metadata of a file. `text` is a JSON object, and `serialize` makes a file with
/// the metadata it is given; the bytes of the tensors must not depend on them. Other text stays as it is.
pub fn with_digest<E>(text: &str, serialize: impl Fn(String) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
    let Some(rest) = text.trim_start().strip_prefix('{') else { return serialize(text.to_owned()) };
    let separator = if rest.trim_start().starts_with('}') { "" } else { "," };
    let with = |digits: &str| format!("{{\"{DIGEST_KEY}\":\"{digits}\"{separator}{rest}");
    let unsigned = with(&"0".repeat(DIGITS));
    let file = serialize(unsigned.clone())?;
    serialize(with(&digest(&unsigned, tensor_bytes(&file))))
}

/// The metadata without their digest.
pub fn without_digest(text: &str) -> String {
    let rest = text.strip_prefix(&format!("{{\"{DIGEST_KEY}\":\"")).and_then(|rest| rest.get(DIGITS + 1..));
    rest.map_or_else(|| text.to_owned(), |rest| format!("{{{}", rest.trim_start_matches(',')))
}

/// Checks the digest in the metadata `text` of `file`.
pub fn check_digest(file: &[u8], text: &str) -> Result<(), ModelProblem> {
    let start = format!("{{\"{DIGEST_KEY}\":\"");
    let found = text.strip_prefix(&start).and_then(|rest| rest.get(..DIGITS));
    let Some(found) = found.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit())) else {
        return Err(ModelProblem::NoDigest);
    };
    let unsigned = format!("{start}{}{}", "0".repeat(DIGITS), &text[start.len() + DIGITS..]);
    match digest(&unsigned, tensor_bytes(file)) == found {
        true => Ok(()),
        false => Err(ModelProblem::Damaged),
    }
}

fn digest(text: &str, tensors: &[u8]) -> String {
    let digest = Sha256::new().chain_update(text).chain_update(tensors).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything after the header of a safetensors file.
fn tensor_bytes(file: &[u8]) -> &[u8] {
    let header = SafeTensors::read_metadata(file).map_or(0, |(length, _)| length);
    file.get(header + size_of::<u64>()..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::serialize;
    use safetensors::tensor::{Dtype, TensorView};
    use std::collections::HashMap;

    fn file(text: &str, data: &[u8]) -> Vec<u8> {
        with_digest(text, |text| {
            let view = TensorView::new(Dtype::U8, vec![data.len()], data)?;
            serialize([("a", view)], Some(HashMap::from([("key".to_owned(), text)])))
        })
        .unwrap()
    }

    fn metadata(file: &[u8]) -> String {
        SafeTensors::read_metadata(file).unwrap().1.metadata().as_ref().unwrap()["key"].clone()
    }

    #[test]
    fn metadata_and_tensors_are_covered() {
        for text in ["{\"x\":1}", "{}"] {
            let whole = file(text, b"tensor");
            let stored = metadata(&whole);
            assert!(serde_json::from_str::<serde_json::Value>(&stored).unwrap()["sha256"].is_string());
            check_digest(&whole, &stored).unwrap();
            let mut flipped = whole.clone();
            *flipped.last_mut().unwrap() ^= 1;
            assert!(matches!(check_digest(&flipped, &stored), Err(ModelProblem::Damaged)));
            let other = stored.replace(":1}", ":2}");
            assert_eq!(check_digest(&whole, &other).is_ok(), other == stored);
            assert!(matches!(check_digest(&whole, text), Err(ModelProblem::NoDigest)));
            assert_eq!(without_digest(&stored), text);
            assert_eq!(without_digest(text), text);
        }
    }
}
