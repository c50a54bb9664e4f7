//! Models to export.

use fastgrnn::cells::{Cell, CellKind, MatrixForm, Nonlinearity, Role, Scalar, Scalars, Start};
use fastgrnn::data::{Normalize, Normalizer, Sequences};
use fastgrnn::features::Spec;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::{Embedding, InitialState, Loss, Network, Readout};
use fastgrnn::quantize::{Detector, IntegerModel, Options, Reset, quantize};
use fastgrnn::rng::Rng;
use fastgrnn::text::{Counts, END_OF_LINE, TextFormat, TokenKind, Tokenizer};
use fastgrnn::window::Window;

/// A network with random weights of which a fraction is kept, made integer on random recordings
/// whose features have different means and sizes.
pub fn model(layers: Vec<Cell>, outputs: usize, kept: f64, seed: u64) -> IntegerModel {
    let labels = (0..outputs).map(|k| format!("class {k}")).collect();
    of_task(layers, Task::Classes { labels }, Loss::SoftmaxCrossEntropy, outputs, kept, seed)
}

/// The same for any task.
pub fn of_task(
    layers: Vec<Cell>,
    task: Task,
    loss: Loss,
    outputs: usize,
    kept: f64,
    seed: u64,
) -> IntegerModel {
    of_network(Network::new(layers, outputs), task, loss, kept, seed)
}

/// The same for any network of numbers.
fn of_network(network: Network, task: Task, loss: Loss, kept: f64, seed: u64) -> IntegerModel {
    let mut rng = Rng::new(seed);
    let features = network.input();
    let mut params = network.start(Start::default(), 20, seed);
    for view in network.layout().views() {
        for value in &mut params[view.range()] {
            match view.role {
                Role::Weight if rng.uniform() > kept => *value = 0.0,
                Role::Weight => *value = rng.range(-0.7, 0.7) as f32,
                _ => *value += rng.range(-0.5, 0.5) as f32,
            }
        }
    }
    let mut model = Model::new(network, params, task);
    model.loss = loss;
    model.steps = 20;
    model.dataset = "random recordings".into();
    let mean: Vec<f32> = (0..features).map(|d| d as f32 - 1.5).collect();
    let scale: Vec<f32> = (0..features).map(|d| 0.5 + d as f32).collect();
    let recording: Vec<f32> =
        (0..200 * features).map(|i| mean[i % features] + rng.normal() as f32 / scale[i % features]).collect();
    model.normalizer = Normalizer { mode: Normalize::PerFeature, mean, scale };
    let mut x = Sequences::new(features);
    x.push(&recording);
    quantize(&model, &x, &[0], &Options::default()).unwrap()
}

/// The smallest model that everything can be tried on.
pub fn small() -> IntegerModel {
    model(vec![Cell::new(CellKind::FastGrnn, 3, 6)], 3, 1.0, 1)
}

/// A model that listens; with a detector of its classes or without.
pub fn listening(detects: bool) -> IntegerModel {
    let spec = Spec::default();
    let quiet = model(vec![Cell::new(CellKind::FastGrnn, spec.dim(), 6)], 3, 1.0, 3);
    let mut x = Sequences::new(spec.dim());
    x.push(&(0..40 * spec.dim()).map(|i| (i % 23) as f32 - 4.0).collect::<Vec<_>>());
    let model = Model { audio: Some(spec), ..quiet.model };
    let mut integer = quantize(&model, &x, &[0], &Options::default()).unwrap();
    if detects {
        // One of three classes always has a third of certainty.
        let keywords = vec![0, 1, 2];
        let detector = Detector {
            keywords,
            threshold: 10_000,
            smoothing: 0,
            refractory: 5,
            warm_up: 0,
            reset: Reset::Never,
        };
        integer.set_detector(Some(detector)).unwrap();
    }
    integer
}

