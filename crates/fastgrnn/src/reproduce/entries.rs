//! What the tables consist of: for each entry the trainings, and what is shown of them.

use super::boards::BoardJob;
use super::methods::{self, MAIN, Method, Protocol, recipe};
use super::published::{self, PaperFigure};
use super::quantity::Quantity;
use super::sets::{self, DataSet, Figure};
use super::table::PaperTable;
use crate::search::Budget;
use crate::search::sizing::Family;
use crate::train::Recipe;
use fastgrnn_core::cells::{CELLS, CellKind};
use fastgrnn_model::device::Board;

/// A row of a table, for one data set.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub table: PaperTable,
    /// The method, with what distinguishes the row.
    pub row: String,
    pub set: &'static DataSet,
    pub protocol: Protocol,
    pub shown: Vec<Shown>,
    /// What is trained or measured. An error says why nothing is.
    pub work: Result<Work, String>,
}

/// What an entry needs.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Trainings(Box<Trainings>),
    Board(Box<BoardJob>),
}

impl From<Trainings> for Work {
    fn from(trainings: Trainings) -> Self {
        Self::Trainings(Box::new(trainings))
    }
}

impl Entry {
    /// Its trainings, if it has any.
    pub fn trainings(&self) -> Option<&Trainings> {
        match &self.work {
            Ok(Work::Trainings(trainings)) => Some(trainings),
            _ => None,
        }
    }

    /// Its measurement on a board, if it has one.
    pub fn board(&self) -> Option<&BoardJob> {
        match &self.work {
            Ok(Work::Board(job)) => Some(job),
            _ => None,
        }
    }

    /// The same with another number of seeds.
    fn with_seeds(mut self, seeds: usize) -> Self {
        if let Ok(Work::Trainings(trainings)) = &mut self.work {
            trainings.seeds = seeds;
        }
        self
    }
}

/// A quantity that an entry shows, and what the paper has there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub quantity: Quantity,
    pub paper: Option<PaperFigure>,
}

/// The trainings of an entry.
#[derive(Clone, Debug)]
pub(super) struct Trainings {
    pub recipe: Recipe,
    /// Settings of which validation chooses one; if there are none, the recipe stays as it is.
    pub trials: Vec<Recipe>,
    pub seeds: usize,
    /// Random states from which the trained networks also start on the test part.
    pub starts: usize,
}

impl Trainings {
    fn of(recipe: Recipe, seeds: usize) -> Self {
        Self { recipe, trials: Vec::new(), seeds, starts: 0 }
    }

    fn with_trials(self, trials: Vec<Recipe>) -> Self {
        Self { trials, ..self }
    }
}

/// How much is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Short trainings of one seed, without choices on validation.
    pub is_quick: bool,
    /// Seeds of each entry, where that is given.
    pub seeds: Option<usize>,
}

/// The sets of the main table, in its order.
const MAIN_SETS: [&str; 7] =
    [sets::HAR2, sets::GOOGLE12, sets::GOOGLE30, sets::MNIST, sets::DSA19, sets::YELP5, sets::WAKEWORD];
/// Kilobytes of the models whose accuracy is shown over their size.
const SIZES_KB: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// The same for the methods that the paper shows up to 128 KB.
const LARGE_SIZES_KB: [usize; 6] = [4, 8, 16, 32, 64, 128];
/// Why an entry of a short run is empty.
const NOT_QUICK: &str = "not run in quick";

/// All entries of a table.
pub(super) fn of(table: PaperTable, extent: Extent) -> Vec<Entry> {
    let mut entries: Vec<Entry> = match table {
        PaperTable::Main => main(extent),
        PaperTable::Ptb => ptb(),
        PaperTable::PtbReg => ptb_regularisers(),
        PaperTable::Components => components(),
        PaperTable::ComponentsVsSize => components_over_size(),
        PaperTable::AccuracyVsSize => accuracy_over_size(),
        PaperTable::Vector => vector(),
        PaperTable::Boards => boards(),
        PaperTable::AlphaBeta => alpha_beta(extent),
        PaperTable::FixedAlpha => fixed_alpha(),
        PaperTable::InitialState => initial_state(),
        PaperTable::Xml => xml(),
        PaperTable::EqualBytes => equal_bytes(extent),
    };
    for entry in &mut entries {
        if extent.is_quick && entry.protocol != Protocol::Quick {
            entry.protocol = Protocol::Quick;
            entry.work = Err(NOT_QUICK.into());
        }
    }
    match extent.seeds {
        Some(seeds) => entries.into_iter().map(|entry| entry.with_seeds(seeds)).collect(),
        None => entries,
    }
}

