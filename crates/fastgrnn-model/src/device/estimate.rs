//! An estimate of what a network takes on a board, before anything is built.

use super::costs::CodeCosts;
use super::{Board, Footprint};
use serde::{Deserialize, Serialize};

/// How generated code multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeForm {
    /// Weights are in tables and products are loops, which takes the least flash.
    Loops,
    /// Weights are constants in straight-line code, which takes the fewest cycles.
    Straight,
}

impl CodeForm {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loops => "loops",
            Self::Straight => "straight",
        }
    }
}

/// The most weights that the exporter writes as straight-line code; compilers take minutes for more.
///
/// The limit is the exporter's, but it is defined here because an estimate must predict which form
/// the exporter will write, and the exporter depends on this crate.
pub const MAX_STRAIGHT_WEIGHTS: usize = 4_096;

/// Bytes of the sums of four rows of 4 bits, of W's and U's factors, and what rounds the sums of all rows up to
/// four.
const FOUR_ROWS: usize = 3 * 16 + 24;
/// Bytes of the code that multiplies rows of 4 bits, and of multipliers.
const FOUR_BIT_CODE: usize = 900;
/// Bytes of a multiplied row in straight-line code: the product by parts.
const MULTIPLIED_ROW: usize = 32;

/// What a network takes on one board, derived from its shape: upper bounds of flash and RAM, and a
/// model of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The board.
    pub board: Board,
    /// How the code multiplies.
    pub form: CodeForm,
    /// Bytes of constant data in flash.
    pub data_bytes: usize,
    /// Bytes of code in flash.
    pub code_bytes: usize,
    /// Bytes of RAM for states, one frame of counts and the scores, and for the buffers of an audio
    /// front end if there is one.
    pub static_bytes: usize,
    /// Bytes of RAM for buffers of a step and for calls.
    pub stack_bytes: usize,
    /// Bytes of flash that the board's own code leaves to a network; `None` where flash is no limit.
    pub flash_left: Option<usize>,
    /// Bytes of RAM that the board's own code leaves to a network; `None` where RAM is no limit.
    pub ram_left: Option<usize>,
    /// Cycles of a frame, and so of a step; with a stride, the mean over its frames.
    pub cycles_per_step: u64,
    /// Cycles of the scores and the decision at the end.
    pub cycles_to_classify: u64,
}

impl Footprint {
    /// The estimate for one form of code; `None` where the board is never given this form or the
    /// network has too many weights for it.
    pub fn estimate_form(&self, board: Board, form: CodeForm) -> Option<Estimate> {
        match form {
            CodeForm::Loops => Some(self.estimate_loops(board)),
            CodeForm::Straight if self.weights > MAX_STRAIGHT_WEIGHTS => None,
            CodeForm::Straight => {
                let costs = board.info().costs.straight.as_ref()?;
                Some(self.estimate_with(board, form, costs))
            }
        }
    }

    /// The estimate for the form of code that would be built: straight-line code where that fits,
    /// otherwise loops.
    pub fn estimate(&self, board: Board) -> Estimate {
        let straight = self.estimate_form(board, CodeForm::Straight).filter(Estimate::fits);
        straight.unwrap_or_else(|| self.estimate_loops(board))
    }

    /// The estimate for loops, the form that every board has.
    pub(super) fn estimate_loops(&self, board: Board) -> Estimate {
        self.estimate_with(board, CodeForm::Loops, &board.info().costs.loops)
    }

