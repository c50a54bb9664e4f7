//! `fastgrnn stream`

mod live;
mod source;

use crate::args::StreamArgs;
use crate::commands::saturation::Saturated;
use crate::commands::{detector, model};
use crate::console::Console;
use crate::interrupt;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::count;
use fastgrnn::stream::{Heard, Listener};
use live::View;
use serde::Serialize;
use serde_json::Value;

/// A detection as answers have it.
#[derive(Debug, Serialize)]
struct Found {
    frame: u64,
    /// Seconds from the start of the sound; none for rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    class: usize,
    label: String,
    confidence: f64,
}

#[derive(Serialize)]
struct Answer {
    frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    detections: Vec<Found>,
    resets: u64,
    detector: Value,
    saturations: Saturated,
}

/// What happens to detections as they come.
struct Ears<'m> {
    listener: Listener<'m>,
    labels: &'m [String],
    /// One a line, as JSON.
    jsonl: bool,
    console: Console,
    view: View,
    found: Vec<Found>,
    count: u64,
}

impl Ears<'_> {
    fn sound(&mut self, samples: &[i16]) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        self.listener.samples(samples, &mut |h| heard.push(h))?;
        self.tell(heard)?;
        self.view.level(samples, &self.listener);
        Ok(())
    }

    fn row(&mut self, values: &[f32]) -> anyhow::Result<()> {
        let heard = self.listener.row(values)?;
        self.tell(heard)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        self.listener.finish(&mut |h| heard.push(h));
        self.tell(heard)
    }

    fn tell(&mut self, heard: impl IntoIterator<Item = Heard>) -> anyhow::Result<()> {
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

/// When, what and how sure, separated by tabs for other programs.
fn line(found: &Found) -> String {
    let when = found.time.map_or_else(|| format!("frame {}", found.frame), |t| format!("{t:.2} s"));
    format!("{when}\t{}\t{:.3}\n", found.label, found.confidence)
}

/// Listens until the stream ends.
pub fn run(args: StreamArgs, console: Console) -> anyhow::Result<()> {
    let any = model::load(&args.model)?;
    let integer = model::integer(any, &args.model)?;
    let model: &IntegerModel = &integer;
    let own = args.detector.apply(model)?;
    if model.detector().is_none() {
        console.note(
            "the model holds no detector: default values are used; `fastgrnn stream-eval MODEL --save` chooses \
             and stores good ones",
        );
    }
    let listener = Listener::new(model, &own)?;
    let is_live = console.is_live() && !console.json && args.source.wav.is_none();
    let mut ears = Ears {
        listener,
        labels: model.model.labels(),
        jsonl: args.jsonl,
        console,
        view: View::new(is_live),
        found: Vec::new(),
        count: 0,
    };
    interrupt::end_stream();
    source::play(&args, &mut ears)?;
    ears.end()?;
    ears.view.clear();
    let listener = &ears.listener;
    let (frames, saturated) = (listener.frames(), listener.saturations().total());
    if saturated > 0 {
        let times = count(saturated);
        console.note(&format!("values saturated {times} times; docs/quantize.md says what to look at"));
    }
    if !console.json {
        let times =
            if ears.count == 1 { "1 detection".to_owned() } else { format!("{} detections", ears.count) };
        console.note(&format!("{times} in {} frames", count(frames)));
        return Ok(());
    }
    let answer = Answer {
        frames,
        seconds: frames.checked_sub(1).and_then(|last| listener.seconds(last)),
        resets: listener.resets(),
        detector: detector::json(model, &own),
        saturations: Saturated::of(listener.saturations()),
        detections: ears.found,
    };
    console.answer(&answer, String::new)
}
