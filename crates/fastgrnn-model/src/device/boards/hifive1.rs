use crate::device::costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
use crate::device::info::{
    BoardInfo, Compiler, Core, Emulator, MemoryMap, Overhead, QemuMachine, QemuSystem, Toolchain,
};

/// HiFive1 Rev B.
///
/// Memories and clock: SiFive FE310-G002 manual. Programs run from external serial flash behind the
/// boot loader's 64 KiB, through a cache of 16 KiB. No model of that flash exists: code and constants
/// are taken to be in the cache.
pub(super) const BOARD: BoardInfo = BoardInfo {
    id: "riscv32",
    name: "HiFive1 Rev B (FE310-G002, RV32IMAC)",
    short_name: "a HiFive1",
    core: Core::Rv32Imac,
    clock: Some(320_000_000),
    flash: Some(4032 * 1024),
    ram: Some(16 * 1024),
    overhead: Overhead { flash: 16 * 1024, ram: 2 * 1024 },
    flash_timing: None,
    compiler: Compiler {
        toolchain: Toolchain::RiscvGcc,
        // With the older specification, control registers need no extension of their own, for which
        // the compiler has no libraries.
        target_flags: &["-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2"],
        size_flag: "-O2",
        speed_flag: "-O2",
    },
    emulator: Emulator::Qemu(QemuMachine {
        system: QemuSystem::Riscv32,
        machine: "virt",
        memory: MemoryMap { flash: 0x8000_0000, ram: 0x8040_0000, ..MemoryMap::ARM_MPS2 },
    }),
    costs: Costs {
        loops: CodeCosts {
            bytes: CodeBytes { base: 1_700, layer: 900, weight: 0, row: 0, stack: 256 },
            cycles: CycleCosts::new([12.2, 7.0, 22.0, 0.0, 36.5, 33.2, 7.8, 74.0]).with_four_bits(5.9, 22.0),
        },
        // It would not stay in the cache before the serial flash.
        straight: None,
        front_end: Some(FrontEndCosts { code: 3_100, stack: 640 }),
        detector_code: 700,
    },
};
