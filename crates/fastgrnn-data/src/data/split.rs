//! Splitting a validation part off the training data.
//!
//! Stratified: a fraction of every class at random. By group: whole groups (subjects, devices), so
//! that validation sees none of the people trained on. Windows cut from one recording overlap or
//! touch; a split keeps recordings whole. If there is only one recording, or only one of a class,
//! recordings are split into blocks of time, and windows near the other part are in neither.
//!
//! ```
//! use fastgrnn_data::data::{Examples, Labels, Sequences, SplitBy, validation_split};
//! let mut x = Sequences::new(1);
//! (0..10).for_each(|i| x.push(&[i as f32]));
//! let names = vec!["no".to_string(), "yes".to_string()];
//! let y = Labels::Class { index: vec![0, 0, 0, 0, 0, 1, 1, 1, 1, 1], names };
//! let (train, valid) = validation_split(&Examples::new(x, y), SplitBy::Stratified, 0.2, 7)?;
//! assert_eq!((train.len(), valid.len()), (8, 2));
//! # Ok::<(), fastgrnn_data::data::DataError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::names::numbered;
use super::split_problem::SplitProblem;
use super::time_blocks::{self, RecordingBlocks};
use super::{DataError, Dataset, Examples, Labels, SplitBy};
use fastgrnn_core::rng::{Rng, stream};

/// Draws of whole groups among which the best is taken.
const ATTEMPTS: u64 = 64;

/// Splits `examples` into training and validation indices, both ascending.
///
/// About `fraction` of the sequences go to validation; 0 leaves it empty. A class with at least two
/// members (two recordings, if windows were cut) lies on both sides of a stratified split. Where a
/// recording is divided, windows that are too near to the other part are in neither.
pub fn validation_split(
    examples: &Examples,
    by: SplitBy,
    fraction: f64,
    seed: u64,
) -> Result<(Vec<u32>, Vec<u32>), DataError> {
    let n = examples.len();
    if !(0.0..1.0).contains(&fraction) {
        return Err(SplitProblem::Fraction { fraction }.into());
    }
    if fraction == 0.0 {
        return Ok(((0..n as u32).collect(), Vec::new()));
    }
    if examples.is_one_recording() {
        let all: Vec<u32> = (0..n as u32).collect();
        return Ok(time_blocks::split(examples, &all, fraction, seed)?);
    }
    if let Some(parts) = in_blocks(examples, by, fraction, seed) {
        return Ok(parts);
    }
    let in_validation = match units(examples, by)? {
        Some(units) => whole_units(examples, &units, fraction, seed)?,
        None => stratified(examples, fraction, seed)?,
    };
    Ok((0..n as u32).partition(|&i| !in_validation[i as usize]))
}

impl Dataset {
    /// Training and validation indices into `train`: the set's own validation part where it has
    /// one, else [`validation_split`]. A `fraction` of 0 leaves the validation part empty.
    pub fn split(&self, by: SplitBy, fraction: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>), DataError> {
        match &self.validation {
            Some(part) if fraction > 0.0 => {
                let train = (0..self.train.len() as u32).filter(|i| part.binary_search(i).is_err());
                Ok((train.collect(), part.clone()))
            }
            _ => validation_split(&self.train, by, fraction, seed),
        }
    }
}

