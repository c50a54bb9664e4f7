//! How a search is carried out.

use super::store::{Round, Trial};
use crate::train::{DeviceChoice, Observer};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// After so many different settings were tried.
    Trials(usize),
    /// After this time, the finals included. It counts anew when a search is continued.
    Time(Duration),
}

/// Which trials of each round a process trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub number: usize,
    /// How many shards there are.
    pub of: usize,
}

impl Shard {
    /// All trials.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether it trains the trial at a place of a round.
    pub fn trains(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("'{text}' is no shard; the second of three is 2/3")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// How a search is carried out. None of it changes what a trial comes to, except that a GPU rounds differently.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The folder of the search; made if it is missing.
    pub out: PathBuf,
    /// Networks that are trained at once on the CPU.
    pub threads: usize,
    /// What trains the networks.
    pub device: DeviceChoice,
    /// When to end.
    pub limit: Limit,
    /// Which trials this process trains.
    pub shard: Shard,
}

/// Receives the events of a search, besides those of trainings on a GPU.
pub trait SearchObserver: Observer {
    /// A round begins or goes on, after `done` of its trials.
    fn round_started(&mut self, _round: &Round, _done: usize) {}
    /// A trial ended.
    fn trial_ended(&mut self, _trial: &Trial) {}
    /// This share of what is trained now on the CPU is done.
    fn trained(&mut self, _share: f64) {}
}

impl SearchObserver for crate::train::Silent {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_divide_a_round() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for index in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.trains(index)).count(), 1);
        }
        assert!((0..10).all(|index| Shard::WHOLE.trains(index)));
        for text in ["0/2", "3/2", "1", "a/2", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
