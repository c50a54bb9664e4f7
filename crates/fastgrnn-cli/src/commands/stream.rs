//! `fastgrnn stream`

use crate::args::StreamArgs;
use crate::console::Console;
use crate::interrupt;
use crate::listening::{self, Found, Session, View};
use crate::saturation::Saturated;
use crate::{detector, model};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::count;
use fastgrnn::stream::Listener;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct StreamOutput {
    frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    detections: Vec<Found>,
    resets: u64,
    detector: Value,
    saturations: Saturated,
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
    let mut session = Session {
        listener,
        labels: model.model.labels(),
        jsonl: args.jsonl,
        console,
        view: View::new(is_live),
        found: Vec::new(),
        count: 0,
    };
    interrupt::end_stream();
    listening::play(&args, &mut session)?;
    session.end()?;
    session.view.clear();
    let listener = &session.listener;
    let (frames, saturated) = (listener.frames(), listener.saturations().total());
    if saturated > 0 {
        let times = count(saturated);
        console.note(&format!("values saturated {times} times; docs/quantize.md says what to look at"));
    }
    if !console.json {
        let times = if session.count == 1 {
            "1 detection".to_owned()
        } else {
            format!("{} detections", session.count)
        };
        console.note(&format!("{times} in {} frames", count(frames)));
        return Ok(());
    }
    let answer = StreamOutput {
        frames,
        seconds: frames.checked_sub(1).and_then(|last| listener.seconds(last)),
        resets: listener.resets(),
        detector: detector::json(model, &own),
        saturations: Saturated::of(listener.saturations()),
        detections: session.found,
    };
    console.answer(&answer, String::new)
}
