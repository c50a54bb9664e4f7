//! The space that is searched where a recipe declares none.

use super::sizing::Budget;
use super::space::{BITS, Dimension, Proportion, Range, Space, Values};
use crate::train::Recipe;
use fastgrnn_data::data::{Dataset, Labels};
use fastgrnn_data::features::{Kind, Spec};
use std::path::Path;
use toml::Value;

/// Fewer bytes hold no second layer.
const TWO_LAYER_BYTES: usize = 2_048;
/// Below this many training sequences, small batches are tried.
const FEW_SEQUENCES: usize = 1_000;
/// Sequences with fewer time steps stay as they are.
const LEAST_JOINED_STEPS: usize = 96;
/// The most time steps that become one.
const MOST_JOINED: usize = 20;
/// Joined sequences have at least so many time steps.
const LEAST_STEPS_LEFT: usize = 24;
/// Recordings with more values are read in one way only.
const MOST_READ_VALUES: usize = 1 << 26;
/// Epochs of a long training of a large set.
const LONG_EPOCHS: f64 = 240.0;
/// Fewer time steps are not shifted.
const LEAST_SHIFTED_STEPS: usize = 20;

/// Keys that say how matrices are stored. Where one is given, their bits are not searched.
const STORING: [&str; 8] =
    ["bits-w", "bits-u", "bits-head", "keep-w", "keep-u", "keep-head", "form-w", "form-u"];

impl Space {
    /// The space for a data set and a budget. Settings that `fixed` has do not change. On a GPU, long trainings are
    /// tried, too.
    pub fn usual(fixed: &Recipe, data: &Dataset, budget: &Budget, on_gpu: bool) -> Self {
        let mut list = List(Vec::new());
        list.network(data, budget);
        list.training(data);
        if on_gpu {
            list.long_trainings(fixed, data);
        }
        list.augmentation(data);
        if fixed.source.dataset.as_ref().is_some_and(|source| Path::new(source).is_dir()) {
            list.front_end(data);
        }
        let given = toml::Table::try_from(fixed).unwrap_or_default();
        let is_free = |dimension: &Dimension| {
            let key = dimension.name.split('.').next().unwrap_or_default();
            let key = match key {
                name if name == Proportion::RankW.name() => "rank-w",
                name if name == Proportion::RankU.name() => "rank-u",
                name if name == Proportion::Budget.name() => "hidden",
                name if name == Proportion::Epochs.name() => "epochs",
                key => key,
            };
            // A recipe with `gate-gain` has said which cell it wants.
            let is_given = given.contains_key(key) || (key == "cell" && given.contains_key("gate-gain"));
            let is_stored_otherwise = key == BITS && STORING.iter().any(|key| given.contains_key(*key));
            !is_given && !is_stored_otherwise
        };
        Self::of(list.0.into_iter().filter(is_free).collect())
    }
}

/// The dimensions so far.
struct List(Vec<Dimension>);