    fn estimate_with(&self, board: Board, form: CodeForm, costs: &CodeCosts) -> Estimate {
        let info = board.info();
        let (bytes, cycles) = (costs.bytes, costs.cycles);
        // Straight-line code takes whole words and keeps the sums of all units at once.
        // A window is read where the state keeps it.
        let input = if self.window_bytes > 0 { 0 } else { self.step_inputs };
        let (tables, buffers) = match form {
            CodeForm::Loops => {
                let rows = if self.four_bits > 0 { FOUR_ROWS + 4 * self.sums } else { 0 };
                (self.matrix_bytes, 2 * (input + self.between + self.next) + 4 * 5 + rows)
            }
            CodeForm::Straight => (0, 4 * (input + self.between + self.sums) + 2 * self.next),
        };
        let [listed, dense, four_bits] = match form {
            CodeForm::Loops => [self.listed, self.dense, self.four_bits],
            CodeForm::Straight => [self.weights, 0, 0],
        };
        let four_bit_code = match form {
            _ if self.multiplied == 0 => 0,
            CodeForm::Loops => FOUR_BIT_CODE,
            CodeForm::Straight => FOUR_BIT_CODE + MULTIPLIED_ROW * self.multiplied,
        };
        let has_audio = self.front_ram > 0;
        let front_end = info.costs.front_end.filter(|_| has_audio);
        let detector_code = if has_audio && self.detects { info.costs.detector_code } else { 0 };
        // Scores and what each class is worth.
        let detector_stack = if self.detects { 8 * self.outputs + 64 } else { 0 };
        let step = [
            (cycles.weight, listed),
            (cycles.dense_weight, dense),
            (cycles.four_bit_weight, four_bits),
            (cycles.multiplied_row, self.multiplied),
            (cycles.row, self.rows),
            // A gain is one product and one rounding shift.
            (cycles.row, self.gains),
            (cycles.curve, self.curves),
            (cycles.smooth_curve, self.smooth_curves),
        ];
        // A frame is read in any case; a step belongs to the frames of its stride in equal parts.
        let share = 1.0 / self.stride.max(1) as f64;
        let step =
            step.map(|(cycles, n)| (cycles * share, n)).into_iter().chain([(cycles.input, self.inputs)]);
        let decision = [(cycles.head_weight, self.head), (cycles.output, self.outputs)];
        Estimate {
            board,
            form,
            data_bytes: tables + self.other_bytes + front_end.map_or(0, |_| self.front_data),
            code_bytes: bytes.base
                + four_bit_code
                + bytes.layer * self.layers
                + bytes.weight * self.weights
                + bytes.row * self.rows
                + front_end.map_or(0, |costs| costs.code)
                + detector_code,
            // The decision and alignment take a few more.
            static_bytes: self.state_bytes
                + self.window_bytes
                + 2 * self.inputs
                + 4 * self.outputs
                + 8
                + front_end.map_or(0, |_| self.front_ram),
            stack_bytes: buffers + bytes.stack + front_end.map_or(0, |costs| costs.stack) + detector_stack,
            flash_left: info.flash.map(|flash| flash.saturating_sub(info.overhead.flash)),
            ram_left: info.ram.map(|ram| ram.saturating_sub(info.overhead.ram)),
            cycles_per_step: total(step),
            cycles_to_classify: total(decision),
        }
    }
}

/// The sum of cycles times counts.
fn total(parts: impl IntoIterator<Item = (f64, usize)>) -> u64 {
    parts.into_iter().map(|(cycles, n)| cycles * n as f64).sum::<f64>().ceil() as u64
}

impl Estimate {
    /// Bytes of flash: data and code.
    pub fn flash_bytes(&self) -> usize {
        self.data_bytes + self.code_bytes
    }

    /// Bytes of RAM, stack included.
    pub fn ram_bytes(&self) -> usize {
        self.static_bytes + self.stack_bytes
    }

    /// Whether the board has room for it.
    pub fn fits(&self) -> bool {
        self.flash_left.is_none_or(|left| self.flash_bytes() <= left)
            && self.ram_left.is_none_or(|left| self.ram_bytes() <= left)
    }

    /// Milliseconds of a step; `None` for boards without a clock.
    pub fn ms_per_step(&self) -> Option<f64> {
        self.ms(self.cycles_per_step)
    }

    /// Cycles of a whole sequence of `steps` frames and the decision at its end.
    pub fn cycles_per_inference(&self, steps: usize) -> u64 {
        self.cycles_per_step.saturating_mul(steps as u64).saturating_add(self.cycles_to_classify)
    }

    /// Milliseconds of a whole sequence and its decision; `None` for boards without a clock.
    pub fn ms_per_inference(&self, steps: usize) -> Option<f64> {
        self.ms(self.cycles_per_inference(steps))
    }

    fn ms(&self, cycles: u64) -> Option<f64> {
        self.board.info().clock.map(|clock| 1e3 * cycles as f64 / f64::from(clock))
    }

    /// How many bytes of which memory are missing, as text; empty where the network fits.
    pub fn shortages(&self) -> Vec<String> {
        let what = [("flash", self.flash_bytes(), self.flash_left), ("RAM", self.ram_bytes(), self.ram_left)];
        let missing = what.into_iter().filter_map(|(what, needed, left)| {
            let left = left.filter(|&left| needed > left)?;
            Some(format!("{} bytes of {what}", needed - left))
        });
        missing.collect()
    }
}
