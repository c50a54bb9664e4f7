//! The detector in generated C against the runtime's: random networks of every meaning, random
//! parameters, every bit of sums, states and detections.

use crate::driver;
use crate::networks;
use fastgrnn::features::{IntegerFront, Spec};
use fastgrnn::quantize::{Detector, HostModel, IntegerNetwork, Reset};
use fastgrnn::rng::Rng;
use fastgrnn_export::{COptions, ExportError, c_source};
use fastgrnn_runtime::int::{Detection, Meaning};
use fastgrnn_testing::oracle::random::{Manner, network};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// A network of this meaning that reads so many frames in a step.
fn random_network(
    meaning: u8,
    inputs: usize,
    (frames, stride): (u8, u8),
    runner: &mut TestRunner,
) -> IntegerNetwork {
    let sizes = vec![inputs * usize::from(frames), 5];
    loop {
        let mut drawn = network(vec![3], sizes.clone(), Manner::Tame).new_tree(runner).unwrap().current();
        drawn.offsets.truncate(inputs);
        drawn.factors.truncate(inputs);
        (drawn.frames, drawn.stride) = (frames, stride);
        if meaning == 1 && drawn.head.biases.len() != 1 {
            continue;
        }
        drawn.meaning = meaning;
        return networks::integer_network(&drawn);
    }
}

/// Parameters over their ranges, such that something happens.
fn random_detector(network: &IntegerNetwork, rng: &mut Rng) -> Detector {
    let outputs = network.head_biases.len();
    let classes = if network.meaning == Meaning::Binary { 2 } else { outputs };
    let mut keywords: Vec<u16> = (0..classes as u16).collect();
    rng.shuffle(&mut keywords);
    keywords.truncate(1 + rng.below(classes));
    Detector {
        keywords,
        threshold: [1, 9_000, 16_000, 20_000, 32_768][rng.below(5)],
        smoothing: rng.below(4) as u8,
        refractory: rng.below(9) as u16,
        warm_up: rng.below(4) as u16,
        reset: match rng.below(3) {
            0 => Reset::Never,
            1 => Reset::Every(1 + rng.below(20) as u16),
            _ => Reset::Quiet { frames: 1 + rng.below(3) as u16, level: rng.range(-9_000.0, 9_000.0) as i16 },
        },
    }
}

fn frames(inputs: usize, rng: &mut Rng) -> Vec<Vec<i16>> {
    let mut frames = Vec::new();
    while frames.len() < 300 {
        let frame: Vec<i16> = (0..inputs).map(|_| rng.range(-32_768.0, 32_768.0) as i16).collect();
        (0..1 + rng.below(12)).for_each(|_| frames.push(frame.clone()));
    }
    frames
}

/// What the runtime computes, in the driver's layout, and how often something was heard.
fn expected(network: &IntegerNetwork, detector: &Detector, frames: &[Vec<i16>]) -> (Vec<u8>, usize) {
    let image = network.image();
    let model = HostModel::read(&image).unwrap();
    let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
    let mut state = model.start(&mut memory, &mut scratch).unwrap();
    let mut scores = vec![0; model.outputs()];
    let view = detector.view();
    let mut own = view.start(model.meaning(), model.outputs(), vec![0; detector.keywords.len()]).unwrap();
    let (mut out, mut heard) = (Vec::new(), 0);
    for counts in frames {
        if model.begins_step(&state) && view.hear(&mut own, counts) {
            model.reset(&mut state).unwrap();
        }
        let is_step = model.step(&mut state, counts).unwrap();
        model.scores(&state, &mut scores).unwrap();
        let found = match is_step {
            true => view.step(&mut own, &model.posteriors(&scores)),
            false => None,
        };
        heard += usize::from(found.is_some());
        let (class, confidence) =
            found.map_or((-1, 0), |Detection { class, confidence }| (class as i32, confidence));
        out.extend(class.to_le_bytes());
        out.extend(confidence.to_le_bytes());
        out.extend(own.sums().iter().flat_map(|sum| sum.to_le_bytes()));
        out.extend(state.kept().iter().flat_map(|h| h.to_le_bytes()));
    }
    (out, heard)
}

