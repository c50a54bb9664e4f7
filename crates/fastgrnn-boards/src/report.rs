//! The report of a run on a board.

use crate::Outcome;
use serde::Serialize;

/// What firmware took on a board, and whether its results are those of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BoardReport {
    /// The board's id.
    pub board: &'static str,
    /// The full name of the board.
    pub name: &'static str,
    /// Flash of the application minus that of an empty one: code, constants, initial values.
    pub flash_bytes: usize,
    /// RAM of the application minus that of an empty one: state, one frame, scores.
    pub ram_static_bytes: usize,
    /// Stack of the deepest call.
    pub stack_bytes: usize,
    /// Average number of instructions in a step; exact.
    pub instructions_per_step: f64,
    /// Average number of cycles in a step with the board's own flash; `None` if no model exists.
    pub cycles_per_step: Option<f64>,
    /// Average number of cycles for a window: reset, all its steps, classify.
    pub cycles_per_inference: Option<f64>,
    /// Milliseconds of [`BoardReport::cycles_per_step`] at the board's clock.
    pub ms_per_step: Option<f64>,
    /// Milliseconds of [`BoardReport::cycles_per_inference`] at the board's clock.
    pub ms_per_inference: Option<f64>,
    /// `measured` if cycles are exact, `modelled` if they come from a model, `counted` if only
    /// instructions are known.
    pub measured_or_modelled: &'static str,
    /// Number of scores, classes and confidences that differ from the host; with [`Compare::Classes`],
    /// of classes.
    pub mismatches: usize,
    /// The first value that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<Mismatch>,
    /// Windows that were run.
    pub windows: usize,
    /// Steps that were run.
    pub steps: u64,
    /// [`hash`](crate::hash) of all scores that the board computed.
    pub hash: String,
    /// Average number of instructions for a window.
    pub instructions_per_inference: f64,
    /// Cycles of the longest step.
    pub cycles_per_step_most: Option<u64>,
    /// Clock in Hz.
    pub clock_hz: Option<u32>,
    /// Wait states of the flash; `None` for boards without a model of them.
    pub wait_states: Option<u32>,
    /// Cycles of a step if the flash had no wait states.
    pub cycles_per_step_zero_wait: Option<f64>,
    /// Cycles of a window if the flash had no wait states.
    pub cycles_per_inference_zero_wait: Option<f64>,
    /// Milliseconds of a window if the flash had no wait states.
    pub ms_per_inference_zero_wait: Option<f64>,
    /// Cycles of a step if every access to the flash had wait states.
    pub cycles_per_step_uncached: Option<f64>,
    /// Cycles of a window if every access to the flash had wait states.
    pub cycles_per_inference_uncached: Option<f64>,
    /// Milliseconds of a window if every access to the flash had wait states.
    pub ms_per_inference_uncached: Option<f64>,
    /// Flash of the whole application image, start-up code included.
    pub image_flash_bytes: usize,
    /// What the generated code is optimised for: `size` or `speed`.
    pub optimize: &'static str,
    /// The compiler's optimisation flag.
    pub compiler_flag: &'static str,
    /// The emulator.
    pub emulator: &'static str,
    /// The network with its audio front end, fed sound, for models that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<SoundReport>,
    /// What writing text takes, for language models. `None` on boards whose emulator cannot be asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextReport>,
}

/// What a language model took to write texts. Cycles and milliseconds are averages over the tokens that were
/// drawn: reading a token, all scores and the draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TextReport {
    /// Number of texts.
    pub texts: usize,
    /// Number of tokens that were drawn.
    pub tokens: u64,
    /// Instructions for a token.
    pub instructions_per_token: f64,
    /// Cycles for a token with the board's own flash; `None` if no model of them exists.
    pub cycles_per_token: Option<f64>,
    /// Milliseconds of [`TextReport::cycles_per_token`] at the board's clock.
    pub ms_per_token: Option<f64>,
    /// Flash of the application minus that of an empty one: network and sampler.
    pub flash_bytes: usize,
    /// RAM of the application minus that of an empty one: state, scores, sampler.
    pub ram_static_bytes: usize,
    /// Stack of the deepest call.
    pub stack_bytes: usize,
    /// Number of tokens, and of hashes of the states after them, that differ from the host.
    pub mismatches: usize,
    /// The first value that differs; a score is a token here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<Mismatch>,
}

