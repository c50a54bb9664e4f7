//! A training run as it is seen: a bar on a terminal, a line now and then otherwise.

use crate::console::Console;
use crate::interrupt;
use fastgrnn::data::{ReadProgress, ReadUnit, Watch};
use fastgrnn::report::{count, duration, fraction, number, quantity};
use fastgrnn::train::{EpochReport, Observer, Pass, Progress, SeedResult, SeedStarted};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Without a terminal, seconds between lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// On a terminal, time between changes of the bar: batches may be faster than eyes.
const BETWEEN_DRAWS: Duration = Duration::from_millis(80);

/// A share that is everything, up to rounding.
const ALL_DONE: f64 = 1.0 - 1e-9;
/// Steps of a bar that shows a share.
const SHARES: u64 = 1_000;

/// Watches a run, shows it, and passes Ctrl-C on to it.
pub struct Watcher {
    console: Console,
    is_live: bool,
    bar: Option<ProgressBar>,
    seeds: usize,
    folds: usize,
    best: Option<f64>,
    last_line: Option<Instant>,
    last_draw: Option<Instant>,
}

impl Watcher {
    /// A watcher that shows what the console allows.
    pub fn new(console: Console) -> Self {
        let is_live = console.is_live();
        Self { console, is_live, bar: None, seeds: 1, folds: 0, best: None, last_line: None, last_draw: None }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.console.note(text)),
            None => self.console.note(text),
        }
    }

    /// The name of a training, or of several that are under way at once.
    fn name(&self, (seed, together): (u64, usize), pass: Pass, fold: Option<usize>) -> String {
        if together > 1 {
            return format!("{together} networks");
        }
        let mut name = if self.seeds > 1 { format!("seed {seed}") } else { "training".to_owned() };
        if let Some(fold) = fold {
            name.push_str(&format!(", fold {fold} of {}", self.folds));
        }
        if pass == Pass::Refit {
            name.push_str(", refit");
        }
        name
    }

    /// Shows which share of several trainings is done.
    pub fn share(&mut self, share: f64) {
        if !self.is_live {
            let last = *self.last_line.get_or_insert_with(Instant::now);
            if last.elapsed() >= BETWEEN_LINES {
                self.last_line = Some(Instant::now());
                self.line(&format!("{} of these trainings done", fraction(share, None)));
            }
            return;
        }
        if self.last_draw.is_some_and(|last| last.elapsed() < BETWEEN_DRAWS) {
            return;
        }
        self.last_draw = Some(Instant::now());
        if share >= ALL_DONE {
            return self.finish_bar();
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = new_bar(SHARES);
            bar.set_prefix("training");
            bar
        });
        bar.set_position((share * SHARES as f64) as u64);
    }

    fn finish_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Reading that is done earlier than this is not shown.
const BEFORE_SHOWN: Duration = Duration::from_secs(1);

/// Shows how far the reading of data is, if it takes long: a bar on a terminal, otherwise a line now and
/// then.
pub fn reading(console: &Console) -> Option<Watch> {
    if console.quiet {
        return None;
    }
    let (console, shown) = (*console, Mutex::new(ShownReading::new(console.is_live())));
    Some(Watch::new(move |progress| {
        let line = shown.lock().unwrap_or_else(PoisonError::into_inner).tell(progress);
        if let Some(line) = line {
            console.note(&line);
        }
    }))
}

/// An analysis that is done earlier than this is not shown.
const BEFORE_ANALYSIS_SHOWN: Duration = Duration::from_secs(2);

