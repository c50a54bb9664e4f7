use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
use crate::device::info::{
    BoardInfo, Compiler, Core, Emulator, FlashBuffer, FlashTiming, MemoryMap, Overhead, QemuMachine, QemuSystem,
    Toolchain,
};

/// Arduino Due, and other boards with a SAM3X.
///
/// Memories, clock and flash: SAM3X data sheet (Atmel-11057). Chapter EEFC: 4 wait states at 84 MHz;
/// two buffers of 128 bits for code, of which one is filled ahead, and one for data.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "m3",
    name: "Arduino Due (SAM3X8E, Cortex-M3)",
    short_name: "a Due",
    core: Core::CortexM3,
    clock: Some(84_000_000),
    flash: Some(512 * 1024),
    ram: Some(96 * 1024),
    overhead: Overhead { flash: 16 * 1024, ram: 6 * 1024 },
    flash_timing: Some(FlashTiming { wait_states: 4, buffer: FlashBuffer::Prefetch { line: 16 } }),
    compiler: Compiler {
        toolchain: Toolchain::ArmNoneEabiGcc,
        target_flags: &["-mcpu=cortex-m3", "-mthumb"],
        size_flag: "-Os",
        speed_flag: "-O2",
    },
    emulator: Emulator::Qemu(QemuMachine { system: QemuSystem::Arm, machine: "mps2-an385", memory: MemoryMap::ARM_MPS2 }),
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 1_300, layer: 800, weight: 0, row: 0, stack: 256 },
            cycles: CycleCosts::new([15.2, 6.7, 62.4, 0.0, 81.1, 0.0, 8.2, 160.0]).with_four_bits(5.9, 19.0),
        },
        straight: Some(CodeCosts {
            bytes: CodeBytes { base: 1_300, layer: 800, weight: 10, row: 16, stack: 400 },
            cycles: CycleCosts::new([2.9, 0.0, 0.6, 43.5, 40.7, 21.7, 10.2, 125.0]).with_four_bits(5.9, 19.0),
        }),
        front_end: Some(FrontEndCosts { code: 2_700, stack: 640 }),
        detector_code: 600,
    },
};