/// Parts made of blocks of time, if a class is in one recording only, so that whole recordings cannot give
/// it to both parts, and blocks can. Groups with names of their own are never divided.
pub(super) fn in_blocks(
    examples: &Examples,
    by: SplitBy,
    fraction: f64,
    seed: u64,
) -> Option<(Vec<u32>, Vec<u32>)> {
    let (Some(recording), Some(_), Labels::Class { index, names }) =
        (&examples.recording, &examples.span, &examples.y)
    else {
        return None;
    };
    if is_one(recording) {
        return None;
    }
    let groups = examples.group.as_ref().filter(|group| by == SplitBy::Group && !is_one(group));
    if groups.is_some_and(|group| numbered(group) != numbered(recording)) {
        return None;
    }
    let mut recordings = vec![BTreeSet::new(); names.len()];
    for (&class, &of) in index.iter().zip(recording) {
        recordings[class as usize].insert(of);
    }
    if !recordings.iter().any(|of_class| of_class.len() == 1) {
        return None;
    }
    let RecordingBlocks { mut first, mut second, short } = time_blocks::split_each(examples, fraction, seed);
    // Recordings that are too short to be divided are dealt out whole.
    let rest: Vec<u32> = short.into_iter().flatten().collect();
    let of_rest: Vec<u32> = rest.iter().map(|&i| recording[i as usize]).collect();
    let classes: Vec<u32> = rest.iter().map(|&i| index[i as usize]).collect();
    match chosen_units(&classes, &of_rest, names.len(), fraction, seed) {
        Ok(chosen) => {
            for (&i, chosen) in rest.iter().zip(chosen) {
                if chosen { second.push(i) } else { first.push(i) }
            }
        }
        Err(_) => first.extend(rest),
    }
    first.sort_unstable();
    second.sort_unstable();
    let has = |part: &[u32], class: usize| part.iter().any(|&i| index[i as usize] as usize == class);
    let is_whole = |class: usize| recordings[class].is_empty() || (has(&first, class) && has(&second, class));
    (0..names.len()).all(is_whole).then_some((first, second))
}

/// The unit of each sequence that must stay whole, if there are such units.
pub(super) fn units(examples: &Examples, by: SplitBy) -> Result<Option<Vec<u32>>, DataError> {
    match (by, &examples.group, &examples.recording) {
        (SplitBy::Group, None, _) => Err(SplitProblem::NoGroups.into()),
        (SplitBy::Group, Some(group), None) => Ok(Some(group.clone())),
        // Of one group, recordings are what can be kept whole.
        (SplitBy::Group, Some(group), Some(recording)) if is_one(group) => Ok(Some(recording.clone())),
        (SplitBy::Group, Some(group), Some(recording)) => Ok(Some(joined(group, recording))),
        (SplitBy::Stratified, _, recording) => Ok(recording.clone()),
    }
}

impl Examples {
    /// Whether all sequences are windows of one recording.
    pub(crate) fn is_one_recording(&self) -> bool {
        self.len() > 1 && self.recording.as_ref().is_some_and(|recording| is_one(recording))
    }
}

fn is_one(units: &[u32]) -> bool {
    units.windows(2).all(|pair| pair[0] == pair[1])
}

/// The class of each sequence; 0 if labels are not classes.
pub(super) fn classes(examples: &Examples) -> Vec<u32> {
    match &examples.y {
        Labels::Class { index, .. } => index.clone(),
        _ => vec![0; examples.len()],
    }
}

fn stratified(examples: &Examples, fraction: f64, seed: u64) -> Result<Vec<bool>, DataError> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, class) in classes(examples).into_iter().enumerate() {
        members.entry(class).or_default().push(i);
    }
    if !members.values().any(|of_class| of_class.len() > 1) {
        return Err(SplitProblem::TooFew { sequences: examples.len() }.into());
    }
    let mut rng = Rng::keyed(seed, &[stream::SPLIT]);
    let mut chosen = vec![false; examples.len()];
    for of_class in members.values_mut() {
        rng.shuffle(of_class);
        for &i in &of_class[..share(of_class.len(), fraction)] {
            chosen[i] = true;
        }
    }
    Ok(chosen)
}

/// About `fraction` of `n`, but never all, and never none of two or more.
fn share(n: usize, fraction: f64) -> usize {
    if n < 2 { 0 } else { ((fraction * n as f64).round() as usize).clamp(1, n - 1) }
}

/// Chooses whole units for validation: the best of several draws, by classes missing from training,
/// then classes missing from validation, then distance from the requested fraction.
fn whole_units(examples: &Examples, units: &[u32], fraction: f64, seed: u64) -> Result<Vec<bool>, DataError> {
    chosen_units(&classes(examples), units, examples.classes().max(1), fraction, seed)
}

