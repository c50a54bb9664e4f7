//! The methods of the paper's tables, and their settings in both protocols.

use super::published::{self, PaperFigure};
use super::sets::{self, DataSet, Figure};
use crate::train::Recipe;
use fastgrnn_core::cells::CellKind;
use std::fmt::Write as _;

/// A method, as the paper calls it. What follows FastGRNN's name is what is left out: low rank (L), sparsity (S),
/// quantisation (Q).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Rnn,
    FastRnn,
    FastRnnVector,
    FastGrnnLsq,
    FastGrnnSq,
    FastGrnnQ,
    FastGrnn,
    SpectralRnn,
    Eurnn,
    Ornn,
    FactoredRnn,
    Ugrnn,
    Gru,
    Lstm,
}

use Method::{
    Eurnn, FactoredRnn, FastGrnn, FastGrnnLsq, FastGrnnQ, FastGrnnSq, FastRnn, FastRnnVector, Gru, Lstm,
    Ornn, Rnn, SpectralRnn, Ugrnn,
};

/// The methods of the main table, in its order.
pub(super) const MAIN: [Method; 11] =
    [Rnn, FastRnn, FastGrnnLsq, FastGrnn, SpectralRnn, Eurnn, Ornn, FactoredRnn, Ugrnn, Gru, Lstm];

/// Units of an RNN with an orthogonal matrix, at most: training one of the widths that its kilobytes would allow takes
/// many times as long as any other method.
pub(super) const MOST_ORTHOGONAL_UNITS: usize = 128;
/// Units of the other methods, at most.
const MOST_UNITS: usize = 256;
/// Units of networks that are not trained, at most.
const MOST_UNTRAINED_UNITS: usize = 1024;
/// Kilobytes of a method for which the paper gives none.
const USUAL_KB: f64 = 64.0;

