//! The integer front end on the host: the runtime's code, with buffers of its own.

use super::spec::Spec;
use super::tables::Tables;
use fastgrnn_runtime::audio::{Front, Position, Stream};

/// Turns samples into frames of counts, as a device does. One count is [`COUNT`](super::COUNT) nats.
pub struct IntegerFront {
    spec: Spec,
    tables: Tables,
    samples: Vec<i16>,
    spectrum: Vec<i32>,
    row: Vec<i16>,
    position: Position,
}

impl IntegerFront {
    /// A front end at the start of a recording.
    pub fn new(spec: &Spec) -> Self {
        let tables = Tables::new(spec);
        let view = tables.view();
        Self {
            spec: *spec,
            samples: vec![0; view.samples_len()],
            spectrum: vec![0; view.spectrum_len()],
            row: vec![0; view.row_len()],
            position: Position::default(),
            tables,
        }
    }

    /// What it computes.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Its constants.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Takes samples; `frame` gets every frame that they complete.
    pub fn push(&mut self, samples: &[i16], frame: &mut impl FnMut(&[i16])) {
        self.with(|front, stream| front.push(stream, samples, frame));
    }

    /// The recording ends: samples that no window has seen make a last one, padded with zeros.
    /// Then everything is as at the start.
    pub fn finish(&mut self, frame: &mut impl FnMut(&[i16])) {
        self.with(|front, stream| front.finish(stream, frame));
    }

    /// As at the start of a recording.
    pub fn reset(&mut self) {
        self.with(|front, stream| front.reset(stream));
    }

    fn with(&mut self, work: impl FnOnce(&Front, &mut Stream)) {
        let front = self.tables.front();
        let stream = front.resume(self.position, &mut self.samples, &mut self.spectrum, &mut self.row);
        let mut stream = stream.expect("the buffers have the lengths that the tables say");
        work(&front, &mut stream);
        self.position = stream.position();
    }
}
