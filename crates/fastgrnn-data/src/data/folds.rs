//! Folds for cross-validation: every training sequence is in the validation part of one of them.
//!
//! ```
//! use fastgrnn_data::data::{CrossValidation, Dataset, Request, SplitBy, load};
//! let digits = load(&Request::new("digits"))?;
//! let folds = digits.folds(CrossValidation::Folds(5), SplitBy::Stratified, 0)?;
//! assert_eq!(folds.iter().map(Vec::len).sum::<usize>(), digits.train.len());
//! # Ok::<(), fastgrnn_data::data::DataError>(())
//! ```

use super::names::numbered;
use super::split::{classes, units};
use super::split_problem::SplitProblem;
use super::{DataError, Dataset, Examples, SplitBy};
use fastgrnn_core::initial::TextOr;
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_core::settings::InvalidSetting;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Whether the training data is divided into folds, and into how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossValidation {
    /// No folds: one validation part is split off.
    #[default]
    Off,
    /// This many folds.
    Folds(usize),
    /// A fold for each group.
    LeaveOneGroupOut,
}

impl CrossValidation {
    /// Whether there are folds.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

const LEAVE_ONE_GROUP_OUT: &str = "leave-one-group-out";

impl FromStr for CrossValidation {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        match (text, text.parse()) {
            ("off", _) => Ok(Self::Off),
            (LEAVE_ONE_GROUP_OUT, _) => Ok(Self::LeaveOneGroupOut),
            (_, Ok(folds)) if folds >= 2 => Ok(Self::Folds(folds)),
            (_, Ok(_)) => Err(InvalidSetting::new(format!("`{text}` folds are too few; use 2 or more"))),
            _ => Err(InvalidSetting::new(format!(
                "`{text}` is neither a number of folds, nor `{LEAVE_ONE_GROUP_OUT}`, nor `off`"
            ))),
        }
    }
}

impl std::fmt::Display for CrossValidation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Folds(folds) => write!(f, "{folds}"),
            Self::LeaveOneGroupOut => f.write_str(LEAVE_ONE_GROUP_OUT),
        }
    }
}

impl Serialize for CrossValidation {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Folds(folds) => s.serialize_u64(*folds as u64),
            other => s.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for CrossValidation {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let expected = "expected a number of folds, \"leave-one-group-out\" or \"off\"";
        let text = match TextOr::<u64>::deserialize(d).map_err(|_| D::Error::custom(expected))? {
            TextOr::Plain(folds) => folds.to_string(),
            TextOr::Text(text) => text,
        };
        text.parse().map_err(D::Error::custom)
    }
}

impl Dataset {
    /// The validation part of each fold: ascending indices into `train`. Together they are all of it.
    ///
    /// Groups stay whole if `by` says so, and windows of one recording always do. Every class is left
    /// in the training part of every fold, or this is an error.
    pub fn folds(
        &self,
        setting: CrossValidation,
        by: SplitBy,
        seed: u64,
    ) -> Result<Vec<Vec<u32>>, DataError> {
        let by = if setting == CrossValidation::LeaveOneGroupOut { SplitBy::Group } else { by };
        let units = units(&self.train, by)?;
        let of_sequence = match (setting, units) {
            (CrossValidation::Off, _) => return Ok(Vec::new()),
            (CrossValidation::LeaveOneGroupOut, units) => places(&units.unwrap_or_default()),
            (CrossValidation::Folds(folds), Some(units)) => {
                let units = places(&units);
                let found = units.iter().max().map_or(0, |last| last + 1);
                check_count(folds, found, "groups or recordings")?;
                deal_units(&self.train, &units, found, folds, seed)
            }
            (CrossValidation::Folds(folds), None) => {
                check_count(folds, self.train.len(), "sequences")?;
                deal_sequences(&self.train, folds, seed)
            }
        };
        let count = of_sequence.iter().max().map_or(0, |last| last + 1);
        if count < 2 {
            return Err(SplitProblem::OneUnit { sequences: self.train.len() }.into());
        }
        let mut folds = vec![Vec::new(); count];
        of_sequence.iter().enumerate().for_each(|(i, &fold)| folds[fold].push(i as u32));
        check_classes(&self.train, &of_sequence, count)?;
        Ok(folds)
    }
}

