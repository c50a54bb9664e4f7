//! `fastgrnn stream-eval`

use crate::args::StreamEvalArgs;
use crate::console::Console;
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::table::{facts, table};
use crate::{dataset, detector, model};
use anyhow::Context;
use fastgrnn::data::speech::{Background, NOISE, Split};
use fastgrnn::data::{DataRecipe, Examples, Sequences, known_sets};
use fastgrnn::features::{Kind, Spec};
use fastgrnn::model::PartError;
use fastgrnn::quantize::{Detector, IntegerModel};
use fastgrnn::report::{bytes, count};
use fastgrnn::stream::eval::{
    EvalReport, EvalSettings, Folder, Recordings, Resets, StreamResult, Words, evaluate, listen,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Builds streams from the model's data set, chooses an operating point and listens.
pub fn run(args: StreamEvalArgs, console: Console) -> anyhow::Result<()> {
    let mut model = model::integer(model::load(&args.model)?, &args.model)?;
    let own = args.detector.apply(&model)?;
    let spec = front_end(&model)?;
    let settings = settings(&args, &own, &spec)?;
    let source = args.dataset.clone().unwrap_or_else(|| model.model.dataset.clone());
    let data_dir = args.data.data_dir.clone();
    let parts = parts(&model, &source, args.data, console)?;
    let noise = match args.noise.clone().or_else(|| noise_of(&source, data_dir.as_deref())) {
        Some(folder) => Some(Background::open(&folder, &spec)?),
        None => {
            console.note("no background recordings: the streams are clean (name a folder with --noise)");
            None
        }
    };
    let frames = |split: Split| noise.as_ref().map(|noise| noise.frames(split));
    let (val_noise, test_noise): (Option<Sequences>, _) = (frames(Split::Validation), frames(Split::Test));
    let validation = Words::new(&model, &parts.validation, val_noise.as_ref());
    let test = Words::new(&model, &parts.test, test_noise.as_ref());
    let report = evaluate(&model, &own, &validation, &test, &settings)
        .with_context(|| format!("cannot listen to streams of '{source}'"))?;
    drop((validation, test));
    let audio = match &args.audio {
        Some(folder) => Some(sound(&model, &report.detector, folder, &spec, &settings)?),
        None => None,
    };
    if let Some(path) = &args.det {
        write_whole(path, report.svg().unwrap_or_default().as_bytes())?;
        console.note(&format!("wrote {}", path.display()));
    }
    if args.save {
        model.set_detector(Some(report.detector.clone()))?;
        let file = model::file(&args.model);
        model.save(&file)?;
        console.note(&format!("stored the detector in {}", file.display()));
    }
    let answer = answer(&model, &source, &report, audio.as_ref(), &settings);
    console.answer(&answer, || describe(&model, &report, audio.as_ref(), &settings))
}

/// The front end of a model that listens; streams are mixed in its log-mel domain.
fn front_end(model: &IntegerModel) -> anyhow::Result<Spec> {
    match model.model.audio {
        Some(spec) if spec.kind() == Kind::LogMel => Ok(spec),
        Some(spec) => Err(misuse(format!(
            "noise is mixed into log-mel features, and this model reads {}; train with --features log-mel",
            spec.kind().name()
        ))),
        None => Err(misuse(
            "this model does not listen to sound; `fastgrnn stream MODEL --stdin --csv` hears rows of sensors",
        )),
    }
}

fn settings(args: &StreamEvalArgs, own: &Detector, spec: &Spec) -> anyhow::Result<EvalSettings> {
    let rate = f64::from(spec.rate()) / spec.hop() as f64;
    if !(args.minutes > 0.0 && args.minutes <= 24.0 * 60.0) {
        return Err(misuse(format!("--minutes {}: use a length above 0, up to 1440", args.minutes)));
    }
    let mut settings = EvalSettings {
        seed: args.seed,
        targets: args.targets as usize,
        frames: (args.minutes * 60.0 * rate) as usize,
        rate,
        snr: args.snr,
        tolerance: (0.5 * rate).round() as usize,
        ..EvalSettings::default()
    };
    if args.detector.threshold.is_some() {
        settings.thresholds = vec![own.threshold];
    }
    if args.detector.reset.is_some() || args.detector.quiet_level.is_some() {
        settings.resets = Resets::Own;
    }
    if args.detector.smoothing.is_some() {
        settings.smoothings = vec![own.smoothing];
    }
    Ok(settings)
}

/// What to choose on and what to test on.
struct Parts {
    validation: Examples,
    test: Examples,
}

fn parts(model: &IntegerModel, source: &str, given: DataRecipe, console: Console) -> anyhow::Result<Parts> {
    let data = dataset::load(&model.model, source, None, given, console)?;
    let validation = model.model.validated_on(&data).map_err(|error| match error {
        PartError::NoValidation => {
            misuse(format!("{} has no validation part to choose a detector on", data.name))
        }
        error => error.into(),
    })?;
    match data.test {
        Some(test) => Ok(Parts { validation: data.train.select(&validation), test }),
        None => Err(misuse(format!("{source} has no test part to listen to"))),
    }
}

/// Where the background recordings of a data set lie.
fn noise_of(source: &str, data_dir: Option<&Path>) -> Option<PathBuf> {
    let word = source.split(':').next().unwrap_or(source);
    let is_named = |name: &str| name.split(':').next() == Some(word);
    let known = known_sets(data_dir).into_iter().find(|set| is_named(&set.name)).and_then(|set| set.path);
    let folder = known.unwrap_or_else(|| PathBuf::from(source));
    [folder.join(NOISE), folder.join("flac").join(NOISE)].into_iter().find(|path| path.is_dir())
}

/// The same through the front end, in a stream of the same density: with the requested number of
/// targets, or all of the folder if it has fewer.
fn sound(
    model: &IntegerModel,
    detector: &Detector,
    folder: &Path,
    spec: &Spec,
    settings: &EvalSettings,
) -> anyhow::Result<StreamResult> {
    let labels = model.model.labels();
    let folder = Folder::read(folder, labels, spec)?;
    let is_target =
        |class: &Option<usize>| class.is_some_and(|c| detector.keywords.iter().any(|&k| usize::from(k) == c));
    let targets = folder.clips.iter().filter(|(class, _)| is_target(class)).count().min(settings.targets);
    // Words take half of the time, and each other word comes once.
    let words: usize = folder.clips.iter().map(|(_, samples)| samples.len().div_ceil(spec.hop())).sum();
    let frames = settings.frames.min(2 * words);
    let settings = EvalSettings { targets, frames, ..settings.clone() };
    let material = Recordings::new(spec, &folder.clips, &folder.noise);
    Ok(listen(model, detector, &material, &settings)?)
}

fn answer(
    model: &IntegerModel,
    source: &str,
    report: &EvalReport,
    audio: Option<&StreamResult>,
    settings: &EvalSettings,
) -> Value {
    json!({
        "dataset": source,
        "seed": settings.seed,
        "snr": [settings.snr.0, settings.snr.1],
        "tolerance": settings.tolerance,
        "frames_per_second": settings.rate,
        "detector": detector::json(model, &report.detector),
        "validation": report.validation,
        "stream": report.stream,
        "negatives": report.negatives,
        "det": report.det,
        "det_targets": report.det_targets,
        "audio": audio,
        "bytes": model.sizes(),
        "macs_per_frame": model.macs_per_step(),
    })
}

fn describe(
    model: &IntegerModel,
    report: &EvalReport,
    audio: Option<&StreamResult>,
    settings: &EvalSettings,
) -> String {
    let n = &report.negatives;
    let mut rows = vec![
        ("detector", detector::describe(model, &report.detector)),
        ("chosen on", told(&report.validation, settings)),
        ("test stream", told(&report.stream, settings)),
    ];
    if let Some(audio) = audio {
        rows.push(("as sound", told(audio, settings)));
    }
    rows.extend([
        (
            "false accepts",
            format!(
                "{} in {:.2} h of {} other clips, {:.2} an hour",
                n.false_accepts,
                n.hours,
                count(n.clips as u64),
                n.per_hour
            ),
        ),
        (
            "network",
            format!(
                "{}, {} multiplications a frame",
                bytes(model.sizes().total as u64),
                count(model.macs_per_step() as u64)
            ),
        ),
    ]);
    format!("{}\n{}", facts(&rows), curve(report))
}

/// A stream in one line.
fn told(result: &StreamResult, settings: &EvalSettings) -> String {
    let c = &result.counts;
    let mut text = format!(
        "{:.0} min, {} targets among {} other words: {} false negatives, {} false positives",
        result.minutes, c.targets, result.others, c.false_negatives, c.false_positives
    );
    if let Some(latency) = &result.latency {
        let ms = |frames: f64| frames * 1_000.0 / settings.rate;
        text.push_str(&format!(
            "; {:.0} ms after the word (half within {:.0}, 95 % within {:.0})",
            ms(latency.mean),
            ms(latency.p50 as f64),
            ms(latency.p95 as f64)
        ));
    }
    text
}

/// The curve as a table, without rows that say the same.
fn curve(report: &EvalReport) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for p in &report.det {
        let cells = [
            format!("{:.4}", p.threshold),
            format!("{:.1} %", 100.0 * p.false_reject_rate),
            format!("{:.2}", p.false_accepts_per_hour),
        ];
        if rows.last().is_none_or(|above| above[1..] != cells[1..]) {
            rows.push(cells.to_vec());
        }
    }
    table(&["threshold", "targets rejected", "false accepts an hour"], &rows)
}