/// The same for sequences of these classes.
fn chosen_units(
    class: &[u32],
    units: &[u32],
    n_classes: usize,
    fraction: f64,
    seed: u64,
) -> Result<Vec<bool>, DataError> {
    let mut counts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (&unit, &class) in units.iter().zip(class) {
        counts.entry(unit).or_insert_with(|| vec![0; n_classes])[class as usize] += 1;
    }
    if counts.len() < 2 {
        return Err(SplitProblem::OneUnit { sequences: units.len() }.into());
    }
    let mut total = vec![0; n_classes];
    counts.values().for_each(|count| add(&mut total, count));
    let ids: Vec<u32> = counts.keys().copied().collect();
    let target = fraction * units.len() as f64;
    let mut best: Option<(usize, usize, f64, Vec<u32>)> = None;
    for attempt in 0..ATTEMPTS {
        let mut order = ids.clone();
        Rng::keyed(seed, &[stream::SPLIT, attempt]).shuffle(&mut order);
        order.truncate(share(ids.len(), fraction));
        let mut valid = vec![0; n_classes];
        order.iter().for_each(|id| add(&mut valid, &counts[id]));
        let missing_train = total.iter().zip(&valid).filter(|(t, v)| **t > 0 && t == v).count();
        let missing_valid = total.iter().zip(&valid).filter(|(t, v)| **t > 0 && **v == 0).count();
        let distance = (valid.iter().sum::<usize>() as f64 - target).abs();
        let better = best.as_ref().is_none_or(|(train, valid, old, _)| {
            (missing_train, missing_valid, distance) < (*train, *valid, *old)
        });
        if better {
            best = Some((missing_train, missing_valid, distance, order));
        }
    }
    match best {
        Some((0, _, _, chosen)) => {
            let chosen: BTreeSet<u32> = chosen.into_iter().collect();
            Ok(units.iter().map(|unit| chosen.contains(unit)).collect())
        }
        _ => Err(SplitProblem::LosesClass { units: ids.len() }.into()),
    }
}

fn add(sum: &mut [usize], count: &[usize]) {
    sum.iter_mut().zip(count).for_each(|(s, c)| *s += c);
}

/// The finest units that keep both `a` and `b` whole.
fn joined(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut unit: Vec<u32> = (0..a.len() as u32).collect();
    let (mut first_a, mut first_b) = (BTreeMap::new(), BTreeMap::new());
    for i in 0..a.len() {
        for first in [*first_a.entry(a[i]).or_insert(i as u32), *first_b.entry(b[i]).or_insert(i as u32)] {
            let (x, y) = (root(&mut unit, i as u32), root(&mut unit, first));
            unit[x.max(y) as usize] = x.min(y);
        }
    }
    (0..a.len() as u32).map(|i| root(&mut unit, i)).collect()
}

