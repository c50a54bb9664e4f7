//! Which sequences an epoch draws, where it is not each of them once.
//!
//! Sequences lie in piles: one for each class that has a share, one for all others. A pile is
//! dealt without end, in rounds that are each a fresh shuffle of it, and an epoch takes the next
//! cards: nothing comes twice before everything came once, within an epoch and from one to the
//! next. Which cards epoch e gets is a matter of counting, so it depends on seed, pass and e
//! alone; nothing has to be remembered to resume.

use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::Labels;
use fastgrnn_model::settings::ClassShare;

/// A sequence of an epoch, and how often this epoch has drawn it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    pub index: u32,
    pub repeat: u32,
}

/// Sequences that share a quota.
struct Pile {
    members: Vec<u32>,
    /// Draws of an epoch that come from here.
    quota: usize,
}

/// The piles of a pass.
pub(super) struct Draws {
    piles: Vec<Pile>,
}

impl Draws {
    /// How an epoch of `draws` sequences is put together from those at `indices`.
    pub(super) fn new(y: &Labels, indices: &[u32], share: Option<&ClassShare>, draws: usize) -> Self {
        let shares = share.map_or(&[][..], |share| &share.0);
        let pile_of = |i: u32| match y {
            Labels::Class { index, names } => {
                let class = names.get(index[i as usize] as usize);
                shares.iter().position(|(name, _)| Some(name) == class).unwrap_or(shares.len())
            }
            _ => shares.len(),
        };
        let mut piles: Vec<Pile> =
            (0..=shares.len()).map(|_| Pile { members: Vec::new(), quota: 0 }).collect();
        indices.iter().for_each(|&i| piles[pile_of(i)].members.push(i));
        let mut left = draws;
        for (pile, (_, share)) in piles.iter_mut().zip(shares).filter(|(pile, _)| !pile.members.is_empty()) {
            pile.quota = ((share * draws as f64).round() as usize).min(left);
            left -= pile.quota;
        }
        // The others take what is left; without others, the classes with a share divide it.
        match &mut piles[..] {
            [.., rest] if !rest.members.is_empty() => rest.quota = left,
            piles => {
                let filled = piles.iter().filter(|pile| !pile.members.is_empty()).count().max(1);
                let some = piles.iter_mut().filter(|pile| !pile.members.is_empty());
                some.enumerate().for_each(|(k, pile)| {
                    pile.quota += (k + 1) * left / filled - k * left / filled;
                });
            }
        }
        piles.retain(|pile| pile.quota > 0);
        Self { piles }
    }

    /// The sequences of `epoch`, in a random order.
    pub(super) fn deal(&self, seed: u64, pass: u64, epoch: u64, order: &mut Vec<Draw>) {
        order.clear();
        let mut round = Vec::new();
        for (k, pile) in self.piles.iter().enumerate() {
            let (n, quota) = (pile.members.len() as u64, pile.quota as u64);
            let (first, end) = (epoch * quota, (epoch + 1) * quota);
            for number in first / n..end.div_ceil(n) {
                round.clone_from(&pile.members);
                Rng::keyed(seed, &[stream::DEAL, pass, k as u64, number]).shuffle(&mut round);
                let from = first.saturating_sub(number * n);
                let to = (end - number * n).min(n);
                let repeat = (number - first / n) as u32;
                let dealt = &round[from as usize..to as usize];
                order.extend(dealt.iter().map(|&index| Draw { index, repeat }));
            }
        }
        Rng::keyed(seed, &[stream::SHUFFLE, pass, epoch]).shuffle(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Ten of `rare`, ninety of two others.
    fn labels() -> Labels {
        let names = ["other", "rare", "more"].map(String::from).to_vec();
        let class = |i: u32| if i.is_multiple_of(10) { 1 } else { 2 * u32::from(i.is_multiple_of(3)) };
        Labels::Class { index: (0..100).map(class).collect(), names }
    }

    fn epoch(draws: &Draws, seed: u64, epoch: u64) -> Vec<Draw> {
        let mut order = Vec::new();
        draws.deal(seed, 0, epoch, &mut order);
        order
    }

    fn all() -> Vec<u32> {
        (0..100).collect()
    }

    #[test]
    fn a_class_gets_its_share_and_the_others_what_is_left() {
        let share = "rare=0.25".parse().unwrap();
        let draws = Draws::new(&labels(), &all(), Some(&share), 80);
        for e in 0..5 {
            let order = epoch(&draws, 3, e);
            assert_eq!(order.len(), 80);
            assert_eq!(order.iter().filter(|d| d.index.is_multiple_of(10)).count(), 20);
        }
    }

    #[test]
    fn nothing_comes_twice_before_everything_came_once() {
        let share = "rare=0.3".parse().unwrap();
        let draws = Draws::new(&labels(), &all(), Some(&share), 50);
        let (mut rare, mut others) = (HashMap::new(), HashMap::new());
        for e in 0..12 {
            for draw in epoch(&draws, 7, e) {
                let counts = if draw.index.is_multiple_of(10) { &mut rare } else { &mut others };
                *counts.entry(draw.index).or_insert(0) += 1;
            }
            for counts in [&rare, &others].into_iter().filter(|c| c.len() > 10 || e > 0) {
                let (low, high) = (counts.values().min().unwrap(), counts.values().max().unwrap());
                assert!(high - low <= 1, "epoch {e}: {low} to {high}");
            }
        }
        // 12 epochs of 15 rare ones are 18 rounds of ten; of 35 others 4.67 rounds of ninety.
        assert!(rare.len() == 10 && rare.values().all(|&n| n == 18), "{rare:?}");
        assert!(others.len() == 90 && others.values().all(|&n| n == 4 || n == 5));
    }

    #[test]
    fn an_epoch_depends_on_seed_and_number_alone_and_repeats_are_told_apart() {
        let share = "rare=0.5".parse().unwrap();
        let draws = Draws::new(&labels(), &all(), Some(&share), 64);
        let late = epoch(&draws, 1, 9);
        assert_eq!(late, epoch(&draws, 1, 9));
        assert_ne!(late, epoch(&draws, 2, 9));
        assert_ne!(late, epoch(&draws, 1, 8));
        let mut seen: Vec<(u32, u32)> = late.iter().map(|d| (d.index, d.repeat)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
        assert!(late.iter().any(|d| d.repeat >= 3), "32 draws of ten");
    }

    #[test]
    fn fewer_draws_than_sequences_are_a_sample_without_shares() {
        let draws = Draws::new(&labels(), &all(), None, 30);
        let mut seen: Vec<u32> = (0..3).flat_map(|e| epoch(&draws, 5, e)).map(|d| d.index).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 90, "three epochs of thirty share no sequence");
    }

    #[test]
    fn a_class_without_sequences_leaves_its_share_to_the_others() {
        let share = "rare=0.5".parse().unwrap();
        let without: Vec<u32> = (0..100u32).filter(|i| !i.is_multiple_of(10)).collect();
        assert_eq!(epoch(&Draws::new(&labels(), &without, Some(&share), 40), 0, 0).len(), 40);
        let only: Vec<u32> = (0..100).step_by(10).collect();
        assert_eq!(epoch(&Draws::new(&labels(), &only, Some(&share), 40), 0, 0).len(), 40);
        assert!(epoch(&Draws::new(&labels(), &[], Some(&share), 40), 0, 0).is_empty());
    }
}
