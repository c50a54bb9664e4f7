//! Running a test image in its emulator.

use crate::BoardError;
use crate::counts::{RunCounts, read_harness_counts, read_plugin_counts};
use crate::elf::Elf;
use crate::files::{HARNESS, PLUGIN};
use crate::firmware::{Firmware, TEST_IMAGE};
use crate::outcome::{Outcome, decode};
use crate::platform::{Platform, Runner, SystemEmulator, system_emulator};
use crate::tools::ProgramOutput;
use crate::work::WorkFolder;
use fastgrnn::device::MemoryMap;
use std::time::Duration;

/// Bytes below the stack pointer that the firmware watches: `STACK_SEEN` of `stack.h`.
const STACK_SEEN: usize = 8192;
const FUNCTIONS: [&str; 3] = ["reset", "step", "classify"];

/// The results of a run, and what it took.
pub(crate) struct RunResult {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) counts: RunCounts,
    pub(crate) stack: usize,
}

/// How to run an image.
pub(crate) struct RunOptions {
    pub(crate) windows: usize,
    pub(crate) wait_states: u32,
    pub(crate) limit: Duration,
}

/// Runs the test image on the file `windows`.
pub(crate) fn emulate(
    work: &WorkFolder,
    platform: &Platform,
    firmware: &Firmware,
    how: &RunOptions,
) -> Result<RunResult, BoardError> {
    let image = TestImage { work, elf: Elf::new(&firmware.test) };
    match &platform.runner {
        Runner::Simavr { mcu } => simavr(&image, platform, mcu, firmware, how),
        Runner::Machine(machine) => {
            let SystemEmulator { program: (program, _), arguments, .. } = system_emulator(machine.system);
            let mut args = vec!["-M".to_owned(), machine.machine.to_owned()];
            args.extend(arguments.iter().map(|s| (*s).to_owned()));
            let fixed =
                "-nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel";
            args.extend(fixed.split(' ').map(str::to_owned));
            args.push(TEST_IMAGE.to_owned());
            let counting = image.cycle_arguments(platform, &machine.memory, how.wait_states)?;
            qemu(&image, program, &args, &counting, firmware, how)
        }
        Runner::LinuxProgram => {
            let program = platform.emulator_name();
            qemu(&image, program, &[format!("./{TEST_IMAGE}")], "core=count", firmware, how)
        }
    }
}

struct TestImage<'a> {
    work: &'a WorkFolder,
    elf: Option<Elf<'a>>,
}

impl TestImage<'_> {
    fn symbol(&self, name: &str) -> Result<u64, BoardError> {
        let found = self.elf.as_ref().and_then(|elf| elf.symbol(name));
        found.ok_or_else(|| self.broken(format!("no symbol {name} in its image")))
    }

    fn broken(&self, what: impl Into<String>) -> BoardError {
        BoardError::Results { board: self.work.id(), what: what.into() }
    }

    /// The plugin's arguments for counting cycles. Writes the file with the code that the plugin reads.
    fn cycle_arguments(
        &self,
        platform: &Platform,
        memory: &MemoryMap,
        wait: u32,
    ) -> Result<String, BoardError> {
        let code = self.elf.as_ref().and_then(|elf| elf.section_at(memory.flash.into()));
        let (at, code) = code.ok_or_else(|| self.broken("no code in its image"))?;
        self.work.write("code", code)?;
        Ok(format!(
            "core={},flash={},wait={wait},flash-start={},flash-end={},code=code,code-at={at}",
            platform.plugin_core(),
            platform.plugin_flash(),
            memory.flash,
            memory.flash + memory.flash_size
        ))
    }

    /// The results of a run, and the bytes behind them.
    fn outcomes(&self, firmware: &Firmware, how: &RunOptions) -> Result<(Vec<Outcome>, Vec<u8>), BoardError> {
        let bytes = self.work.read("results")?;
        let decoded = decode(&bytes, how.windows, firmware.outputs);
        let (outcomes, rest) =
            decoded.ok_or_else(|| self.broken(format!("{} bytes of results, too few", bytes.len())))?;
        Ok((outcomes, rest.to_vec()))
    }

    fn counts_text(&self) -> Result<String, BoardError> {
        Ok(String::from_utf8_lossy(&self.work.read("counts")?).into_owned())
    }
}

