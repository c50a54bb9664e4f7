//! Text from a language model: it reads a prompt, then draws one token after the other.
//!
//! Float and integer models draw with the same integer arithmetic (section 10 of
//! `docs/integer-arithmetic.md`), so that the same model, prompt and seed give the same text on every
//! machine; an integer model draws on a device what it draws here.

use crate::any::AnyModel;
use crate::model::{Model, Task};
use crate::quantize::IntegerModel;
use fastgrnn_data::text::TextFormat;
use fastgrnn_runtime::float::FloatLayer;
use fastgrnn_runtime::int::{Draw, TokenSampler};

/// How a text is continued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenerateOptions {
    /// Tokens to draw.
    pub length: usize,
    /// Below 1, probable tokens become more probable; above 1, less. 0 always takes the most probable one.
    pub temperature: f64,
    /// How many of the most probable tokens may be drawn; 0 for all.
    pub most: u16,
    /// The seed of the random numbers.
    pub seed: u32,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        Self { length: 100, temperature: 1.0, most: 0, seed: 0 }
    }
}

impl GenerateOptions {
    /// The least temperature but 0, and the largest one.
    pub const TEMPERATURES: [f64; 2] = [1.0 / 16.0, 16.0];

    /// The sampler of these options.
    pub fn sampler(&self) -> Result<TokenSampler, GenerateError> {
        let [least, most] = Self::TEMPERATURES;
        let sharpness = match self.temperature {
            0.0 => 0,
            temperature if (least..=most).contains(&temperature) => (256.0 / temperature).round() as u16,
            value => return Err(GenerateError::Temperature { value }),
        };
        Ok(TokenSampler::new(self.seed, Draw { sharpness, most: self.most }))
    }
}

/// A prompt and what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The tokens of the prompt.
    pub prompt: Vec<u32>,
    /// The tokens that were drawn.
    pub tokens: Vec<u32>,
}

impl Generated {
    /// Tokens of the prompt that are not in the vocabulary.
    pub fn unknown(&self) -> usize {
        self.prompt.iter().filter(|&&token| token == 0).count()
    }
}

/// Why a text cannot be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// Not a language model.
    #[error(
        "the model predicts {predicts}, not the next token of a text; train a language model (`task = lm`)"
    )]
    Task {
        /// What it predicts.
        predicts: &'static str,
    },
    /// A temperature that the draw cannot have.
    #[error("a temperature of {value}: it must be 0, or between 0.0625 and 16")]
    Temperature {
        /// The temperature.
        value: f64,
    },
}

impl AnyModel {
    /// Continues `prompt`, which may be empty.
    ///
    /// ```
    /// # use fastgrnn_model::generate::{GenerateError, GenerateOptions};
    /// # fn print(model: &fastgrnn_model::any::AnyModel) -> Result<(), GenerateError> {
    /// let generated = model.generate("The ", &GenerateOptions::default())?;
    /// println!("{}", model.text()?.decode(&generated.tokens));
    /// # Ok(())
    /// # }
    /// ```
    pub fn generate(&self, prompt: &str, options: &GenerateOptions) -> Result<Generated, GenerateError> {
        let mut tokens = Vec::new();
        self.text()?.encode_lines(prompt, &mut tokens);
        let run = Continuation { prompt: &tokens, first: self.float().end_of_line(), length: options.length };
        let drawn = match self {
            Self::Float(model) => float(model, &run, options.sampler()?),
            Self::Integer(model) => integer(model, &run, options.sampler()?),
        };
        Ok(Generated { prompt: tokens, tokens: drawn })
    }

    /// How a language model's tokens are made from texts.
    pub fn text(&self) -> Result<&TextFormat, GenerateError> {
        let model = self.float();
        match (&model.task, &model.text) {
            (Task::NextToken, Some(text)) => Ok(text),
            (Task::Values { .. }, _) => Err(GenerateError::Task { predicts: "numbers" }),
            (Task::Sets { .. }, _) => Err(GenerateError::Task { predicts: "sets of labels" }),
            _ => Err(GenerateError::Task { predicts: "classes" }),
        }
    }
}

