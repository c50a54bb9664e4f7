use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts};
use crate::device::info::{BoardInfo, Compiler, Core, Emulator, Overhead, Toolchain};

/// Arduino Uno.
///
/// Memories and clock: ATmega328P data sheet (DS40002061); 512 bytes of the 32 KiB of flash belong to
/// the boot loader. The overhead is that of an empty sketch with a serial port. Cycles are simavr's,
/// which are exact, so that no model of the flash is needed.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "uno",
    name: "Arduino Uno (ATmega328P)",
    short_name: "an Uno",
    core: Core::Avr,
    clock: Some(16_000_000),
    flash: Some(32 * 1024 - 512),
    ram: Some(2 * 1024),
    overhead: Overhead { flash: 2_048, ram: 224 },
    flash_timing: None,
    compiler: Compiler {
        toolchain: Toolchain::AvrGcc,
        target_flags: &["-mmcu=atmega328p"],
        // Measured: faster than -Os by a tenth, and no larger.
        size_flag: "-O2",
        speed_flag: "-O2",
    },
    emulator: Emulator::Simavr { mcu: "atmega328p" },
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 1_900, layer: 1_400, weight: 0, row: 0, stack: 136 },
            cycles: CycleCosts::new([29.1, 24.1, 59.9, 77.4, 251.7, 156.2, 23.5, 1202.0]).with_four_bits(25.2, 198.0),
        },
        // A weight would take some 60 bytes: nothing useful would fit.
        straight: None,
        // The transform alone needs more RAM than there is: frames of features come from elsewhere.
        front_end: None,
        detector_code: 1_500,
    },
};
