//! `stream` and `stream-eval` as a user calls them, on sound made here: a rising tone to be found
//! among steady tones and noise.

use crate::command::{command, fails, has_keys, json, run, text};
use fastgrnn::rng::Rng;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;

const RATE: u32 = 16_000;

/// A second with a sound of half a second in it; `rise` in Hz over its length.
fn clip(rng: &mut Rng, rise: f64) -> Vec<i16> {
    let (start, pitch, loud) = (rng.below(6_000), rng.range(400.0, 900.0), rng.range(2_000.0, 9_000.0));
    let mut phase = 0.0;
    (0..RATE as usize)
        .map(|i| {
            let noise = rng.normal() * 20.0;
            let at = i as f64 - start as f64;
            if !(0.0..8_000.0).contains(&at) {
                return noise as i16;
            }
            phase += (pitch + rise * at / 8_000.0) / f64::from(RATE);
            (loud * (phase * std::f64::consts::TAU).sin() + noise) as i16
        })
        .collect()
}

fn noise(samples: usize, rng: &mut Rng) -> Vec<i16> {
    (0..samples).map(|_| (rng.normal() * 300.0) as i16).collect()
}

fn wav(samples: &[i16]) -> Vec<u8> {
    let size = 2 * samples.len() as u32;
    let mut bytes =
        [b"RIFF".as_slice(), &(36 + size).to_le_bytes(), b"WAVEfmt \x10\0\0\0\x01\0\x01\0"].concat();
    bytes.extend(RATE.to_le_bytes());
    bytes.extend((2 * RATE).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(size.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|s| s.to_le_bytes()));
    bytes
}

/// A folder of sounds, and a model trained on them.
fn trained() -> &'static Path {
    static SHARED: OnceLock<tempfile::TempDir> = OnceLock::new();
    SHARED
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            let mut rng = Rng::new(1);
            for (word, rise) in [("rising", 1_500.0), ("other", 0.0)] {
                std::fs::create_dir_all(path.join("sounds").join(word)).unwrap();
                for i in 0..60 {
                    let file = path.join(format!("sounds/{word}/{i:02}.wav"));
                    std::fs::write(file, wav(&clip(&mut rng, rise))).unwrap();
                }
            }
            std::fs::create_dir_all(path.join("sounds/_background_noise_")).unwrap();
            let hiss = wav(&noise(10 * RATE as usize, &mut rng));
            std::fs::write(path.join("sounds/_background_noise_/hiss.wav"), hiss).unwrap();
            let sound = [clip(&mut rng, 0.0), clip(&mut rng, 1_500.0), clip(&mut rng, 0.0)].concat();
            std::fs::write(path.join("words.wav"), wav(&sound)).unwrap();
            let flags = "train --dataset sounds --silence-share 0 --unknown-share 0 --hidden 12 --epochs 12 \
                         --seed 2 --out run";
            json(path, &words(flags));
            json(path, &["quantize", "run", "--calibrate", "sounds", "-o", "model.safetensors"]);
            folder
        })
        .path()
}

