//! Folders of `.txt` files: which folder is a class, and which one names a part.

use super::part_name::{PartName, part_of};

/// How the `.txt` files of a tree are ordered: `good/1.txt`, or `train/good/1.txt` if every one of them is in
/// a folder whose name is a part.
pub(super) struct ClassFolders {
    /// Folders that all files are in, which say nothing.
    common: usize,
    has_parts: bool,
}

impl ClassFolders {
    pub(super) fn of(names: &[String]) -> Self {
        let texts = || names.iter().filter(|name| name.to_ascii_lowercase().ends_with(".txt"));
        let first = texts().next().map(|name| folders(name)).unwrap_or_default();
        let is_common = |depth: usize| {
            texts().all(|name| {
                let folders = folders(name);
                folders.len() > depth + 1 && folders[depth] == first[depth]
            })
        };
        let mut common = 0;
        while common < first.len() && is_common(common) && part_named(first[common]).is_none() {
            common += 1;
        }
        let in_part = |name: &String| folders(name).get(common).is_some_and(|top| part_named(top).is_some());
        Self { common, has_parts: texts().next().is_some() && texts().all(in_part) }
    }

    /// The part that a file belongs to.
    pub(super) fn part(&self, file: &str) -> PartName {
        let top = folders(file).get(self.common).and_then(|top| part_named(top));
        top.filter(|_| self.has_parts).unwrap_or(PartName::Train)
    }

    /// The class of a file: the folder that it is in.
    pub(super) fn class<'a>(&self, file: &'a str) -> Option<&'a str> {
        let folders = folders(file);
        let least = self.common + usize::from(self.has_parts);
        folders.last().copied().filter(|_| folders.len() > least)
    }
}

fn folders(file: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = file.split('/').collect();
    pieces.pop();
    pieces
}

/// The part that the whole name of a folder says.
fn part_named(folder: &str) -> Option<PartName> {
    part_of(folder).filter(|_| !folder.contains(['.', '_', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, PartName, Option<&str>)]) {
        let names: Vec<String> = files.iter().map(|(name, _, _)| name.to_string()).collect();
        let found = ClassFolders::of(&names);
        for (name, part, class) in files {
            assert_eq!((found.part(name), found.class(name)), (*part, *class), "{name}");
        }
    }

    #[test]
    fn classes_are_folders_and_parts_are_folders_around_them() {
        use PartName::{Test, Train};
        check(&[("good/1.txt", Train, Some("good")), ("bad/test-drive.txt", Train, Some("bad"))]);
        check(&[("good/val_kilmer.txt", Train, Some("good")), ("dev/0.txt", Train, Some("dev"))]);
        check(&[("train/good/1.txt", Train, Some("good")), ("test/bad/2.txt", Test, Some("bad"))]);
        check(&[("imdb/train/good/1.txt", Train, Some("good")), ("imdb/test/bad/2.txt", Test, Some("bad"))]);
        check(&[("train/1.txt", Train, None), ("test/2.txt", Test, None)]);
        check(&[("1.txt", Train, None)]);
        check(&[("good/1.txt", Train, Some("good")), ("good/2.txt", Train, Some("good"))]);
    }
}
