//! What a model carries from step to step, in buffers that the caller lends.

use super::WrongLength;

/// The state of a [`Model`](super::Model) and the room that a step needs.
#[derive(Debug)]
pub struct State<'m> {
    /// States of the layers, then the normalised input or the frames of the window, then the frames since the last
    /// step, if there is a window, then a vector between factors.
    memory: &'m mut [i16],
    scratch: &'m mut [i32],
    /// Entries of all layers' states.
    states: usize,
    /// Entries that the next step depends on.
    kept: usize,
}

/// Entries that the buffers of a model's state have.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    /// States of all layers.
    pub(super) states: usize,
    /// These, and the frames of a window with their place.
    pub(super) kept: usize,
    /// All 16-bit entries.
    pub(super) memory: usize,
    /// All 32-bit entries.
    pub(super) scratch: usize,
}

/// A state taken apart for a step.
pub(super) struct Parts<'s> {
    pub(super) states: &'s mut [i16],
    pub(super) input: &'s mut [i16],
    /// The frames since the last step; empty without a window.
    pub(super) phase: &'s mut [i16],
    pub(super) projected: &'s mut [i16],
    pub(super) scratch: &'s mut [i32],
}

impl<'m> State<'m> {
    pub(super) fn new(
        lengths: Lengths,
        memory: &'m mut [i16],
        scratch: &'m mut [i32],
    ) -> Result<Self, WrongLength> {
        let (memory_len, scratch_len) = (memory.len(), scratch.len());
        let short = |what, found, needed| WrongLength { what, found, needed };
        let needed = lengths.memory;
        let memory = memory.get_mut(..needed).ok_or(short("the memory", memory_len, needed))?;
        let needed = lengths.scratch;
        let scratch = scratch.get_mut(..needed).ok_or(short("the scratch buffer", scratch_len, needed))?;
        Ok(Self { memory, scratch, states: lengths.states, kept: lengths.kept })
    }

    /// Checks that the state was made for a model of these lengths.
    pub(super) fn check(&self, lengths: Lengths) -> Result<(), WrongLength> {
        for (what, found, needed) in [
            ("the state", self.states, lengths.states),
            ("the kept entries", self.kept, lengths.kept),
            ("the memory", self.memory.len(), lengths.memory),
            ("the scratch buffer", self.scratch.len(), lengths.scratch),
        ] {
            if found != needed {
                return Err(WrongLength { what, found, needed });
            }
        }
        Ok(())
    }

    /// The states of all layers, one after the other: h, and for an LSTM c after it.
    pub fn layers(&self) -> &[i16] {
        &self.memory[..self.states]
    }

    /// The states of all layers, to be restored from what [`State::layers`] gave.
    pub fn layers_mut(&mut self) -> &mut [i16] {
        &mut self.memory[..self.states]
    }

    /// Everything that the next step depends on: the states of the layers and, in a model with a window, the frames
    /// that it shows.
    pub fn kept(&self) -> &[i16] {
        &self.memory[..self.kept]
    }

    /// The same, to be restored from what [`State::kept`] gave.
    pub fn kept_mut(&mut self) -> &mut [i16] {
        &mut self.memory[..self.kept]
    }

    pub(super) fn parts(&mut self, inputs: usize, phase: usize) -> Parts<'_> {
        let (states, rest) = self.memory.split_at_mut(self.states);
        let (input, rest) = rest.split_at_mut(inputs);
        let (phase, projected) = rest.split_at_mut(phase);
        Parts { states, input, phase, projected, scratch: self.scratch }
    }
}