/// What is read before the first draw, and how many follow.
struct Continuation<'a> {
    prompt: &'a [u32],
    /// The end of a line, which stands before every text.
    first: u32,
    length: usize,
}

impl Continuation<'_> {
    /// Reads the prompt with `read`, which writes the scores (with `bits` fraction bits) after a token, and
    /// draws what follows.
    fn draw(
        &self,
        outputs: usize,
        bits: i32,
        mut sampler: TokenSampler,
        mut read: impl FnMut(u32, &mut [i32]),
    ) -> Vec<u32> {
        let mut scores = vec![0; outputs];
        read(self.first, &mut scores);
        self.prompt.iter().for_each(|&token| read(token, &mut scores));
        let mut drawn = Vec::new();
        for _ in 0..self.length {
            let token = sampler.draw(&scores, bits) as u32;
            drawn.push(token);
            read(token, &mut scores);
        }
        drawn
    }
}

fn integer(model: &IntegerModel, run: &Continuation, sampler: TokenSampler) -> Vec<u32> {
    const LENGTHS: &str = "the buffers have the lengths that the model states";
    let view = model.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut state = view.start(&mut memory, &mut scratch).expect(LENGTHS);
    run.draw(view.outputs(), view.score_bits(), sampler, |token, scores| {
        // An integer model has at most 65535 tokens.
        view.step(&mut state, &[token as u16 as i16]).expect(LENGTHS);
        view.scores(&state, scores).expect(LENGTHS);
    })
}

/// Fraction bits of a float model's scores, from which tokens are drawn.
const FLOAT_BITS: i32 = 16;

/// The runtime's float code: unlike the engine's kernels it computes the same bits on every processor.
fn float(model: &Model, run: &Continuation, sampler: TokenSampler) -> Vec<u32> {
    const LENGTHS: &str = "a model has the parameters of its network";
    let network = &model.network;
    let layout = network.layout();
    let values = |name: &str| layout.view(name).map_or(&[][..], |view| &model.params[view.range()]);
    let vectors = model.vectors().unwrap_or_default();
    let head = if network.is_tied() { vectors } else { values("head.w") };
    let (biases, width) = (values("head.b"), network.input());
    let mut batch = network.empty_batch();
    model.push_initial(&mut batch, u64::MAX, 0);
    let mut initial = batch.initial.iter();
    let mut rest = &model.params[..];
    let (mut layers, mut states) = (Vec::new(), Vec::new());
    for cell in &network.layers {
        let (layer, after) = FloatLayer::new(&cell.into(), rest).expect(LENGTHS);
        let start = (0..cell.hidden).map(|_| initial.next().copied().unwrap_or(0.0));
        states.push(
            start.chain(std::iter::repeat_n(0.0, layer.state_len() - cell.hidden)).collect::<Vec<f32>>(),
        );
        layers.push(layer);
        rest = after;
    }
    let mut scratch = vec![0.0; layers.iter().map(FloatLayer::scratch_len).max().unwrap_or(0)];
    run.draw(network.outputs, FLOAT_BITS, sampler, |token, scores| {
        let mut input = vectors[token as usize * width..][..width].to_vec();
        for (layer, state) in layers.iter().zip(&mut states) {
            layer.step(state, &input, &mut scratch).expect(LENGTHS);
            input = state[..layer.hidden()].to_vec();
        }
        for ((score, row), bias) in scores.iter_mut().zip(head.chunks_exact(input.len())).zip(biases) {
            let sum = bias + row.iter().zip(&input).map(|(w, h)| w * h).sum::<f32>();
            // The cast saturates, and takes NaN to 0.
            *score = (sum * (FLOAT_BITS as f32).exp2()).round() as i32;
        }
    })
}
