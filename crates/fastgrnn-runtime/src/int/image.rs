//! A model as a view of its image.

use super::arithmetic::{rounded, saturated};
use super::bytes::{Bytes, Words};
use super::decision::{Decision, Meaning, Posteriors, decide};
use super::error::{ImageError, VERSION};
use super::nonlinear::TABLE_LEN;
use super::state::Lengths;
use super::{Layer, Matrix, Place, State, Unwatched, Watch, WrongLength, checksum};

/// Bits of an input's factor; those above say how much more it is shifted, in steps of four.
const FACTOR_BITS: u32 = 14;
/// The longest shift of an input.
const MOST_SHIFT: u32 = 30;
/// The largest entry of the table: 1/2 with 16 fraction bits.
const MOST_TABLE: u16 = 1 << 15;

/// A model of at most `LAYERS` layers, in an image that it borrows.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a, const LAYERS: usize = 1> {
    layers: [Layer<'a>; LAYERS],
    count: usize,
    input_shift: u32,
    offset_shift: u32,
    offsets: Words<'a>,
    factors: Words<'a>,
    head: Matrix<'a>,
    head_shift: u32,
    head_biases: Words<'a>,
    score_bits: i32,
    meaning: Meaning,
    has_table: bool,
}

impl<'a, const LAYERS: usize> Model<'a, LAYERS> {
    /// Reads and checks an image. What it accepts cannot fail, overflow or read elsewhere later.
    pub fn read(image: &'a [u8]) -> Result<Self, ImageError> {
        let mut bytes = Bytes::new(image);
        if bytes.take(2)? != b"FG" {
            return Err(ImageError::NotAnImage);
        }
        let version = bytes.u8()?;
        if version != VERSION {
            return Err(ImageError::Version { found: version });
        }
        let count = usize::from(bytes.u8()?);
        let stated = bytes.u32()?;
        if stated as usize != image.len() {
            return Err(ImageError::Length { found: image.len(), stated });
        }
        let (found, stated) = (checksum(image), bytes.u16()?);
        if found != stated {
            return Err(ImageError::Checksum { found, stated });
        }
        if count == 0 {
            return Err(ImageError::Empty);
        }
        if count > LAYERS {
            return Err(ImageError::Layers { found: count, most: LAYERS });
        }
        let (inputs, outputs) = (usize::from(bytes.u16()?), usize::from(bytes.u16()?));
        let meaning = Meaning::from_code(bytes.u8()?)?;
        if inputs == 0 || outputs == 0 {
            return Err(ImageError::Empty);
        }
        if meaning == Meaning::Binary && outputs != 1 {
            let value = outputs as u32;
            return Err(ImageError::Range {
                what: "outputs that tell two classes apart",
                value,
                least: 1,
                most: 1,
            });
        }
        let input_shift = at_most("shift of the input", bytes.u8()?, 30)?;
        let offset_shift = at_most("shift of the input's offsets", bytes.u8()?, 14)?;
        let offsets = bytes.words(inputs)?;
        let factors = bytes.words(inputs)?;
        if let Some(value) = factors.iter().map(|f| input_shift + extra_shift(f)).find(|&s| s > MOST_SHIFT) {
            return Err(ImageError::Range { what: "shift of an input", value, least: 0, most: MOST_SHIFT });
        }
        let mut layers = [Layer::EMPTY; LAYERS];
        let mut width = inputs;
        for layer in &mut layers[..count] {
            *layer = Layer::read(&mut bytes, width)?;
            width = layer.hidden();
        }
        let head = Matrix::read(&mut bytes, outputs, width)?;
        let head_shift = at_most("shift of the head's biases", bytes.u8()?, 14)?;
        if ((width as u64) << 22) + (1 << (15 + head_shift)) >= 1 << 31 {
            return Err(ImageError::Overflow { what: "a score" });
        }
        let code = bytes.u8()?;
        let score_bits = i32::from(code as i8);
        if !(-8..=34).contains(&score_bits) {
            return Err(ImageError::Code { what: "scale of scores", code });
        }
        let head_biases = bytes.words(outputs)?;
        let has_table = layers[..count].iter().any(Layer::needs_table);
        if has_table {
            let table = bytes.words(TABLE_LEN)?;
            let rises = (1..TABLE_LEN).all(|i| table.u16(i - 1) <= table.u16(i));
            if !rises || table.u16(TABLE_LEN - 1) > MOST_TABLE {
                return Err(ImageError::Table);
            }
            layers[..count].iter_mut().for_each(|layer| layer.set_table(table));
        }
        match bytes.left() {
            0 => Ok(Self {
                layers,
                count,
                input_shift,
                offset_shift,
                offsets,
                factors,
                head,
                head_shift,
                head_biases,
                score_bits,
                meaning,
                has_table,
            }),
            left => {
                Err(ImageError::TooLong { what: "an image", size: image.len(), most: image.len() - left })
            }
        }
    }