/// An entry whose figure is the score of its set.
fn scored(
    table: PaperTable,
    method: Method,
    set: &'static DataSet,
    protocol: Protocol,
    trainings: Trainings,
) -> Entry {
    let shown = vec![Shown { quantity: Quantity::Score(set.figure), paper: method.paper(set) }];
    Entry { table, row: method.name().into(), set, protocol, shown, work: Ok(trainings.into()) }
}

/// The entry of a method in the protocol that all methods share.
fn in_our_protocol(table: PaperTable, method: Method, set: &'static DataSet) -> Entry {
    let trainings = Trainings::of(methods::ours(method, set), method.seeds());
    // The settings of texts were chosen by trials on validation before; a training takes very long.
    let trials = if set.is_text() { Vec::new() } else { methods::trials() };
    scored(table, method, set, Protocol::Ours, trainings.with_trials(trials))
}

fn main(extent: Extent) -> Vec<Entry> {
    let mut entries = Vec::new();
    for set in MAIN_SETS.map(DataSet::named) {
        for method in MAIN {
            let entry = |protocol, recipe| {
                scored(PaperTable::Main, method, set, protocol, Trainings::of(recipe, method.seeds()))
            };
            if let Some(quick) = methods::quick(method, set).filter(|_| extent.is_quick) {
                entries.push(entry(Protocol::Quick, quick).with_seeds(1));
                continue;
            }
            entries.push(entry(Protocol::AsPublished, methods::as_published(method, set)));
            if !extent.is_quick {
                entries.push(in_our_protocol(PaperTable::Main, method, set));
            }
        }
    }
    entries
}

fn ptb() -> Vec<Entry> {
    use Method::{FastGrnn, FastGrnnLsq, FastRnn, Lstm, Rnn, SpectralRnn, Ugrnn};
    let set = DataSet::named(sets::PTB);
    let of_method = |method: Method| {
        let mut entry = in_our_protocol(PaperTable::Ptb, method, set);
        let paper = published::figure("ptb", set.name, method.name(), "train_perplexity");
        entry.shown.push(Shown { quantity: Quantity::TrainPerplexity, paper });
        entry.with_seeds(1)
    };
    [Rnn, FastRnn, FastGrnnLsq, FastGrnn, SpectralRnn, Ugrnn, Lstm].map(of_method).into()
}

/// Regularisers of language models: the row, and the settings that differ from none.
const REGULARISERS: [(&str, &str); 5] = [
    ("FastGRNN 1-layer", "output-dropout = 0.4\ninput-dropout = 0.3\n"),
    (
        "FastGRNN 2-layer",
        "layers = 2\noutput-dropout = 0.4\ninput-dropout = 0.3\nweight-drop = 0.1\nweight-decay = 0.01\n\
         activation-penalty = 2.0\ntemporal-penalty = 1.0\n",
    ),
    ("FastGRNN 1-layer + weight decay", "weight-decay = 0.05\n"),
    ("FastGRNN 1-layer + weight-dropping", "weight-drop = 0.5\n"),
    ("FastGRNN 1-layer + AR/TAR", "activation-penalty = 2.0\ntemporal-penalty = 1.0\n"),
];