fn root(unit: &mut [u32], mut i: u32) -> u32 {
    while unit[i as usize] != i {
        unit[i as usize] = unit[unit[i as usize] as usize];
        i = unit[i as usize];
    }
    i
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Sequences;
    use super::*;

    fn examples(classes: &[u32], group: Option<Vec<u32>>, recording: Option<Vec<u32>>) -> Examples {
        let mut x = Sequences::new(1);
        classes.iter().for_each(|&c| x.push(&[c as f32]));
        let n = classes.iter().max().map_or(0, |c| c + 1);
        let names = (0..n).map(|c| c.to_string()).collect();
        let y = Labels::Class { index: classes.to_vec(), names };
        Examples { x, y, group, recording, span: None, ids: None }
    }

    fn whole(units: &[u32], train: &[u32], valid: &[u32]) -> bool {
        train.iter().all(|&t| valid.iter().all(|&v| units[t as usize] != units[v as usize]))
    }

    #[test]
    fn the_same_seed_gives_the_same_split_and_another_seed_another() {
        let data = examples(&[0, 1].repeat(50), None, None);
        let split = |seed| validation_split(&data, SplitBy::Stratified, 0.2, seed).unwrap();
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
        assert_eq!(split(1).1.len(), 20);
    }

    #[test]
    fn a_fraction_of_zero_leaves_validation_empty() {
        let data = examples(&[0, 1], None, None);
        let (train, valid) = validation_split(&data, SplitBy::Stratified, 0.0, 0).unwrap();
        assert_eq!((train, valid), (vec![0, 1], vec![]));
    }

    #[test]
    fn windows_of_one_recording_stay_together_even_when_stratified() {
        let recording: Vec<u32> = (0..100).map(|i| i / 5).collect();
        let class: Vec<u32> = (0..100).map(|i| (i / 5) % 2).collect();
        let data = examples(&class, None, Some(recording.clone()));
        for seed in 0..20 {
            let (train, valid) = validation_split(&data, SplitBy::Stratified, 0.2, seed).unwrap();
            assert!(whole(&recording, &train, &valid));
            assert_eq!(valid.len(), 20);
        }
    }

    #[test]
    fn a_group_split_keeps_groups_and_recordings_whole() {
        let group: Vec<u32> = (0..60).map(|i| i / 10).collect();
        let recording: Vec<u32> = (0..60).map(|i| (i + 5) / 10).collect();
        let class: Vec<u32> = (0..60).map(|i| i % 2).collect();
        let straddling = examples(&class, Some(group.clone()), Some(recording.clone()));
        assert!(validation_split(&straddling, SplitBy::Group, 0.3, 0).is_err());
        let one_group = examples(&class, Some(vec![3; 60]), Some(recording.clone()));
        let (train, valid) = validation_split(&one_group, SplitBy::Group, 0.3, 0).unwrap();
        assert!(whole(&recording, &train, &valid));
        let nested: Vec<u32> = (0..60).map(|i| i / 5).collect();
        let data = examples(&class, Some(group.clone()), Some(nested));
        let (train, valid) = validation_split(&data, SplitBy::Group, 0.3, 0).unwrap();
        assert!(whole(&group, &train, &valid));
        assert_eq!(valid.len(), 20);
    }

    #[test]
    fn impossible_splits_say_why() {
        let say = |data: &Examples, by| validation_split(data, by, 0.2, 0).unwrap_err().to_string();
        let plain = examples(&[0, 1], None, None);
        assert!(say(&plain, SplitBy::Group).contains("`group-col`"));
        assert!(say(&plain, SplitBy::Stratified).contains("no class has two"));
        let one_group = examples(&[0, 1, 0, 1], Some(vec![4; 4]), None);
        assert!(say(&one_group, SplitBy::Group).contains("one group"));
        let class_per_group = examples(&[0, 0, 1, 1], Some(vec![0, 0, 1, 1]), None);
        assert!(say(&class_per_group, SplitBy::Group).contains("lose a class"));
        let bad = validation_split(&plain, SplitBy::Stratified, f64::NAN, 0).unwrap_err();
        assert!(bad.to_string().contains("NaN"));
    }

    #[test]
    fn regression_targets_split_at_random() {
        let mut data = examples(&[0; 10], None, None);
        data.y = Labels::Value { width: 1, values: vec![0.5; 10] };
        let (train, valid) = validation_split(&data, SplitBy::Stratified, 0.2, 0).unwrap();
        assert_eq!((train.len(), valid.len()), (8, 2));
    }

    proptest! {
        #[test]
        fn stratified_keeps_every_class_with_two_members_on_both_sides(
            class in prop::collection::vec(0u32..6, 2..80),
            fraction in 0.01f64..0.99,
            seed in any::<u64>(),
        ) {
            let data = examples(&class, None, None);
            if let Ok((train, valid)) = validation_split(&data, SplitBy::Stratified, fraction, seed) {
                let mut all = [train.clone(), valid.clone()].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..class.len() as u32).collect::<Vec<_>>());
                for c in 0..6 {
                    let has = |side: &[u32]| side.iter().any(|&i| class[i as usize] == c);
                    let members = class.iter().filter(|&&x| x == c).count();
                    prop_assert!(members == 0 || has(&train));
                    prop_assert!(members < 2 || has(&valid));
                }
            }
        }

        #[test]
        fn groups_are_never_on_both_sides(
            pairs in prop::collection::vec((0u32..4, 0u32..9), 2..80),
            fraction in 0.01f64..0.99,
            seed in any::<u64>(),
        ) {
            let (class, group): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
            let data = examples(&class, Some(group.clone()), None);
            if let Ok((train, valid)) = validation_split(&data, SplitBy::Group, fraction, seed) {
                prop_assert!(!valid.is_empty() && !train.is_empty());
                prop_assert!(whole(&group, &train, &valid));
            }
        }
    }
}
