//! Whether data can be trained on at all.

use super::ConfigError;
use fastgrnn_data::data::{Dataset, Examples, Labels};

pub(super) fn check_data(data: &Dataset) -> Result<(), ConfigError> {
    let dataset = || data.name.clone();
    if data.train.len() < 2 {
        return Err(ConfigError::TooFew { dataset: dataset(), found: data.train.len() });
    }
    for (part, examples) in [("training", Some(&data.train)), ("test", data.test.as_ref())] {
        let Some(x) = examples.map(|e| &e.x) else { continue };
        if let Some(index) = (0..x.len()).find(|&i| x.steps(i) == 0) {
            return Err(ConfigError::EmptySequence { dataset: dataset(), part, index });
        }
    }
    for examples in [Some(&data.train), data.test.as_ref()].into_iter().flatten() {
        check_labels(examples).map_err(|what| ConfigError::Labels { dataset: dataset(), what })?;
    }
    match &data.train.y {
        Labels::None => return Err(ConfigError::NoLabels { dataset: dataset() }),
        Labels::Class { index, names } if index.iter().all(|&c| c == index[0]) => {
            let class = names.get(index[0] as usize).cloned().unwrap_or_default();
            return Err(ConfigError::OneClass { dataset: dataset(), class });
        }
        _ => {}
    }
    let Some(test) = &data.test else { return Ok(()) };
    let mismatch = |what: String| Err(ConfigError::TestMismatch { dataset: dataset(), what });
    if test.x.dim() != data.train.x.dim() {
        return mismatch(format!("has {} features a step, training {}", test.x.dim(), data.train.x.dim()));
    }
    match (&data.train.y, &test.y) {
        (Labels::Class { names: a, .. }, Labels::Class { names: b, .. }) if a == b => Ok(()),
        (Labels::Sets { names: a, .. }, Labels::Sets { names: b, .. }) if a == b => Ok(()),
        (Labels::Value { width: a, .. }, Labels::Value { width: b, .. }) if a == b => Ok(()),
        (Labels::Next, Labels::Next) => Ok(()),
        _ => mismatch("has other labels than the training set".into()),
    }
}

/// What the readers promise; data made by other code may break it.
fn check_labels(examples: &Examples) -> Result<(), String> {
    let n = examples.len();
    match &examples.y {
        Labels::Class { index, .. } if index.len() != n => {
            Err(format!("{} labels for {n} sequences", index.len()))
        }
        Labels::Class { index, names } => match index.iter().find(|&&c| c as usize >= names.len()) {
            Some(c) => Err(format!("class {c} is out of range: there are {} classes", names.len())),
            None => Ok(()),
        },
        Labels::Sets { sets, .. } if sets.len() != n => {
            Err(format!("{} sets of labels for {n} sequences", sets.len()))
        }
        Labels::Sets { sets, names, unseen } => {
            let labels = names.len() + unseen.len();
            let is_wrong = |set: &&[u32]| {
                set.windows(2).any(|pair| pair[0] >= pair[1])
                    || set.last().is_some_and(|&label| label as usize >= labels)
            };
            match sets.iter().find(is_wrong) {
                Some(set) => Err(format!(
                    "the set {set:?} is not in ascending order, or has a label beyond the {labels} there are"
                )),
                None => Ok(()),
            }
        }
        Labels::Value { width, values } if *width == 0 || values.len() != n * width => {
            Err(format!("{} target numbers for {n} sequences of {width}", values.len()))
        }
        Labels::Value { values, .. } => match values.iter().find(|v| !v.is_finite()) {
            Some(v) => Err(format!("the target {v} is not finite")),
            None => Ok(()),
        },
        Labels::Next | Labels::None => Ok(()),
    }
}
