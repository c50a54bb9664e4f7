//! The store of finished jobs: a file of lines, one for each.

use super::ReproduceError;
use super::job::JobRecord;
use crate::lines::{LineFile, is_key, numbered, whole_lines};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The store, in the folder of a reproduction.
pub const JOBS_FILE: &str = "jobs.jsonl";

/// Finished jobs. A job that ran again, because its data changed, has the later record.
#[derive(Debug, Default)]
pub(super) struct JobRecords {
    all: Vec<JobRecord>,
    by_key: HashMap<String, usize>,
}

impl JobRecords {
    /// Reads the file of a store; there is nothing in one that does not exist.
    pub fn read(path: &Path) -> Result<Self, ReproduceError> {
        let io = |source| ReproduceError::Io { path: path.to_owned(), source };
        let mut records = Self::default();
        for (number, line) in numbered(&whole_lines(path).map_err(io)?) {
            let damaged =
                |what: String| ReproduceError::Damaged { path: path.to_owned(), line: number, what };
            let record: JobRecord =
                serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
            if !is_key(&record.key) {
                return Err(damaged(format!("'{}' is no key of a job", record.key)));
            }
            records.insert(record);
        }
        Ok(records)
    }

    fn insert(&mut self, record: JobRecord) {
        match self.by_key.get(&record.key) {
            Some(&place) => self.all[place] = record,
            None => {
                self.by_key.insert(record.key.clone(), self.all.len());
                self.all.push(record);
            }
        }
    }

    /// The record of a job.
    pub fn get(&self, key: &str) -> Option<&JobRecord> {
        self.by_key.get(key).map(|&place| &self.all[place])
    }

    pub fn iter(&self) -> impl Iterator<Item = &JobRecord> {
        self.all.iter()
    }
}

/// A store that is open.
pub(super) struct JobStore {
    path: PathBuf,
    file: LineFile,
    pub records: JobRecords,
}

impl JobStore {
    /// Opens a store, or begins it. What a kill left of a line is removed.
    pub fn open(path: PathBuf) -> Result<Self, ReproduceError> {
        let records = JobRecords::read(&path)?;
        let file =
            LineFile::open(&path).map_err(|source| ReproduceError::Io { path: path.clone(), source })?;
        Ok(Self { path, file, records })
    }

    /// Notes what a job came to.
    pub fn add(&mut self, record: JobRecord) -> Result<(), ReproduceError> {
        let line = serde_json::to_string(&record).expect("a record has values that JSON has only") + "\n";
        let io = |source| ReproduceError::Io { path: self.path.clone(), source };
        self.file.append(&line).map_err(io)?;
        self.records.insert(record);
        Ok(())
    }

    /// Takes over the jobs of another store that this one does not have; returns how many.
    pub fn join(&mut self, other: &Path) -> Result<usize, ReproduceError> {
        if other.is_dir() {
            return Err(ReproduceError::Folder { path: other.to_owned() });
        }
        if !other.is_file() {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(ReproduceError::Io { path: other.to_owned(), source });
        }
        let others = JobRecords::read(other)?;
        let new: Vec<JobRecord> =
            others.iter().filter(|record| self.records.get(&record.key).is_none()).cloned().collect();
        let count = new.len();
        new.into_iter().try_for_each(|record| self.add(record))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::content_hash;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    fn record(name: &str, seconds: f64) -> JobRecord {
        JobRecord {
            key: content_hash(&[name]),
            title: name.into(),
            data: "0123".into(),
            seconds,
            device: "cpu".into(),
            ..JobRecord::default()
        }
    }

    #[test]
    fn half_a_line_is_removed_and_everything_before_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.jsonl");
        let mut store = JobStore::open(path.clone()).unwrap();
        store.add(record("a", 1.0)).unwrap();
        let whole = std::fs::read(&path).unwrap().len();
        store.add(record("b", 2.0)).unwrap();
        let all = std::fs::read(&path).unwrap();
        for cut in whole + 1..all.len() {
            std::fs::write(&path, &all[..cut]).unwrap();
            let mut store = JobStore::open(path.clone()).unwrap();
            assert_eq!(store.records.iter().count(), 1);
            store.add(record("b", 2.0)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), all);
        }
    }

    #[test]
    fn a_job_that_ran_again_has_its_later_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.jsonl");
        let mut store = JobStore::open(path.clone()).unwrap();
        for (name, seconds) in [("a", 1.0), ("b", 2.0), ("a", 3.0)] {
            store.add(record(name, seconds)).unwrap();
        }
        let records = JobRecords::read(&path).unwrap();
        assert_eq!(records.iter().map(|r| r.seconds).collect::<Vec<_>>(), [3.0, 2.0]);
    }

    #[test]
    fn stores_are_joined_without_doubles() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one.jsonl", "two.jsonl"].map(|name| folder.path().join(name));
        let mut one = JobStore::open(paths[0].clone()).unwrap();
        one.add(record("a", 1.0)).unwrap();
        let mut two = JobStore::open(paths[1].clone()).unwrap();
        two.add(record("a", 5.0)).unwrap();
        two.add(record("b", 2.0)).unwrap();
        assert_eq!(one.join(&paths[1]).unwrap(), 1);
        assert_eq!(one.join(&paths[1]).unwrap(), 0);
        assert_eq!(one.records.iter().map(|r| r.seconds).collect::<Vec<_>>(), [1.0, 2.0]);
        assert!(one.join(&folder.path().join("none.jsonl")).is_err());
    }

    proptest! {
        #[test]
        fn a_damaged_store_is_read_or_refused(changes in vec((any::<Index>(), any::<u8>()), 1..4)) {
            let line = |name| serde_json::to_string(&record(name, 1.0)).unwrap() + "\n";
            let mut bytes = (line("a") + &line("b")).into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("jobs.jsonl");
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(records) = JobRecords::read(&path) {
                prop_assert!(records.iter().all(|record| is_key(&record.key)));
            }
        }
    }
}