/// What a model with an audio front end took. Cycles and milliseconds are averages over the frames, with
/// the board's own flash, and `None` if no model of them exists.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SoundReport {
    /// Number of frames.
    pub frames: u64,
    /// Cycles of a frame: front end and network.
    pub cycles_per_frame: Option<f64>,
    /// The front end's share of the cycles.
    pub cycles_front_end: Option<f64>,
    /// The network's share of the cycles.
    pub cycles_network: Option<f64>,
    /// Instructions of a frame.
    pub instructions_per_frame: f64,
    /// Milliseconds of [`SoundReport::cycles_per_frame`] at the board's clock.
    pub ms_per_frame: Option<f64>,
    /// The front end's share of the milliseconds.
    pub ms_front_end: Option<f64>,
    /// Milliseconds from one frame to the next.
    pub ms_between_frames: f64,
    /// The fraction of the time in which the core is busy, from 0 to 1.
    pub duty: Option<f64>,
    /// Flash of the application minus that of an empty one: network and front end.
    pub flash_bytes: usize,
    /// The front end's share of the flash: code and tables.
    pub flash_front_end_bytes: usize,
    /// Bytes of the front end's tables.
    pub table_bytes: usize,
    /// RAM of the application minus that of an empty one, including one hop of samples.
    pub ram_static_bytes: usize,
    /// Bytes of the front end's buffers.
    pub ram_front_end_bytes: usize,
    /// Stack of the deepest call.
    pub stack_bytes: usize,
    /// Number of values that differ from the host.
    pub mismatches: usize,
    /// The first value that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<Mismatch>,
}

/// A value that differs from the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The index of the window.
    pub window: usize,
    /// Which value: `score K`, `class` or `confidence`.
    pub value: String,
    /// The value on the host.
    pub expected: i32,
    /// The value on the board.
    pub found: i32,
}

/// Which results of a board are compared with the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compare {
    /// Every bit of scores, class and confidence.
    #[default]
    Bits,
    /// The class of each window.
    Classes,
}

/// The number of values that differ, and the first of them.
pub(crate) fn mismatches(
    expected: &[Outcome],
    found: &[Outcome],
    compare: Compare,
) -> (usize, Option<Mismatch>) {
    let (mut count, mut first) = (0, None);
    for (window, (host, board)) in expected.iter().zip(found).enumerate() {
        let values = |o: &Outcome| -> Vec<i32> {
            let states = o.states.filter(|_| host.states.is_some()).map(|hash| hash as i32);
            let decision = [i32::from(o.class), i32::from(o.confidence)];
            o.scores.iter().copied().chain(decision).chain(states).collect()
        };
        for (k, (expected, found)) in values(host).into_iter().zip(values(board)).enumerate() {
            let counts = compare == Compare::Bits || k == host.scores.len();
            if counts && expected != found {
                count += 1;
                let value = match k.checked_sub(host.scores.len()) {
                    None => format!("score {k}"),
                    Some(0) => "class".to_owned(),
                    Some(1) => "confidence".to_owned(),
                    Some(_) => "hash of the states after every step".to_owned(),
                };
                first.get_or_insert(Mismatch { window, value, expected, found });
            }
        }
    }
    (count, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    #[test]
    fn every_value_that_differs_is_counted_and_the_first_is_named() {
        let same = Outcome { scores: vec![1, 2], class: 1, confidence: 9, states: Some(1) };
        let other = Outcome { scores: vec![1, 3], class: 0, confidence: 9, states: Some(1) };
        assert_eq!(mismatches(from_ref(&same), from_ref(&same), Compare::Bits), (0, None));
        let (host, board) = ([same.clone(), same.clone()], [same, other]);
        let (count, first) = mismatches(&host, &board, Compare::Bits);
        let wanted = Mismatch { window: 1, value: "score 1".into(), expected: 2, found: 3 };
        assert_eq!((count, first), (2, Some(wanted)));
        let (count, first) = mismatches(&host, &board, Compare::Classes);
        assert_eq!((count, first.unwrap().value.as_str()), (1, "class"));
    }

    #[test]
    fn a_step_in_between_is_a_mismatch_where_steps_are_compared() {
        let of = |states| Outcome { scores: vec![5], class: 0, confidence: 1, states };
        let (count, first) = mismatches(&[of(Some(1))], &[of(Some(2))], Compare::Bits);
        assert_eq!((count, first.unwrap().value.contains("every step")), (1, true));
        assert_eq!(mismatches(&[of(None)], &[of(Some(2))], Compare::Bits), (0, None));
    }

    #[test]
    fn a_confidence_alone_is_a_mismatch() {
        let of = |confidence| Outcome { scores: vec![5], class: 0, confidence, states: None };
        let (count, first) = mismatches(&[of(1)], &[of(2)], Compare::Bits);
        assert_eq!((count, first.unwrap().value.as_str()), (1, "confidence"));
    }
}
