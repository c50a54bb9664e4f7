//! Rows that hold several channels: columns such as `x0 … x99, y0 … y99` are channels × time.

/// The channels among the columns of a row.
pub(crate) struct Channels {
    /// Their names, in the order of their first columns.
    pub names: Vec<String>,
    /// Places of the columns, step by step and in each step channel by channel.
    pub order: Vec<usize>,
}

/// Fewer steps than this are no time.
const LEAST_STEPS: usize = 3;

/// A name such as `acc_x_12` as a channel and the number of a step.
fn parsed(name: &str) -> Option<(&str, usize)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[stem.len()..].parse().ok()?;
    let channel = stem.trim_end_matches(['_', '-', '.', ' ']);
    (!channel.is_empty()).then_some((channel, number))
}

/// The channels that the names of columns tell, if all names are of channels with the same
/// consecutive steps, and there are at least two channels.
pub(crate) fn channels(columns: &[&str]) -> Option<Channels> {
    let mut names: Vec<&str> = Vec::new();
    let mut places: Vec<Vec<(usize, usize)>> = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        let (channel, step) = parsed(column)?;
        let number = names.iter().position(|name| *name == channel).unwrap_or_else(|| {
            names.push(channel);
            places.push(Vec::new());
            names.len() - 1
        });
        places[number].push((step, place));
    }
    if names.len() < 2 || names.len() * LEAST_STEPS > columns.len() {
        return None;
    }
    places.iter_mut().for_each(|steps| steps.sort_unstable());
    let (steps, first) = (places[0].len(), places[0][0].0);
    let is_whole = |channel: &Vec<(usize, usize)>| {
        channel.len() == steps
            && channel.iter().enumerate().all(|(i, (step, _))| first.checked_add(i) == Some(*step))
    };
    if !places.iter().all(is_whole) {
        return None;
    }
    let order = (0..steps).flat_map(|step| places.iter().map(move |channel| channel[step].1)).collect();
    Some(Channels { names: names.into_iter().map(str::to_string).collect(), order })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn channels_are_told_from_names_in_any_order() {
        let found = channels(&["x0", "x1", "x2", "y0", "y1", "y2"]).unwrap();
        assert_eq!((found.names, found.order), (vec!["x".into(), "y".into()], vec![0, 3, 1, 4, 2, 5]));
        let found = channels(&["acc_x_1", "acc_y_1", "acc_x_2", "acc_y_2", "acc_y_3", "acc_x_3"]).unwrap();
        assert_eq!(found.names, ["acc_x", "acc_y"]);
        assert_eq!(found.order, [0, 1, 2, 3, 5, 4]);
    }

    #[test]
    fn other_names_are_no_channels() {
        for names in [
            &["x0", "x1", "x2", "x3"][..],
            &["x0", "x1", "y0", "y1"],
            &["x0", "x1", "x2", "y0", "y1", "y3"],
            &["x0", "x1", "x2", "y0", "y1", "y2", "z"],
            &["x0", "x0", "x1", "y0", "y1", "y1"],
            &["0", "1", "2", "3", "4", "5"],
            &[],
        ] {
            assert!(channels(names).is_none(), "{names:?}");
        }
    }

    proptest! {
        #[test]
        fn an_order_is_a_permutation(names in prop::collection::vec("[xy]?_?[0-9]{0,22}", 0..12)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if let Some(found) = channels(&names) {
                let mut order = found.order;
                order.sort_unstable();
                prop_assert_eq!(order, (0..names.len()).collect::<Vec<_>>());
            }
        }
    }
}