fn ptb_regularisers() -> Vec<Entry> {
    let set = DataSet::named(sets::PTB);
    let base = "dataset = \"ptb\"\ntask = \"lm\"\ncell = \"fastgrnn\"\nhidden = 256\nsequence-length = 300\nbatch = 20\n\
                epochs = 20\noptimizer = \"adamw\"\nlr = 0.005\nschedule = \"cosine\"\nwarmup = 0.0\nclip = 0.25\n\
                weight-decay = 0.0\ninput-dropout = 0.0\noutput-dropout = 0.0\nweight-drop = 0.0\n\
                activation-penalty = 0.0\ntemporal-penalty = 0.0\n";
    let of_row = |(row, settings): (&str, &str)| {
        let figure = |metric: &str| published::figure("ptb_reg", set.name, row, metric);
        let shown = vec![
            Shown { quantity: Quantity::Score(Figure::Perplexity), paper: figure("perplexity") },
            Shown { quantity: Quantity::TrainPerplexity, paper: figure("train_perplexity") },
        ];
        Entry {
            table: PaperTable::PtbReg,
            row: row.into(),
            set,
            protocol: Protocol::Ours,
            shown,
            work: Ok(Trainings::of(recipe(base).overlay(recipe(settings)), 1).into()),
        }
    };
    REGULARISERS.map(of_row).into()
}

fn components() -> Vec<Entry> {
    use Method::{FastGrnn, FastGrnnLsq, FastGrnnQ, FastGrnnSq};
    let mut entries = Vec::new();
    for set in MAIN_SETS.iter().chain(&[sets::PTB]).map(|name| DataSet::named(name)) {
        for method in [FastGrnnLsq, FastGrnnSq, FastGrnnQ, FastGrnn] {
            let entry = in_our_protocol(PaperTable::Components, method, set);
            entries.push(if set.name == sets::PTB { entry.with_seeds(1) } else { entry });
        }
    }
    entries
}

/// Entries of a method that has the given kilobytes, in the protocol that all methods share.
fn over_size(table: PaperTable, method: Method, sizes: &[usize], set: &'static DataSet) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut known = Vec::new();
    for &kilobytes in sizes {
        let recipe = methods::of_size(method, set, 1024 * kilobytes);
        // The widths of methods that train slowly end before the kilobytes do.
        if !known.contains(&recipe) {
            let mut entry = scored(table, method, set, Protocol::Ours, Trainings::of(recipe.clone(), 1));
            entry.row = format!("{}, {kilobytes} KB", method.name());
            entry.shown[0].paper = None;
            entries.push(entry);
            known.push(recipe);
        }
    }
    entries
}

fn components_over_size() -> Vec<Entry> {
    use Method::{FastGrnn, FastGrnnLsq, FastGrnnQ, FastGrnnSq};
    let table = PaperTable::ComponentsVsSize;
    let of_set = |name| {
        let methods = [FastGrnnLsq, FastGrnnSq, FastGrnnQ, FastGrnn].into_iter();
        methods.flat_map(move |method| over_size(table, method, &SIZES_KB, DataSet::named(name)))
    };
    [sets::GOOGLE12, sets::GOOGLE30].into_iter().flat_map(of_set).collect()
}

fn accuracy_over_size() -> Vec<Entry> {
    use Method::{FastGrnn, FastGrnnLsq, Gru, Lstm, SpectralRnn, Ugrnn};
    let table = PaperTable::AccuracyVsSize;
    let of_set = |name| {
        let methods = [FastGrnn, FastGrnnLsq, SpectralRnn, Ugrnn, Gru, Lstm].into_iter();
        methods.flat_map(move |method| over_size(table, method, &LARGE_SIZES_KB, DataSet::named(name)))
    };
    [sets::GOOGLE12, sets::GOOGLE30].into_iter().flat_map(of_set).collect()
}

fn vector() -> Vec<Entry> {
    let all = MAIN_SETS.iter().chain(&[sets::PTB]).map(|name| DataSet::named(name));
    let of_set = |set: &'static DataSet| {
        let entry = in_our_protocol(PaperTable::Vector, Method::FastRnnVector, set);
        if set.name == sets::PTB { entry.with_seeds(1) } else { entry }
    };
    all.map(of_set).collect()
}

