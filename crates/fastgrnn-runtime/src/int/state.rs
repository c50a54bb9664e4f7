//! What a model carries from step to step, in buffers that the caller lends.

use super::{Layer, Model, WrongLength};

/// The state of a [`Model`] and the room that a step needs.
#[derive(Debug)]
pub struct State<'m> {
    /// States of the layers, then the normalised input, then a vector between factors.
    memory: &'m mut [i16],
    scratch: &'m mut [i32],
    /// Entries of all layers' states.
    states: usize,
}

/// A state taken apart for a step.
pub(super) struct Parts<'s> {
    pub(super) states: &'s mut [i16],
    pub(super) input: &'s mut [i16],
    pub(super) projected: &'s mut [i16],
    pub(super) scratch: &'s mut [i32],
}

impl<'m> State<'m> {
    pub(super) fn new<const LAYERS: usize>(
        model: &Model<'_, LAYERS>,
        memory: &'m mut [i16],
        scratch: &'m mut [i32],
    ) -> Result<Self, WrongLength> {
        let states = model.layers().iter().map(Layer::state_len).sum();
        let (memory_len, scratch_len) = (memory.len(), scratch.len());
        let short = |what, found, needed| WrongLength { what, found, needed };
        let needed = model.memory_len();
        let memory = memory.get_mut(..needed).ok_or(short("the memory", memory_len, needed))?;
        let needed = model.scratch_len();
        let scratch = scratch.get_mut(..needed).ok_or(short("the scratch buffer", scratch_len, needed))?;
        Ok(Self { memory, scratch, states })
    }

    /// Checks that the state was made for a model of this size.
    pub(super) fn check<const LAYERS: usize>(&self, model: &Model<'_, LAYERS>) -> Result<(), WrongLength> {
        let (memory, scratch) = (model.memory_len(), model.scratch_len());
        let states = model.layers().iter().map(Layer::state_len).sum();
        if self.states != states {
            return Err(WrongLength { what: "the state", found: self.states, needed: states });
        }
        if self.memory.len() != memory {
            return Err(WrongLength { what: "the memory", found: self.memory.len(), needed: memory });
        }
        if self.scratch.len() != scratch {
            return Err(WrongLength {
                what: "the scratch buffer",
                found: self.scratch.len(),
                needed: scratch,
            });
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

    pub(super) fn parts(&mut self, inputs: usize) -> Parts<'_> {
        let (states, rest) = self.memory.split_at_mut(self.states);
        let (input, projected) = rest.split_at_mut(inputs);
        Parts { states, input, projected, scratch: self.scratch }
    }
}
