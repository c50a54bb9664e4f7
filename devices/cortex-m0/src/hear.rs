//! The audio front end, with the tables of a small one in flash.

use crate::semihosting::{File, Mode};
use crate::{Failure, Output};
use fastgrnn_runtime::audio::{Front, Tables};

include!("../../../crates/fastgrnn-runtime/tests/fixtures/front.rs");

/// Rows of a recording that arrives in pieces of 25 samples.
pub fn run(mut sound: File) -> Result<(), Failure> {
    let mut output = Output::new(File::open(b"outputs\0", Mode::Write).ok_or(Failure::Files)?);
    let front = Front::new(TABLES).map_err(|_| Failure::Image)?;
    let (mut samples, mut spectrum, mut row) = ([0; 41], [0; 64], [0; 4]);
    let mut stream = front.start(&mut samples, &mut spectrum, &mut row).map_err(|_| Failure::Lengths)?;
    let (mut bytes, mut piece) = ([0; 50], [0; 25]);
    let mut written = Ok(());
    let mut write = |row: &[i16]| {
        for value in row {
            if written.is_ok() {
                written = output.write(&value.to_le_bytes());
            }
        }
    };
    loop {
        let read = sound.read(&mut bytes);
        for (sample, pair) in piece.iter_mut().zip(bytes.chunks_exact(2)) {
            *sample = i16::from_le_bytes([pair[0], pair[1]]);
        }
        front.push(&mut stream, &piece[..read / 2], &mut write);
        if read < bytes.len() {
            front.finish(&mut stream, &mut write);
            break;
        }
    }
    written?;
    output.flush()
}
