//! What things cost on each board: the one table that measurements correct.

use super::{Board, Form};

/// Bytes and cycles on one board in one form.
pub(super) struct Costs {
    /// Bytes of code whatever the network.
    pub(super) code: usize,
    /// Bytes of code a layer.
    pub(super) layer_code: usize,
    /// Bytes of straight code a weight and a row; 0 for loops, whose weights are tables.
    pub(super) weight_code: usize,
    pub(super) row_code: usize,
    /// Bytes of stack besides buffers.
    pub(super) stack: usize,
    /// Bytes of flash and RAM that what surrounds the network takes: start-up code, a serial port,
    /// the board's own libraries.
    pub(super) others_flash: usize,
    pub(super) others_ram: usize,
    /// Cycles of a multiplication.
    pub(super) mac: f64,
    /// Cycles of a row besides its multiplications.
    pub(super) row: f64,
    /// Cycles of a unit's rule, for each nonlinearity in it.
    pub(super) curve: f64,
    /// Further cycles of a nonlinearity that reads a table.
    pub(super) smooth: f64,
    /// Cycles of a feature: scaling a count.
    pub(super) input: f64,
    /// Cycles of an output: its score and its part of the confidence.
    pub(super) output: f64,
}

/// The costs on `board`; `None` where it has no such form.
pub(super) fn costs(board: Board, form: Form) -> Option<Costs> {
    match form {
        Form::Loops => Some(loops(board)),
        Form::Straight => straight(board),
    }
}

/// Weights as tables.
pub(super) fn loops(board: Board) -> Costs {
    match board {
        Board::Uno => Costs {
            code: 1_900,
            layer_code: 1_400,
            weight_code: 0,
            row_code: 0,
            stack: 136,
            // An empty sketch with a serial port.
            others_flash: 2_048,
            others_ram: 224,
            mac: 28.0,
            row: 40.0,
            curve: 160.0,
            smooth: 120.0,
            input: 140.0,
            output: 400.0,
        },
        Board::M0plus => Costs {
            code: 900,
            layer_code: 800,
            stack: 256,
            others_flash: 16 * 1024,
            others_ram: 6 * 1024,
            mac: 11.0,
            row: 14.0,
            curve: 30.0,
            smooth: 40.0,
            input: 25.0,
            output: 100.0,
            ..loops(Board::Uno)
        },
        Board::M3 => Costs {
            code: 1_300,
            mac: 7.0,
            row: 12.0,
            curve: 20.0,
            smooth: 30.0,
            input: 20.0,
            output: 80.0,
            ..loops(Board::M0plus)
        },
        // Its libraries bring an operating system.
        Board::M4 => Costs {
            others_flash: 96 * 1024,
            others_ram: 64 * 1024,
            mac: 5.0,
            curve: 17.5,
            ..loops(Board::M3)
        },
        Board::Riscv32 => Costs { code: 1_700, layer_code: 900, others_ram: 2 * 1024, ..loops(Board::M3) },
        // A process has all the memory it asks for, and milliseconds are not given.
        Board::Aarch64 => Costs { others_flash: 0, others_ram: 0, ..loops(Board::Riscv32) },
    }
}

/// Weights as constants in code.
fn straight(board: Board) -> Option<Costs> {
    let arm = Costs { weight_code: 10, row_code: 16, stack: 400, ..loops(board) };
    match board {
        // A weight is some 60 bytes of an AVR's code: nothing of use would fit.
        Board::Uno => None,
        Board::M0plus => Some(Costs { mac: 6.0, row: 12.0, ..arm }),
        Board::M3 => Some(Costs { mac: 5.0, ..arm }),
        Board::M4 => Some(Costs { mac: 4.0, ..arm }),
        Board::Riscv32 | Board::Aarch64 => {
            Some(Costs { weight_code: 14, row_code: 24, stack: 560, mac: 5.0, ..arm })
        }
    }
}
