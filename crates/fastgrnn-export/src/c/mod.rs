//! The C core: one header and one source file for a network.
//!
//! Everything that is known when the code is generated is a constant in it: sizes, shifts,
//! nonlinearities, kernels. `docs/integer-arithmetic.md` defines every bit that it computes.

mod curve;
mod decide;
mod detector;
mod front;
mod helpers;
mod input;
mod layer;
mod matrix;
mod product;
mod straight;
mod text;
mod tokens;
mod update;
mod window;

pub use front::FrontEndInfo;

use crate::ExportError;
use fastgrnn::device::MAX_STRAIGHT_WEIGHTS;
use fastgrnn::features::Spec;
use fastgrnn::quantize::{Detector, IntegerNetwork};
use helpers::Helpers;
use layer::LayerCode;
use matrix::StoredRows;
use text::{ConstantTables, joined};
use window::WindowCode;

/// Whether generated code should be small or fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimize {
    /// Small: weights are in tables, products are loops.
    #[default]
    Size,
    /// Fast: weights are constants in straight-line code, which takes three to four times the flash. A
    /// network with more than [`MAX_STRAIGHT_WEIGHTS`] weights is still written as loops.
    Speed,
}

/// Options of [`c_source`] and [`float_source`](crate::float_source).
#[derive(Clone, Debug)]
pub struct COptions {
    /// The prefix of every C name, which is also the name of the files.
    pub name: String,
    /// The most bytes of RAM that may be used, checked when the C is compiled.
    pub max_ram: Option<usize>,
    /// Size or speed.
    pub optimize: Optimize,
    /// The audio front end that computes the network's frames.
    pub front: Option<Spec>,
    /// The detector that turns the scores of a stream into detections.
    pub detector: Option<Detector>,
    /// The token of the end of a line, for a language model; the code then draws tokens.
    pub end_of_line: Option<u32>,
}

impl Default for COptions {
    fn default() -> Self {
        Self {
            name: "model".into(),
            max_ram: None,
            optimize: Optimize::Size,
            front: None,
            detector: None,
            end_of_line: None,
        }
    }
}

/// A network in C.
#[derive(Clone, Debug)]
pub struct CSource {
    /// The prefix of every C name.
    pub name: String,
    /// `NAME.h`
    pub header: String,
    /// `NAME.c`
    pub source: String,
    /// Counts in a frame.
    pub features: usize,
    /// Scores.
    pub outputs: usize,
    /// Bytes of constant data in flash, derived from the tables.
    pub data_bytes: usize,
    /// Bytes of the state struct.
    pub state_bytes: usize,
    /// Bytes of buffers that `step` and `classify` put on the stack.
    pub scratch_bytes: usize,
    /// Size or speed. [`Optimize::Speed`] becomes [`Optimize::Size`] for a network with too many
    /// weights.
    pub optimize: Optimize,
    /// The audio front end, if the code has one.
    pub front: Option<FrontEndInfo>,
}

