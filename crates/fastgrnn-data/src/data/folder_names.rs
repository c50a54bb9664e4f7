//! What the names of the folders around a file say: its part, its class and its group.

use super::speech::Split;

/// The part that a folder, or a cell of a manifest, names.
pub(crate) fn part_called(name: &str) -> Option<Split> {
    match name.to_ascii_lowercase().as_str() {
        "train" | "training" => Some(Split::Train),
        "val" | "valid" | "validation" | "dev" => Some(Split::Validation),
        "test" | "testing" => Some(Split::Test),
        _ => None,
    }
}

/// Files in folders of two levels, of which one is the class and the other the group.
pub(crate) struct Nested {
    /// The level of the class.
    pub class: usize,
    /// The level of the group.
    pub group: usize,
}

impl Nested {
    /// The levels at `inner` and below it, if all files lie there and one of them counts, such as
    /// `S01, S02, …`: that one is the group.
    pub fn of(paths: &[Vec<&str>], inner: usize) -> Option<Self> {
        if paths.is_empty() || !paths.iter().all(|path| path.len() == inner + 3) {
            return None;
        }
        match (counts(paths, inner), counts(paths, inner + 1)) {
            (true, false) => Some(Self { class: inner + 1, group: inner }),
            (false, true) => Some(Self { class: inner, group: inner + 1 }),
            _ => None,
        }
    }

    /// What to tell people about it.
    pub fn note(&self, paths: &[Vec<&str>]) -> String {
        format!(
            "folders such as '{}' were taken as classes, and those such as '{}' as groups; see `label-from` and `group-from`",
            paths[0][self.class], paths[0][self.group]
        )
    }
}

/// Whether the names of a level are one word with different numbers.
fn counts(paths: &[Vec<&str>], level: usize) -> bool {
    let stem = |path: &Vec<&str>| path[level].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let first = &paths[0][level][..stem(&paths[0])];
    paths.iter().all(|path| stem(path) < path[level].len() && &path[level][..stem(path)] == first)
}
