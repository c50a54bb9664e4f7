//! The store of a search: a file of lines, one for each round that was planned and each trial that ended.
//!
//! Lines are only appended, and each is made durable before the next. What a kill left of a line is removed when the store
//! is opened again.

use super::SearchError;
use super::candidate::Size;
use super::plan::MAX_RUNGS;
use super::propose::Quality;
use crate::lines::{KEY_DIGITS, LineFile, is_key, numbered, whole_lines};
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Metric, Scores};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::Table;

/// The name of the file in the folder of a search.
pub const TRIALS_FILE: &str = "trials.jsonl";

/// No search comes so far.
const MOST_BRACKETS: usize = 1 << 32;

/// Which part of a search a round belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Short trainings that find good settings.
    Search,
    /// Whole trainings of the best ones, with several seeds.
    Finals,
}

/// Trials that are planned together, before any of them runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Round {
    /// What it belongs to.
    pub part: Part,
    /// The bracket, from 0; of finals the number of trials before them.
    pub bracket: usize,
    /// The rung of the bracket, from 0.
    pub rung: usize,
    /// The choices of each trial.
    pub trials: Vec<Table>,
}

/// A trial that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Trial {
    /// A hash of everything that decides the result.
    pub key: String,
    /// The part of the search.
    pub part: Part,
    /// The bracket, from 0; of finals the number of trials before them.
    pub bracket: usize,
    /// The rung, from 0.
    pub rung: usize,
    /// Its place in the round, from 0.
    pub index: usize,
    /// What was chosen; empty for the recipe as it was given.
    pub choices: Table,
    /// The cell.
    pub cell: String,
    /// Units of a layer.
    pub hidden: usize,
    /// What the network needs, known before it was trained.
    pub size: Size,
    /// Epochs of the training, and of a whole one.
    pub epochs: usize,
    /// Epochs of a whole training.
    pub whole_epochs: usize,
    /// Bytes of the trained model.
    pub bytes: Option<usize>,
    /// Validation scores, the mean over the seeds; nothing if the training diverged.
    pub val: Option<Scores>,
    /// Their deviation, with several seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val_sd: Option<Scores>,
    /// Why there are no scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Trial {
    /// How good it is.
    pub(super) fn quality(&self, metric: Metric) -> Quality {
        let of = |scores: &Scores| Quality { score: metric.of(scores), loss: scores.loss };
        self.val.as_ref().map_or(Quality::WORST, of)
    }

    fn place(&self) -> (Part, usize, usize, usize) {
        (self.part, self.bracket, self.rung, self.index)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Round(Round),
    Trial(Box<Trial>),
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    rounds: Vec<(Round, Vec<Option<Trial>>)>,
}

impl Records {
    /// What the store of a folder holds.
    pub fn read(folder: &Path) -> Result<Self, SearchError> {
        read(&folder.join(TRIALS_FILE))
    }

    /// The rounds in the order in which they were planned, each with its trials.
    pub fn rounds(&self) -> &[(Round, Vec<Option<Trial>>)] {
        &self.rounds
    }

    /// The trials of a part that ended, in order.
    pub fn of_part(&self, part: Part) -> impl Iterator<Item = &Trial> {
        self.rounds
            .iter()
            .filter(move |(round, _)| round.part == part)
            .flat_map(|(_, trials)| trials.iter().flatten())
    }

    /// How many different settings were planned to be tried.
    pub fn tried(&self) -> usize {
        let first = self.rounds.iter().filter(|(round, _)| round.part == Part::Search && round.rung == 0);
        first.map(|(round, _)| round.trials.len()).sum()
    }

    /// Whether these choices were planned to be tried.
    pub(super) fn has_tried(&self, choices: &Table) -> bool {
        self.rounds.iter().any(|(round, _)| round.trials.contains(choices))
    }

    /// The round at a place.
    pub(super) fn round(
        &self,
        part: Part,
        bracket: usize,
        rung: usize,
    ) -> Option<&(Round, Vec<Option<Trial>>)> {
        self.rounds.iter().find(|(r, _)| (r.part, r.bracket, r.rung) == (part, bracket, rung))
    }

