//! Measuring a language model that writes text on a board.
//!
//! The firmware reads a few tokens, then draws tokens with the generated `sample` and reads each of them. The
//! tokens that it draws and its state after each of them must be those of the host.

use crate::emulate::{RunOptions, emulate};
use crate::firmware::{FirmwareInput, build};
use crate::measure::check_stack;
use crate::optimization::default_optimization;
use crate::outcome::{NO_STATES, with_state};
use crate::platform::Platform;
use crate::report::{TextReport, mismatches};
use crate::work::WorkFolder;
use crate::{BoardError, Compare, MeasureOptions, Outcome};
use fastgrnn::device::Board;
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::CSource;
use fastgrnn_runtime::int::{Draw, TokenSampler};

/// A text to be written: what is read first, and how tokens are drawn.
struct Text {
    seed: u32,
    draw: Draw,
    prompt: Vec<u16>,
}

/// Lets the board write texts and compares them with the host's. `source` was generated from `model`, which is a
/// language model, with its end of a line.
pub(crate) fn measure_text(
    board: Board,
    model: &IntegerModel,
    end: u32,
    source: &CSource,
    options: &MeasureOptions,
) -> Result<TextReport, BoardError> {
    let platform = Platform::new(board);
    let texts = texts(model, end);
    let expected: Vec<Outcome> = texts.iter().map(|text| written(model, text)).collect();
    let work = WorkFolder::new(board)?;
    let flag = platform.optimization_flag(options.optimize.unwrap_or_else(|| default_optimization(board)));
    let firmware = build(&work, &platform, flag, source, FirmwareInput::Text)?;
    work.write("windows", &encode(&texts))?;
    let wait_states = platform.wait_states().map_or(0, |wait| options.wait_states.unwrap_or(wait));
    let how = RunOptions { windows: texts.len(), wait_states, limit: options.limit };
    let run = emulate(&work, &platform, &firmware, &how)?;
    if let Some(folder) = &options.keep {
        work.keep(&folder.with_extension("text"))?;
    }
    check_stack(board, &firmware, run.stack)?;
    let (mismatches, first_mismatch) = mismatches(&expected, &run.outcomes, Compare::Bits);
    let step = run.counts.step;
    let per_token = |sum: u64| if step.calls == 0 { 0.0 } else { sum as f64 / step.calls as f64 };
    let cycles = (!platform.counts_instructions_only()).then(|| per_token(step.cycles.own));
    let ms = cycles.zip(board.info().clock).map(|(cycles, hz)| cycles / f64::from(hz) * 1e3);
    Ok(TextReport {
        texts: texts.len(),
        tokens: step.calls,
        instructions_per_token: per_token(step.instructions),
        cycles_per_token: cycles,
        ms_per_token: ms,
        flash_bytes: firmware.app.flash().saturating_sub(firmware.empty.flash()),
        ram_static_bytes: firmware.app.ram().saturating_sub(firmware.empty.ram()),
        stack_bytes: run.stack,
        mismatches,
        first_mismatch,
    })
}

/// Texts that begin with the end of a line or with several tokens, drawn in several ways.
fn texts(model: &IntegerModel, end: u32) -> Vec<Text> {
    let tokens = model.network.head_biases.len() as u32;
    let draws = [(256, 0), (320, 5), (0, 0), (128, 0), (4096, 0), (16, 2)];
    let of = |(i, &(sharpness, most)): (usize, &(u16, u16))| {
        let others = (0..i as u32 % 3).map(|k| (7 * k + i as u32) % tokens);
        let prompt = std::iter::once(end).chain(others).map(|token| token as u16).collect();
        Text { seed: i as u32, draw: Draw { sharpness, most }, prompt }
    };
    draws.iter().enumerate().map(of).collect()
}

/// What the host writes: as many tokens as there are scores, in the place of scores.
fn written(model: &IntegerModel, text: &Text) -> Outcome {
    const LENGTHS: &str = "the buffers were made with the lengths that the model asks for";
    let view = model.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut state = view.start(&mut memory, &mut scratch).expect(LENGTHS);
    let mut states = NO_STATES;
    let mut read = |token: u16, scores: &mut [i32]| {
        view.step(&mut state, &[token as i16]).expect(LENGTHS);
        states = with_state(states, state.layers());
        view.scores(&state, scores).expect(LENGTHS);
    };
    let mut scores = vec![0; view.outputs()];
    text.prompt.iter().for_each(|&token| read(token, &mut scores));
    let mut sampler = TokenSampler::new(text.seed, text.draw);
    let mut drawn: Vec<i32> = Vec::new();
    for _ in 0..view.outputs() {
        if let Some(&last) = drawn.last() {
            read(last as u16, &mut scores);
        }
        drawn.push(sampler.draw(&scores, view.score_bits()) as i32);
    }
    // The last token that is drawn is not read.
    let decision = view.decide(&scores);
    Outcome {
        scores: drawn,
        class: decision.class as u16,
        confidence: decision.confidence,
        states: Some(states),
    }
}

/// The file `windows` from which the firmware reads what to write.
fn encode(texts: &[Text]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend(text.seed.to_le_bytes());
        bytes.extend([text.draw.sharpness, text.draw.most].iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend((text.prompt.len() as u32).to_le_bytes());
        bytes.extend(text.prompt.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes
}