/// Shows along how many sequences a network has been followed, if it takes long: a bar on a terminal, otherwise a line
/// now and then.
pub fn sequences(console: Console, name: &str) -> impl FnMut(usize, usize) {
    let (name, since, is_live) = (name.to_owned(), Instant::now(), console.is_live());
    let (mut last, mut bar): (Option<Instant>, Option<ProgressBar>) = (None, None);
    move |done, all| {
        if done >= all {
            bar.take().inspect(ProgressBar::finish_and_clear);
            return;
        }
        let between = if is_live { BETWEEN_DRAWS } else { BETWEEN_LINES };
        if since.elapsed() < BEFORE_ANALYSIS_SHOWN || last.is_some_and(|last| last.elapsed() < between) {
            return;
        }
        last = Some(Instant::now());
        let text = format!("{} of {} sequences", count(done as u64), count(all as u64));
        if !is_live {
            return console.note(&format!("{name}: {text}"));
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = new_bar(all as u64).with_finish(ProgressFinish::AndClear);
            bar.set_prefix(name.clone());
            bar
        });
        bar.set_message(text);
        bar.set_position(done as u64);
    }
}

/// What is shown of the reading of data.
struct ShownReading {
    /// Whether a bar is drawn.
    is_live: bool,
    since: Instant,
    last: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl ShownReading {
    fn new(is_live: bool) -> Self {
        Self { is_live, since: Instant::now(), last: None, bar: None }
    }

    /// Draws the bar, or returns the line to print.
    fn tell(&mut self, progress: &ReadProgress) -> Option<String> {
        if progress.done >= progress.all {
            self.bar.take().inspect(ProgressBar::finish_and_clear);
            return None;
        }
        let between = if self.is_live { BETWEEN_DRAWS } else { BETWEEN_LINES };
        if self.since.elapsed() < BEFORE_SHOWN || self.last.is_some_and(|last| last.elapsed() < between) {
            return None;
        }
        self.last = Some(Instant::now());
        if !self.is_live {
            return Some(format!("reading: {}", reading_text(progress)));
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = new_bar(progress.all).with_finish(ProgressFinish::AndClear);
            bar.set_prefix("reading");
            bar
        });
        bar.set_message(reading_text(progress));
        bar.set_length(progress.all);
        bar.set_position(progress.done);
        None
    }
}

fn mebibytes(bytes: u64) -> String {
    count(bytes.div_ceil(1 << 20))
}

fn reading_text(progress: &ReadProgress) -> String {
    let (done, all) = (progress.done, progress.all);
    match progress.unit {
        ReadUnit::Recordings => format!("{} of {} recordings", count(done), count(all)),
        ReadUnit::Files => format!("{} of {} files", count(done), count(all)),
        ReadUnit::BytesRead => format!("{} of {} MiB read", mebibytes(done), mebibytes(all)),
        ReadUnit::BytesParsed => format!("{} of {} MiB parsed", mebibytes(done), mebibytes(all)),
    }
}

fn new_bar(batches: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(batches), ProgressDrawTarget::stderr_with_hz(8));
    let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0);
    let style = ProgressStyle::with_template(&bar_template(columns));
    // A broken template would only lose colour.
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}

/// A line that is not wider than the terminal: the message is cut where there is no room for it.
fn bar_template(columns: u16) -> String {
    let bar = (columns / 4).clamp(4, 24);
    format!("{{prefix}} [{{bar:{bar}.cyan/blue}}] {{eta}} left · {{wide_msg}}")
}

fn epoch_text(report: &EpochReport) -> String {
    let mut text = format!("epoch {}/{} · loss {}", report.epoch, report.epochs, number(report.train_loss));
    if let Some(f1) = report.val_f1 {
        text.push_str(&format!(" · val F1 {}", fraction(f1, None)));
    }
    if let Some(f1) = report.val_micro_f1 {
        text.push_str(&format!(" · val micro F1 {}", fraction(f1, None)));
        return text;
    }
    if let Some(perplexity) = report.val_perplexity {
        text.push_str(&format!(" · val perplexity {}", number(perplexity)));
        return text;
    }
    match (report.val_accuracy, report.val_loss) {
        (Some(accuracy), _) => text.push_str(&format!(" · val {}", fraction(accuracy, None))),
        (None, Some(loss)) => text.push_str(&format!(" · val loss {}", number(loss))),
        (None, None) => {}
    }
    text
}

