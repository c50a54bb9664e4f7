//! A network on a board, before anything is built.

use super::costs::{Cycles, bytes, front, loops, others, straight};
use super::{Board, Load};
use serde::{Deserialize, Serialize};

/// How generated code multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Weights are tables, products are loops: the least flash.
    Loops,
    /// Weights are constants in straight code: the fewest cycles.
    Straight,
}

impl Form {
    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loops => "loops",
            Self::Straight => "straight",
        }
    }
}

/// Weights that are at most written as straight code: beyond, compilers take minutes for it.
pub const MOST_STRAIGHT: usize = 4_096;

/// What a network takes on one board, derived from its shape: bounds of flash and RAM, a model of
/// time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The board.
    pub board: Board,
    /// How the code multiplies.
    pub form: Form,
    /// Bytes of constant data in flash.
    pub data_bytes: usize,
    /// Bytes of code in flash.
    pub code_bytes: usize,
    /// Bytes of RAM for states, one frame of counts and the scores; of a model that listens, for the
    /// front end's buffers as well.
    pub static_bytes: usize,
    /// Bytes of RAM for buffers of a step and for calls.
    pub stack_bytes: usize,
    /// Bytes of flash that are left to a network, once what surrounds it has its own; `None` where
    /// flash is no limit.
    pub flash_left: Option<usize>,
    /// Bytes of RAM, likewise.
    pub ram_left: Option<usize>,
    /// Cycles of a step.
    pub cycles_per_step: u64,
    /// Cycles of the scores and the decision at the end.
    pub cycles_to_classify: u64,
}

impl Load {
    /// This load in one form; `None` where the board has no such form or the network is too large
    /// for it.
    pub fn in_form(&self, board: Board, form: Form) -> Option<Estimate> {
        match form {
            Form::Loops => Some(self.in_loops(board)),
            Form::Straight if self.weights > MOST_STRAIGHT => None,
            Form::Straight => straight(board).map(|cycles| self.estimate(board, form, &cycles)),
        }
    }

    /// This load as it would be built: straight code where that fits, else loops.
    pub fn on(&self, board: Board) -> Estimate {
        let straight = self.in_form(board, Form::Straight).filter(Estimate::fits);
        straight.unwrap_or_else(|| self.in_loops(board))
    }

    /// This load in the form that every board has.
    pub(super) fn in_loops(&self, board: Board) -> Estimate {
        self.estimate(board, Form::Loops, &loops(board))
    }

    fn estimate(&self, board: Board, form: Form, cycles: &Cycles) -> Estimate {
        let (facts, bytes, [others_flash, others_ram]) = (board.facts(), bytes(board, form), others(board));
        // Straight code takes whole words and keeps the sums of all units at once.
        let (tables, buffers) = match form {
            Form::Loops => (self.matrix_bytes, 2 * (self.inputs + self.between + self.next) + 4 * 5),
            Form::Straight => (0, 4 * (self.inputs + self.between + self.sums) + 2 * self.next),
        };
        let [listed, dense] = match form {
            Form::Loops => [self.listed, self.dense],
            Form::Straight => [self.weights, 0],
        };
        let [front_code, detector_code, front_stack] = if self.front_ram > 0 { front(board) } else { [0; 3] };
        let hears = usize::from(front_code > 0);
        // Scores and what each class is worth.
        let detector_stack = if self.detects { 8 * self.outputs + 64 } else { 0 };
        let step = [
            (cycles.mac, listed),
            (cycles.dense, dense),
            (cycles.row, self.rows),
            (cycles.curve, self.curves),
            (cycles.smooth, self.smooth_curves),
            (cycles.input, self.inputs),
        ];
        let decision = [(cycles.head, self.head), (cycles.output, self.outputs)];
        Estimate {
            board,
            form,
            data_bytes: tables + self.other_bytes + hears * self.front_data,
            code_bytes: bytes.code
                + bytes.layer * self.layers
                + bytes.weight * self.weights
                + bytes.row * self.rows
                + front_code
                + if self.detects { detector_code } else { 0 },
            // The decision and alignment take a few more.
            static_bytes: self.state_bytes + 2 * self.inputs + 4 * self.outputs + 8 + hears * self.front_ram,
            stack_bytes: buffers + bytes.stack + front_stack + detector_stack,
            flash_left: facts.flash.map(|flash| flash.saturating_sub(others_flash)),
            ram_left: facts.ram.map(|ram| ram.saturating_sub(others_ram)),
            cycles_per_step: total(&step),
            cycles_to_classify: total(&decision),
        }
    }
}

/// The sum of cycles times counts.
fn total(parts: &[(f64, usize)]) -> u64 {
    parts.iter().map(|&(cycles, n)| cycles * n as f64).sum::<f64>().ceil() as u64
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

    /// Milliseconds of a step; `None` on boards without a clock.
    pub fn ms_per_step(&self) -> Option<f64> {
        self.ms(self.cycles_per_step)
    }

    /// Cycles of a whole sequence of `steps` steps and its decision.
    pub fn cycles_per_inference(&self, steps: usize) -> u64 {
        self.cycles_per_step.saturating_mul(steps as u64).saturating_add(self.cycles_to_classify)
    }

    /// The same in milliseconds.
    pub fn ms_per_inference(&self, steps: usize) -> Option<f64> {
        self.ms(self.cycles_per_inference(steps))
    }

    fn ms(&self, cycles: u64) -> Option<f64> {
        self.board.facts().clock.map(|clock| 1e3 * cycles as f64 / f64::from(clock))
    }

    /// What is short, for people; empty where it fits.
    pub fn short(&self) -> Vec<String> {
        let what = [("flash", self.flash_bytes(), self.flash_left), ("RAM", self.ram_bytes(), self.ram_left)];
        let short = what.into_iter().filter_map(|(what, needed, left)| {
            let left = left.filter(|&left| needed > left)?;
            Some(format!("{} bytes of {what}", needed - left))
        });
        short.collect()
    }
}