fn bytes(rows: &[Vec<i16>]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn random_detectors_give_the_runtimes_bits() {
    let mut runner = TestRunner::deterministic();
    let folder = tempfile::tempdir().unwrap();
    let mut heard = 0;
    for case in 0..48_u64 {
        let mut rng = Rng::new(case);
        let inputs = 1 + rng.below(6);
        let window = [(1, 1), (3, 2), (2, 2), (4, 1)][case as usize % 4];
        let network = random_network((case % 3) as u8, inputs, window, &mut runner);
        let detector = random_detector(&network, &mut rng);
        let options = COptions { detector: Some(detector.clone()), ..COptions::default() };
        let source = c_source(&network, &options).unwrap();
        driver::compile(folder.path(), &source, include_str!("../drivers/detector.c"), "undefined,address");
        let frames = frames(inputs, &mut rng);
        let (expected, detections) = expected(&network, &detector, &frames);
        assert!(driver::run(folder.path(), bytes(&frames)) == expected, "case {case}: {detector:?}");
        heard += detections;
    }
    assert!(heard > 50, "{heard} detections are too few");
}

/// Reads sound; writes the class of each frame in which something was heard, and the frame.
const SOUND: &str = r#"
#include "model.h"
#include <stdio.h>
int main(void)
{
    static model_audio audio;
    int16_t pcm[77];
    int32_t frame = 0;
    size_t n;
    model_audio_init(&audio);
    while ((n = fread(pcm, 2, 77, stdin)) > 0) {
        const int16_t *at = pcm;
        while ((at = model_push(&audio, at, pcm + n)) != 0) {
            if (audio.heard >= 0) {
                const int32_t row[3] = {frame, audio.heard, audio.confidence};
                fwrite(row, sizeof row, 1, stdout);
            }
            frame++;
        }
    }
    return 0;
}
"#;

#[test]
fn sound_in_detections_out() {
    let mut runner = TestRunner::deterministic();
    let spec = Spec::default();
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(5);
    let mut heard = 0;
    for meaning in 0..3 {
        let network = random_network(meaning, spec.dim(), (1, 1), &mut runner);
        let detector = Detector { threshold: 9_000, smoothing: 2, ..random_detector(&network, &mut rng) };
        let options = COptions { front: Some(spec), detector: Some(detector.clone()), ..COptions::default() };
        let source = c_source(&network, &options).unwrap();
        driver::compile(folder.path(), &source, SOUND, "undefined,address");
        let sound: Vec<i16> = (0..32_000)
            .map(|i| (rng.normal() * [10.0, 4_000.0][i / 2_000 % 2]).clamp(-32_768.0, 32_767.0) as i16)
            .collect();
        let mut rows: Vec<Vec<i16>> = Vec::new();
        IntegerFront::new(&spec).push(&sound, &mut |row| rows.push(row.to_vec()));
        let (all, detections) = expected(&network, &detector, &rows);
        heard += detections;
        let wide = all.len() / rows.len();
        let of_frame = |(frame, out): (usize, &[u8])| {
            let class = i32::from_le_bytes([out[0], out[1], out[2], out[3]]);
            let confidence = i32::from(u16::from_le_bytes([out[4], out[5]]));
            (class >= 0).then_some([frame as i32, class, confidence])
        };
        let expected: Vec<u8> =
            all.chunks(wide).enumerate().filter_map(of_frame).flatten().flat_map(i32::to_le_bytes).collect();
        assert!(driver::run(folder.path(), bytes(&[sound])) == expected, "meaning {meaning}: {detector:?}");
    }
    assert!(heard > 3, "{heard} detections are too few");
}

#[test]
fn a_detector_that_does_not_fit_is_refused() {
    let network = random_network(0, 3, (1, 1), &mut TestRunner::deterministic());
    let detector = Detector { keywords: vec![u16::MAX], ..Detector::default() };
    let refused = c_source(&network, &COptions { detector: Some(detector), ..COptions::default() });
    assert!(matches!(refused, Err(ExportError::Detector(_))));
}
