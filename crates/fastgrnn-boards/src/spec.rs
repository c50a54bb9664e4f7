//! How each board is built for and emulated.

use crate::BoardError;
use crate::tools::{have_file, have_program};
use fastgrnn::device::Board;
use fastgrnn_export::Optimize;
use std::process::Command;
use std::sync::OnceLock;

/// A bare machine's memories: where they begin and their sizes.
pub(crate) struct Memory {
    pub(crate) flash: u32,
    pub(crate) flash_size: u32,
    pub(crate) ram: u32,
    pub(crate) ram_size: u32,
}

/// What a core costs and what is between it and its flash, by the plugin's names.
pub(crate) struct Cycles {
    pub(crate) core: &'static str,
    pub(crate) flash: &'static str,
    /// Wait states at the board's clock.
    pub(crate) wait_states: u32,
}

/// What runs the firmware.
pub(crate) enum Emulator {
    /// simavr, cycle by cycle.
    Simavr,
    /// A machine of QEMU's.
    Machine {
        program: &'static str,
        machine: &'static str,
        more: &'static [&'static str],
        start: &'static str,
        memory: Memory,
        cycles: Cycles,
    },
    /// A Linux program under QEMU.
    Linux { program: &'static str },
}

/// How a board is built for and emulated.
pub(crate) struct Spec {
    pub(crate) compiler: &'static str,
    pub(crate) package: &'static str,
    pub(crate) arch: &'static [&'static str],
    /// The compiler's optimisation where bytes matter.
    pub(crate) for_size: &'static str,
    /// The same where cycles do.
    pub(crate) for_speed: &'static str,
    /// What is chosen where nobody says.
    pub(crate) favours: Optimize,
    pub(crate) emulator: Emulator,
}

impl Spec {
    pub(crate) fn optimization(&self, optimize: Optimize) -> &'static str {
        match optimize {
            Optimize::Size => self.for_size,
            Optimize::Speed => self.for_speed,
        }
    }

    /// Whether instructions are all that is counted.
    pub(crate) fn counts_only(&self) -> bool {
        match &self.emulator {
            Emulator::Simavr => false,
            Emulator::Machine { cycles, .. } => cycles.core == "count",
            Emulator::Linux { .. } => true,
        }
    }

    /// The emulator, for people.
    pub(crate) fn emulator_name(&self) -> &'static str {
        match self.emulator {
            Emulator::Simavr => "simavr",
            Emulator::Machine { program: program @ "qemu-system-aarch64", .. } => program,
            Emulator::Machine { machine, .. } => machine,
            Emulator::Linux { program } => program,
        }
    }
}

const CODE_AND_RAM: Memory = Memory { flash: 0, flash_size: 4 << 20, ram: 0x2000_0000, ram_size: 4 << 20 };

const ARM: Spec = Spec {
    compiler: "arm-none-eabi-gcc",
    package: "gcc-arm-none-eabi",
    arch: &[],
    for_size: "-Os",
    for_speed: "-O2",
    favours: Optimize::Speed,
    emulator: Emulator::Simavr,
};

