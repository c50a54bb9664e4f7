//! How the course of a search is shown.

use crate::console::Console;
use crate::progress::Watcher;
use fastgrnn::report::{bytes, fraction, number, quantity};
use fastgrnn::search::{Part, Round, SearchObserver, Trial};
use fastgrnn::train::{EpochReport, Observer, Progress, SeedResult, SeedStarted};
use std::time::{Duration, Instant};

/// Time between the lines of trials where many end at once.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// Shows the rounds and trials of a search, and passes Ctrl-C on to it.
pub struct SearchWatcher {
    /// Shows the progress of networks that a GPU trains at once.
    watcher: Watcher,
    /// The last note, which each group of networks would repeat.
    noted: Option<String>,
    done: usize,
    of: usize,
    best: Option<f64>,
    last_line: Option<Instant>,
}

impl SearchWatcher {
    /// A watcher that shows what the console allows.
    pub fn new(console: Console) -> Self {
        let watcher = Watcher::new(console);
        Self { watcher, noted: None, done: 0, of: 0, best: None, last_line: None }
    }
}

impl Observer for SearchWatcher {
    fn progress(&mut self, event: &Progress) {
        self.watcher.progress(event);
    }

    // The trials have lines of their own.
    fn seed_started(&mut self, _: &SeedStarted) {}
    fn epoch(&mut self, _: &EpochReport) {}
    fn seed_finished(&mut self, _: &SeedResult) {}

    fn note(&mut self, text: &str) {
        if self.noted.as_deref() != Some(text) {
            self.watcher.note(text);
            self.noted = Some(text.to_owned());
        }
    }

    fn warning(&mut self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    fn should_stop(&mut self) -> bool {
        self.watcher.should_stop()
    }
}

impl SearchObserver for SearchWatcher {
    fn trained(&mut self, share: f64) {
        self.watcher.share(share);
    }

    fn round_started(&mut self, round: &Round, done: usize) {
        (self.done, self.of, self.best, self.last_line) = (done, round.trials.len(), None, None);
        let trials = quantity(self.of as u64, "trial");
        let name = match round.part {
            Part::Finals => format!("finals: {trials}, trained to the end"),
            part => format!("{}: {trials}", round_name(part, round.bracket, round.rung)),
        };
        let before = if done > 0 { format!(", {done} done before") } else { String::new() };
        self.watcher.note(&format!("{name}{before}"));
    }

    fn trial_ended(&mut self, trial: &Trial) {
        self.done += 1;
        let score = trial.val.as_ref().map(|scores| scores.headline());
        // Of losses and errors the smallest is the best.
        let value = score.map(|(_, value, is_share)| if is_share { value } else { -value });
        let is_best = value.is_some_and(|value| self.best.is_none_or(|best| value > best));
        let is_due = self.last_line.is_none_or(|at| at.elapsed() >= BETWEEN_LINES);
        if is_best {
            self.best = value;
        }
        if !is_best && !is_due && self.done < self.of {
            return;
        }
        self.last_line = Some(Instant::now());
        let result = match (&trial.failed, score) {
            (None, Some((name, value, true))) => format!("validation {name} {}", fraction(value, None)),
            (None, Some((name, value, false))) => format!("validation {name} {}", number(value)),
            (Some(why), _) => why.clone(),
            (None, None) => "no scores".to_owned(),
        };
        let star = if is_best { ", the best of this round so far" } else { "" };
        self.watcher.note(&format!(
            "trial {} of {}: {}: {result}{star}",
            self.done,
            self.of,
            network_text(trial)
        ));
    }
}

fn network_text(trial: &Trial) -> String {
    let size = bytes(trial.size.bytes as u64);
    let name = if trial.choices.is_empty() { "the recipe as it was given, " } else { "" };
    let units = quantity(trial.hidden as u64, "unit");
    format!("{name}{}, {units}, {size}, {}", trial.cell, quantity(trial.epochs as u64, "epoch"))
}

/// A round in words.
pub fn round_name(part: Part, bracket: usize, rung: usize) -> String {
    match part {
        Part::Finals => "finals".to_owned(),
        Part::Search => format!("bracket {}, rung {}", bracket + 1, rung + 1),
    }
}
