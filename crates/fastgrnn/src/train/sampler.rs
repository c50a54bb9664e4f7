//! Chooses the sequences of an epoch when an epoch is not every sequence once.
//!
//! Sequences are divided into strata: one for each class that has a share, one for all others.
//! Each stratum is shuffled again and again, and every epoch takes the next sequences from these
//! shuffles. So no sequence is repeated before all of its stratum were used, within an epoch and
//! from one epoch to the next. The sequences of epoch e follow from the seed, the pass and e
//! alone, so a resumed run needs no stored position.

use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::Labels;
use fastgrnn_model::settings::ClassShare;

/// A sequence of an epoch, and how often this epoch has used it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub index: u32,
    pub repeat: u32,
}

/// Sequences that share a quota.
struct Stratum {
    members: Vec<u32>,
    /// How many sequences of an epoch come from this stratum.
    quota: usize,
}

/// Chooses the sequences of the epochs of a pass.
pub(super) struct Sampler {
    strata: Vec<Stratum>,
}

impl Sampler {
    /// How an epoch of `size` sequences is put together from those at `indices`.
    pub(super) fn new(y: &Labels, indices: &[u32], share: Option<&ClassShare>, size: usize) -> Self {
        let shares = share.map_or(&[][..], |share| &share.0);
        let stratum_of = |i: u32| match y {
            Labels::Class { index, names } => {
                let class = names.get(index[i as usize] as usize);
                shares.iter().position(|(name, _)| Some(name) == class).unwrap_or(shares.len())
            }
            _ => shares.len(),
        };
        let mut strata: Vec<Stratum> =
            (0..=shares.len()).map(|_| Stratum { members: Vec::new(), quota: 0 }).collect();
        indices.iter().for_each(|&i| strata[stratum_of(i)].members.push(i));
        let mut left = size;
        for (stratum, (_, share)) in
            strata.iter_mut().zip(shares).filter(|(stratum, _)| !stratum.members.is_empty())
        {
            stratum.quota = ((share * size as f64).round() as usize).min(left);
            left -= stratum.quota;
        }
        // The others take what is left; without others, the classes with a share divide it.
        match &mut strata[..] {
            [.., rest] if !rest.members.is_empty() => rest.quota = left,
            strata => {
                let filled = strata.iter().filter(|stratum| !stratum.members.is_empty()).count().max(1);
                let some = strata.iter_mut().filter(|stratum| !stratum.members.is_empty());
                some.enumerate().for_each(|(k, stratum)| {
                    stratum.quota += (k + 1) * left / filled - k * left / filled;
                });
            }
        }
        strata.retain(|stratum| stratum.quota > 0);
        Self { strata }
    }

    /// The sequences of `epoch`, in a random order.
    pub(super) fn sample_epoch(&self, seed: u64, pass: u64, epoch: u64, order: &mut Vec<Sample>) {
        order.clear();
        let mut round = Vec::new();
        for (k, stratum) in self.strata.iter().enumerate() {
            let (n, quota) = (stratum.members.len() as u64, stratum.quota as u64);
            let (first, end) = (epoch * quota, (epoch + 1) * quota);
            for number in first / n..end.div_ceil(n) {
                round.clone_from(&stratum.members);
                Rng::keyed(seed, &[stream::DEAL, pass, k as u64, number]).shuffle(&mut round);
                let from = first.saturating_sub(number * n);
                let to = (end - number * n).min(n);
                let repeat = (number - first / n) as u32;
                let chosen = &round[from as usize..to as usize];
                order.extend(chosen.iter().map(|&index| Sample { index, repeat }));
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

    fn epoch(sampler: &Sampler, seed: u64, epoch: u64) -> Vec<Sample> {
        let mut order = Vec::new();
        sampler.sample_epoch(seed, 0, epoch, &mut order);
        order
    }

    fn all() -> Vec<u32> {
        (0..100).collect()
    }

    #[test]
    fn a_class_gets_its_share_and_the_others_what_is_left() {
        let share = "rare=0.25".parse().unwrap();
        let sampler = Sampler::new(&labels(), &all(), Some(&share), 80);
        for e in 0..5 {
            let order = epoch(&sampler, 3, e);
            assert_eq!(order.len(), 80);
            assert_eq!(order.iter().filter(|d| d.index.is_multiple_of(10)).count(), 20);
        }
    }

    #[test]
    fn nothing_comes_twice_before_everything_came_once() {
        let share = "rare=0.3".parse().unwrap();
        let sampler = Sampler::new(&labels(), &all(), Some(&share), 50);
        let (mut rare, mut others) = (HashMap::new(), HashMap::new());
        for e in 0..12 {
            for draw in epoch(&sampler, 7, e) {
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
        let sampler = Sampler::new(&labels(), &all(), Some(&share), 64);
        let late = epoch(&sampler, 1, 9);
        assert_eq!(late, epoch(&sampler, 1, 9));
        assert_ne!(late, epoch(&sampler, 2, 9));
        assert_ne!(late, epoch(&sampler, 1, 8));
        let mut seen: Vec<(u32, u32)> = late.iter().map(|d| (d.index, d.repeat)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
        assert!(late.iter().any(|d| d.repeat >= 3), "32 draws of ten");
    }

    #[test]
    fn fewer_draws_than_sequences_are_a_sample_without_shares() {
        let sampler = Sampler::new(&labels(), &all(), None, 30);
        let mut seen: Vec<u32> = (0..3).flat_map(|e| epoch(&sampler, 5, e)).map(|d| d.index).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 90, "three epochs of thirty share no sequence");
    }

    #[test]
    fn a_class_without_sequences_leaves_its_share_to_the_others() {
        let share = "rare=0.5".parse().unwrap();
        let without: Vec<u32> = (0..100u32).filter(|i| !i.is_multiple_of(10)).collect();
        assert_eq!(epoch(&Sampler::new(&labels(), &without, Some(&share), 40), 0, 0).len(), 40);
        let only: Vec<u32> = (0..100).step_by(10).collect();
        assert_eq!(epoch(&Sampler::new(&labels(), &only, Some(&share), 40), 0, 0).len(), 40);
        assert!(epoch(&Sampler::new(&labels(), &[], Some(&share), 40), 0, 0).is_empty());
    }
}