pub(crate) fn spec(board: Board) -> Spec {
    let machine = |machine, memory, cycles| Emulator::Machine {
        program: "qemu-system-arm",
        machine,
        more: &[],
        start: "cortexm.s",
        memory,
        cycles,
    };
    match board {
        Board::Uno => Spec {
            compiler: "avr-gcc",
            package: "gcc-avr",
            arch: &["-mmcu=atmega328p"],
            // Measured: faster than -Os by a tenth, and no larger.
            for_size: "-O2",
            favours: Optimize::Size,
            emulator: Emulator::Simavr,
            ..ARM
        },
        // SAM D21 data sheet (DS40001882), NVMCTRL: one wait state from 24 to 48 MHz above 2.7 V; a
        // cache of 8 lines of 64 bits. The emulated micro:bit has half the chip's RAM.
        Board::M0plus => Spec {
            arch: &["-mcpu=cortex-m0plus", "-mthumb"],
            emulator: machine(
                "microbit",
                Memory { flash_size: 256 << 10, ram_size: 16 << 10, ..CODE_AND_RAM },
                Cycles { core: "m0plus", flash: "samd21", wait_states: 1 },
            ),
            ..ARM
        },
        // SAM3X data sheet (Atmel-11057), EEFC: 4 wait states at 84 MHz; two code buffers and a data
        // buffer of 128 bits.
        Board::M3 => Spec {
            arch: &["-mcpu=cortex-m3", "-mthumb"],
            emulator: machine(
                "mps2-an385",
                CODE_AND_RAM,
                Cycles { core: "m3", flash: "sam3x", wait_states: 4 },
            ),
            ..ARM
        },
        // nRF52840 product specification, CPU: up to 3 wait states with the code cache switched on.
        Board::M4 => Spec {
            arch: &["-mcpu=cortex-m4", "-mthumb"],
            emulator: machine(
                "mps2-an386",
                CODE_AND_RAM,
                Cycles { core: "m4", flash: "nrf52", wait_states: 3 },
            ),
            ..ARM
        },
        Board::Riscv32 => Spec {
            compiler: "riscv64-unknown-elf-gcc",
            package: "gcc-riscv64-unknown-elf",
            // With the older specification control registers need no extension of their own, for
            // which the compiler has no libraries.
            arch: &["-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2"],
            // Straight code would not stay in the 16 KiB cache before its serial flash.
            favours: Optimize::Size,
            for_size: "-O2",
            emulator: Emulator::Machine {
                program: "qemu-system-riscv32",
                machine: "virt",
                more: &["-bios", "none", "-nodefaults"],
                start: "riscv.s",
                memory: Memory { flash: 0x8000_0000, ram: 0x8040_0000, ..CODE_AND_RAM },
                cycles: Cycles { core: "rv32", flash: "none", wait_states: 0 },
            },
            ..ARM
        },
        Board::Aarch64 => Spec {
            compiler: "aarch64-linux-gnu-gcc",
            package: "gcc-aarch64-linux-gnu",
            arch: &["-fno-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"],
            emulator: aarch64(),
            ..ARM
        },
    }
}

/// A Linux program, where QEMU can count in one: some builds of it take no plugins. Otherwise the
/// same code on a bare machine.
fn aarch64() -> Emulator {
    if counts_in_linux() {
        return Emulator::Linux { program: "qemu-aarch64" };
    }
    Emulator::Machine {
        program: "qemu-system-aarch64",
        machine: "virt",
        more: &["-cpu", "cortex-a53", "-nodefaults"],
        start: "aarch64.s",
        // The first megabytes are the machine's own.
        memory: Memory { flash: 0x4020_0000, ram: 0x4060_0000, ..CODE_AND_RAM },
        cycles: Cycles { core: "count", flash: "none", wait_states: 0 },
    }
}

fn counts_in_linux() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    *COUNTS.get_or_init(|| {
        let help = Command::new("qemu-aarch64").arg("--help").output();
        help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("-plugin"))
    })
}

/// Whether size or speed is chosen for a board where nobody says.
///
/// ```
/// use fastgrnn::device::Board;
/// use fastgrnn_export::Optimize;
/// assert_eq!(fastgrnn_boards::favours(Board::Uno), Optimize::Size);
/// ```
pub fn favours(board: Board) -> Optimize {
    spec(board).favours
}

/// What a board needs and the system does not have; empty when it can be measured.
///
/// ```
/// use fastgrnn::device::Board;
/// for missing in fastgrnn_boards::missing_tools(Board::M3) {
///     assert!(missing.to_string().contains("scripts/setup-boards"));
/// }
/// ```
pub fn missing_tools(board: Board) -> Vec<BoardError> {
    let spec = spec(board);
    let emulator: &[(&'static str, &'static str)] = match spec.emulator {
        Emulator::Simavr => &[],
        Emulator::Machine { program: program @ "qemu-system-riscv32", .. } => {
            &[(program, "qemu-system-misc")]
        }
        Emulator::Machine { program, .. } => &[(program, "qemu-system-arm")],
        Emulator::Linux { program } => &[(program, "qemu-user")],
    };
    // The harness and the plugin are compiled for the host.
    let programs = [(spec.compiler, spec.package), ("cc", "gcc")];
    let programs = programs.iter().chain(emulator).filter(|(tool, _)| !have_program(tool));
    let simavr: &[(&str, &str)] = match spec.emulator {
        Emulator::Simavr => &[
            ("/usr/include/simavr/sim_avr.h", "libsimavr-dev"),
            ("/usr/include/libelf.h", "libelf-dev"),
            ("/usr/lib/avr/include/avr/pgmspace.h", "avr-libc"),
        ],
        _ => &[],
    };
    let files = simavr.iter().filter(|(file, _)| !have_file(file));
    programs
        .chain(files)
        .map(|&(tool, package)| BoardError::MissingTool { tool, board: board.facts().id, package })
        .collect()
}
