//! Golden vectors: windows of counts and the results that the host computes for them.
//!
//! A board that computes the same numbers runs the same network. Every export contains them as a C
//! header and as JSON. Their size is bounded, so that they fit the flash of a small board together
//! with the network.

mod header;
mod windows;

pub(crate) use header::header;
pub(crate) use windows::RANDOM;
pub use windows::{MOST_BYTES, Windows};

use crate::ExportError;
use crate::float;
use fastgrnn::generate::GenerateOptions;
use fastgrnn::model::AnyModel;
use fastgrnn::quantize::IntegerModel;
use serde::Serialize;

/// The class of a window whose scores are so close that a float export may choose any class.
const ANY_CLASS: u16 = u16::MAX;

/// A window and its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoldenWindow {
    /// Counts, frame by frame.
    pub counts: Vec<i16>,
    /// Scores after the last step.
    pub scores: Vec<i32>,
    /// The class; 65535 where the float export may choose another.
    pub class: u16,
    /// The confidence, from 0 to 255.
    pub confidence: u8,
}

/// Windows with their results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Golden {
    /// Counts in a frame.
    pub features: usize,
    /// The windows.
    pub windows: Vec<GoldenWindow>,
    /// FNV-1a (32 bits) of the scores after every step of every window, four bytes each, the
    /// lowest first.
    pub hash: u32,
    /// The largest error of a score that is accepted; 0 except for float exports.
    pub tolerance: u32,
    /// A description of where the windows come from.
    pub origin: String,
    /// Tokens that a language model draws, after the end of a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<GoldenText>,
}

/// Tokens that a language model draws from a reset state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoldenText {
    /// The seed of the random numbers.
    pub seed: u32,
    /// 256 / temperature.
    pub sharpness: u16,
    /// How many of the most probable tokens may be drawn.
    pub most: u16,
    /// The tokens.
    pub tokens: Vec<u16>,
}

impl GoldenText {
    fn new(model: &IntegerModel) -> Option<Self> {
        const LENGTH: usize = 64;
        // Values at which every part of the draw matters.
        let (seed, temperature, most) = (1, 0.8, (model.view().outputs() / 2).clamp(1, 40) as u16);
        let options = GenerateOptions { length: LENGTH, temperature, most, seed };
        let generated = AnyModel::Integer(Box::new(model.clone())).generate("", &options).ok()?;
        let tokens = generated.tokens.iter().map(|&token| token as u16).collect();
        Some(Self { seed, sharpness: 320, most, tokens })
    }
}

impl Golden {
    /// The results of the integer network for `windows`, which are cut so that all of them fit
    /// [`MOST_BYTES`].
    pub fn integer(model: &IntegerModel, windows: &Windows) -> Result<Self, ExportError> {
        let view = model.view();
        let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
        let length = |e: fastgrnn_runtime::int::WrongLength| ExportError::Window {
            found: e.found,
            features: e.needed,
        };
        let mut scores = vec![0; view.outputs()];
        let mut hash = Fnv::default();
        let mut all = Vec::new();
        for counts in windows.cut(view.inputs(), model.network.window.stride, view.outputs())? {
            let mut state = view.start(&mut memory, &mut scratch).map_err(length)?;
            for frame in counts.chunks_exact(view.inputs()) {
                view.step(&mut state, frame).map_err(length)?;
                view.scores(&state, &mut scores).map_err(length)?;
                scores.iter().for_each(|s| hash.add(*s));
            }
            let decision = view.decide(&scores);
            let class = decision.class as u16;
            all.push(GoldenWindow { counts, scores: scores.clone(), class, confidence: decision.confidence });
        }
        Ok(Self {
            features: view.inputs(),
            windows: all,
            hash: hash.0,
            tolerance: 0,
            origin: windows.origin.clone(),
            text: GoldenText::new(model),
        })
    }

    /// The results of the float export for `windows`, with a tolerance, because a board may round
    /// differently from the host.
    pub fn float(model: &IntegerModel, windows: &Windows) -> Result<Self, ExportError> {
        let (network, view) = (&model.network, model.view());
        let unit = f64::from(network.score_bits()).exp2();
        let mut hash = Fnv::default();
        let mut all = Vec::new();
        for counts in windows.cut(view.inputs(), model.network.window.stride, view.outputs())? {
            // The cast saturates.
            let to_word = |row: &Vec<f64>| row.iter().map(|s| (s * unit).round() as i32).collect::<Vec<_>>();
            let rows: Vec<Vec<i32>> = float::scores(network, &counts).iter().map(to_word).collect();
            rows.iter().flatten().for_each(|s| hash.add(*s));
            let scores = rows.last().cloned().unwrap_or_default();
            let decision = view.decide(&scores);
            all.push(GoldenWindow {
                counts,
                scores,
                class: decision.class as u16,
                confidence: decision.confidence,
            });
        }
        let largest = all.iter().flat_map(|w| &w.scores).map(|s| s.unsigned_abs()).max().unwrap_or(0);
        let tolerance = largest / 1024 + 1;
        for window in &mut all {
            let best = window.scores.iter().copied().max().unwrap_or(0);
            let near = window.scores.iter().filter(|s| best.abs_diff(**s) <= 2 * tolerance).count();
            if near > 1 || window.scores.len() == 1 && best.unsigned_abs() <= tolerance {
                window.class = ANY_CLASS;
            }
        }
        Ok(Self {
            features: view.inputs(),
            windows: all,
            hash: hash.0,
            tolerance,
            origin: windows.origin.clone(),
            text: None,
        })
    }

    /// The number of steps in all windows.
    pub fn steps(&self) -> usize {
        self.windows.iter().map(|w| w.counts.len() / self.features.max(1)).sum()
    }

    /// Bytes of flash.
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().map_or(0, |text| 2 * text.tokens.len());
        let windows = self.windows.iter().map(|w| 2 * w.counts.len() + windows::overhead(w.scores.len()));
        text + windows.sum::<usize>()
    }

    /// The vectors as JSON, with each window on a line of its own.
    pub(crate) fn json(&self) -> String {
        let lines: Vec<String> = self
            .windows
            .iter()
            .map(|w| {
                let json =
                    serde_json::to_string(w).expect("numbers and arrays of numbers can be written as JSON");
                format!("    {json}")
            })
            .collect();
        format!(
            "{{\n  \"features\": {},\n  \"hash\": {},\n  \"tolerance\": {},\n  \"origin\": {},\n{}  \"windows\": [\n{}\n  ]\n}}\n",
            self.features,
            self.hash,
            self.tolerance,
            serde_json::Value::String(self.origin.clone()),
            self.text.as_ref().map_or(String::new(), |text| {
                let json = serde_json::to_string(text).expect("numbers can be written as JSON");
                format!("  \"text\": {json},\n")
            }),
            lines.join(",\n")
        )
    }
}

/// FNV-1a, 32 bits.
struct Fnv(u32);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x811C_9DC5)
    }
}

impl Fnv {
    fn add(&mut self, score: i32) {
        for byte in score.to_le_bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Published test vector of the four bytes "foob".
        let mut hash = Fnv::default();
        hash.add(i32::from_le_bytes(*b"foob"));
        assert_eq!(hash.0, 0x3f50_76ef);
    }
}
