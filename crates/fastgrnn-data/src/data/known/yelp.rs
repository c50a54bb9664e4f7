//! `yelp5`: 10,000 reviews with one to five stars.

use std::path::Path;

use super::super::texts::{TableColumns, read_table, to_parts};
use super::super::{DataError, Request, archive::Tree};
use super::set::{Found, KnownSpec, is_whole, no_axes};

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "yelp5",
    description: "10,000 reviews, one to five stars",
    licence: "Yelp data set terms: academic, not commercial",
    sizes: [8_000, 2_000, 300, 0, 5],
    places: &["yelp/yelp.csv.zip", "yelp/yelp.csv"],
    marker: "",
    fetch: "the file yelp.csv with 10,000 reviews that courses on text classification use (as it is, or zipped)",
    checksums: &[("yelp.csv.zip", "fc0093d9cdf96e35e1a1b7c3f76297c22959245068c7627ea56bc0891dbd4499")],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read,
};

/// Share of the reviews of each number of stars that is for testing.
const TEST_SHARE: f64 = 0.2;
/// The seed of that choice.
const SEED: u64 = 0;

fn read(path: &Path, request: &Request) -> Result<Found, DataError> {
    let mut tree = Tree::open(path, request.data.size_limit)?;
    let is_table = |name: &str| name.to_ascii_lowercase().ends_with(".csv");
    let Some(index) = tree.files.iter().position(|file| is_table(&file.name)) else {
        let hint = "a file yelp.csv was expected".into();
        return Err(DataError::Empty { file: tree.name, hint });
    };
    let name = tree.files[index].name.clone();
    let columns = TableColumns { text: "text".into(), label: Some("stars".into()) };
    let mut train = read_table(&name, &tree.read(index)?, &columns, request)?;
    train.number();
    let test = train.split_off(TEST_SHARE, SEED);
    Ok(Found::new(to_parts(Some(train), None, Some(test), request)?, Vec::new()))
}