    /// Takes in a line. An error says what does not fit.
    fn take(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Round(round) if round.rung >= MAX_RUNGS || round.bracket > MOST_BRACKETS => {
                Err(format!("there is no bracket {} with a rung {}", round.bracket, round.rung))
            }
            Line::Trial(trial) if !is_key(&trial.key) => {
                Err(format!("the key '{}' of a trial is not {KEY_DIGITS} hexadecimal digits", trial.key))
            }
            Line::Round(round) => match self.round(round.part, round.bracket, round.rung) {
                Some((known, _)) if *known == round => Ok(()),
                Some(_) if round.part == Part::Finals => {
                    Err("the finals were planned with other settings".to_owned())
                }
                Some(_) => Err(format!(
                    "bracket {}, rung {} was planned with other trials",
                    round.bracket + 1,
                    round.rung + 1
                )),
                None => {
                    let trials = vec![None; round.trials.len()];
                    self.rounds.push((round, trials));
                    Ok(())
                }
            },
            Line::Trial(trial) => {
                let (part, bracket, rung, index) = trial.place();
                let round = self
                    .rounds
                    .iter_mut()
                    .find(|(r, _)| (r.part, r.bracket, r.rung) == (part, bracket, rung));
                let slot = round
                    .and_then(|(round, trials)| Some((round.trials.get(index)?, trials.get_mut(index)?)));
                let Some((round_choices, slot)) = slot else {
                    return Err(format!("trial {} belongs to no round that was planned", trial.key));
                };
                match slot {
                    _ if trial.choices != *round_choices => {
                        Err(format!("trial {} has other choices than its round", trial.key))
                    }
                    Some(known) if *known == *trial => Ok(()),
                    Some(known) => Err(format!("trial {} is there with another result", known.key)),
                    None => {
                        *slot = Some(*trial);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Joins what another store of the same search holds. An error says what does not fit.
    fn join(&mut self, other: &Records) -> Result<(), String> {
        for (round, trials) in &other.rounds {
            self.take(Line::Round(round.clone()))?;
            trials.iter().flatten().try_for_each(|trial| self.take(Line::Trial(Box::new(trial.clone()))))?;
        }
        Ok(())
    }

    /// The text of a store that holds this.
    fn text(&self) -> String {
        let mut text = String::new();
        for (round, trials) in &self.rounds {
            text.push_str(&line_text(&Line::Round(round.clone())));
            let trials = trials.iter().flatten();
            trials.for_each(|trial| text.push_str(&line_text(&Line::Trial(Box::new(trial.clone())))));
        }
        text
    }
}

fn line_text(line: &Line) -> String {
    serde_json::to_string(line).expect("choices are tables of values that JSON has") + "\n"
}

/// A store that is open.
pub(super) struct Store {
    path: PathBuf,
    file: LineFile,
    pub records: Records,
}

impl Store {
    /// Opens the store of a folder, or begins it. What a kill left of a line is removed.
    pub fn open(folder: &Path) -> Result<Self, SearchError> {
        let path = folder.join(TRIALS_FILE);
        let records = read(&path)?;
        let file = LineFile::open(&path).map_err(|source| SearchError::Io { path: path.clone(), source })?;
        Ok(Self { path, file, records })
    }

    /// Notes that a round is planned.
    pub fn add_round(&mut self, round: Round) -> Result<(), SearchError> {
        self.append(Line::Round(round))
    }

    /// Notes a trial.
    pub fn add_trial(&mut self, trial: Trial) -> Result<(), SearchError> {
        self.append(Line::Trial(Box::new(trial)))
    }

    fn append(&mut self, line: Line) -> Result<(), SearchError> {
        let io = |source| SearchError::Io { path: self.path.clone(), source };
        self.file.append(&line_text(&line)).map_err(io)?;
        self.records.take(line).map_err(|what| SearchError::Damaged {
            path: self.path.clone(),
            line: 0,
            what,
        })
    }
}

/// What the file of a store holds.
pub(super) fn read(path: &Path) -> Result<Records, SearchError> {
    let bytes = whole_lines(path).map_err(|source| SearchError::Io { path: path.to_owned(), source })?;
    let mut records = Records::default();
    for (number, line) in numbered(&bytes) {
        let damaged = |what: String| SearchError::Damaged { path: path.to_owned(), line: number, what };
        let line: Line = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        records.take(line).map_err(damaged)?;
    }
    Ok(records)
}

/// Joins the stores of several folders, and gives each of them all that any of them holds.
pub(super) fn merge(folders: &[PathBuf]) -> Result<Records, SearchError> {
    let mut all = Records::default();
    for folder in folders {
        let path = folder.join(TRIALS_FILE);
        let records = read(&path)?;
        all.join(&records).map_err(|what| SearchError::Conflict { path, what })?;
    }
    let text = all.text();
    for folder in folders {
        let path = folder.join(TRIALS_FILE);
        write_atomic(&path, text.as_bytes()).map_err(|source| SearchError::Io { path, source })?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::content_hash;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use toml::Value;

    fn round(bracket: usize, trials: usize) -> Round {
        let choices = |i: usize| Table::from_iter([("lr".to_owned(), Value::Float(0.1 + i as f64))]);
        Round { part: Part::Search, bracket, rung: 0, trials: (0..trials).map(choices).collect() }
    }

    fn trial(bracket: usize, index: usize) -> Trial {
        Trial {
            key: content_hash(&[&bracket.to_string(), &index.to_string()]),
            part: Part::Search,
            bracket,
            rung: 0,
            index,
            choices: round(bracket, index + 1).trials[index].clone(),
            cell: "gru".into(),
            hidden: 8,
            size: Size { bytes: 900, ram: None, ms: Some(1.5) },
            epochs: 3,
            whole_epochs: 9,
            bytes: Some(890),
            val: Some(Scores { accuracy: Some(0.5), ..Scores::default() }),
            val_sd: None,
            failed: None,
        }
    }

    #[test]
    fn half_a_line_is_removed_and_everything_before_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.add_round(round(0, 2)).unwrap();
        store.add_trial(trial(0, 0)).unwrap();
        let path = folder.path().join(TRIALS_FILE);
        let whole = std::fs::read(&path).unwrap();
        store.add_trial(trial(0, 1)).unwrap();
        let all = std::fs::read(&path).unwrap();
        for cut in whole.len() + 1..all.len() {
            std::fs::write(&path, &all[..cut]).unwrap();
            let mut store = Store::open(folder.path()).unwrap();
            assert_eq!(store.records.of_part(Part::Search).count(), 1);
            store.add_trial(trial(0, 1)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), all);
        }
    }

    proptest! {
        #[test]
        fn a_damaged_store_is_read_whole_or_refused(
            changes in vec((any::<Index>(), any::<u8>(), 0..3_u8), 1..4),
        ) {
            let mut bytes = Records { rounds: vec![
                (round(0, 2), vec![Some(trial(0, 0)), None]),
                (round(1, 1), vec![Some(trial(1, 0))]),
            ] }.text().into_bytes();
            for (at, byte, kind) in changes {
                let at = at.index(bytes.len());
                match kind {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, byte),
                }
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(TRIALS_FILE);
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(records) = read(&path) {
                std::fs::write(&path, records.text()).unwrap();
                prop_assert_eq!(read(&path).unwrap(), records);
            }
        }
    }

    #[test]
    fn a_trial_whose_key_could_name_another_folder_is_refused() {
        let mut records = Records::default();
        records.take(Line::Round(round(0, 1))).unwrap();
        for key in ["", "../../somewhere", "é", "0123456789abcdef"] {
            let trial = Trial { key: key.into(), ..trial(0, 0) };
            assert!(records.take(Line::Trial(Box::new(trial))).unwrap_err().contains("hexadecimal"));
        }
        let far = Round { bracket: usize::MAX, ..round(0, 1) };
        assert!(records.take(Line::Round(far)).unwrap_err().contains("no bracket"));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.add_round(round(0, 1)).unwrap();
        let path = folder.path().join(TRIALS_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text + "{\"trial\": 3}\n").unwrap();
        let error = Store::open(folder.path()).map(drop).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn stores_are_joined_without_doubles_in_the_order_of_one_process() {
        let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
        let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path().to_owned()).collect();
        let fill = |folder: &Path, indices: &[usize]| {
            let mut store = Store::open(folder).unwrap();
            store.add_round(round(0, 4)).unwrap();
            indices.iter().for_each(|&index| store.add_trial(trial(0, index)).unwrap());
        };
        fill(&paths[0], &[0, 2]);
        fill(&paths[1], &[1, 2, 3]);
        fill(&paths[2], &[0, 1, 2, 3]);
        let text = |folder: &Path| std::fs::read_to_string(folder.join(TRIALS_FILE)).unwrap();
        let one = text(&paths[2]);
        merge(&paths[..2]).unwrap();
        assert_eq!((text(&paths[0]), text(&paths[1])), (one.clone(), one));
    }

    #[test]
    fn stores_of_different_searches_are_not_joined() {
        let folders: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
        let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path().to_owned()).collect();
        Store::open(&paths[0]).unwrap().add_round(round(0, 4)).unwrap();
        let mut other = Store::open(&paths[1]).unwrap();
        other.add_round(round(0, 3)).unwrap();
        let before = std::fs::read(paths[1].join(TRIALS_FILE)).unwrap();
        let error = merge(&paths).unwrap_err().to_string();
        assert!(error.contains("planned with other trials"), "{error}");
        assert_eq!(std::fs::read(paths[1].join(TRIALS_FILE)).unwrap(), before);
    }
}
