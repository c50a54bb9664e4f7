//! Writes device images, inputs for them and what the host computes from those, for a device to
//! compare its own results with: `scripts/test-devices` does. One folder a model, with `image`,
//! `counts` (16-bit, little-endian, step by step) and `expected`: after each step the states of all
//! layers (16-bit), the scores (32-bit), the class (16-bit) and the confidence (8-bit). The folder
//! `sound` has a recording instead of counts, and the rows of a small front end.
//!
//! `cargo run -p fastgrnn-bench --example device_vectors -- FOLDER`

use fastgrnn::cells::{CELLS, Cell, CellKind, Nonlinearity, Role, Start};
use fastgrnn::data::Sequences;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::Network;
use fastgrnn::quantize::{HostModel, Options, quantize};
use fastgrnn::rng::Rng;
use fastgrnn_runtime::audio::{Front, Tables};
use fastgrnn_runtime::int::Storage;
use std::path::Path;

include!("../../fastgrnn-runtime/tests/fixtures/front.rs");

const FEATURES: usize = 5;
const CLASSES: usize = 4;
const STEPS: usize = 120;

type Failure = Box<dyn std::error::Error>;

/// A network with weights drawn at random, of which a fraction is kept, made integer. With
/// `grows`, scales leave too little room and states add up, so that they saturate.
fn image(layers: Vec<Cell>, kept: f64, grows: bool, rng: &mut Rng) -> Result<Vec<u8>, Failure> {
    let network = Network::new(layers, CLASSES);
    let mut params = network.start(Start::default(), STEPS, rng.next_u64());
    for view in network.layout().views() {
        for value in &mut params[view.range()] {
            match view.role {
                Role::Weight if rng.uniform() > kept => *value = 0.0,
                Role::Weight => *value = rng.range(-0.7, 0.7) as f32,
                _ => *value += rng.range(-0.5, 0.5) as f32,
            }
        }
    }
    let labels = (0..CLASSES).map(|k| format!("class {k}")).collect();
    let model = Model::new(network, params, Task::Classes { labels });
    let mut x = Sequences::new(FEATURES);
    let recording: Vec<f32> = (0..4 * STEPS * FEATURES).map(|_| rng.normal() as f32).collect();
    x.push(&recording);
    let headroom = if grows { 0.3 } else { 1.5 };
    let mut network = quantize(&model, &x, &[0], &Options { headroom, ..Options::default() })?.network;
    if grows {
        network.layers.iter_mut().for_each(|l| (l.beta, l.zeta, l.nu) = (1 << 15, 1 << 14, 1 << 14));
    }
    Ok(network.image())
}

/// Runs the model on quiet and loud counts, with the extremes among them, and writes the files.
fn write(folder: &Path, image: &[u8], rng: &mut Rng) -> Result<Vec<Storage>, Failure> {
    let model = HostModel::read(image)?;
    let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
    let mut state = model.start(&mut memory, &mut scratch)?;
    let mut scores = vec![0; model.outputs()];
    let (mut inputs, mut expected) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let width = [300, 8_000, 32_768][step / (STEPS / 3)];
        let count = |rng: &mut Rng| (rng.below(2 * width) as i32 - width as i32) as i16;
        let counts: Vec<i16> = match step % 20 {
            18 => vec![i16::MIN; FEATURES],
            19 => vec![i16::MAX; FEATURES],
            _ => (0..FEATURES).map(|_| count(rng)).collect(),
        };
        model.step(&mut state, &counts)?;
        model.scores(&state, &mut scores)?;
        let decision = model.decide(&scores);
        inputs.extend(counts.iter().flat_map(|v| v.to_le_bytes()));
        expected.extend(state.layers().iter().flat_map(|v| v.to_le_bytes()));
        expected.extend(scores.iter().flat_map(|v| v.to_le_bytes()));
        expected.extend((decision.class as u16).to_le_bytes());
        expected.push(decision.confidence);
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("image"), image)?;
    std::fs::write(folder.join("counts"), inputs)?;
    std::fs::write(folder.join("expected"), expected)?;
    let matrices = model.layers().iter().flat_map(|l| [Some(l.w().0), l.w().1, Some(l.u().0), l.u().1]);
    Ok(matrices.flatten().map(|m| m.storage()).collect())
}

/// A recording from a whisper to the extremes, and what the front end makes of it.
fn write_sound(folder: &Path, image: &[u8], rng: &mut Rng) -> Result<(), Failure> {
    let loud = |i: usize| (15.0 * i as f64 / 2_000.0).exp2();
    let mut samples: Vec<i16> = (0..2_000).map(|i| (rng.range(-1.0, 1.0) * loud(i)) as i16).collect();
    samples.extend((0..200).map(|i| if i % 2 == 0 { i16::MIN } else { i16::MAX }));
    let front = Front::new(TABLES)?;
    let (mut window, mut spectrum, mut row) = ([0; 41], [0; 64], [0; 4]);
    let mut stream = front.start(&mut window, &mut spectrum, &mut row)?;
    let mut rows: Vec<u8> = Vec::new();
    let mut heard = |row: &[i16]| rows.extend(row.iter().flat_map(|v| v.to_le_bytes()));
    front.push(&mut stream, &samples, &mut heard);
    front.finish(&mut stream, &mut heard);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("image"), image)?;
    std::fs::write(folder.join("sound"), samples.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())?;
    Ok(std::fs::write(folder.join("expected"), rows)?)
}

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).ok_or("usage: device_vectors FOLDER")?;
    let folder = Path::new(&folder);
    let mut rng = Rng::new(4);
    let mut forms = Vec::new();
    for cell in CELLS.iter().filter(|cell| cell.has_integers()) {
        let smooth = Cell::new(cell.kind, FEATURES, 12);
        let piecewise = Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..smooth };
        let low_rank = piecewise.clone().with_ranks(Some(3), Some(6));
        let large = Cell { hidden: 24, ..piecewise };
        for (name, cell, kept, grows) in [
            ("dense-smooth", smooth, 1.0, false),
            ("half-low-rank", low_rank, 0.5, true),
            ("sparse", large, 0.04, false),
        ] {
            let name = format!("{}-{name}", cell.kind.name());
            let image = image(vec![cell], kept, grows, &mut rng)?;
            forms.extend(write(&folder.join(name), &image, &mut rng)?);
        }
    }
    let below = Cell { update: Nonlinearity::Relu, ..Cell::new(CellKind::FastRnn, FEATURES, 10) };
    let above = Cell { gate: Nonlinearity::QuantSigm4, ..Cell::new(CellKind::FastGrnn, 10, 8) };
    let image = image(vec![below, above], 0.6, true, &mut rng)?;
    forms.extend(write(&folder.join("two-layers-relu"), &image, &mut rng)?);
    write_sound(&folder.join("sound"), &image, &mut rng)?;
    match Storage::GENERAL.iter().find(|form| !forms.contains(form)) {
        Some(form) => Err(format!("no matrix is stored as {form:?}: the vectors miss that code").into()),
        None => Ok(()),
    }
}
