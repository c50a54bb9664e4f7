//! Soft-float C of an integer network, to compare integers with floats on the same board.
//!
//! Weights are bytes, and each matrix has a power of two as its scale; a matrix is stored dense or as
//! lists of nonzero weights, whichever is smaller. Biases, states and all other values are `float`.
//! The functions and macros have the names of the integer core, so that a program can use either. The
//! code computes what the integers represent, without their rounding; [`scores`] defines it in f64.

mod decision;
mod reference;
mod step;
mod tables;
mod window;

pub use reference::scores;

use crate::c::{COptions, CSource};
use crate::error::ExportError;
use crate::fill::fill;
use fastgrnn::quantize::{IntegerLayer, IntegerNetwork};
use tables::FloatTables;
use window::FloatWindow;

/// Writes `network` in C that computes with `float`.
///
/// Scores are rounded to the scale of the integer core (32 bits, [`IntegerNetwork::score_bits`]), so
/// that the two can be compared; they differ by the rounding of the integer core.
/// `options.optimize` has no effect.
///
/// ```
/// use fastgrnn::cells::{Cell, CellKind, Start};
/// use fastgrnn::{data::Sequences, model::{Model, Task}, net::Network};
/// use fastgrnn_export::{COptions, Optimize, float_source};
/// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
/// let params = net.start(Start::default(), 3, 0);
/// let model = Model::new(net, params, Task::Classes { labels: vec!["a".into(), "b".into()] });
/// let mut x = Sequences::new(1);
/// x.push(&[0.1, 0.2, 0.3]);
/// let integer = fastgrnn::quantize::quantize(&model, &x, &[0], &Default::default())?;
/// let options = COptions { name: "wave".into(), ..COptions::default() };
/// let c = float_source(&integer.network, &options)?;
/// assert!(c.source.contains("void wave_step(wave_state *state, const int16_t *counts)"));
/// assert_eq!(c.state_bytes, 4 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn float_source(network: &IntegerNetwork, options: &COptions) -> Result<CSource, ExportError> {
    if network.embedding.is_some() {
        return Err(ExportError::FloatText);
    }
    let name = crate::name::checked(&options.name)?;
    let upper = name.to_uppercase();
    let mut tables = FloatTables::default();
    let window = FloatWindow::new(network, &upper);
    let layers = step::layers(network, window.is_there, &mut tables);
    let classify = step::classify(network, &mut tables);
    let curves = step::curves(network);
    let features = network.input.factors.len();
    let outputs = network.head_biases.len();
    let states: usize = network.layers.iter().map(|l| l.cell.state_len()).sum();
    let of_input = if window.is_there { 0 } else { features };
    let stepping = of_input + network.layers.iter().map(scratch_len).max().unwrap_or(0);
    let scratch = 4 * stepping.max(outputs);
    let budget = options.max_ram.map_or(String::new(), |bytes| {
        format!("#ifndef {upper}_MAX_RAM\n#define {upper}_MAX_RAM {bytes}\n#endif\n")
    });
    let number = |n: usize| n.to_string();
    let values = [
        ("name", name.as_str()),
        ("NAME", &upper),
        ("version", env!("CARGO_PKG_VERSION")),
        ("features", &number(features)),
        ("outputs", &number(outputs)),
        ("states", &number(states)),
        ("state_bytes", &number(4 * states + window.bytes)),
        ("members", &window.members),
        ("stride", &window.stride),
        ("frame", &window.frame),
        ("step_kind", window.kind),
        ("step_is", window.comment),
        ("before", &window.before),
        ("after", &window.after),
        ("scratch_bytes", &number(scratch)),
        ("data_bytes", &number(tables.bytes())),
        ("score_bits", &network.score_bits().to_string()),
        ("score_scale", &tables::literal((network.score_bits() as f32).exp2())),
        ("budget", &budget),
        ("tables", tables.text()),
        ("kernels", &tables.kernels()),
        ("curves", &curves),
        ("layers", &layers.functions),
        ("reset", &format!("{}{}", layers.reset, window.reset)),
        ("step", &layers.step),
        ("classify", &classify),
        ("confidence", &decision::functions(network)),
        ("decide", decision::body(network.meaning)),
    ];
    Ok(CSource {
        header: fill(include_str!("template.h"), &values),
        source: fill(include_str!("template.c"), &values),
        features,
        outputs,
        data_bytes: tables.bytes(),
        state_bytes: 4 * states + window.bytes,
        scratch_bytes: scratch,
        optimize: options.optimize,
        front: None,
        name,
    })
}

/// The number of floats that the step of a layer puts on the stack.
fn scratch_len(layer: &IntegerLayer) -> usize {
    let cell = &layer.cell;
    step::sums_len(cell) + cell.form_w.rank().max(cell.form_u.rank()).unwrap_or(0)
}
