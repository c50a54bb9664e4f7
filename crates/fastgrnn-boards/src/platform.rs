//! The programs of this computer that build for a board and run it.
//!
//! The facts of a board say which tool chain and which emulator it needs; this module knows what
//! these programs are called, in which package they are, and what they are given.

use crate::BoardError;
use crate::tools::{have_file, have_program};
use fastgrnn::device::{
    Board, BoardInfo, Core, Emulator, FlashBuffer, FlashTiming, QemuMachine, QemuSystem, Toolchain,
};
use fastgrnn_export::Optimize;
use std::process::Command;
use std::sync::OnceLock;

/// A board with what builds for it and runs it here.
pub(crate) struct Platform {
    pub(crate) info: &'static BoardInfo,
    pub(crate) runner: Runner,
}

/// What runs the firmware.
pub(crate) enum Runner {
    /// simavr, which is exact to the cycle.
    Simavr { mcu: &'static str },
    /// A bare machine of QEMU.
    Machine(QemuMachine),
    /// A Linux program under QEMU's user emulation.
    LinuxProgram,
}

/// A program and the Debian package that has it.
type Program = (&'static str, &'static str);

const QEMU_USER: Program = ("qemu-aarch64", "qemu-user");

impl Platform {
    pub(crate) fn new(board: Board) -> Self {
        let info = board.info();
        let runner = match info.emulator {
            Emulator::Simavr { mcu } => Runner::Simavr { mcu },
            Emulator::Qemu(machine) => Runner::Machine(machine),
            Emulator::QemuLinux { .. } if linux_programs_can_be_counted() => Runner::LinuxProgram,
            Emulator::QemuLinux { fallback } => Runner::Machine(fallback),
        };
        Self { info, runner }
    }

    /// The cross compiler.
    pub(crate) fn compiler(&self) -> Program {
        match self.info.compiler.toolchain {
            Toolchain::AvrGcc => ("avr-gcc", "gcc-avr"),
            Toolchain::ArmNoneEabiGcc => ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
            Toolchain::RiscvGcc => ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
            Toolchain::Aarch64LinuxGcc => ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        }
    }

    /// The compiler's optimisation flag.
    pub(crate) fn optimization_flag(&self, optimize: Optimize) -> &'static str {
        match optimize {
            Optimize::Size => self.info.compiler.size_flag,
            Optimize::Speed => self.info.compiler.speed_flag,
        }
    }

    /// Whether only instructions are counted, because nothing is known about cycles.
    pub(crate) fn counts_instructions_only(&self) -> bool {
        !self.is_simavr() && cycle_model(self.info.core).is_none()
    }

    pub(crate) fn is_simavr(&self) -> bool {
        matches!(self.runner, Runner::Simavr { .. })
    }

    /// The emulator's name in reports and errors.
    pub(crate) fn emulator_name(&self) -> &'static str {
        match self.runner {
            Runner::Simavr { .. } => "simavr",
            // Two systems of QEMU call their machine `virt`; the board already says which is meant.
            Runner::Machine(QemuMachine { system: QemuSystem::Aarch64, .. }) => "qemu-system-aarch64",
            Runner::Machine(QemuMachine { machine, .. }) => machine,
            Runner::LinuxProgram => QEMU_USER.0,
        }
    }

    /// The flash's own wait states; `None` where it has none or no model of it exists.
    pub(crate) fn wait_states(&self) -> Option<u32> {
        self.info.flash_timing.map(|timing| timing.wait_states)
    }

    /// The core as the counting plugin names it.
    pub(crate) fn plugin_core(&self) -> &'static str {
        cycle_model(self.info.core).unwrap_or("count")
    }

    /// The memory before the flash as the counting plugin describes it.
    pub(crate) fn plugin_flash(&self) -> String {
        match self.info.flash_timing {
            None => "none".to_owned(),
            Some(FlashTiming { buffer: FlashBuffer::Prefetch { line }, .. }) => format!("prefetch:{line}"),
            Some(FlashTiming { buffer: FlashBuffer::Cache { sets, ways, line, holds_data }, .. }) => {
                format!("cache:{sets}:{ways}:{line}:{}", u8::from(holds_data))
            }
        }
    }
}

/// The plugin's table of instruction timings for a core, if it has one.
fn cycle_model(core: Core) -> Option<&'static str> {
    match core {
        Core::CortexM0Plus => Some("m0plus"),
        Core::CortexM3 => Some("m3"),
        Core::CortexM4 => Some("m4"),
        Core::Rv32Imac => Some("rv32"),
        // simavr counts the cycles of an AVR; a core with caches has no simple timings.
        Core::Avr | Core::CortexA53 => None,
    }
}

/// How a system emulator of QEMU is called.
pub(crate) struct SystemEmulator {
    pub(crate) program: Program,
    /// Arguments besides the machine.
    pub(crate) arguments: &'static [&'static str],
    /// The start-up code for its machines.
    pub(crate) startup: &'static str,
}

pub(crate) fn system_emulator(system: QemuSystem) -> SystemEmulator {
    match system {
        QemuSystem::Arm => SystemEmulator {
            program: ("qemu-system-arm", "qemu-system-arm"),
            arguments: &[],
            startup: "cortexm.s",
        },
        QemuSystem::Riscv32 => SystemEmulator {
            program: ("qemu-system-riscv32", "qemu-system-misc"),
            arguments: &["-bios", "none", "-nodefaults"],
            startup: "riscv.s",
        },
        QemuSystem::Aarch64 => SystemEmulator {
            program: ("qemu-system-aarch64", "qemu-system-arm"),
            arguments: &["-cpu", "cortex-a53", "-nodefaults"],
            startup: "aarch64.s",
        },
    }
}

/// Whether QEMU's user emulation loads plugins, which some builds do not.
fn linux_programs_can_be_counted() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    *COUNTS.get_or_init(|| {
        let help = Command::new(QEMU_USER.0).arg("--help").output();
        help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("-plugin"))
    })
}

/// The tools that a board needs and this computer does not have; empty when it can be measured.
///
/// ```
/// use fastgrnn::device::Board;
/// for missing in fastgrnn_boards::missing_tools(Board::M3) {
///     assert!(missing.to_string().contains("scripts/setup-boards"));
/// }
/// ```
pub fn missing_tools(board: Board) -> Vec<BoardError> {
    let platform = Platform::new(board);
    // The simavr harness and the counting plugin are compiled for this computer.
    let mut programs = vec![platform.compiler(), ("cc", "gcc")];
    let mut files: &[Program] = &[];
    match platform.runner {
        Runner::Simavr { .. } => files = SIMAVR_FILES,
        Runner::Machine(QemuMachine { system, .. }) => programs.push(system_emulator(system).program),
        Runner::LinuxProgram => programs.push(QEMU_USER),
    }
    let programs = programs.into_iter().filter(|(name, _)| !have_program(name));
    let files = files.iter().copied().filter(|(path, _)| !have_file(path));
    programs
        .chain(files)
        .map(|(tool, package)| BoardError::MissingTool { tool, board: board.id(), package })
        .collect()
}

/// Files that building the simavr harness and AVR programs takes, with their packages.
const SIMAVR_FILES: &[Program] = &[
    ("/usr/include/simavr/sim_avr.h", "libsimavr-dev"),
    ("/usr/include/libelf.h", "libelf-dev"),
    ("/usr/lib/avr/include/avr/pgmspace.h", "avr-libc"),
];
