//! Listening to a stream: where it comes from, and what is shown of it.

mod live;
#[cfg(feature = "mic")]
mod microphone;
mod source;

pub use live::View;
pub use source::play;

use crate::console::Console;
use crate::detector;
use fastgrnn::stream::{Heard, Listener};
use serde::Serialize;

/// A detection.
#[derive(Debug, Serialize)]
pub struct Found {
    pub frame: u64,
    /// Seconds from the start of the sound; `None` for rows of features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    pub class: usize,
    pub label: String,
    pub confidence: f64,
}

/// A stream being listened to: reports detections as they come.
pub struct Session<'m> {
    pub listener: Listener<'m>,
    pub labels: &'m [String],
    /// Print each detection as one line of JSON.
    pub jsonl: bool,
    pub console: Console,
    pub view: View,
    pub found: Vec<Found>,
    pub count: u64,
}

impl Session<'_> {
    /// Takes samples.
    pub fn sound(&mut self, samples: &[i16]) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        self.listener.samples(samples, &mut |h| heard.push(h))?;
        self.report(heard)?;
        self.view.level(samples, &self.listener);
        Ok(())
    }

    /// Takes a row of features.
    pub fn row(&mut self, values: &[f32]) -> anyhow::Result<()> {
        let heard = self.listener.row(values)?;
        self.report(heard)
    }

    /// Ends the stream.
    pub fn end(&mut self) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        self.listener.finish(&mut |h| heard.push(h));
        self.report(heard)
    }

    fn report(&mut self, heard: impl IntoIterator<Item = Heard>) -> anyhow::Result<()> {
        for heard in heard {
            let found = Found {
                frame: heard.frame,
                time: self.listener.seconds(heard.frame),
                class: heard.class,
                label: self.labels[heard.class].clone(),
                confidence: detector::share(heard.confidence),
            };
            self.count += 1;
            self.view.clear();
            match (self.console.json, self.jsonl) {
                (true, _) => self.found.push(found),
                (false, true) => self.console.print(&(serde_json::to_string(&found)? + "\n"))?,
                (false, false) => self.console.print(&line(&found))?,
            }
        }
        Ok(())
    }
}

/// Time, class and confidence, separated by tabs for other programs.
fn line(found: &Found) -> String {
    let when = found.time.map_or_else(|| format!("frame {}", found.frame), |t| format!("{t:.2} s"));
    format!("{when}\t{}\t{:.3}\n", found.label, found.confidence)
}