/// A language model of `tokens` tokens, whose vectors may be tied to the head.
pub fn language_model(tokens: usize, tied: bool) -> IntegerModel {
    let mut cell = Cell::new(CellKind::FastGrnn, if tied { 12 } else { 5 }, 12).with_ranks(None, Some(6));
    cell.scalars = Scalars { zeta: Scalar::Fixed(1.0), nu: Scalar::Fixed(0.0), ..Scalars::default() };
    let network = Network {
        embedding: Some(Embedding { vocabulary: tokens, tied }),
        readout: Readout::Every,
        ..Network::new(vec![cell], tokens)
    };
    let mut rng = Rng::new(6);
    let mut params = network.start(Start::default(), 20, 2);
    params.iter_mut().for_each(|p| *p += rng.range(-0.8, 0.8) as f32);
    let mut counts = Counts::default();
    counts.add(END_OF_LINE);
    (2..tokens).for_each(|k| counts.add(&char::from_u32(0x60 + k as u32).unwrap().to_string()));
    let tokenizer = Tokenizer { kind: TokenKind::Characters, lowercase: false };
    let text = TextFormat { tokenizer, vocabulary: counts.vocabulary(tokens, 1, &[]) };
    let mut x = Sequences::of_tokens();
    x.push_tokens(&(0..300).map(|_| rng.below(tokens) as u32).collect::<Vec<_>>());
    let model = Model { text: Some(text), ..Model::new(network, params, Task::NextToken) };
    quantize(&model, &x, &[0], &Options::default()).unwrap()
}

/// A model that reads several frames of two features in a step, below a cell of `kind`.
pub fn windowed(kind: CellKind, frames: usize, stride: usize) -> IntegerModel {
    let projection = Cell::new(CellKind::Rnn, 2 * frames, 6)
        .with_forms(MatrixForm::Full, MatrixForm::Absent)
        .with_nonlinearities(Nonlinearity::Sigmoid, Nonlinearity::Relu);
    let window = Window { frames, stride };
    let network = Network { window, ..Network::new(vec![projection, Cell::new(kind, 6, 7)], 3) };
    let labels = (0..3).map(|k| format!("class {k}")).collect();
    of_network(network, Task::Classes { labels }, Loss::SoftmaxCrossEntropy, 0.8, 12)
}

/// Models that reach all cells, forms of matrices, nonlinearities and meanings of scores.
pub fn variety() -> Vec<(String, IntegerModel)> {
    let mut all = Vec::new();
    for (i, cell) in fastgrnn::cells::CELLS.iter().filter(|cell| cell.has_integers()).enumerate() {
        let smooth = Cell::new(cell.kind, 4, 9);
        let piecewise = Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..smooth };
        let low_rank = piecewise.clone().with_ranks(Some(2), Some(5));
        all.push((format!("{} dense", cell.name), model(vec![smooth], 4, 1.0, i as u64)));
        all.push((format!("{} low rank", cell.name), model(vec![low_rank], 4, 0.5, 50 + i as u64)));
        all.push((
            format!("{} sparse", cell.name),
            model(vec![Cell { hidden: 24, ..piecewise }], 4, 0.06, 90 + i as u64),
        ));
    }
    let below = Cell { update: Nonlinearity::Relu, ..Cell::new(CellKind::FastRnn, 5, 10) };
    let above = Cell { gate: Nonlinearity::QuantSigm4, ..Cell::new(CellKind::Lstm, 10, 8) };
    all.push(("two layers".into(), model(vec![below, above], 3, 0.6, 7)));
    for (kind, frames, stride) in [(CellKind::FastGrnn, 3, 2), (CellKind::Lstm, 2, 2), (CellKind::Gru, 3, 1)]
    {
        all.push((format!("{kind} window {frames} {stride}"), windowed(kind, frames, stride)));
    }
    let cell = Cell::new(CellKind::FastGrnn, 2, 5);
    let values = Task::Values { mean: vec![3.0, -1.0], scale: vec![2.0, 0.5] };
    let two = || Task::Classes { labels: vec!["no".into(), "yes".into()] };
    let sigmoid = Loss::BinaryCrossEntropy;
    all.push(("numbers".into(), of_task(vec![cell.clone()], values, Loss::SquaredError, 2, 1.0, 8)));
    all.push(("one score".into(), of_task(vec![cell.clone()], two(), sigmoid, 1, 1.0, 9)));
    all.push(("each by itself".into(), of_task(vec![cell], two(), sigmoid, 2, 1.0, 10)));
    all
}

/// A model with an awkward label, names of features and a state to start from.
pub fn awkward() -> IntegerModel {
    let cell = Cell::new(CellKind::Lstm, 2, 5);
    let labels = ["*/ \"quoted\" \\ ??/", "@name@ | <b>", "größer\n2"].map(str::to_owned).to_vec();
    let integer = of_task(vec![cell], Task::Classes { labels }, Loss::SoftmaxCrossEntropy, 3, 1.0, 11);
    let mut model = integer.model.clone();
    model.features = Some(vec!["acc */ x".into(), "`|gyro".into()]);
    model.initial_state = InitialState::Given(vec![0.25; 5]);
    let mut x = Sequences::new(2);
    x.push(&[0.1, 0.2, -0.5, 0.4]);
    quantize(&model, &x, &[0], &Options::default()).unwrap()
}
