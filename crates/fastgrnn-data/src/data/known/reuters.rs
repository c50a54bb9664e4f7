//! `reuters`: news stories with several topics each, in the ModApte split.

use std::path::Path;

use super::super::texts::read_stories;
use super::super::{DataError, Request, archive::Tree};
use super::set::{Found, KnownSpec, is_whole, no_axes};

pub(super) const SPEC: KnownSpec = KnownSpec {
    name: "reuters",
    description: "Reuters-21578, news stories with one or more topics (task = multilabel)",
    licence: "Reuters Ltd.: for research only",
    sizes: [7_775, 3_019, 300, 0, 115],
    places: &[
        "reuters/reuters21578.tar.xz",
        "reuters/reuters21578.tar.gz",
        "reuters/reuters21578",
        "reuters21578",
        "reuters",
    ],
    marker: "reut2-000.sgm|reuters21578",
    fetch: "Reuters-21578, Distribution 1.0, of David D. Lewis (reuters21578.tar.gz, or unpacked: reut2-000.sgm to reut2-021.sgm)",
    checksums: &[("reuters21578.tar.xz", "402e55c83150cb5dffc9f3da2491ef06e36f50021b53a6da89139c62e4af33b0")],
    axes: no_axes,
    group_split: false,
    count: is_whole,
    read,
};

/// Files of stories in the whole set.
const FILES: usize = 22;

fn read(path: &Path, request: &Request) -> Result<Found, DataError> {
    let mut tree = Tree::open(path, request.data.size_limit)?;
    let is_stories = |name: &str| name.to_ascii_lowercase().ends_with(".sgm");
    let files = tree.files.iter().filter(|file| is_stories(&file.name)).count();
    if files == 0 {
        let hint = "the files reut2-000.sgm to reut2-021.sgm were expected".into();
        return Err(DataError::Empty { file: tree.name, hint });
    }
    // Lists of categories and the description of the set belong to it.
    tree.files.retain(|file| is_stories(&file.name));
    tree.name = SPEC.name.into();
    let notes = match files < FILES {
        true => vec![format!("{files} of {FILES} files of stories were found")],
        false => Vec::new(),
    };
    Ok(Found::new(read_stories(&mut tree, request, true)?, notes))
}
