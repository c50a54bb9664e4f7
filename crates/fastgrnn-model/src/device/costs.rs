//! What things cost on each board: the tables that measurements correct.
//!
//! Bytes are bounds over what the compilers of `scripts/setup-boards` make of models of every cell.
//! Cycles are fitted, by least squares of relative errors, to what `fastgrnn board` counted for nine
//! models of five cells, at each board's own wait states: within 7 % of every step.

use super::{Board, Form};

/// Bytes on one board in one form.
pub(super) struct Bytes {
    /// Of code, whatever the network.
    pub(super) code: usize,
    /// Of code a layer.
    pub(super) layer: usize,
    /// Of straight code a weight; 0 for loops, whose weights are tables.
    pub(super) weight: usize,
    /// Of straight code a row.
    pub(super) row: usize,
    /// Of stack besides buffers.
    pub(super) stack: usize,
}

/// Cycles on one board in one form.
pub(super) struct Cycles {
    /// Of a weight: in a table that lists entries, or in straight code.
    pub(super) mac: f64,
    /// Of a weight in a dense table; straight code has none.
    pub(super) dense: f64,
    /// Of a row besides its weights.
    pub(super) row: f64,
    /// Of a unit's rule, for each nonlinearity in it.
    pub(super) curve: f64,
    /// Of a nonlinearity that reads a table, further.
    pub(super) smooth: f64,
    /// Of a feature: scaling a count.
    pub(super) input: f64,
    /// Of a weight of the head, which is always a table.
    pub(super) head: f64,
    /// Of an output: its part of the decision and the confidence.
    pub(super) output: f64,
}

/// An allowance for what surrounds a network: start-up code, a serial port, the board's own
/// libraries. Bytes of flash and of RAM.
pub(super) fn others(board: Board) -> [usize; 2] {
    match board {
        // An empty sketch with a serial port.
        Board::Uno => [2_048, 224],
        Board::M0plus | Board::M3 => [16 * 1024, 6 * 1024],
        // Its libraries bring an operating system.
        Board::M4 => [96 * 1024, 64 * 1024],
        Board::Riscv32 => [16 * 1024, 2 * 1024],
        Board::Aarch64 => [0, 0],
    }
}

/// Bytes of code and stack.
pub(super) fn bytes(board: Board, form: Form) -> Bytes {
    let loops = match board {
        Board::Uno => Bytes { code: 1_900, layer: 1_400, weight: 0, row: 0, stack: 136 },
        Board::M0plus => Bytes { code: 900, layer: 800, weight: 0, row: 0, stack: 256 },
        Board::M3 | Board::M4 => Bytes { code: 1_300, layer: 800, weight: 0, row: 0, stack: 256 },
        Board::Riscv32 | Board::Aarch64 => Bytes { code: 1_700, layer: 900, weight: 0, row: 0, stack: 256 },
    };
    match (form, board) {
        (Form::Loops, _) => loops,
        (Form::Straight, Board::Uno | Board::M0plus | Board::M3 | Board::M4) => {
            Bytes { weight: 10, row: 16, stack: 400, ..loops }
        }
        (Form::Straight, Board::Riscv32 | Board::Aarch64) => {
            Bytes { weight: 14, row: 24, stack: 560, ..loops }
        }
    }
}

/// Bytes of an audio front end: code, code of a detector, stack. An Uno has room for a detector
/// alone: frames of features come from elsewhere.
pub(super) fn front(board: Board) -> [usize; 3] {
    match board {
        Board::Uno => [0, 1_500, 0],
        Board::M0plus | Board::M3 | Board::M4 => [2_700, 600, 640],
        Board::Riscv32 => [3_100, 700, 640],
        Board::Aarch64 => [4_000, 1_000, 900],
    }
}

/// Cycles of loops over tables. Of a computer with caches nothing is known: its row is the
/// RISC-V's, and its clock is not given.
#[rustfmt::skip] // a table
pub(super) fn loops(board: Board) -> Cycles {
    cycles(match board {
        Board::Uno                      => [29.1, 24.1, 59.9, 77.4, 251.7, 156.2, 23.5, 1202.0],
        Board::M0plus                   => [13.1, 11.0, 44.9,  8.7,  51.6,  35.5, 11.1,  162.0],
        Board::M3                       => [15.2,  6.7, 62.4,  0.0,  81.1,   0.0,  8.2,  160.0],
        Board::M4                       => [15.5,  7.6, 36.3,  4.4,  49.1,  33.6,  9.0,  103.0],
        Board::Riscv32 | Board::Aarch64 => [12.2,  7.0, 22.0,  0.0,  36.5,  33.2,  7.8,   74.0],
    })
}

/// Cycles of straight code. An AVR has none: a weight is some 60 bytes there, and nothing of use
/// would fit. Nor has the RISC-V: it would not stay in the cache before its serial flash.
#[rustfmt::skip] // a table
pub(super) fn straight(board: Board) -> Option<Cycles> {
    Some(cycles(match board {
        Board::Uno | Board::Riscv32     => return None,
        Board::M0plus                   => [ 5.2,  0.0,  0.0, 41.5,  42.5,  29.5, 11.2,  175.0],
        Board::M3                       => [ 2.9,  0.0,  0.6, 43.5,  40.7,  21.7, 10.2,  125.0],
        Board::M4                       => [ 3.8,  0.0,  1.4, 38.2,  18.9,  28.2,  8.8,  113.0],
        Board::Aarch64                  => [ 4.0,  0.0,  0.0, 29.0,  19.9,  19.0,  6.2,   94.0],
    }))
}

fn cycles([mac, dense, row, curve, smooth, input, head, output]: [f64; 8]) -> Cycles {
    Cycles { mac, dense, row, curve, smooth, input, head, output }
}