fn qemu(
    image: &TestImage,
    program: &'static str,
    args: &[String],
    counting: &str,
    firmware: &Firmware,
    how: &RunOptions,
) -> Result<RunResult, BoardError> {
    let work = image.work;
    work.write_all(PLUGIN)?;
    let mut options = format!("{counting},out=counts");
    for (i, function) in FUNCTIONS.iter().enumerate() {
        let (on, off) =
            (image.symbol(&format!("mark_{function}_on"))?, image.symbol(&format!("mark_{function}_off"))?);
        options.push_str(&format!(",on{i}={on},off{i}={off}"));
    }
    let mut ran = None;
    for interface in interfaces(&work.run(program, &["--version".to_owned()], how.limit)?.output) {
        build_plugin(work, interface)?;
        let plugin = ["-plugin".to_owned(), format!("./plugin.so,{options}")];
        let this = work.run(program, &[&plugin, args].concat(), how.limit)?;
        let refused = this.output.contains("API version");
        ran = Some(this);
        if !refused {
            break;
        }
    }
    let ran = ran.ok_or_else(|| image.broken("nothing"))?;
    check(work, program, &ran, how)?;
    let (outcomes, rest) = image.outcomes(firmware, how)?;
    let stack = <[u8; 4]>::try_from(rest.as_slice()).map(u32::from_le_bytes);
    let stack =
        stack.map_err(|_| image.broken(format!("{} bytes too many of results", rest.len())))? as usize;
    if stack >= STACK_SEEN {
        return Err(BoardError::Stack { board: work.id(), watched: STACK_SEEN });
    }
    let counts = read_plugin_counts(&image.counts_text()?).ok_or_else(|| image.broken("no counts"))?;
    Ok(RunResult { outcomes, counts, stack })
}

/// Versions of the plugin interface to try, the most likely one first. QEMU refuses versions that it
/// does not support and has no way to ask for them: up to QEMU 8 it is 1, from 9 on 2, and from 9.2 on
/// also 4. The functions that the plugin uses are the same in all of them.
fn interfaces(version: &str) -> [u32; 3] {
    let major = version.split_once("version ").and_then(|(_, v)| v.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(..9) => [1, 2, 4],
        Some(9) => [2, 4, 1],
        _ => [4, 2, 1],
    }
}

fn build_plugin(work: &WorkFolder, interface: u32) -> Result<(), BoardError> {
    let mut args: Vec<String> = "-std=gnu11 -O2 -shared -fPIC -fvisibility=hidden -o plugin.so"
        .split(' ')
        .map(str::to_owned)
        .collect();
    args.push(format!("-DAPI_VERSION={interface}"));
    args.extend(PLUGIN.iter().map(|(name, _)| (*name).to_owned()).filter(|name| name.ends_with(".c")));
    work.build("cc", &args, "the counting plugin")
}

fn simavr(
    image: &TestImage,
    platform: &Platform,
    mcu: &str,
    firmware: &Firmware,
    how: &RunOptions,
) -> Result<RunResult, BoardError> {
    let work = image.work;
    work.write_all(HARNESS)?;
    let args: Vec<String> =
        "-std=gnu11 -O2 harness.c -o harness -lsimavr -lelf".split(' ').map(str::to_owned).collect();
    work.build("cc", &args, "the simavr harness")?;
    let sizes = [firmware.features, firmware.outputs, firmware.state_bytes];
    let clock = platform.info.clock.expect("every board that simavr runs has a clock, which a test checks");
    let mut args = vec![TEST_IMAGE.to_owned(), mcu.to_owned(), clock.to_string()];
    args.extend(sizes.map(|size| size.to_string()));
    for variable in ["state", "command", "frame", "scores", "decided", "confidence"] {
        // The tool chain has one address space, in which RAM starts at 0x800000.
        args.push((image.symbol(variable)? & 0xffff).to_string());
    }
    args.push(image.symbol("mark_feed")?.to_string());
    for function in ["init", "reset", "step", "classify"] {
        args.push(image.symbol(&format!("mark_{function}_on"))?.to_string());
        args.push(image.symbol(&format!("mark_{function}_off"))?.to_string());
    }
    let ran = work.run(&work.path("harness").to_string_lossy(), &args, how.limit)?;
    check(work, "simavr", &ran, how)?;
    let (outcomes, _) = image.outcomes(firmware, how)?;
    let (counts, stack) =
        read_harness_counts(&image.counts_text()?).ok_or_else(|| image.broken("no counts"))?;
    Ok(RunResult { outcomes, counts, stack })
}

fn check(
    work: &WorkFolder,
    program: &'static str,
    ran: &ProgramOutput,
    how: &RunOptions,
) -> Result<(), BoardError> {
    let board = work.id();
    let Some(status) = ran.status else {
        return Err(BoardError::Timeout { program, board, seconds: how.limit.as_secs() });
    };
    if status.success() {
        return Ok(());
    }
    let meaning = match status.code() {
        Some(2) => "`windows` ends within a frame",
        Some(3) => "the firmware faulted",
        Some(4) => "the firmware could not open its files",
        Some(5) => "the firmware could not write its results",
        _ => "the emulator's own",
    };
    let output = if ran.output.is_empty() { String::new() } else { format!(":\n{}", ran.output) };
    Err(BoardError::Emulator { program, status: status.to_string(), meaning, board, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_follows_the_emulators_version() {
        assert_eq!(interfaces("QEMU emulator version 7.2.22 (Debian 1:7.2)")[0], 1);
        assert_eq!(interfaces("qemu-aarch64 version 10.0.2")[0], 4);
        assert_eq!(interfaces("something else")[0], 4);
    }
}
