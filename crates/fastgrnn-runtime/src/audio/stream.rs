//! Samples in chunks of any size, frames when they are whole.

use super::frame::frame_of;
use super::{Tables, TablesError, WrongLength};

/// A front end whose tables were found good.
#[derive(Clone, Copy, Debug)]
pub struct Front<'t> {
    tables: Tables<'t>,
}

/// How far a stream is: the part of its state that is not in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Samples that wait for their window to be whole.
    filled: u16,
    /// Those of them that a window has seen.
    seen: u16,
}

/// A stream of samples, in buffers that the caller lends.
#[derive(Debug)]
pub struct Stream<'m> {
    /// The sample before the window, then the window.
    samples: &'m mut [i16],
    spectrum: &'m mut [i32],
    row: &'m mut [i16],
    position: Position,
}

impl Stream<'_> {
    /// How far it is, to be resumed with the same buffers.
    pub fn position(&self) -> Position {
        self.position
    }
}

impl<'t> Front<'t> {
    /// Accepts tables with which nothing can fail.
    pub fn new(tables: Tables<'t>) -> Result<Self, TablesError> {
        tables.check().map(|()| Self { tables })
    }

    /// What it was made from.
    pub fn tables(&self) -> &Tables<'t> {
        &self.tables
    }

    /// The start of a recording. Lengths are [`Tables::samples_len`], [`Tables::spectrum_len`] and
    /// [`Tables::row_len`]; longer buffers are used in part.
    pub fn start<'m>(
        &self,
        samples: &'m mut [i16],
        spectrum: &'m mut [i32],
        row: &'m mut [i16],
    ) -> Result<Stream<'m>, WrongLength> {
        let mut stream = self.resume(Position::default(), samples, spectrum, row)?;
        self.reset(&mut stream);
        Ok(stream)
    }

    /// A stream taken up where [`Stream::position`] said; only `samples` has to be as it was.
    pub fn resume<'m>(
        &self,
        position: Position,
        samples: &'m mut [i16],
        spectrum: &'m mut [i32],
        row: &'m mut [i16],
    ) -> Result<Stream<'m>, WrongLength> {
        let (found, needed) = (samples.len(), self.tables.samples_len());
        let samples = samples.get_mut(..needed).ok_or(WrongLength { what: "the samples", found, needed })?;
        let (found, needed) = (spectrum.len(), self.tables.spectrum_len());
        let spectrum =
            spectrum.get_mut(..needed).ok_or(WrongLength { what: "the spectrum", found, needed })?;
        let (found, needed) = (row.len(), self.tables.row_len());
        let row = row.get_mut(..needed).ok_or(WrongLength { what: "the row", found, needed })?;
        let mut stream = Stream { samples, spectrum, row, position };
        // A position of another front end could lie beyond this window.
        if position.filled >= self.tables.len {
            self.reset(&mut stream);
        }
        Ok(stream)
    }

    /// Takes samples; `frame` gets every row that they complete.
    pub fn push(&self, stream: &mut Stream, mut samples: &[i16], frame: &mut impl FnMut(&[i16])) {
        let (len, hop) = (usize::from(self.tables.len), usize::from(self.tables.hop));
        while !samples.is_empty() {
            let filled = usize::from(stream.position.filled);
            let (now, later) = samples.split_at(samples.len().min(len - filled));
            stream.samples[1 + filled..][..now.len()].copy_from_slice(now);
            samples = later;
            stream.position.filled += now.len() as u16;
            if usize::from(stream.position.filled) == len {
                frame(self.frame(stream, len));
                stream.samples.copy_within(hop.., 0);
                stream.position = Position { filled: (len - hop) as u16, seen: (len - hop) as u16 };
            }
        }
    }

    /// The recording ends: samples that no window has seen make a last one, padded with zeros. Then
    /// everything is as at the start.
    pub fn finish(&self, stream: &mut Stream, frame: &mut impl FnMut(&[i16])) {
        let Position { filled, seen } = stream.position;
        if filled > seen {
            frame(self.frame(stream, usize::from(filled)));
        }
        self.reset(stream);
    }

    /// The features of the window that the stream holds.
    fn frame<'s>(&self, stream: &'s mut Stream, valid: usize) -> &'s [i16] {
        frame_of(&self.tables, stream.samples, valid, stream.spectrum, stream.row)
    }

    /// As at the start of a recording.
    pub fn reset(&self, stream: &mut Stream) {
        stream.samples[0] = 0;
        stream.position = Position::default();
    }
}
