//! First biases of a head of several labels: those of a network that knows how frequent each label is.
//!
//! With many labels, most of which are rare, training would otherwise begin with learning that nearly all of
//! them are false.

use fastgrnn_core::net::Layout;
use fastgrnn_data::data::Labels;

/// Sets the head's biases to the log-odds of each label, if sequences have several labels.
pub(super) fn set_first_biases(layout: &Layout, params: &mut [f32], y: &Labels) {
    let (Labels::Sets { sets, names, .. }, Some(view)) = (y, layout.view("head.b")) else { return };
    let mut counts = vec![0u32; names.len()];
    for &label in sets.iter().flatten() {
        if let Some(count) = counts.get_mut(label as usize) {
            *count += 1;
        }
    }
    let n = sets.len() as f64;
    for (bias, count) in params[view.range()].iter_mut().zip(counts) {
        // Half a sequence more of either kind keeps the odds finite.
        let count = f64::from(count);
        *bias = ((count + 0.5) / (n - count + 0.5)).ln() as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::batch::Sets;
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::Network;

    #[test]
    fn a_frequent_label_starts_more_probable_and_other_tasks_are_left_alone() {
        let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 2)], 2);
        let (layout, mut params) = (network.layout(), vec![0.0; network.layout().len()]);
        let mut sets = Sets::default();
        [&[0u32][..], &[0, 1], &[0], &[]].iter().for_each(|set| sets.push(set));
        let names = vec!["a".into(), "b".into()];
        set_first_biases(&layout, &mut params, &Labels::None);
        assert!(params.iter().all(|&p| p == 0.0));
        set_first_biases(&layout, &mut params, &Labels::Sets { sets, names, unseen: Vec::new() });
        let biases = &params[layout.view("head.b").unwrap().range()];
        assert_eq!(biases, [(3.5f64 / 1.5).ln() as f32, (1.5f64 / 3.5).ln() as f32]);
    }
}