    /// Features of the input.
    pub fn inputs(&self) -> usize {
        self.offsets.len()
    }

    /// Scores.
    pub fn outputs(&self) -> usize {
        self.head_biases.len()
    }

    /// The layers, the one that reads the input first.
    pub fn layers(&self) -> &[Layer<'a>] {
        &self.layers[..self.count]
    }

    /// The head's matrix.
    pub fn head(&self) -> Matrix<'a> {
        self.head
    }

    /// The bias of score `k`, its shift applied.
    pub fn head_bias(&self, k: usize) -> i32 {
        i32::from(self.head_biases.i16(k)) << self.head_shift
    }

    /// Fraction bits of scores.
    pub fn score_bits(&self) -> i32 {
        self.score_bits
    }

    /// What the scores mean.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// Whether the image holds the table of the smooth nonlinearities.
    pub fn has_table(&self) -> bool {
        self.has_table
    }

    /// Entry `i` of that table; `None` without a table and beyond its end.
    pub fn table(&self, i: usize) -> Option<u16> {
        (self.has_table && i < TABLE_LEN).then(|| self.layers[0].gate.table.u16(i))
    }

    /// Offset (its shift applied), factor and shift of input `d`.
    pub fn input_scale(&self, d: usize) -> (i32, i32, u32) {
        let offset = i32::from(self.offsets.i16(d)) << self.offset_shift;
        let word = self.factors.u16(d);
        let factor = i32::from(word & ((1 << FACTOR_BITS) - 1));
        (offset, factor, self.input_shift + extra_shift(word))
    }

    /// Input `d` normalised, and whether it saturated.
    #[inline(always)]
    pub fn normalized(&self, d: usize, count: i16) -> (i16, bool) {
        let (offset, factor, shift) = self.input_scale(d);
        saturated(rounded(i32::from(count) * factor - offset, shift))
    }

    fn lengths(&self) -> Lengths {
        let states = self.layers().iter().map(Layer::state_len).sum();
        Lengths { states, memory: self.memory_len(), scratch: self.scratch_len() }
    }

    /// Entries of 16 bits that a [`State`] needs.
    pub fn memory_len(&self) -> usize {
        let states: usize = self.layers().iter().map(Layer::state_len).sum();
        states + self.inputs() + self.rank()
    }

    /// Entries of 32 bits that a [`State`] needs.
    pub fn scratch_len(&self) -> usize {
        self.layers().iter().map(Layer::sums_len).max().unwrap_or(0) + self.rank()
    }

    /// The largest rank of a matrix.
    pub(super) fn rank(&self) -> usize {
        self.layers().iter().map(Layer::rank).max().unwrap_or(0)
    }

    /// Lends buffers to a state, and resets it.
    pub fn start<'m>(&self, memory: &'m mut [i16], scratch: &'m mut [i32]) -> Result<State<'m>, WrongLength> {
        let mut state = State::new(self.lengths(), memory, scratch)?;
        self.reset(&mut state)?;
        Ok(state)
    }

    /// Lends buffers to a state, and leaves in them what an earlier state left.
    pub fn resume<'m>(
        &self,
        memory: &'m mut [i16],
        scratch: &'m mut [i32],
    ) -> Result<State<'m>, WrongLength> {
        State::new(self.lengths(), memory, scratch)
    }

    /// Puts the state back to what a sequence starts from.
    pub fn reset(&self, state: &mut State<'_>) -> Result<(), WrongLength> {
        state.check(self.lengths())?;
        let mut rest = state.layers_mut();
        for layer in self.layers() {
            let (own, after) = rest.split_at_mut(layer.state_len());
            own.iter_mut().enumerate().for_each(|(i, h)| *h = layer.start(i));
            rest = after;
        }
        Ok(())
    }

    /// The state of one layer: h, and for an LSTM c after it.
    pub fn layer_state<'s>(&self, state: &'s State<'_>, layer: usize) -> &'s [i16] {
        let before: usize = self.layers().iter().take(layer).map(Layer::state_len).sum();
        let len = self.layers().get(layer).map_or(0, Layer::state_len);
        state.layers().get(before..before + len).unwrap_or(&[])
    }

    /// Takes one step: reads a count for each feature and moves the state on.
    pub fn step(&self, state: &mut State<'_>, counts: &[i16]) -> Result<(), WrongLength> {
        self.step_watched(state, counts, &mut Unwatched)
    }

    /// [`Model::step`], telling `watch` of every value that saturates.
    pub fn step_watched(
        &self,
        state: &mut State<'_>,
        counts: &[i16],
        watch: &mut impl Watch,
    ) -> Result<(), WrongLength> {
        state.check(self.lengths())?;
        if counts.len() != self.inputs() {
            return Err(WrongLength { what: "the input", found: counts.len(), needed: self.inputs() });
        }
        let mut parts = state.parts(self.inputs());
        for (d, (x, &count)) in parts.input.iter_mut().zip(counts).enumerate() {
            let cut;
            (*x, cut) = self.normalized(d, count);
            if cut {
                watch.saturated(0, Place::Input);
            }
        }
        let mut input: &[i16] = parts.input;
        for (index, layer) in self.layers().iter().enumerate() {
            let (own, after) = parts.states.split_at_mut(layer.state_len());
            layer
                .step(own, input, parts.projected, parts.scratch, &mut |place| watch.saturated(index, place));
            input = &own[..layer.hidden()];
            parts.states = after;
        }
        Ok(())
    }

    /// Writes the scores of the state.
    pub fn scores(&self, state: &State<'_>, scores: &mut [i32]) -> Result<(), WrongLength> {
        state.check(self.lengths())?;
        if scores.len() != self.outputs() {
            return Err(WrongLength { what: "the scores", found: scores.len(), needed: self.outputs() });
        }
        scores.iter_mut().enumerate().for_each(|(k, score)| *score = self.head_bias(k));
        let last = &self.layers[self.count - 1];
        let states = state.layers();
        let of_last = states.get(states.len() - last.state_len()..).unwrap_or(&[]);
        self.head.times(&of_last[..last.hidden()], scores);
        Ok(())
    }

    /// The class that scores stand for, and how sure they are.
    pub fn decide(&self, scores: &[i32]) -> Decision {
        decide(self.meaning, self.score_bits, scores)
    }

    /// The posteriors that scores stand for.
    pub fn posteriors<'s>(&self, scores: &'s [i32]) -> Posteriors<'s> {
        Posteriors::new(self.meaning, self.score_bits, scores)
    }
}

/// What the high bits of an input's factor add to the shift.
const fn extra_shift(word: u16) -> u32 {
    4 * (word >> FACTOR_BITS) as u32
}

fn at_most(what: &'static str, value: u8, most: u32) -> Result<u32, ImageError> {
    let value = u32::from(value);
    if value <= most { Ok(value) } else { Err(ImageError::Range { what, value, least: 0, most }) }
}
