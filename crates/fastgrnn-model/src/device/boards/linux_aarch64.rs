use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
use crate::device::info::{
    BoardInfo, Compiler, Core, Emulator, MemoryMap, Overhead, QemuMachine, QemuSystem, Toolchain,
};

/// A 64-bit Arm computer with Linux, such as a Raspberry Pi.
///
/// Memory sets no limit, and no clock is given: nothing is known about the cycles of a core with
/// caches. The cycles of loops are those of the RISC-V board and only serve to compare networks.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "aarch64",
    name: "64-bit ARM Linux",
    short_name: "a 64-bit ARM",
    core: Core::CortexA53,
    clock: None,
    flash: None,
    ram: None,
    overhead: Overhead { flash: 0, ram: 0 },
    flash_timing: None,
    compiler: Compiler {
        toolchain: Toolchain::Aarch64LinuxGcc,
        target_flags: &["-fno-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"],
        size_flag: "-Os",
        speed_flag: "-O2",
    },
    emulator: Emulator::QemuLinux {
        fallback: QemuMachine {
            system: QemuSystem::Aarch64,
            machine: "virt",
            // The machine itself uses the first megabytes.
            memory: MemoryMap { flash: 0x4020_0000, ram: 0x4060_0000, ..MemoryMap::ARM_MPS2 },
        },
    },
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 1_700, layer: 900, weight: 0, row: 0, stack: 256 },
            cycles: CycleCosts::new([12.2, 7.0, 22.0, 0.0, 36.5, 33.2, 7.8, 74.0]).with_four_bits(5.9, 22.0),
        },
        straight: Some(CodeCosts {
            bytes: CodeBytes { base: 1_700, layer: 900, weight: 14, row: 24, stack: 560 },
            cycles: CycleCosts::new([4.0, 0.0, 0.0, 29.0, 19.9, 19.0, 6.2, 94.0]).with_four_bits(5.9, 22.0),
        }),
        front_end: Some(FrontEndCosts { code: 4_000, stack: 900 }),
        detector_code: 1_000,
    },
};