impl Method {
    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Rnn => "RNN",
            FastRnn => "FastRNN",
            FastRnnVector => "FastRNN-vector",
            FastGrnnLsq => "FastGRNN-LSQ",
            FastGrnnSq => "FastGRNN-SQ",
            FastGrnnQ => "FastGRNN-Q",
            FastGrnn => "FastGRNN",
            SpectralRnn => "SpectralRNN",
            Eurnn => "EURNN",
            Ornn => "oRNN",
            FactoredRnn => "FactoredRNN",
            Ugrnn => "UGRNN",
            Gru => "GRU",
            Lstm => "LSTM",
        }
    }

    pub fn cell(self) -> CellKind {
        match self {
            Rnn | SpectralRnn | Ornn | FactoredRnn => CellKind::Rnn,
            Eurnn => CellKind::Eurnn,
            FastRnn => CellKind::FastRnn,
            FastRnnVector => CellKind::FastRnnVector,
            FastGrnnLsq | FastGrnnSq | FastGrnnQ | FastGrnn => CellKind::FastGrnn,
            Ugrnn => CellKind::Ugrnn,
            Gru => CellKind::Gru,
            Lstm => CellKind::Lstm,
        }
    }

    /// Whether its recurrent matrix is orthogonal, or nearly so.
    pub fn is_orthogonal(self) -> bool {
        matches!(self, SpectralRnn | Eurnn | Ornn | FactoredRnn)
    }

    fn is_fastgrnn(self) -> bool {
        self.cell() == CellKind::FastGrnn
    }

    /// Seeds that are trained where nothing else is asked for.
    pub fn seeds(self) -> usize {
        if self.is_orthogonal() { 3 } else { 5 }
    }

    /// What the paper reports of it: in its main table or in one of the appendix.
    pub fn paper(self, set: &DataSet) -> Option<PaperFigure> {
        let tables: &[&str] = match self {
            FastRnnVector => &["vector"],
            FastGrnnSq | FastGrnnQ => &["components"],
            _ if set.name == sets::PTB => &["ptb"],
            _ if set.name == sets::XML => &["xml"],
            _ => &["main", "components"],
        };
        tables.iter().find_map(|table| published::score(table, set.name, self.name(), set.figure))
    }

    /// The settings of the network, as lines of a recipe: the shape that the paper publishes for FastGRNN, and the width
    /// that it implies by its kilobytes for the others.
    pub fn network(self, set: &DataSet) -> String {
        self.network_of_width(set, self.units(set))
    }

    /// The same with another width; ranks of FastGRNN are in proportion to it.
    fn network_of_width(self, set: &DataSet, units: usize) -> String {
        let shape = &set.published;
        let mut text = format!("cell = \"{}\"\nhidden = {units}\n", self.cell().name());
        if self.is_low_rank() {
            let scaled =
                |rank: usize| ((rank * units) as f64 / shape.hidden as f64).round().max(1.0) as usize;
            text.push_str(&rank("w", scaled(shape.rank_w).min(set.features), set.features, units));
            text.push_str(&rank("u", scaled(shape.rank_u), units, units));
        }
        if matches!(self, FastGrnnQ | FastGrnn) {
            let _ = writeln!(text, "keep-w = {:?}\nkeep-u = {:?}", shape.keep_w, shape.keep_u);
        }
        match (self, shape.gate) {
            (FastGrnn, "tanh") => {
                text.push_str("gate = \"quantTanh\"\nupdate = \"quantTanh\"\nquantize = true\n")
            }
            (FastGrnn, _) => text.push_str("gate = \"quantSigm\"\nupdate = \"quantTanh\"\nquantize = true\n"),
            (_, gate) if self.is_fastgrnn() => {
                let _ = writeln!(text, "gate = \"{gate}\"");
            }
            (FastRnn, _) if set.uses_relu => text.push_str("update = \"relu\"\n"),
            (FastRnnVector, _) if set.uses_relu && set.name != sets::PTB => {
                text.push_str("update = \"relu\"\n")
            }
            (Ornn, _) => text.push_str("form-u = \"reflections\"\n"),
            (SpectralRnn, _) => text.push_str("form-u = \"spectral\"\n"),
            (FactoredRnn, _) => text.push_str("form-u = \"factored\"\n"),
            (Eurnn, _) => text.push_str("form-u = \"rotations\"\n"),
            _ => {}
        }
        text
    }

    /// Whether its matrices are products of two factors.
    fn is_low_rank(self) -> bool {
        matches!(self, FastGrnnSq | FastGrnnQ | FastGrnn)
    }

    /// The width whose parameters come nearest to the paper's kilobytes, or the one that it publishes.
    pub fn units(self, set: &DataSet) -> usize {
        if self.is_low_rank() {
            return set.published.hidden;
        }
        let paper = self.paper(set).and_then(|figure| figure.kb);
        let bytes = 1024.0 * paper.unwrap_or(USUAL_KB);
        self.units_nearest(bytes, |units| self.bytes_of(set, units))
    }

    /// The width whose parameters come nearest to the paper's kilobytes, also where it would take very long to train.
    pub fn units_of_paper(self, set: &DataSet) -> usize {
        let paper = self.paper(set).and_then(|figure| figure.kb);
        let bytes = 1024.0 * paper.unwrap_or(USUAL_KB);
        let distance = |units: usize| (self.bytes_of(set, units) as f64 - bytes).abs();
        (4..=MOST_UNTRAINED_UNITS)
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            .unwrap_or(MOST_UNTRAINED_UNITS)
    }

    /// The width at which a network has a size nearest to `bytes`.
    fn units_nearest(self, bytes: f64, size: impl Fn(usize) -> usize) -> usize {
        let most = if self.is_orthogonal() { MOST_ORTHOGONAL_UNITS } else { MOST_UNITS };
        let distance = |units: usize| (size(units) as f64 - bytes).abs();
        let step = if self == Eurnn { 2 } else { 1 };
        (4..=most).step_by(step).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(most)
    }

    /// Bytes of the parameters as f32 of a network of full rank with this width: those of the matrix itself where it is
    /// orthogonal, and without the head of a language model or of many labels, as the paper counts.
    fn bytes_of(self, set: &DataSet, units: usize) -> usize {
        let cell = fastgrnn_core::cells::Cell::new(self.cell(), set.features, units);
        let cells: usize = cell.params().iter().map(|param| param.rows * param.cols).sum();
        let head =
            if matches!(set.figure, Figure::Accuracy | Figure::F1) { (units + 1) * set.outputs } else { 0 };
        4 * (cells + head)
    }
}

