//! Building firmware: one object file of the model becomes the application, whose size is reported, and
//! the test image, which is run.

use crate::BoardError;
use crate::elf::{Elf, ImageSizes};
use crate::files::FIRMWARE;
use crate::platform::{Platform, Runner, system_emulator};
use crate::work::WorkFolder;
use fastgrnn::device::MemoryMap;
use fastgrnn_export::CSource;

/// Flags for every C file, including the model.
const COMMON_FLAGS: [&str; 7] =
    ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffunction-sections", "-fdata-sections"];
/// The name of the test image.
pub(crate) const TEST_IMAGE: &str = "test.elf";

/// The input of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirmwareInput {
    /// Frames of counts.
    Frames,
    /// Samples, from which the front end computes frames.
    Sound,
    /// The beginnings of texts, which a language model continues.
    Text,
}

/// The result of a build.
pub(crate) struct Firmware {
    /// Bytes of the state.
    pub(crate) state_bytes: usize,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
    /// The application, start-up code included.
    pub(crate) app: ImageSizes,
    /// An application without a model.
    pub(crate) empty: ImageSizes,
    /// The content of the test image.
    pub(crate) test: Vec<u8>,
}

/// Builds both images. An application that the board has no room for is an error, and the test image is
/// then not linked.
pub(crate) fn build(
    work: &WorkFolder,
    platform: &Platform,
    flag: &str,
    source: &CSource,
    fed: FirmwareInput,
) -> Result<Firmware, BoardError> {
    if source.name != "model" {
        return Err(BoardError::Name { found: source.name.clone() });
    }
    check_tables(work, source)?;
    work.write_all(FIRMWARE)?;
    work.write_all(&[("model.h", &source.header), ("model.c", &source.source)])?;
    let tools = CrossCompiler { work, platform, flag };
    let model = tools.compile("model.c")?;
    let (app, feed) = match fed {
        FirmwareInput::Frames => ("app.c", "feed.c"),
        FirmwareInput::Sound => ("app_sound.c", "feed_sound.c"),
        FirmwareInput::Text => ("app_text.c", "feed_text.c"),
    };
    let (feeding, start, always): (&[&str], &[&str], &[&str]) = match &platform.runner {
        Runner::Simavr { .. } => (&["feed_avr.c"], &[], &[]),
        Runner::LinuxProgram => (&[feed, "linux.c"], &["linux_start.c"], &["memory.c"]),
        Runner::Machine(machine) => {
            (&[feed, "semihost.c"], &[], &["memory.c", system_emulator(machine.system).startup])
        }
    };
    let compile = |files: &[&str]| files.iter().map(|f| tools.compile(f)).collect::<Result<Vec<_>, _>>();
    let (feeding, start, always) = (compile(feeding)?, compile(start)?, compile(always)?);
    let rest = [start, always.clone()].concat();
    let app =
        tools.link("app.elf", &[vec![model.clone(), tools.compile(app)?], rest.clone()].concat(), true)?;
    let empty = tools.link("empty.elf", &[vec![tools.compile("empty.c")?], rest].concat(), true)?;
    check_room(work, &app)?;
    tools.link(TEST_IMAGE, &[vec![model], feeding, always].concat(), false)?;
    Ok(Firmware {
        features: source.features,
        outputs: source.outputs,
        state_bytes: source.state_bytes,
        app,
        empty,
        test: work.read(TEST_IMAGE)?,
    })
}

/// Checks the tables before anything is compiled: a compiler may not accept more than the board has.
fn check_tables(work: &WorkFolder, source: &CSource) -> Result<(), BoardError> {
    let info = work.board.info();
    match info.flash {
        Some(available) if source.data_bytes > available => Err(BoardError::TooLarge {
            name: info.name,
            memory: "flash",
            needed: source.data_bytes,
            available,
        }),
        _ => Ok(()),
    }
}

fn check_room(work: &WorkFolder, app: &ImageSizes) -> Result<(), BoardError> {
    let info = work.board.info();
    for (memory, needed, available) in [("flash", app.flash(), info.flash), ("RAM", app.ram(), info.ram)] {
        if let Some(available) = available.filter(|&available| needed > available) {
            return Err(BoardError::TooLarge { name: info.name, memory, needed, available });
        }
    }
    Ok(())
}

