//! Splitting a test part off data that has none.

use super::split::{in_blocks, validation_split};
use super::split_problem::SplitProblem;
use super::time_blocks::{self, RecordingBlocks};
use super::{DataError, Dataset, Examples, SplitBy};
use fastgrnn_core::format::quantity;
use fastgrnn_core::rng::{Rng, stream};

fastgrnn_core::choice! {
    /// What a split for testing keeps together.
    TestSplitBy {
        /// Groups whole.
        #[default]
        Group = "group",
        /// Blocks of time of each recording.
        Time = "time",
        /// The proportions of the classes.
        Stratified = "stratified",
    }
}

/// The data set with about `fraction` of its training sequences as its test part. A validation part
/// that it has stays as it is.
pub(super) fn split_off(
    mut data: Dataset,
    fraction: f64,
    by: Option<TestSplitBy>,
    seed: u64,
) -> Result<Dataset, DataError> {
    if data.test.is_some() {
        let problem = format!("{fraction} is not used: the data has a test part of its own; leave it out");
        return Err(DataError::Setting { key: "test-split".into(), problem });
    }
    let validation = data.validation.take();
    let is_validation = |i: &u32| validation.as_ref().is_some_and(|part| part.binary_search(i).is_ok());
    let free: Vec<u32> = (0..data.train.len() as u32).filter(|i| !is_validation(i)).collect();
    let rest = data.train.select(&free);
    let by = by.unwrap_or(match &rest.group {
        _ if rest.is_one_recording() || in_blocks(&rest, SplitBy::Group, fraction, seed).is_some() => {
            TestSplitBy::Time
        }
        Some(_) => TestSplitBy::Group,
        None => TestSplitBy::Stratified,
    });
    // A stream of its own, so that validation is not split off by the same draws.
    let seed = Rng::keyed(seed, &[stream::TEST_SPLIT]).next_u64();
    let (kept, test) = match by {
        TestSplitBy::Group => validation_split(&rest, SplitBy::Group, fraction, seed),
        TestSplitBy::Stratified => validation_split(&rest, SplitBy::Stratified, fraction, seed),
        TestSplitBy::Time => by_time(&rest, fraction, seed).map_err(DataError::Split),
    }
    .map_err(|error| match error {
        DataError::Split(problem) => DataError::TestSplit(problem),
        other => other,
    })?;
    let of = |part: &[u32]| part.iter().map(|&i| free[i as usize]).collect::<Vec<u32>>();
    let (mut train, test) = (of(&kept), of(&test));
    train.extend(validation.iter().flatten());
    train.sort_unstable();
    let left_out = data.train.len() - train.len() - test.len();
    let mut note = format!(
        "{} of {} sequences are the test part, split off by {by}, the same in every run",
        test.len(),
        data.train.len()
    );
    if left_out > 0 {
        let were = if left_out == 1 { "was" } else { "were" };
        note += &format!("; {} near it {were} left out", quantity(left_out as u64, "window"));
    }
    data.notes.push(note);
    data.test = Some(data.train.select(&test));
    data.validation = validation.map(|part| {
        let place = |i: u32| train.binary_search(&i).ok().map(|place| place as u32);
        part.into_iter().filter_map(place).collect()
    });
    data.train = data.train.select(&train);
    Ok(data)
}

/// Blocks of time of each recording; one that is too short to be split stays whole.
fn by_time(examples: &Examples, fraction: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>), SplitProblem> {
    let RecordingBlocks { first: mut kept, second: mut test, short } =
        time_blocks::split_each(examples, fraction, seed);
    kept.extend(short.into_iter().flatten());
    kept.sort_unstable();
    test.sort_unstable();
    match test.is_empty() {
        true => Err(SplitProblem::ShortRecording { sequences: examples.len() }),
        false => Ok((kept, test)),
    }
}