/// Data sets of the tables of boards, and the time steps of their sequences.
const BOARD_SETS: [(&str, usize); 3] = [(sets::GOOGLE12, 99), (sets::HAR2, 128), (sets::WAKEWORD, 162)];
/// The boards: the paper's name, its table, and the board whose core is the same.
const BOARDS: [(&str, &str, Board); 3] = [
    ("MKR1000", "board_mkr1000_ms", Board::M0plus),
    ("Due", "board_due_ms", Board::M3),
    ("Raspberry Pi 3", "board_rpi3_ms", Board::Aarch64),
];

fn boards() -> Vec<Entry> {
    use Method::{FastGrnn, Rnn, SpectralRnn, Ugrnn};
    // The network, whether it computes with floats, its name in the row, and that in the paper.
    let rows = [
        (FastGrnn, false, "FastGRNN", Some("FastGRNN")),
        (FastGrnn, true, "FastGRNN-Q", Some("FastGRNN-Q")),
        (Rnn, true, "RNN", Some("RNN")),
        (Rnn, false, "RNN, integers", None),
        (Ugrnn, true, "UGRNN", Some("UGRNN")),
        (Ugrnn, false, "UGRNN, integers", None),
        (SpectralRnn, true, "SpectralRNN", Some("SpectralRNN")),
        (SpectralRnn, false, "SpectralRNN, integers", None),
    ];
    let mut entries = Vec::new();
    for (name, steps) in BOARD_SETS {
        let set = DataSet::named(name);
        for (title, table, board) in BOARDS {
            for (method, is_float, row, in_paper) in rows {
                let paper = in_paper.and_then(|method| published::figure(table, name, method, "predict_ms"));
                entries.push(Entry {
                    table: PaperTable::Boards,
                    row: format!("{row} on {title}"),
                    set,
                    protocol: Protocol::AsPublished,
                    shown: vec![
                        Shown { quantity: Quantity::Milliseconds, paper },
                        Shown { quantity: Quantity::Instructions, paper: None },
                    ],
                    work: Ok(Work::Board(Box::new(BoardJob::new(method, set, steps, is_float, board)))),
                });
            }
        }
    }
    entries
}

/// Data sets of the scalars against the number of time steps: the set, its name in the paper's table, the numbers of
/// time steps, and epochs.
const STEPS: [(&str, &str, [usize; 5], usize); 3] = [
    (sets::GOOGLE12, "Google-12", [99, 33, 11, 9, 3], 100),
    (sets::HAR2, "HAR-2", [128, 64, 32, 16, 8], methods::EPOCHS),
    (sets::MNIST, "MNIST-10", [112, 56, 28, 14, 7], 30),
];

fn alpha_beta(extent: Extent) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (name, in_paper, steps, epochs) in STEPS {
        let set = DataSet::named(name);
        for (place, steps) in steps.into_iter().enumerate() {
            let quick = methods::quick(Method::FastRnn, set).filter(|_| extent.is_quick);
            let is_quick = quick.is_some();
            let base = quick.unwrap_or_else(|| methods::as_published(Method::FastRnn, set));
            let settings = format!("timesteps = {steps}\nupdate = \"tanh\"\nstart = \"authors\"\n");
            let mut plain = base.overlay(recipe(&settings));
            if !is_quick {
                plain.training.epochs = Some(epochs);
                plain.training.decay_every = Some((2 * epochs / 3) as f64);
            }
            let protocol = match (is_quick, epochs) {
                (true, _) => Protocol::Quick,
                (false, methods::EPOCHS) => Protocol::AsPublished,
                (false, _) => Protocol::Shortened,
            };
            let seeds = if is_quick { 1 } else { 5 };
            let row = format!("T {steps}");
            let figure = |metric: &str| published::figure("alpha_beta", in_paper, &row, metric);
            let mut shown = ["alpha", "beta"]
                .map(|scalar| {
                    let start = Shown { quantity: Quantity::ScalarAtStart(scalar), paper: None };
                    let learnt = Shown { quantity: Quantity::Scalar(scalar), paper: figure(scalar) };
                    [start, learnt]
                })
                .concat();
            let tie =
                published::figure("beta_vs_1_minus_alpha", in_paper, "FastRNN", "relative_error_percent");
            shown.push(Shown { quantity: Quantity::TieError, paper: tie.filter(|_| place == 0) });
            shown.push(Shown { quantity: Quantity::Score(set.figure), paper: None });
            let mut tied = plain.clone();
            tied.parameters.beta = Some("tied".parse().expect("a setting of beta"));
            let entry = |row: String, recipe: Recipe, shown: Vec<Shown>| Entry {
                table: PaperTable::AlphaBeta,
                row,
                set,
                protocol,
                shown,
                work: Ok(Trainings::of(recipe, seeds).into()),
            };
            let score = shown[shown.len() - 1..].to_vec();
            entries.push(entry(row.clone(), plain, shown));
            entries.push(entry(format!("{row}, β = 1 − α"), tied, score));
        }
    }
    entries
}