/// Writes `network` in C.
///
/// ```
/// use fastgrnn::cells::{Cell, CellKind, Start};
/// use fastgrnn::data::Sequences;
/// use fastgrnn::model::{Model, Task};
/// use fastgrnn::net::Network;
/// use fastgrnn::quantize::{Options, quantize};
/// use fastgrnn_export::{COptions, c_source};
/// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
/// let params = net.start(Start::default(), 3, 0);
/// let labels = vec!["still".to_string(), "moving".to_string()];
/// let mut x = Sequences::new(1);
/// x.push(&[0.1, 0.2, 0.3]);
/// let model = quantize(&Model::new(net, params, Task::Classes { labels }), &x, &[0], &Options::default())?;
/// let c = c_source(&model.network, &COptions { name: "gesture".into(), ..COptions::default() })?;
/// assert!(c.header.contains("void gesture_step(gesture_state *state, const int16_t *counts);"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn c_source(network: &IntegerNetwork, options: &COptions) -> Result<CSource, ExportError> {
    let name = crate::name::checked(&options.name)?;
    let name = name.as_str();
    let weights: usize =
        network.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices())).map(|m| m.nonzero()).sum();
    let straight = options.optimize == Optimize::Speed && weights <= MAX_STRAIGHT_WEIGHTS;

    let features = network.input.factors.len();
    if let Some(spec) = options.front.filter(|spec| spec.dim() != features) {
        return Err(ExportError::Front { spec: spec.to_string(), found: spec.dim(), features });
    }
    if let Some(detector) = &options.detector {
        detector.view().check(network.meaning, network.head_biases.len())?;
    }
    let keywords = options.detector.as_ref().map(|detector| detector.keywords.len());
    let helpers = Helpers::default();
    let front = options.front.map(|spec| front::code(name, &spec, keywords, &helpers));

    let mut tables = ConstantTables::default();
    let mut curves = curve::Curves::new(&helpers);
    let window = WindowCode::new(network);
    let x = if straight && window.is_none() { "int32_t" } else { "int16_t" };
    let input = match &network.embedding {
        Some(embedding) => {
            tables.bytes("vectors", &embedding.vectors.entries);
            tokens::look_up(embedding, &network.input, x)
        }
        None => input::code(&network.input, x, &mut tables, &helpers),
    };
    let layers: Vec<LayerCode> = network
        .layers
        .iter()
        .enumerate()
        .map(|(index, layer)| {
            let reads_state = index > 0 || window.is_some();
            layer::code(index, layer, straight, reads_state, &mut tables, &mut curves, &helpers)
        })
        .collect();
    let head = match network.is_tied() {
        true => StoredRows::dense(&network.head),
        false => StoredRows::new(&network.head),
    };
    if !network.is_tied() {
        head.write("head", &mut tables);
    }
    tables.biases("head_b", &network.head_biases, network.head_bias_bits);
    if curves.needs_table() {
        tables.unsigned_words("sigmoid_table", &fastgrnn::quantize::sigmoid_table());
    }

    let detector = options
        .detector
        .as_ref()
        .map(|own| detector::code(name, network, own, window.is_some(), &mut tables));

    let outputs = network.head_biases.len();
    let of_window = window.as_ref().map_or(0, |window| window.bytes);
    let state_bytes = of_window + layers.iter().map(|l| 2 * l.state).sum::<usize>();
    // The frames of a window are in the state.
    let of_input = match (&window, straight) {
        (Some(_), _) => 0,
        (None, true) => 4 * width(network),
        (None, false) => 2 * width(network),
    };
    let scratch_bytes = of_input + layers.iter().map(|l| l.scratch).max().unwrap_or(0);

    let mut source = format!(
        "/* Generated by fastgrnn. docs/integer-arithmetic.md of fastgrnn defines what it computes. */\n#include \"{name}.h\"\n\n"
    );
    // An AVR reads flash through 16-bit pointers, and its compiler does not accept larger arrays.
    if tables.total > 60_000 || tables.largest > 32_767 {
        source.push_str("#if defined(__AVR__)\n#error \"more constants than an AVR can reach: 60000 bytes in all, 32767 in a table\"\n#endif\n\n");
    }
    source.push_str(include_str!("parts/prelude.c"));
    source.push('\n');
    source.push_str(&tables.text);
    source.push('\n');
    let mut code = curves.text() + &input;
    for layer in &layers {
        code.push_str(&layer.functions.replace("@NAME@", name));
    }
    code.push_str(&api(
        name,
        network,
        (x, window.as_ref()),
        &layers,
        &head,
        options.end_of_line.is_some(),
        &helpers,
    ));
    if let Some(detector) = &detector {
        code.push_str(&detector.functions);
    }
    if let Some(front) = &front {
        code = format!("{}{code}{}", front.functions, front.push);
    }
    source.push_str(&helpers.text());
    source.push_str(&code);

    let header = header(
        name,
        &HeaderSizes {
            reads_tokens: network.embedding.is_some(),
            features,
            outputs,
            state_bytes,
            scratch_bytes,
            data_bytes: tables.total,
        },
        &layers,
        window.as_ref(),
        options,
        &format!(
            "{}{}{}",
            network.embedding.as_ref().map_or(String::new(), |embedding| tokens::header(
                name,
                embedding.vectors.rows,
                options.end_of_line
            )),
            detector.as_ref().map_or("", |detector| &detector.header),
            front.as_ref().map_or("", |front| &front.header)
        ),
    );
    let optimize = if straight { Optimize::Speed } else { Optimize::Size };
    Ok(CSource {
        name: name.into(),
        header,
        source,
        features,
        outputs,
        data_bytes: tables.total,
        state_bytes,
        scratch_bytes,
        optimize,
        front: front.map(|front| front.info),
    })
}

/// Numbers of a normalised frame.
fn width(network: &IntegerNetwork) -> usize {
    network.embedding.as_ref().map_or(network.input.factors.len(), |embedding| embedding.vectors.cols)
}

struct HeaderSizes {
    reads_tokens: bool,
    features: usize,
    outputs: usize,
    state_bytes: usize,
    scratch_bytes: usize,
    data_bytes: usize,
}

