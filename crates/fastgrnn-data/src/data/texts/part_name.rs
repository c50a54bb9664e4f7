//! Which part of the data a file belongs to.

/// Which part of the data a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartName {
    Train,
    Validation,
    Test,
}

/// The part that a piece of a path tells, such as `train.txt`, `wiki.valid.tokens` or `test/good/1.txt`.
pub(super) fn part_of(path: &str) -> Option<PartName> {
    path.to_ascii_lowercase().split(['/', '.', '_', '-']).find_map(|piece| match piece {
        "train" | "training" | "trn" => Some(PartName::Train),
        "valid" | "val" | "validation" | "dev" => Some(PartName::Validation),
        "test" | "tst" => Some(PartName::Test),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_by_pieces_of_paths() {
        for (name, part) in [
            ("train.txt", Some(PartName::Train)),
            ("ptb.train.txt", Some(PartName::Train)),
            ("wiki.valid.tokens", Some(PartName::Validation)),
            ("books/dev.txt", Some(PartName::Validation)),
            ("a_test.txt", Some(PartName::Test)),
            ("test/good/1.txt", Some(PartName::Test)),
            ("AmazonCat/tst.json", Some(PartName::Test)),
            ("trn_X_Y.txt", Some(PartName::Train)),
            ("readme.txt", None),
            ("retrain.txt", None),
        ] {
            assert_eq!(part_of(name), part, "{name}");
        }
    }
}
