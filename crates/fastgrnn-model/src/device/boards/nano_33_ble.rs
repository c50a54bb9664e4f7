use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
use crate::device::info::{
    BoardInfo, Compiler, Core, Emulator, FlashBuffer, FlashTiming, MemoryMap, Overhead, QemuMachine, QemuSystem,
    Toolchain,
};

/// Arduino Nano 33 BLE, and other boards with an nRF52840.
///
/// Memories, clock and flash: nRF52840 product specification. The boot loader takes 64 KiB of the
/// 1 MiB of flash. Chapter CPU: up to 3 wait states, with the code cache switched on: 2 KiB, two ways
/// of 64 lines of 128 bits, for code only.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "m4",
    name: "Arduino Nano 33 BLE (nRF52840, Cortex-M4)",
    short_name: "a Nano 33 BLE",
    core: Core::CortexM4,
    clock: Some(64_000_000),
    flash: Some(960 * 1024),
    ram: Some(256 * 1024),
    // Its libraries include an operating system.
    overhead: Overhead { flash: 96 * 1024, ram: 64 * 1024 },
    flash_timing: Some(FlashTiming {
        wait_states: 3,
        buffer: FlashBuffer::Cache { sets: 64, ways: 2, line: 16, holds_data: false },
    }),
    compiler: Compiler {
        toolchain: Toolchain::ArmNoneEabiGcc,
        target_flags: &["-mcpu=cortex-m4", "-mthumb"],
        size_flag: "-Os",
        speed_flag: "-O2",
    },
    emulator: Emulator::Qemu(QemuMachine { system: QemuSystem::Arm, machine: "mps2-an386", memory: MemoryMap::ARM_MPS2 }),
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 1_300, layer: 800, weight: 0, row: 0, stack: 256 },
            cycles: CycleCosts::new([15.5, 7.6, 36.3, 4.4, 49.1, 33.6, 9.0, 103.0]).with_four_bits(2.7, 30.0),
        },
        straight: Some(CodeCosts {
            bytes: CodeBytes { base: 1_300, layer: 800, weight: 10, row: 16, stack: 400 },
            cycles: CycleCosts::new([3.8, 0.0, 1.4, 38.2, 18.9, 28.2, 8.8, 113.0]).with_four_bits(2.7, 30.0),
        }),
        front_end: Some(FrontEndCosts { code: 2_700, stack: 640 }),
        detector_code: 600,
    },
};