impl Observer for Watcher {
    fn seed_started(&mut self, event: &SeedStarted) {
        (self.seeds, self.folds) = (event.of, event.folds);
        self.best = None;
        self.last_line = None;
        let resumed = match event.resumed_after {
            0 => String::new(),
            n => format!(", continuing after epoch {n}"),
        };
        let (train, val) = (quantity(event.train as u64, event.unit), count(event.val as u64));
        let validation = match event.folds {
            0 => format!("{train} to train on, {val} to validate"),
            folds => format!("{train} to train on, in {folds} folds to validate"),
        };
        self.line(&format!(
            "seed {} ({} of {}): {} parameters; {validation}, {} to test; {}{resumed}",
            event.seed,
            event.index + 1,
            event.of,
            count(event.params as u64),
            count(event.test as u64),
            quantity(event.epochs as u64, "epoch"),
        ));
    }

    fn progress(&mut self, event: &Progress) {
        if !self.is_live || self.last_draw.is_some_and(|t| t.elapsed() < BETWEEN_DRAWS) {
            return;
        }
        self.last_draw = Some(Instant::now());
        let length = (event.epochs * event.batches) as u64;
        let done = ((event.epoch - 1) * event.batches + event.batch) as u64;
        let prefix = self.name((event.seed, event.together), event.pass, event.fold);
        let fresh = self.bar.as_ref().is_none_or(|b| b.prefix() != prefix);
        if fresh {
            self.finish_bar();
            let bar = new_bar(length);
            bar.set_prefix(prefix);
            // What a checkpoint had done must not count as speed.
            bar.set_position(done);
            bar.reset_eta();
            self.bar = Some(bar);
        }
        let Some(bar) = &self.bar else { return };
        bar.set_length(length);
        bar.set_position(done);
        let best = self.best.map_or(String::new(), |b| format!(" · val {}", fraction(b, None)));
        bar.set_message(format!(
            "epoch {}/{} · loss {}{best}",
            event.epoch,
            event.epochs,
            number(event.loss)
        ));
    }

    fn epoch(&mut self, report: &EpochReport) {
        self.best = report.val_accuracy;
        if self.bar.is_some() {
            return;
        }
        let due =
            self.last_line.is_none_or(|t| t.elapsed() >= BETWEEN_LINES) || report.epoch == report.epochs;
        if due {
            self.last_line = Some(Instant::now());
            let name = self.name((report.seed, 1), report.pass, report.fold);
            self.line(&format!("{name}: {}", epoch_text(report)));
        }
    }

    fn seed_finished(&mut self, result: &SeedResult) {
        self.finish_bar();
        let accuracy = |name: &str, s: &Option<fastgrnn::metrics::Scores>| match s {
            Some(s) => match (s.accuracy, s.sets.as_ref().and_then(|sets| sets.micro_f1)) {
                (Some(a), _) => format!(", {name} {}", fraction(a, None)),
                (None, Some(f1)) => format!(", {name} micro F1 {}", fraction(f1, None)),
                (None, None) => format!(", {name} loss {}", number(s.loss)),
            },
            None => String::new(),
        };
        self.line(&format!(
            "seed {}: kept epoch {} of {}{}{}, {}",
            result.seed,
            result.best_epoch,
            result.epochs,
            accuracy("validation", &result.val),
            accuracy("test", &result.test),
            duration(result.seconds)
        ));
    }

    fn note(&mut self, text: &str) {
        self.line(text);
    }

    fn warning(&mut self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn should_stop(&mut self) -> bool {
        let stop = interrupt::is_requested();
        if stop {
            self.finish_bar();
        }
        stop
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.finish_bar();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_reading_is_shown_and_lines_come_now_and_then() {
        let progress = |done| ReadProgress { unit: ReadUnit::Files, done, all: 3_000 };
        let mut shown = ShownReading::new(false);
        assert_eq!(shown.tell(&progress(1)), None);
        shown.since = Instant::now().checked_sub(2 * BEFORE_SHOWN).unwrap();
        assert_eq!(shown.tell(&progress(1_200)).unwrap(), "reading: 1,200 of 3,000 files");
        assert_eq!(shown.tell(&progress(1_300)), None);
        assert_eq!(shown.tell(&progress(3_000)), None);
        assert!(reading(&Console { json: false, quiet: true }).is_none());
    }
}