/// The cross compiler with the board's flags.
struct CrossCompiler<'a> {
    work: &'a WorkFolder,
    platform: &'a Platform,
    flag: &'a str,
}

impl CrossCompiler<'_> {
    /// Compiles a file of the folder and returns the name of the object file.
    fn compile(&self, file: &str) -> Result<String, BoardError> {
        let object = format!("{file}.o");
        let mut args: Vec<&str> = [self.target_flags(), &[self.flag], &COMMON_FLAGS].concat();
        if !self.platform.is_simavr() {
            args.push("-ffreestanding");
        }
        if file == "memory.c" {
            // Otherwise the compiler replaces the loops with calls of the very functions they are in.
            args.push("-fno-tree-loop-distribute-patterns");
        }
        args.extend(["-c", file, "-o", &object]);
        self.run(&args, file)?;
        Ok(object)
    }

    /// Links objects. A `roomy` image may have any size, so that an error can say by how much it is too
    /// large; other images must fit the emulated machine.
    fn link(&self, image: &str, objects: &[String], roomy: bool) -> Result<ImageSizes, BoardError> {
        let mut args: Vec<String> = self.target_flags().iter().map(|s| (*s).to_owned()).collect();
        args.extend([self.flag.to_owned(), "-Wl,--gc-sections".to_owned()]);
        match &self.platform.runner {
            Runner::Simavr { .. } if roomy => {
                let lengths = ["__TEXT_REGION_LENGTH__=8M", "__DATA_REGION_LENGTH__=64K"];
                args.extend(lengths.map(|length| format!("-Wl,--defsym={length}")));
            }
            Runner::Simavr { .. } => {}
            Runner::LinuxProgram => args.extend(["-nostdlib", "-static", "-no-pie"].map(str::to_owned)),
            Runner::Machine(machine) => {
                args.extend(["-nostdlib", "-T", "bare.ld"].map(str::to_owned));
                args.extend(memory_symbols(&machine.memory, roomy));
            }
        }
        args.extend_from_slice(objects);
        if !self.platform.is_simavr() {
            args.push("-lgcc".to_owned());
        }
        args.extend(["-o".to_owned(), image.to_owned()]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.run(&args, image).map_err(|error| self.too_small(error))?;
        let bytes = self.work.read(image)?;
        let sizes = Elf::new(&bytes).and_then(|elf| elf.sizes());
        sizes.ok_or_else(|| BoardError::Results {
            board: self.work.id(),
            what: format!("no ELF file {image}"),
        })
    }

    fn target_flags(&self) -> &'static [&'static str] {
        self.platform.info.compiler.target_flags
    }

    fn run(&self, args: &[&str], what: &str) -> Result<(), BoardError> {
        let args: Vec<String> = args.iter().map(|s| (*s).to_owned()).collect();
        self.work.build(self.platform.compiler().0, &args, what)
    }

    fn too_small(&self, error: BoardError) -> BoardError {
        match error {
            BoardError::Build { output, board, .. } if output.contains("overflowed by") => {
                let line = output.lines().find(|l| l.contains("overflowed by")).unwrap_or_default();
                let machine = self.platform.emulator_name();
                BoardError::EmulatorTooSmall { machine, board, output: line.to_owned() }
            }
            other => other,
        }
    }
}

/// Linker symbols that say where the memories are.
fn memory_symbols(memory: &MemoryMap, roomy: bool) -> Vec<String> {
    // More than any program needs.
    const ROOM: u32 = 256 << 20;
    let size = |bytes| if roomy { ROOM } else { bytes };
    let ram = if roomy { memory.flash + ROOM } else { memory.ram };
    let symbols = [
        ("__flash", memory.flash),
        ("__flash_size", size(memory.flash_size)),
        ("__ram", ram),
        ("__ram_size", size(memory.ram_size)),
    ];
    symbols.iter().map(|(name, value)| format!("-Wl,--defsym={name}={value}")).collect()
}