/// A rank, as a line of a recipe; nothing where the factors would have more entries than the matrix.
fn rank(letter: &str, rank: usize, cols: usize, rows: usize) -> String {
    match rank * (rows + cols) < rows * cols {
        true => format!("rank-{letter} = {rank}\n"),
        false => String::new(),
    }
}

/// How a method is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// As the paper says: its shapes and nonlinearities, plain data, 300 epochs on all training data.
    AsPublished,
    /// The same with fewer epochs.
    Shortened,
    /// The same for every method: epochs, augmentation, refit, and eight trials on validation for the learning rate and
    /// the weight decay.
    Ours,
    /// Short trainings that show that everything works.
    Quick,
}

impl Protocol {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPublished => "as-published",
            Self::Shortened => "as-published-shortened",
            Self::Ours => "ours",
            Self::Quick => "quick",
        }
    }

    /// Its name in headings of tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::AsPublished => "as published",
            Self::Shortened => "as published, fewer epochs",
            Self::Ours => "same protocol for all",
            Self::Quick => "quick",
        }
    }
}

/// Epochs of the paper.
pub(super) const EPOCHS: usize = 300;

/// The recipe that the paper describes.
pub(super) fn as_published(method: Method, set: &DataSet) -> Recipe {
    let mut text = format!("dataset = \"{}\"\n", set.source);
    text.push_str(&method.network(set));
    text.push_str("start = \"authors\"\nwarmup = 0.0\nweight-decay = 0.0\nclip = 0.0\n");
    let _ = writeln!(text, "epochs = {EPOCHS}");
    // Recordings of speech have a validation part of their own, which is not for training.
    text.push_str(if set.is_speech() { "refit = \"none\"\n" } else { "val-split = 0.0\n" });
    // Integers are normalised by feature.
    if !set.is_text() && method != FastGrnn {
        text.push_str("normalize = \"per-coordinate\"\n");
    }
    let (lr, batch) = if method == Rnn { ("0.001", 512) } else { ("0.01", 100) };
    let optimizer = if method.is_fastgrnn() { set.published.optimizer } else { "adam" };
    let _ = writeln!(text, "lr = {lr}\nbatch = {batch}\noptimizer = \"{optimizer}\"");
    match set.name {
        sets::MNIST => text.push_str("schedule = \"halving\"\ndecay-every = 200\n"),
        _ => text.push_str("schedule = \"step\"\ndecay-every = 200\n"),
    }
    if set.name == sets::YELP5 {
        text.push_str("task = \"classify\"\nvocabulary = 20000\nmax-tokens = 300\nembedding = 128\n");
    }
    if set.name == sets::WAKEWORD {
        text.push_str("loss = \"binary-cross-entropy\"\n");
    }
    if matches!(set.name, sets::HAR2 | sets::DSA19) {
        text.push_str("augment = \"none\"\n");
    }
    recipe(&text)
}

/// The recipe that all methods share, before its learning rate and weight decay are chosen.
pub(super) fn ours(method: Method, set: &DataSet) -> Recipe {
    recipe(&format!("dataset = \"{}\"\n{}{}", set.source, set.ours, method.network(set)))
}