/// Writes a model of sensor rows.
const NEW: &str = "new --cell fastgrnn --input 3 --hidden 8 --classes 2 --steps 20 -o";

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// What the command prints when `input` is piped in.
fn piped(folder: &Path, args: &[&str], input: &[u8]) -> Value {
    let mut child = command(folder, &[args, &["--json"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Reports much, so that there is something to compare.
const EAGER: [&str; 8] =
    ["--threshold", "0.3", "--smoothing", "1", "--refractory", "20", "--keywords", "rising,other"];

#[test]
fn a_file_is_told_as_one_document() {
    let folder = trained();
    let found = json(folder, &[&["stream", "model.safetensors", "--wav", "words.wav"][..], &EAGER].concat());
    has_keys(&found, &["frames", "seconds", "detections", "resets", "detector", "saturations"]);
    assert_eq!(found["frames"], 299);
    let detector = &found["detector"];
    has_keys(detector, &["keywords", "threshold", "smoothing", "refractory", "warm_up", "reset"]);
    assert_eq!(detector["keywords"], serde_json::json!(["rising", "other"]));
    assert_eq!((&detector["smoothing"], &detector["refractory"]), (&1.into(), &20.into()));
    let detections = found["detections"].as_array().unwrap();
    assert!(!detections.is_empty());
    for detection in detections {
        has_keys(detection, &["frame", "time", "class", "label", "confidence"]);
        assert!((0.3..=1.0).contains(&detection["confidence"].as_f64().unwrap()));
        let time = detection["frame"].as_f64().unwrap() * 0.01 + 0.025;
        assert!((detection["time"].as_f64().unwrap() - time).abs() < 1e-9);
    }
}

#[test]
fn a_pipe_of_samples_or_of_a_file_gives_what_the_file_gives() {
    let folder = trained();
    let bytes = std::fs::read(folder.join("words.wav")).unwrap();
    let whole = json(folder, &[&["stream", "model.safetensors", "--wav", "words.wav"][..], &EAGER].concat());
    let stdin = [&["stream", "model.safetensors", "--stdin"][..], &EAGER].concat();
    assert_eq!(piped(folder, &stdin, &bytes), whole);
    assert_eq!(piped(folder, &stdin, &bytes[44..]), whole);
    // Chunks after the samples are no sound, and what looks like a format elsewhere is none.
    let after = [&bytes[..], b"LIST\x08\0\0\0fmt \0\0\0\0", &[77; 4_000]].concat();
    assert_eq!(piped(folder, &stdin, &after), whole);
    assert_eq!(piped(folder, &[&stdin[..], &["--rate", "16000"]].concat(), &bytes[44..]), whole);
    // The end of a live recording is not known when its head is written.
    let mut endless = bytes.clone();
    endless[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(piped(folder, &stdin, &endless), whole);
    let slow = piped(folder, &[&stdin[..], &["--rate", "8000"]].concat(), &bytes[44..]);
    assert_eq!(slow["frames"], 599);
}

#[test]
fn without_a_terminal_each_detection_is_a_line() {
    let folder = trained();
    let args = [&["stream", "model.safetensors", "--wav", "words.wav"][..], &EAGER].concat();
    let count = json(folder, &args)["detections"].as_array().unwrap().len();
    let plain = text(folder, &args);
    assert_eq!(plain.lines().count(), count);
    for line in plain.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(cells[0].ends_with(" s") && cells[2].parse::<f64>().is_ok(), "{line}");
    }
    let lines = text(folder, &[&args[..], &["--jsonl"]].concat());
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), count);
    has_keys(&objects[0], &["frame", "time", "label", "confidence"]);
}

#[test]
fn rows_of_sensors_are_heard_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    text(path, &words(&format!("{NEW} m.safetensors")));
    let args = ["stream", "m.safetensors", "--stdin", "--csv", "--threshold", "0.01", "--reset", "every:2"];
    let found = piped(path, &args, b"x,y,z\n1,2,3\n-1, 0.5,2\n# a remark\n3,4,5\n9,9,9\n");
    assert_eq!((&found["frames"], &found["resets"]), (&4.into(), &2.into()));
    assert!(found.get("seconds").is_none());
    assert_eq!(found["detections"][0]["frame"], 0);
    assert!(found["detections"][0].get("time").is_none());
}

#[test]
fn stream_eval_chooses_counts_and_saves() {
    let folder = trained();
    std::fs::copy(folder.join("model.safetensors"), folder.join("own.safetensors")).unwrap();
    let args = "stream-eval own.safetensors --dataset sounds --minutes 2 --targets 5 --seed 3 --audio sounds \
                --det det.svg --save";
    let found = json(folder, &words(args));
    has_keys(
        &found,
        &["dataset", "seed", "snr", "detector", "validation", "stream", "negatives", "det", "audio"],
    );
    has_keys(&found, &["bytes", "macs_per_frame", "tolerance", "frames_per_second", "det_targets"]);
    let stream = &found["stream"];
    has_keys(
        stream,
        &["minutes", "targets", "others", "hits", "false_negatives", "false_positives", "false_reject_rate"],
    );
    let number = |key: &str| stream[key].as_u64().unwrap();
    assert_eq!((number("targets"), stream["minutes"].as_f64()), (5, Some(2.0)));
    assert_eq!(number("hits") + number("false_negatives"), 5);
    match number("hits") {
        0 => assert!(stream["latency"].is_null()),
        _ => has_keys(&stream["latency"], &["mean", "p50", "p95"]),
    }
    has_keys(&found["negatives"], &["clips", "hours", "false_accepts", "per_hour"]);
    assert_eq!(found["audio"]["targets"], 5);
    let curve = found["det"].as_array().unwrap();
    has_keys(&curve[0], &["threshold", "false_reject_rate", "false_accepts_per_hour"]);
    assert!(curve.iter().all(|p| (0.0..=1.0).contains(&p["false_reject_rate"].as_f64().unwrap())));
    assert!(std::fs::read_to_string(folder.join("det.svg")).unwrap().contains("<svg"));

    let stored = json(folder, &["info", "own.safetensors"])["detector"].clone();
    assert_eq!(stored, found["detector"]);
    assert_eq!(stored["keywords"], serde_json::json!(["rising"]));
    assert!(text(folder, &["info", "own.safetensors"]).contains("reports rising at"));
    assert_eq!(json(folder, &["info", "model.safetensors"])["detector"], Value::Null);
    let heard = json(folder, &["stream", "own.safetensors", "--wav", "words.wav"]);
    assert_eq!(heard["detector"], stored);
    let again = json(folder, &words(&args.replace(" --save", "")));
    assert_eq!(again, found, "the same seed gives the same numbers");
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let folder = trained();
    let fails = |args: &[&str], code: i32, parts: &[&str]| fails(folder, args, code, parts);
    fails(&["stream", "model.safetensors"], 2, &["--wav", "--stdin", "--mic"]);
    fails(
        &["stream", "run/model.safetensors", "--wav", "words.wav"],
        2,
        &["float model", "fastgrnn quantize"],
    );
    fails(&["stream", "model.safetensors", "--wav", "no.wav"], 1, &["no.wav"]);
    let with =
        |flags: &[&'static str]| [&["stream", "model.safetensors", "--wav", "words.wav"][..], flags].concat();
    fails(&with(&["--threshold", "0"]), 2, &["--threshold", "above 0"]);
    fails(&with(&["--smoothing", "11"]), 2, &["--smoothing"]);
    fails(&with(&["--keywords", "falling"]), 2, &["'falling'", "rising"]);
    fails(&with(&["--reset", "sometimes"]), 2, &["every:N"]);
    fails(&with(&["--reset", "quiet:50"]), 2, &["--quiet-level"]);
    fails(&with(&["--csv"]), 2, &["--wav", "--csv"]);
    if !cfg!(feature = "mic") {
        fails(&["stream", "model.safetensors", "--mic"], 2, &["--features mic", "arecord", "--stdin"]);
    }
    text(folder, &words(&format!("{NEW} rows.safetensors")));
    fails(&["stream", "rows.safetensors", "--wav", "words.wav"], 1, &["rows of 3 features", "--csv"]);
    fails(&["stream-eval", "rows.safetensors"], 2, &["does not listen", "--csv"]);
    fails(&["stream-eval", "model.safetensors", "--snr", "9:1"], 2, &["5:25"]);
    fails(&["stream-eval", "model.safetensors", "--minutes", "0"], 2, &["--minutes"]);
    let mut child = command(folder, &["stream", "rows.safetensors", "--stdin", "--csv"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"1,2,3\n1,oops,3\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("line 2, column 2: 'oops'"), "{stderr}");
    assert!(run(folder, &["stream", "--help"]).status.success());
}
