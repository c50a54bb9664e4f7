//! A model as a view of its image.

use super::arithmetic::multiplied;
use super::bias::{BiasBytes, Biases};
use super::bytes::Bytes;
use super::decision::{Decision, Meaning, Posteriors, decide};
use super::error::{EXTENDED_VERSION, ImageError, TOKEN_VERSION, VERSION};
use super::input::{Counts, Input, Tokens};
use super::layer::check_multiplier;
use super::nonlinear::TABLE_LEN;
use super::state::Lengths;
use super::window::Window;
use super::{Layer, Matrix, Place, State, Storage, Unwatched, Watch, WrongLength, at_most, checksum};

/// The largest entry of the table: 1/2 with 16 fraction bits.
const MOST_TABLE: u16 = 1 << 15;

/// A bias of the head is at most 2 to this power, its shift applied.
const MOST_BIAS: u32 = 29;

/// A model of at most `LAYERS` layers, in an image that it borrows.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a, const LAYERS: usize = 1> {
    layers: [Layer<'a>; LAYERS],
    count: usize,
    input: Input<'a>,
    window: Window,
    head: Matrix<'a>,
    head_multiplier: u16,
    head_biases: Biases<'a>,
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
        if ![VERSION, TOKEN_VERSION, EXTENDED_VERSION].contains(&version) {
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
        if version == EXTENDED_VERSION {
            bytes.extend();
        }
        let reads_tokens = match version {
            EXTENDED_VERSION => flag(&mut bytes)?,
            version => version == TOKEN_VERSION,
        };
        let window = match version {
            EXTENDED_VERSION => Window::read(&mut bytes, inputs, reads_tokens)?,
            _ => Window::FRAME,
        };
        let input = if reads_tokens {
            Input::Tokens(Tokens::read(&mut bytes, inputs)?)
        } else {
            Input::Counts(Counts::read(&mut bytes, inputs)?)
        };
        let mut layers = [Layer::EMPTY; LAYERS];
        let mut width = inputs * window.frames;
        for layer in &mut layers[..count] {
            *layer = Layer::read(&mut bytes, width)?;
            width = layer.hidden();
        }
        let head = match input {
            Input::Tokens(Tokens { table, tied: true, .. }) => {
                if table.rows() != outputs || table.cols() != width {
                    return Err(ImageError::Tied);
                }
                table
            }
            _ => Matrix::read(&mut bytes, outputs, width)?,
        };
        let head_multiplier = if bytes.is_extended() { bytes.u16()? } else { 0 };
        check_multiplier(head_multiplier, head.storage() == Storage::FourBits)?;
        let bias_bytes = BiasBytes::read(&mut bytes)?;
        let head_shift =
            at_most("shift of the head's biases", bytes.u8()?, MOST_BIAS - bias_bytes.size_bits())?;
        let code = bytes.u8()?;
        let score_bits = i32::from(code as i8);
        if !(-8..=34).contains(&score_bits) {
            return Err(ImageError::Code { what: "scale of scores", code });
        }
        let head_biases = Biases::read(&mut bytes, outputs, bias_bytes, head_shift)?;
        if ((width as u64) << 22) + head_biases.largest() >= 1 << 31 {
            return Err(ImageError::Overflow { what: "a score" });
        }
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
                input,
                window,
                head,
                head_multiplier,
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

    /// Counts of a frame: one for each feature, or the number of a token.
    pub fn inputs(&self) -> usize {
        self.input.counts()
    }

    /// How many frames a step reads, and how many it moves on.
    pub fn window(&self) -> Window {
        self.window
    }

    /// The vectors of the tokens, a row for each, of a network that reads texts.
    pub fn tokens(&self) -> Option<Matrix<'a>> {
        match self.input {
            Input::Tokens(tokens) => Some(tokens.table),
            Input::Counts(_) => None,
        }
    }

    /// Whether the vectors of the tokens are also the matrix of the head.
    pub fn is_tied(&self) -> bool {
        matches!(self.input, Input::Tokens(Tokens { tied: true, .. }))
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
        self.head_biases.at(k)
    }

    /// Bytes of the head's biases.
    pub fn head_bias_bytes(&self) -> usize {
        self.head_biases.size()
    }

    /// The head's multiplier, of 15 fraction bits; 0 for none.
    pub fn head_multiplier(&self) -> u16 {
        self.head_multiplier
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

    /// Offset (its shift applied), factor and shift of feature `d`; `None` in a network that reads texts.
    pub fn input_scale(&self, d: usize) -> Option<(i32, i32, u32)> {
        match &self.input {
            Input::Counts(counts) => (d < self.inputs()).then(|| counts.scale(d)),
            Input::Tokens(_) => None,
        }
    }

    fn lengths(&self) -> Lengths {
        let states = self.layers().iter().map(Layer::state_len).sum();
        let of_window = if self.window.is_frame() { 0 } else { self.read_len() };
        let kept = states + of_window;
        Lengths { states, kept, memory: self.memory_len(), scratch: self.scratch_len() }
    }

    /// Entries for what the first layer reads, and for its place in a window.
    fn read_len(&self) -> usize {
        self.window.frames * self.input.width() + self.window.phase_len()
    }

    /// Entries of 16 bits that a [`State`] needs.
    pub fn memory_len(&self) -> usize {
        let states: usize = self.layers().iter().map(Layer::state_len).sum();
        states + self.read_len() + self.rank()
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
        let states = state.layers().len();
        state.kept_mut()[states..].fill(0);
        Ok(())
    }

    /// The state of one layer: h, and for an LSTM c after it.
    pub fn layer_state<'s>(&self, state: &'s State<'_>, layer: usize) -> &'s [i16] {
        let before: usize = self.layers().iter().take(layer).map(Layer::state_len).sum();
        let len = self.layers().get(layer).map_or(0, Layer::state_len);
        state.layers().get(before..before + len).unwrap_or(&[])
    }

    /// Whether the next frame is the first one after a step or a reset. Always true in a model without a window.
    pub fn begins_step(&self, state: &State<'_>) -> bool {
        self.window.is_frame() || state.kept().last() == Some(&0)
    }

    /// Takes a frame: reads a count for each feature, or the number of a token (as the bits of a count), and moves
    /// the state on. Says whether that was a step: a model with a stride takes one for every so many frames, and
    /// states and scores stay what they are in between.
    pub fn step(&self, state: &mut State<'_>, counts: &[i16]) -> Result<bool, WrongLength> {
        self.step_watched(state, counts, &mut Unwatched)
    }

    /// [`Model::step`], telling `watch` of every value that saturates.
    pub fn step_watched(
        &self,
        state: &mut State<'_>,
        counts: &[i16],
        watch: &mut impl Watch,
    ) -> Result<bool, WrongLength> {
        state.check(self.lengths())?;
        if counts.len() != self.inputs() {
            return Err(WrongLength { what: "the input", found: counts.len(), needed: self.inputs() });
        }
        let (window, width) = (self.window, self.input.width());
        let mut parts = state.parts(window.frames * width, window.phase_len());
        let (place, is_step) = window.place(parts.phase);
        let frame = &mut parts.input[place * width..][..width];
        self.input.write(counts, frame, || watch.saturated(0, Place::Input));
        if !is_step {
            return Ok(false);
        }
        let mut input: &[i16] = parts.input;
        for (index, layer) in self.layers().iter().enumerate() {
            let (own, after) = parts.states.split_at_mut(layer.state_len());
            layer
                .step(own, input, parts.projected, parts.scratch, &mut |place| watch.saturated(index, place));
            input = &own[..layer.hidden()];
            parts.states = after;
        }
        window.move_on(parts.input, width);
        Ok(true)
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
        let h = &of_last[..last.hidden()];
        match self.head_multiplier {
            0 => self.head.times(h, scores),
            multiplier => self.head.four_bit_rows(h, |k, sum| scores[k] += multiplied(sum, multiplier)),
        }
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

/// Whether the network reads tokens, as version 3 says it.
fn flag(bytes: &mut Bytes<'_>) -> Result<bool, ImageError> {
    match bytes.u8()? {
        flag @ (0 | 1) => Ok(flag == 1),
        code => Err(ImageError::Code { what: "kind of input", code }),
    }
}