/// The recipe that all methods share, with a network of this size.
pub(super) fn of_size(method: Method, set: &DataSet, bytes: usize) -> Recipe {
    let data = set.example();
    let of_width = |ours: &str, units: usize| {
        recipe(&format!("dataset = \"{}\"\n{ours}{}", set.source, method.network_of_width(set, units)))
    };
    let size = |units: usize| match method.is_low_rank() {
        false => method.bytes_of(set, units),
        true => of_width(ONLY_NETWORK, units).resolve(&data).map_or(usize::MAX, |config| {
            match config.quantization.quantize {
                true => config.image_bytes(&data),
                false => config.float_bytes(&data),
            }
        }),
    };
    of_width(set.ours, method.units_nearest(bytes as f64, size))
}

/// Settings for data that is there only to count a network: nothing of it is held back or changed.
pub(super) const ONLY_NETWORK: &str = "val-split = 0.0\naugment = \"none\"\n";

/// The recipe of a short run, if the set has one.
pub(super) fn quick(method: Method, set: &DataSet) -> Option<Recipe> {
    let of = |quick: &str| recipe(&format!("dataset = \"{}\"\n{quick}{}", set.source, method.network(set)));
    set.quick.map(of)
}

/// What the trials on validation choose from.
pub(super) fn trials() -> Vec<Recipe> {
    let of = |lr: f64, decay: f64| recipe(&format!("lr = {lr:?}\nweight-decay = {decay:?}\n"));
    [0.0007, 0.002, 0.005, 0.012].iter().flat_map(|&lr| [of(lr, 1e-4), of(lr, 1e-3)]).collect()
}

/// A recipe that is part of the program.
pub(super) fn recipe(text: &str) -> Recipe {
    Recipe::from_toml_str(text, "a table of the paper").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::RecurrentForm;

    #[test]
    fn widths_come_from_the_kilobytes_of_the_paper() {
        let units = |method: Method, set: &str| method.units(DataSet::named(set));
        // 29 KB, 71 KB and 74 KB.
        assert_eq!(units(Rnn, sets::HAR2), 80);
        assert_eq!(units(Gru, sets::HAR2), 73);
        assert_eq!(units(Lstm, sets::HAR2), 64);
        assert_eq!(units(FastGrnn, sets::HAR2), 80);
        // 525 KB are more than an orthogonal matrix may have here.
        assert_eq!(units(SpectralRnn, sets::HAR2), MOST_ORTHOGONAL_UNITS);
    }

    #[test]
    fn the_eurnn_is_a_network_of_complex_numbers() {
        for set in &sets::ALL {
            for recipe in [as_published(Eurnn, set), ours(Eurnn, set)].into_iter().chain(quick(Eurnn, set)) {
                let network = &recipe.network;
                assert_eq!(network.cell, Some(CellKind::Eurnn));
                assert_eq!(network.form_u, Some(RecurrentForm::Rotations));
                let hidden = network.hidden.unwrap();
                assert!(
                    hidden.is_multiple_of(2) && (4..=MOST_ORTHOGONAL_UNITS).contains(&hidden),
                    "{hidden}"
                );
                assert_ne!(recipe.quantization.quantize, Some(true), "{}", set.name);
            }
        }
    }

    #[test]
    fn every_method_has_recipes_for_every_set() {
        for set in &sets::ALL {
            let data = set.example();
            for method in MAIN.into_iter().chain([FastRnnVector, FastGrnnSq, FastGrnnQ]) {
                let own = ours(method, set);
                assert_eq!(own.network.hidden, Some(method.units(set)));
                // Nothing is held back or augmented, because the data is there only to count with.
                let network = recipe(ONLY_NETWORK).overlay(recipe("refit = \"none\"\n"));
                for recipe in [own, as_published(method, set)].into_iter().chain(quick(method, set)) {
                    if !set.is_text() {
                        let resolved = recipe.overlay(network.clone()).resolve(&data);
                        assert!(resolved.is_ok(), "{} on {}: {:?}", method.name(), set.name, resolved.err());
                    }
                }
            }
        }
        assert_eq!(trials().len(), 8);
    }
}
