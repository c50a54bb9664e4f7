//! Runs a device image on a Cortex-M0, the smallest core that the runtime is meant for, and writes
//! every state and score, so that the host can compare them bit for bit with its own.
//!
//! The image lies in flash, as it would in a product. Inputs come from the host's file `counts`
//! (16-bit numbers, little-endian, one step after the other). After each step the file `outputs`
//! gets the states of all layers (16-bit), the scores (32-bit), the class (16-bit) and the
//! confidence (8-bit). Where the host has a file `sound` (16-bit samples), the audio front end runs
//! instead and `outputs` gets its rows. There is no `core::fmt`, no float and no static variable.
#![no_std]
#![no_main]

mod hear;
mod semihosting;
mod start;

use fastgrnn_runtime::int::Model;
use semihosting::{File, Mode};

/// What ends the program early. The number is its exit code.
#[derive(Clone, Copy)]
pub enum Failure {
    /// The bytes in flash are no device image.
    Image = 2,
    /// The model needs larger buffers than this program has.
    Buffers = 3,
    /// `counts` cannot be opened, or `outputs` cannot be written.
    Files = 4,
    /// `counts` ends within a step.
    Counts = 5,
    /// A length that the model itself asked for was refused.
    Lengths = 6,
    /// A panic: the runtime must have none.
    Panic = 101,
}

const FLASH_FOR_IMAGE: usize = 128 * 1024;
const MOST_LAYERS: usize = 2;
const MOST_INPUTS: usize = 128;
const MOST_OUTPUTS: usize = 32;
const MEMORY: usize = 1024;
const SCRATCH: usize = 1024;

unsafe extern "C" {
    /// The flash set aside for the image, placed by the linker script.
    static IMAGE_REGION: [u8; FLASH_FOR_IMAGE];
}

fn run() -> Result<(), Failure> {
    if let Some(sound) = File::open(b"sound\0", Mode::Read) {
        return hear::run(sound);
    }
    // SAFETY: the linker script gives the symbol this many bytes of flash, which nothing writes.
    let flash = unsafe { &IMAGE_REGION };
    let length = u32::from_le_bytes([flash[4], flash[5], flash[6], flash[7]]) as usize;
    let image = flash.get(..length).ok_or(Failure::Image)?;
    let model: Model<'_, MOST_LAYERS> = Model::read(image).map_err(|_| Failure::Image)?;

    let (mut memory, mut scratch) = ([0; MEMORY], [0; SCRATCH]);
    let (mut counts, mut bytes) = ([0; MOST_INPUTS], [0; 2 * MOST_INPUTS]);
    let mut scores = [0; MOST_OUTPUTS];
    let memory = memory.get_mut(..model.memory_len()).ok_or(Failure::Buffers)?;
    let scratch = scratch.get_mut(..model.scratch_len()).ok_or(Failure::Buffers)?;
    let counts = counts.get_mut(..model.inputs()).ok_or(Failure::Buffers)?;
    let bytes = bytes.get_mut(..2 * counts.len()).ok_or(Failure::Buffers)?;
    let scores = scores.get_mut(..model.outputs()).ok_or(Failure::Buffers)?;

    let mut input = File::open(b"counts\0", Mode::Read).ok_or(Failure::Files)?;
    let mut output = Output::new(File::open(b"outputs\0", Mode::Write).ok_or(Failure::Files)?);
    let mut state = model.start(memory, scratch).map_err(|_| Failure::Lengths)?;
    loop {
        match input.read(bytes) {
            0 => return output.flush(),
            n if n < bytes.len() => return Err(Failure::Counts),
            _ => {}
        }
        for (count, pair) in counts.iter_mut().zip(bytes.chunks_exact(2)) {
            *count = i16::from_le_bytes([pair[0], pair[1]]);
        }
        model.step(&mut state, counts).map_err(|_| Failure::Lengths)?;
        model.scores(&state, scores).map_err(|_| Failure::Lengths)?;
        let decision = model.decide(scores);
        for value in state.layers() {
            output.write(&value.to_le_bytes())?;
        }
        for score in scores.iter() {
            output.write(&score.to_le_bytes())?;
        }
        output.write(&(decision.class as u16).to_le_bytes())?;
        output.write(&[decision.confidence])?;
        #[cfg(feature = "float-control")]
        output.write(&(f32::from(scores[0] as i16) * 1.5).to_le_bytes())?;
    }
}

/// Gathers small writes: each call of the host costs more than a step.
struct Output {
    file: File,
    bytes: [u8; 256],
    used: usize,
}

impl Output {
    fn new(file: File) -> Self {
        Self { file, bytes: [0; 256], used: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        for &byte in bytes {
            if self.used == self.bytes.len() {
                self.flush()?;
            }
            self.bytes[self.used] = byte;
            self.used += 1;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let written = self.file.write(&self.bytes[..self.used]);
        self.used = 0;
        if written { Ok(()) } else { Err(Failure::Files) }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    semihosting::exit(Failure::Panic as u32)
}