fn header(
    name: &str,
    sizes: &HeaderSizes,
    layers: &[LayerCode],
    window: Option<&WindowCode>,
    options: &COptions,
    more: &str,
) -> String {
    let upper = name.to_ascii_uppercase();
    let HeaderSizes { reads_tokens, features, outputs, state_bytes, scratch_bytes, data_bytes } = sizes;
    let (every_frame, a_frame) = match reads_tokens {
        true => ("for every token, whose number is the only count:".to_owned(), "the number of a token"),
        false => (format!("for every frame of {features} raw sensor counts:"), "counts in a frame"),
    };
    let members =
        joined(layers.iter().map(|l| l.members.clone()), "") + window.map_or("", |window| &window.members);
    let stride = window.map_or(String::new(), |window| {
        format!(
            "#define {upper}_STRIDE {} /* frames from one step of the network to the next */\n",
            window.stride
        )
    });
    let (step_kind, step_is) = match window {
        Some(window) => ("uint8_t", window.comment.as_str()),
        None => ("void", ""),
    };
    let budget = options.max_ram.map_or(String::new(), |bytes| {
        format!("#ifndef {upper}_MAX_RAM\n#define {upper}_MAX_RAM {bytes}\n#endif\n")
    });
    format!(
        "/* Generated by fastgrnn. It uses only integers and needs no library.

   {name}_state state;
   {name}_init(&state);
   {every_frame} {name}_step(&state, counts);
   when the recording ends, or at any time:    k = {name}_classify(&state, scores, &confidence);
   before another recording:                   {name}_reset(&state); */
#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#define {upper}_FEATURES {features} /* {a_frame} */
#define {upper}_OUTPUTS {outputs} /* scores */
{stride}#define {upper}_STATE_BYTES {state_bytes} /* RAM of one {name}_state */
#define {upper}_SCRATCH_BYTES {scratch_bytes} /* buffers on the stack during a step */
#define {upper}_DATA_BYTES {data_bytes} /* tables in flash */
/* State, buffers, one frame and the scores, without registers that are saved on the stack. */
#define {upper}_RAM_BYTES ({upper}_STATE_BYTES + {upper}_SCRATCH_BYTES + 2 * {upper}_FEATURES + 4 * {upper}_OUTPUTS)

{budget}#ifdef {upper}_MAX_RAM
/* An error here means that {upper}_RAM_BYTES is more than {upper}_MAX_RAM allows. */
typedef char {name}_needs_more_than_{upper}_MAX_RAM[({upper}_RAM_BYTES <= {upper}_MAX_RAM) ? 1 : -1];
#endif

#ifdef __cplusplus
extern \"C\" {{
#endif

/* What the network remembers between frames. Use one for each stream. */
typedef struct {name}_state {{
{members}}} {name}_state;

/* An error here means that the struct was changed but {upper}_STATE_BYTES was not. */
typedef char {name}_state_has_{upper}_STATE_BYTES[(sizeof({name}_state) == {upper}_STATE_BYTES) ? 1 : -1];

/* Call this before the first frame. */
void {name}_init({name}_state *state);

/* Call this between recordings. It forgets all frames so far. */
void {name}_reset({name}_state *state);

/* Takes one frame of {upper}_FEATURES counts.{step_is} */
{step_kind} {name}_step({name}_state *state, const int16_t *counts);

/* Returns the class after the frames so far, counted from 0. Writes {upper}_OUTPUTS scores and, unless
   confidence is a null pointer, a confidence from 0 (a guess) to 255 (certain). Does not change the state. */
uint16_t {name}_classify(const {name}_state *state, int32_t *scores, uint8_t *confidence);
{more}
#ifdef __cplusplus
}}
#endif

#endif
"
    )
}

fn api(
    name: &str,
    network: &IntegerNetwork,
    (x, window): (&str, Option<&WindowCode>),
    layers: &[LayerCode],
    head: &StoredRows,
    is_language_model: bool,
    helpers: &Helpers,
) -> String {
    let mut text = format!("void {name}_reset({name}_state *state)\n{{\n    uint16_t k;\n");
    for layer in layers {
        text.push_str(&layer.reset);
    }
    text.push_str(window.map_or("", |window| &window.reset));
    text.push_str(&format!(
        "}}\n\nvoid {name}_init({name}_state *state)\n{{\n    {name}_reset(state);\n}}\n\n"
    ));
    let (width, read) = (width(network), if network.embedding.is_some() { "look_up" } else { "normalise" });
    text.push_str(&match window {
        Some(window) => format!(
            "uint8_t {name}_step({name}_state *state, const int16_t *counts)\n{{\n{}",
            window.before
        ),
        None => format!(
            "void {name}_step({name}_state *state, const int16_t *counts)\n{{\n    {x} x[{width}];\n    {read}(counts, x);\n"
        ),
    });
    let mut below = if window.is_some() { "state->window" } else { "x" }.to_string();
    for (index, _) in layers.iter().enumerate() {
        text.push_str(&format!("    layer{index}(state, {below});\n"));
        below = format!("state->h{index}");
    }
    text.push_str(window.map_or("", |window| &window.after));
    text.push_str("}\n\n");
    text.push_str(&decide::code(name, network, &below, head, is_language_model, helpers));
    text
}
