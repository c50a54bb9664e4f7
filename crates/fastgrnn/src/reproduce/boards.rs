//! Networks on boards: what is measured there, and what the measurement comes to.

use super::job::{BoardTime, Build, JobRecord};
use super::methods::Method;
use super::sets::DataSet;
use crate::lines::content_hash;
use fastgrnn_core::cells::{Cell, MatrixForm, Nonlinearity, WeightBits};
use fastgrnn_core::net::Network;
use fastgrnn_model::device::Board;
use fastgrnn_model::random::RandomModel;
use toml::{Table, Value};

/// Raised by every change of the generated code or the boards' models that alters what measurements come to.
const MEASUREMENTS_VERSION: u32 = 1;
/// The seed of the random weights.
const SEED: u64 = 1;

/// A network with random weights on a board. What it costs there depends on its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardJob {
    /// In words.
    pub title: String,
    /// The network.
    pub network: RandomModel,
    /// Whether it computes with floats, as the paper's networks that are not quantised.
    pub is_float: bool,
    /// The board.
    pub board: Board,
}

/// Why there is no measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardProblem {
    /// The board has no room for the network, which is a result like any other.
    TooLarge(String),
    /// This machine cannot measure, for lack of a tool or because the emulator failed.
    Failed(String),
    /// Somebody asked to stop.
    Interrupted,
}

/// Runs a network on a board.
pub type Measure<'a> = &'a dyn Fn(&BoardJob) -> Result<BoardTime, BoardProblem>;

impl BoardJob {
    /// A method's network for a data set whose sequences have so many steps.
    pub(super) fn new(method: Method, set: &DataSet, steps: usize, is_float: bool, board: Board) -> Self {
        let shape = &set.published;
        let is_published = method == Method::FastGrnn;
        let units = if is_published { shape.hidden } else { method.units_of_paper(set) };
        let mut cell = Cell::new(method.cell(), set.features, units);
        if is_published {
            cell = cell.with_ranks(Some(shape.rank_w), Some(shape.rank_u));
        }
        let mut network = RandomModel { seed: SEED, ..RandomModel::new(cell, set.outputs, steps) };
        if is_published {
            (network.kept_w, network.kept_u) = (shape.keep_w, shape.keep_u);
        }
        if is_float {
            // Integers have piecewise-linear functions; the paper's float networks have those of its training.
            let declaration = method.cell().declaration();
            let gate =
                if is_published && shape.gate == "tanh" { Nonlinearity::Tanh } else { declaration.gate };
            network.cell = network.cell.with_nonlinearities(gate, declaration.update);
        }
        let arithmetic = if is_float { "float" } else { "integers" };
        let title = format!("{}, {}, {arithmetic}, on {}", method.name(), set.name, board.id());
        Self { title, network, is_float, board }
    }

    /// What decides the result.
    fn settings(&self) -> Table {
        let RandomModel {
            cell,
            input_layer,
            layers,
            kept_w,
            kept_u,
            kept_head,
            bits_head,
            bias_bits,
            classes,
            steps,
            seed,
        } = &self.network;
        let count = |n: usize| Value::Integer(n as i64);
        let rank = |form: MatrixForm| form.rank().map(count);
        let mut table = Table::from_iter([
            ("cell".to_owned(), Value::from(cell.kind.name())),
            ("input".to_owned(), count(cell.input)),
            ("hidden".to_owned(), count(cell.hidden)),
            ("layers".to_owned(), count(*layers)),
            ("gate".to_owned(), Value::from(cell.gate.name())),
            ("update".to_owned(), Value::from(cell.update.name())),
            ("keep-w".to_owned(), Value::from(*kept_w)),
            ("keep-u".to_owned(), Value::from(*kept_u)),
            ("keep-head".to_owned(), Value::from(*kept_head)),
            ("classes".to_owned(), count(*classes)),
            ("timesteps".to_owned(), count(*steps)),
            ("seed".to_owned(), Value::Integer(*seed as i64)),
            ("arithmetic".to_owned(), Value::from(if self.is_float { "float" } else { "integer" })),
            ("board".to_owned(), Value::from(self.board.id())),
        ]);
        for (name, form) in [("rank-w", cell.form_w), ("rank-u", cell.form_u)] {
            table.extend(rank(form).map(|rank| (name.to_owned(), rank)));
        }
        for (name, bits) in [("bits-w", cell.bits_w), ("bits-u", cell.bits_u), ("bits-head", *bits_head)] {
            if bits == WeightBits::Four {
                table.insert(name.to_owned(), Value::Integer(4));
            }
        }
        if let Some(layer) = input_layer {
            table.insert("input-layer".to_owned(), Value::String(layer.to_string()));
        }
        if let Some(bits) = bias_bits {
            table.insert("bits-bias".to_owned(), Value::Integer(bits.count().into()));
        }
        table
    }

    /// A short name for everything that decides the result.
    pub(super) fn key(&self) -> String {
        content_hash(&["board", &MEASUREMENTS_VERSION.to_string(), &self.settings().to_string()])
    }

    /// The record of a measurement that took so many seconds.
    pub(super) fn record(
        &self,
        found: Result<BoardTime, String>,
        seconds: f64,
        program: &Build,
    ) -> JobRecord {
        let params = Network::new(vec![self.network.cell.clone()], self.network.classes).layout().len();
        let (board, failed) = match found {
            Ok(time) => (Some(time), None),
            Err(why) => (None, Some(why)),
        };
        JobRecord {
            key: self.key(),
            title: self.title.clone(),
            data: "random".into(),
            recipe: self.settings(),
            params,
            bytes: board.as_ref().map_or(0, |time| time.flash),
            board,
            seconds,
            device: self.board.id().into(),
            program: program.clone(),
            failed,
            ..JobRecord::default()
        }
    }
}