/// Values of α that are not learnt.
const FIXED_ALPHAS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

fn fixed_alpha() -> Vec<Entry> {
    let set = DataSet::named(sets::GOOGLE12);
    let of_alpha = |alpha: f64| {
        let settings = format!(
            "alpha = {alpha:?}\nbeta = \"tied\"\nupdate = \"tanh\"\nepochs = 100\ndecay-every = 67\n"
        );
        let recipe = methods::as_published(Method::FastRnn, set).overlay(recipe(&settings));
        let trainings = Trainings::of(recipe, 3);
        let mut entry = scored(PaperTable::FixedAlpha, Method::FastRnn, set, Protocol::Shortened, trainings);
        entry.row = format!("α = {alpha}");
        entry.shown[0].paper = None;
        entry
    };
    FIXED_ALPHAS.map(of_alpha).into()
}

/// Random states of the paper's experiment.
const RANDOM_STATES: usize = 3;

fn initial_state() -> Vec<Entry> {
    let set = DataSet::named(sets::GOOGLE12);
    let recipe = methods::as_published(Method::FastRnn, set);
    let trainings = Trainings { starts: RANDOM_STATES, ..Trainings::of(recipe, Method::FastRnn.seeds()) };
    let mut entry = scored(PaperTable::InitialState, Method::FastRnn, set, Protocol::AsPublished, trainings);
    entry.shown[0].paper = None;
    let paper = published::figure("initial_state", set.name, "FastRNN", "accuracy");
    let of_state = |number| Shown { quantity: Quantity::FromState(set.figure, number), paper };
    entry.shown.extend((0..RANDOM_STATES).map(of_state));
    vec![entry]
}

/// Ranks of P@k that are shown.
const RANKS: [usize; 5] = [1, 2, 3, 4, 5];

fn xml() -> Vec<Entry> {
    use Method::{FastGrnnLsq, FastRnn, Gru, Rnn, Ugrnn};
    let set = DataSet::named(sets::XML);
    let of_method = |method: Method| {
        let mut entry = in_our_protocol(PaperTable::Xml, method, set);
        let of_rank = |rank| {
            let figure = Figure::PrecisionAt(rank);
            let paper = published::score("xml", set.name, method.name(), figure);
            Shown { quantity: Quantity::Score(figure), paper }
        };
        entry.shown = RANKS.map(of_rank).into();
        entry.with_seeds(3)
    };
    [Gru, Rnn, FastGrnnLsq, FastRnn, Ugrnn].map(of_method).into()
}

/// Bytes at which cells are compared.
const EQUAL_BYTES: [(&str, &[usize]); 3] =
    [(sets::HAR2, &[1024, 2048, 4096]), (sets::DSA19, &[1024, 2048, 4096]), (sets::GOOGLE12, &[2048, 5632])];