/// The units as 0, 1, … in order of first appearance.
fn places(units: &[u32]) -> Vec<usize> {
    numbered(units).into_iter().map(|unit| unit as usize).collect()
}

fn check_count(folds: usize, found: usize, of: &'static str) -> Result<(), DataError> {
    match folds <= found {
        true => Ok(()),
        false => Err(SplitProblem::TooManyFolds { folds, found, of }.into()),
    }
}

/// Refuses folds of which one holds a class whole: its training part would lack the class.
fn check_classes(examples: &Examples, of_sequence: &[usize], folds: usize) -> Result<(), DataError> {
    let mut total = vec![0usize; examples.classes().max(1)];
    let mut of_fold = vec![total.clone(); folds];
    for (class, &fold) in classes(examples).into_iter().zip(of_sequence) {
        total[class as usize] += 1;
        of_fold[fold][class as usize] += 1;
    }
    let loses = |fold: &Vec<usize>| fold.iter().zip(&total).any(|(n, all)| *all > 0 && n == all);
    match of_fold.iter().any(loses) {
        true => Err(SplitProblem::FoldLosesClass { folds }.into()),
        false => Ok(()),
    }
}

/// Deals the sequences of each class out to the folds in turn.
fn deal_sequences(examples: &Examples, folds: usize, seed: u64) -> Vec<usize> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, class) in classes(examples).into_iter().enumerate() {
        members.entry(class).or_default().push(i);
    }
    let mut rng = Rng::keyed(seed, &[stream::FOLDS]);
    let mut fold_of = vec![0; examples.len()];
    let mut next = 0;
    for of_class in members.values_mut() {
        rng.shuffle(of_class);
        for &i in &*of_class {
            fold_of[i] = next;
            next = (next + 1) % folds;
        }
    }
    fold_of
}