impl List {
    fn one_of<T: Into<Value>>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        if values.len() > 1 {
            self.0.push(Dimension { name: name.into(), values: Values::List(values) });
        }
    }

    fn log(&mut self, name: &str, from: f64, to: f64, is_whole: bool) {
        let range = Range { from, to, is_log: true, is_whole };
        self.0.push(Dimension { name: name.into(), values: Values::Range(range) });
    }

    fn network(&mut self, data: &Dataset, budget: &Budget) {
        if data.text.is_some() {
            self.one_of("cell", ["fastgrnn", "fastgrnn-gain", "gru", "ugrnn", "lstm"]);
            return;
        }
        self.one_of("cell", ["fastgrnn", "fastgrnn-gain", "gru", "ugrnn"]);
        if budget.is_empty() {
            self.log("hidden", 12.0, 64.0, true);
            self.one_of("readout", ["last", "mean", "max"]);
            return;
        }
        if budget.bytes.is_some() {
            self.one_of(Proportion::Budget.name(), [0.7, 0.85, 1.0]);
        }
        self.one_of(Proportion::RankW.name(), [1.0, 0.6, 0.35]);
        self.one_of(Proportion::RankU.name(), [1.0, 0.6, 0.4, 0.25]);
        for key in ["keep-w", "keep-u"] {
            self.one_of(key, [1.0, 0.65, 0.45]);
        }
        self.one_of(BITS, [8, 4]);
        // A curve with a table costs its bytes.
        self.one_of("gate", ["sigmoid", "quantSigm"]);
        self.one_of("update", ["tanh", "quantTanh"]);
        if budget.bytes.is_none_or(|bytes| bytes >= TWO_LAYER_BYTES) {
            self.one_of("layers", [1, 2]);
        }
    }

    fn training(&mut self, data: &Dataset) {
        if data.text.is_some() {
            self.log("lr", 0.001, 0.02, false);
            self.log("weight-decay", 1e-5, 0.03, false);
            return;
        }
        let n = data.train.len();
        let is_small = n < FEW_SEQUENCES;
        match is_small {
            true => {
                self.log("lr", 0.002, 0.03, false);
                self.one_of("optimizer", ["adam", "adamw"]);
                self.log("weight-decay", 1e-5, 0.1, false);
                // Default trainings of small sets take seconds.
                self.one_of(Proportion::Epochs.name(), [1.0, 2.0, 4.0]);
            }
            false => {
                self.log("lr", 0.001, 0.02, false);
                self.log("weight-decay", 1e-5, 1e-2, false);
            }
        }
        let batches = if is_small { [8, 16, 32, 64] } else { [32, 64, 100, 200] };
        self.one_of("batch", batches.into_iter().filter(|&batch| batch <= n as i64 / 4));
        if matches!(data.train.y, Labels::Class { .. }) {
            self.one_of("label-smoothing", [0.0, 0.05, 0.1]);
            self.one_of("mixup", [0.0, 0.2, 0.4]);
        }
    }

    /// Of large sets, whose default trainings are as long as a CPU can afford.
    fn long_trainings(&mut self, fixed: &Recipe, data: &Dataset) {
        if data.train.len() < FEW_SEQUENCES || data.text.is_some() {
            return;
        }
        let Ok(usual) = fixed.resolve(data) else { return };
        let times = LONG_EPOCHS / usual.training.epochs as f64;
        if times > 1.0 {
            let rounded = |times: f64| (10.0 * times).round() / 10.0;
            self.one_of(Proportion::Epochs.name(), [(0.5 * times).max(1.0), times].map(rounded));
        }
    }

    /// Of a folder of recordings: fewer frames, and fewer values in each.
    fn front_end(&mut self, data: &Dataset) {
        let values: usize = (0..data.train.len()).map(|i| data.train.x.get(i).len()).sum();
        let Some(spec) = data.audio.filter(|_| values <= MOST_READ_VALUES) else { return };
        let changed = |hop: usize, filters: usize| {
            let text = spec.to_string();
            let parts = text.split(',').map(|part| match part.split_once('=') {
                Some(("hop", _)) => format!("hop={hop}"),
                Some(("filters", _)) => format!("filters={filters}"),
                _ => part.to_owned(),
            });
            parts.collect::<Vec<_>>().join(",").parse::<Spec>().ok()
        };
        let (hop, filters) = (spec.hop(), spec.filters());
        let others = [(hop * 2, filters), (hop, filters * 5 / 8), (hop * 2, filters * 5 / 8)];
        let others = others.into_iter().filter_map(|(hop, filters)| changed(hop, filters));
        self.one_of("features", std::iter::once(spec).chain(others).map(|spec| spec.to_string()));
    }

    fn augmentation(&mut self, data: &Dataset) {
        if data.text.is_some() {
            return;
        }
        if !data.suggested.axes.is_empty() {
            self.one_of("augment.rotate", [0.0, 0.25, 0.4]);
            self.one_of("augment.scale", [0.0, 0.1, 0.2]);
        }
        let steps = data.train.x.min_steps();
        if data.audio.is_some_and(|spec| spec.kind() == Kind::LogMel) {
            self.one_of("augment.shift", [0, 5, 10]);
            self.one_of("augment.gain", [0.0, 0.5, 1.0]);
            self.one_of("augment.time-width", [0, steps as i64 / 10]);
            self.one_of("augment.freq-width", [0, data.train.x.dim() as i64 / 8]);
            self.one_of("extra-loss-steps", [0, 3]);
            return;
        }
        let mut fewest = steps;
        if data.image.is_some() {
            self.one_of("augment.pixel-shift", [0, 1, 2]);
        } else {
            let joined = joined_steps(data);
            fewest = joined.iter().copied().min().unwrap_or(steps);
            self.one_of("timesteps", joined.into_iter().map(|steps| steps as i64));
        }
        if data.image.is_none() && fewest >= LEAST_SHIFTED_STEPS {
            self.one_of("augment.shift", [0, fewest as i64 / 20]);
            self.one_of("augment.crop", [0.0, 0.8]);
        }
        self.one_of("augment.noise", [0.0, 0.05, 0.1, 0.2, 0.4]);
    }
}

/// The steps of the sequences, and fewer ones, each of which joins several: of long windows a network remembers more of
/// what was at the beginning.
fn joined_steps(data: &Dataset) -> Vec<usize> {
    let x = &data.train.x;
    let steps = x.max_steps();
    // Joining moves the columns by which axes are named.
    let is_plain = data.audio.is_none() && x.min_steps() == steps && data.suggested.axes.is_empty();
    let fits = |&joined: &usize| steps.is_multiple_of(joined);
    let of = |joined: usize| steps / joined;
    match is_plain && steps >= LEAST_JOINED_STEPS {
        true => (1..=MOST_JOINED).filter(fits).map(of).filter(|&steps| steps >= LEAST_STEPS_LEFT).collect(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_data::data::{Examples, Sequences};

    #[test]
    fn bits_are_searched_where_there_is_a_budget_and_nothing_says_how_matrices_are_stored() {
        let mut x = Sequences::new(1);
        (0..8).for_each(|i| x.push(&[i as f32; 3]));
        let names = vec!["low".to_owned(), "high".to_owned()];
        let y = Labels::Class { index: (0..8).map(|i| i % 2).collect(), names };
        let data = Dataset::new("example", Examples::new(x, y));
        let budget = Budget { bytes: Some(1024), ..Budget::default() };
        let has_bits = |text: &str, budget: &Budget| {
            Space::usual(&Recipe::from_toml_str(text, "test").unwrap(), &data, budget, false).has(BITS)
        };
        assert!(has_bits("lr = 0.01", &budget));
        assert!(!has_bits("lr = 0.01", &Budget::default()));
        assert!(!has_bits("bits-w = 8", &budget) && !has_bits("keep-u = 0.5", &budget));
    }
}
