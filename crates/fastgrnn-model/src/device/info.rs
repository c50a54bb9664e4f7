//! What the library knows about a board: the types of the facts in `boards/*.rs`.

use super::costs::Costs;

/// Everything that the estimator, the firmware builder and the help texts need to know about a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoardInfo {
    /// The name in commands and recipes.
    pub id: &'static str,
    /// The full name of the board and its chip.
    pub name: &'static str,
    /// A short name with its article, for use in a sentence.
    pub short_name: &'static str,
    /// The processor core.
    pub core: Core,
    /// Clock in Hz; `None` where no milliseconds are given.
    pub clock: Option<u32>,
    /// Bytes of program memory that a program may use; `None` where there is no limit.
    pub flash: Option<usize>,
    /// Bytes of RAM; `None` where there is no limit.
    pub ram: Option<usize>,
    /// An allowance for what surrounds a network: start-up code, a serial port, the board's libraries.
    pub overhead: Overhead,
    /// How the flash delays the core; `None` where it does not, or where no model of it exists.
    pub flash_timing: Option<FlashTiming>,
    /// How C is compiled for the board.
    pub compiler: Compiler,
    /// What runs the board's programs on a computer.
    pub emulator: Emulator,
    /// What generated code costs.
    pub costs: Costs,
}

/// A processor core. It decides which instruction timings are used to count cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// 8-bit AVR; the emulator itself is exact to the cycle.
    Avr,
    /// ARM Cortex-M0+ with the single-cycle multiplier.
    CortexM0Plus,
    /// ARM Cortex-M3.
    CortexM3,
    /// ARM Cortex-M4.
    CortexM4,
    /// RISC-V RV32IMAC with a five-stage in-order pipeline (SiFive E31).
    Rv32Imac,
    /// ARM Cortex-A53, a 64-bit core with caches: only instructions are counted.
    CortexA53,
}

/// Memory in bytes that a network cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// Bytes of flash.
    pub flash: usize,
    /// Bytes of RAM.
    pub ram: usize,
}

/// How long flash memory makes the core wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashTiming {
    /// Wait states of an access at the board's clock.
    pub wait_states: u32,
    /// The memory between the core and the flash that hides wait states.
    pub buffer: FlashBuffer,
}

/// Memory between a core and its flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashBuffer {
    /// A set-associative cache that replaces the least recently used way.
    Cache {
        /// Number of sets, a power of two.
        sets: u32,
        /// Lines in a set.
        ways: u32,
        /// Bytes in a line, a power of two.
        line: u32,
        /// Whether it holds data as well as code; otherwise every read of data waits.
        holds_data: bool,
    },
    /// Two buffers for code, of which one is filled ahead of the core, and one buffer for data.
    Prefetch {
        /// Bytes in a buffer, a power of two.
        line: u32,
    },
}

/// How C is compiled for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The tool chain.
    pub toolchain: Toolchain,
    /// Flags that select the chip.
    pub target_flags: &'static [&'static str],
    /// The optimisation level for code that should be small.
    pub size_flag: &'static str,
    /// The optimisation level for code that should be fast.
    pub speed_flag: &'static str,
}

/// A GNU tool chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// `avr-gcc` with avr-libc.
    AvrGcc,
    /// `arm-none-eabi-gcc`
    ArmNoneEabiGcc,
    /// `riscv64-unknown-elf-gcc`
    RiscvGcc,
    /// `aarch64-linux-gnu-gcc`
    Aarch64LinuxGcc,
}

/// What runs a board's programs on a computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulator {
    /// simavr, which is exact to the cycle.
    Simavr {
        /// The chip as simavr names it.
        mcu: &'static str,
    },
    /// A bare machine emulated by QEMU.
    Qemu(QemuMachine),
    /// A Linux program under QEMU's user emulation.
    QemuLinux {
        /// A bare machine for builds of QEMU whose user emulation cannot count instructions.
        fallback: QemuMachine,
    },
}

/// A machine that QEMU emulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QemuMachine {
    /// The system emulator that has the machine.
    pub system: QemuSystem,
    /// The machine as QEMU names it.
    pub machine: &'static str,
    /// Where its memories are.
    pub memory: MemoryMap,
}

/// A system emulator of QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QemuSystem {
    /// `qemu-system-arm`
    Arm,
    /// `qemu-system-riscv32`
    Riscv32,
    /// `qemu-system-aarch64`
    Aarch64,
}

/// The memories of an emulated machine, which may differ from those of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    /// First address of the code.
    pub flash: u32,
    /// Bytes for code.
    pub flash_size: u32,
    /// First address of RAM.
    pub ram: u32,
    /// Bytes of RAM.
    pub ram_size: u32,
}

impl MemoryMap {
    /// 4 MiB for code at address 0 and 4 MiB of RAM, as on Arm's development boards.
    pub(super) const ARM_MPS2: Self =
        Self { flash: 0, flash_size: 4 << 20, ram: 0x2000_0000, ram_size: 4 << 20 };
}
