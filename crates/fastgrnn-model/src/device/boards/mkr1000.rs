use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
use crate::device::info::{
    BoardInfo, Compiler, Core, Emulator, FlashBuffer, FlashTiming, MemoryMap, Overhead, QemuMachine, QemuSystem,
    Toolchain,
};

/// Arduino MKR1000, and other boards with a SAM D21.
///
/// Memories, clock and flash: SAM D21 data sheet (DS40001882). 8 KiB of the 256 KiB of flash belong to
/// the boot loader. Chapter NVMCTRL: one wait state from 24 to 48 MHz above 2.7 V, and a direct-mapped
/// cache of 8 lines of 64 bits for code and data alike.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "m0plus",
    name: "Arduino MKR1000 (SAMD21, Cortex-M0+)",
    short_name: "an MKR1000",
    core: Core::CortexM0Plus,
    clock: Some(48_000_000),
    flash: Some(248 * 1024),
    ram: Some(32 * 1024),
    overhead: Overhead { flash: 16 * 1024, ram: 6 * 1024 },
    flash_timing: Some(FlashTiming {
        wait_states: 1,
        buffer: FlashBuffer::Cache { sets: 8, ways: 1, line: 8, holds_data: true },
    }),
    compiler: Compiler {
        toolchain: Toolchain::ArmNoneEabiGcc,
        target_flags: &["-mcpu=cortex-m0plus", "-mthumb"],
        size_flag: "-Os",
        speed_flag: "-O2",
    },
    // QEMU has no SAM D21. Its micro:bit has the same instruction set and half the RAM.
    emulator: Emulator::Qemu(QemuMachine {
        system: QemuSystem::Arm,
        machine: "microbit",
        memory: MemoryMap { flash_size: 256 << 10, ram_size: 16 << 10, ..MemoryMap::ARM_MPS2 },
    }),
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 900, layer: 800, weight: 0, row: 0, stack: 256 },
            cycles: CycleCosts::new([13.1, 11.0, 44.9, 8.7, 51.6, 35.5, 11.1, 162.0]).with_four_bits(5.4, 14.0),
        },
        straight: Some(CodeCosts {
            bytes: CodeBytes { base: 900, layer: 800, weight: 10, row: 16, stack: 400 },
            cycles: CycleCosts::new([5.2, 0.0, 0.0, 41.5, 42.5, 29.5, 11.2, 175.0]).with_four_bits(5.4, 14.0),
        }),
        front_end: Some(FrontEndCosts { code: 2_700, stack: 640 }),
        detector_code: 600,
    },
};