/// Gives each unit, the largest first, to the fold that has least of the unit's classes.
fn deal_units(examples: &Examples, units: &[usize], count: usize, folds: usize, seed: u64) -> Vec<usize> {
    let n_classes = examples.classes().max(1);
    let mut sizes = vec![vec![0.0f64; n_classes]; count];
    let mut total = vec![0.0f64; n_classes];
    for (class, &unit) in classes(examples).into_iter().zip(units) {
        sizes[unit][class as usize] += 1.0;
        total[class as usize] += 1.0;
    }
    // A class counts the same, however frequent it is.
    for size in &mut sizes {
        size.iter_mut().zip(&total).for_each(|(n, all)| *n /= all.max(1.0));
    }
    let mut order: Vec<usize> = (0..count).collect();
    Rng::keyed(seed, &[stream::FOLDS]).shuffle(&mut order);
    let weight = |unit: &usize| sizes[*unit].iter().sum::<f64>();
    order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let (mut held, mut fold_of) = (vec![vec![0.0f64; n_classes]; folds], vec![0; count]);
    for unit in order {
        // Of folds with as much of these classes, the smaller one; an empty fold has least of all.
        let cost = |fold: usize| {
            let own = held[fold].iter().zip(&sizes[unit]);
            let more: f64 = own.map(|(have, more)| (have + more).powi(2) - have.powi(2)).sum();
            (more, held[fold].iter().sum::<f64>())
        };
        let best = (1..folds).fold(0, |best, fold| if cost(fold) < cost(best) { fold } else { best });
        held[best].iter_mut().zip(&sizes[unit]).for_each(|(have, more)| *have += more);
        fold_of[unit] = best;
    }
    units.iter().map(|&unit| fold_of[unit]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Labels, Sequences};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn data(classes: &[u32], group: Option<Vec<u32>>) -> Dataset {
        let mut x = Sequences::new(1);
        classes.iter().for_each(|&c| x.push(&[c as f32]));
        let names = (0..=classes.iter().max().copied().unwrap_or(0)).map(|c| c.to_string()).collect();
        let examples = Examples::new(x, Labels::Class { index: classes.to_vec(), names });
        Dataset::new("example", Examples { group, ..examples })
    }

    #[test]
    fn settings_are_written_as_they_are_read() {
        for text in ["off", "5", "leave-one-group-out"] {
            let setting: CrossValidation = text.parse().unwrap();
            assert_eq!(setting.to_string(), text);
            let json = serde_json::to_string(&setting).unwrap();
            assert_eq!(serde_json::from_str::<CrossValidation>(&json).unwrap(), setting);
        }
        for (text, part) in [("1", "2 or more"), ("0", "2 or more"), ("all", "neither a number of folds")] {
            assert!(text.parse::<CrossValidation>().unwrap_err().to_string().contains(part), "{text}");
        }
    }

    #[test]
    fn each_group_is_a_fold_if_one_is_left_out() {
        let groups = vec![7, 7, 3, 3, 9, 9];
        let data = data(&[0, 1, 0, 1, 0, 1], Some(groups));
        let folds = data.folds(CrossValidation::LeaveOneGroupOut, SplitBy::Stratified, 0).unwrap();
        assert_eq!(folds, [[0, 1], [2, 3], [4, 5]]);
    }

    #[test]
    fn folds_that_cannot_be_made_are_errors() {
        let of = |data: &Dataset, setting, by| data.folds(setting, by, 0).unwrap_err().to_string();
        let plain = data(&[0, 1, 0, 1], None);
        let error = of(&plain, CrossValidation::Folds(5), SplitBy::Stratified);
        assert!(error.contains("5 folds of 4 sequences"), "{error}");
        let error = of(&plain, CrossValidation::LeaveOneGroupOut, SplitBy::Stratified);
        assert!(error.contains("`group-col`"), "{error}");
        let grouped = data(&[0, 0, 1, 1], Some(vec![0, 0, 1, 1]));
        let error = of(&grouped, CrossValidation::Folds(2), SplitBy::Group);
        assert!(error.contains("would lose a class"), "{error}");
        let error = of(&grouped, CrossValidation::Folds(3), SplitBy::Group);
        assert!(error.contains("3 folds of 2 groups"), "{error}");
    }

    proptest! {
        #[test]
        fn folds_are_a_partition_that_keeps_groups_whole(
            classes in prop::collection::vec(0u32..3, 12..60),
            folds in 2usize..6,
            grouped: bool,
            seed: u64,
        ) {
            let group: Vec<u32> = (0..classes.len() as u32).map(|i| i % 7).collect();
            let data = data(&classes, grouped.then(|| group.clone()));
            let by = if grouped { SplitBy::Group } else { SplitBy::Stratified };
            if let Ok(found) = data.folds(CrossValidation::Folds(folds), by, seed) {
                prop_assert_eq!(found.len(), folds);
                let mut all: Vec<u32> = found.concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..classes.len() as u32).collect::<Vec<_>>());
                let sizes: Vec<usize> = found.iter().map(Vec::len).collect();
                prop_assert!(sizes.iter().all(|&n| n > 0));
                if grouped {
                    let groups = |fold: &Vec<u32>| -> BTreeSet<u32> {
                        fold.iter().map(|&i| group[i as usize]).collect()
                    };
                    let sizes = found.iter().map(|fold| groups(fold).len());
                    prop_assert_eq!(sizes.sum::<usize>(), 7, "a group is in one fold only");
                } else {
                    prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                }
                prop_assert_eq!(found, data.folds(CrossValidation::Folds(folds), by, seed).unwrap());
            }
        }
    }
}