fn equal_bytes(extent: Extent) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (name, budgets) in EQUAL_BYTES {
        let set = DataSet::named(name);
        for &bytes in budgets {
            for cell in CELLS.iter().filter(|cell| cell.has_integers()).map(|declaration| declaration.kind) {
                let work = match extent.is_quick {
                    true => Err(NOT_QUICK.into()),
                    false => of_bytes(cell, set, bytes).map(Work::from),
                };
                entries.push(Entry {
                    table: PaperTable::EqualBytes,
                    row: format!("{} in {} B", cell.name(), fastgrnn_core::format::count(bytes as u64)),
                    set,
                    protocol: if extent.is_quick { Protocol::Quick } else { Protocol::Ours },
                    shown: vec![Shown { quantity: Quantity::Score(set.figure), paper: None }],
                    work,
                });
            }
        }
    }
    entries
}

/// Entries of low-rank factors that are tried, as shares of the full matrix.
const RANK_SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.15];
/// Learning rates that are tried with each.
const RATES: [f64; 2] = [0.003, 0.008];

/// Integer networks of a cell that fit so many bytes.
fn of_bytes(cell: CellKind, set: &DataSet, bytes: usize) -> Result<Trainings, String> {
    let mut text = format!("dataset = \"{}\"\ncell = \"{}\"\n", set.source, cell.name());
    text.push_str("update = \"quantTanh\"\nquantize = true\nclip = 1.0\nweight-decay = 5e-4\n");
    if cell.declaration().gated() {
        text.push_str("gate = \"quantSigm\"\n");
    }
    let (network, base) =
        (recipe(&format!("{}{text}", methods::ONLY_NETWORK)), recipe(&format!("{}{text}", set.ours)));
    let data = set.example();
    let budget = Budget { bytes: Some(bytes), ..Budget::default() };
    let mut trials: Vec<Recipe> = Vec::new();
    for share in RANK_SHARES {
        let family = Family { cell, rank_share_w: Some(share), rank_share_u: Some(share) };
        let most = family.most_units(&network, &data, &budget).map_err(|error| error.to_string())?;
        let Some(hidden) = most else { continue };
        let sized = family.sized(&Recipe::default(), &data, hidden);
        if trials.iter().any(|known| known.network == sized.network) {
            continue;
        }
        trials.extend(RATES.map(|lr| sized.clone().with(|r| r.training.lr = Some(lr))));
    }
    match trials.is_empty() {
        true => Err("no network of two units or more fits".into()),
        false => Ok(Trainings::of(base, 5).with_trials(trials)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::settings::Choice;

    const WHOLE: Extent = Extent { is_quick: false, seeds: None };

    #[test]
    fn every_row_of_every_table_can_be_trained_or_measured() {
        for table in PaperTable::all() {
            let entries = of(table, WHOLE);
            assert!(!entries.is_empty(), "{table}");
            for entry in entries {
                let too_small = entry.work.as_ref().err().is_some_and(|why| why.contains("fits"));
                assert!(entry.work.is_ok() || too_small, "{table}, {}: {:?}", entry.row, entry.work.err());
            }
        }
    }

    #[test]
    fn a_short_run_trains_some_rows_and_says_that_it_leaves_out_the_others() {
        let quick = Extent { is_quick: true, seeds: None };
        let entries: Vec<Entry> = PaperTable::all().into_iter().flat_map(|table| of(table, quick)).collect();
        let (trained, left): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.work.is_ok());
        assert!(trained.len() >= 20 && trained.iter().all(|entry| entry.protocol == Protocol::Quick));
        assert!(left.iter().all(|entry| entry.work.as_ref().is_err_and(|why| why == NOT_QUICK)));
    }

    #[test]
    fn networks_have_the_sizes_of_their_rows() {
        let mut rows = 0;
        for entry in of(PaperTable::AccuracyVsSize, WHOLE).iter().chain(&of(PaperTable::EqualBytes, WHOLE)) {
            let Some(trainings) = entry.trainings() else { continue };
            for trial in trainings.trials.iter().chain([&Recipe::default()]) {
                let recipe = trainings.recipe.clone().overlay(trial.clone());
                let units = recipe.network.hidden.unwrap_or(0);
                assert!(units >= 2 || trial == &Recipe::default(), "{}: {units} units", entry.row);
                rows += 1;
            }
        }
        assert!(rows > 100, "{rows}");
    }
}
