//! The state of a seed's training, in memory and on disk.
//!
//! A checkpoint holds everything that the next step depends on, so continuing from it gives the
//! same bits as never having stopped. It is one safetensors file, replaced as a whole.

use super::TrainError;
use super::average::Average;
use super::constraint::{Constraint, WeightGrid};
use super::epoch::{EpochReport, FoldEpoch, Pass};
use super::optim::Optim;
use super::plateau::Plateaus;
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Metric, Scores};
use fastgrnn_model::model::{bytes, check_digest, floats, with_digest};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// The best epoch so far on the validation part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BestEpoch {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The figure that epochs are compared by; nothing for regression.
    pub score: Option<f64>,
    pub loss: f64,
}

impl BestEpoch {
    /// What validation came to after `epoch`.
    pub(super) fn of(epoch: usize, scores: &Scores, metric: Metric) -> Self {
        Self { epoch, score: metric.of(scores), loss: scores.loss }
    }

    /// The score decides, then the loss; for regression the loss alone.
    pub(super) fn beats(&self, other: &BestEpoch) -> bool {
        match (self.score, other.score) {
            (Some(a), Some(b)) if a != b => a > b,
            _ => self.loss < other.loss,
        }
    }
}

/// How far training has come, without the large buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrainingProgress {
    pub seed: u64,
    /// Fingerprint of the data.
    pub data: String,
    /// The settings that decide the result.
    pub settings: String,
    pub pass: Pass,
    /// Epochs done in this pass.
    pub epoch: usize,
    /// Batches done in the current epoch.
    pub batch: usize,
    /// Sums over those batches.
    pub loss: f64,
    pub correct: u64,
    pub rows: u64,
    /// Loss of the pass's first batch.
    pub first_loss: Option<f64>,
    pub best: Option<BestEpoch>,
    /// What the stages hold the parameters to; its mask is a tensor of the file.
    pub constraint: Constraint,
    /// The average of the parameters; its values are a tensor of the file.
    pub average: Average,
    /// The plateaus of validation in the pass that chooses the epoch.
    pub plateaus: Plateaus,
    /// Grids of the chosen parameters, where they have some.
    pub chosen_grids: Vec<WeightGrid>,
    /// The fold that is being trained, from 0, and every epoch of every fold so far.
    pub fold: usize,
    pub fold_epochs: Vec<FoldEpoch>,
    /// Epochs that the choosing pass ran, once it is over.
    pub chosen_after: Option<usize>,
    pub optim_steps: u64,
    /// Seconds spent in the current epoch, and on the seed before it.
    pub epoch_seconds: f64,
    pub seconds: f64,
    pub history: Vec<EpochReport>,
}

impl TrainingProgress {
    /// Takes in a batch of the current epoch.
    pub(super) fn count_batch(&mut self, loss: f64, rows: usize, correct: usize) {
        self.first_loss.get_or_insert(loss);
        self.loss += loss * rows as f64;
        self.correct += correct as u64;
        self.rows += rows as u64;
        self.batch += 1;
    }

    /// The mean loss of the current epoch so far.
    pub(super) fn mean_loss(&self) -> f64 {
        self.loss / self.rows as f64
    }
}

/// A seed's training, ready for its next step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub progress: TrainingProgress,
    pub params: Vec<f32>,
    pub optim: Optim,
    /// Parameters of the best epoch; empty before there is one.
    pub best_params: Vec<f32>,
    /// The states that a language model's next batch continues from.
    pub carried: Vec<f32>,
    /// Scores of the validation parts of the folds, fold by fold, epoch by epoch.
    pub held_out: Vec<f32>,
}

const KEY: &str = "fastgrnn-checkpoint";

impl State {
    pub(super) fn new(seed: u64, data: String, settings: String, params: Vec<f32>, optim: Optim) -> Self {
        let progress = TrainingProgress {
            seed,
            data,
            settings,
            pass: Pass::Choose,
            epoch: 0,
            batch: 0,
            loss: 0.0,
            correct: 0,
            rows: 0,
            first_loss: None,
            best: None,
            constraint: Constraint::default(),
            average: Average::default(),
            plateaus: Plateaus::default(),
            chosen_grids: Vec::new(),
            fold: 0,
            fold_epochs: Vec::new(),
            chosen_after: None,
            optim_steps: 0,
            epoch_seconds: 0.0,
            seconds: 0.0,
            history: Vec::new(),
        };
        Self { progress, params, optim, best_params: Vec::new(), carried: Vec::new(), held_out: Vec::new() }
    }

    /// Plateaus so far, or at the same epoch of the pass that chose it.
    pub(super) fn plateaus(&self) -> usize {
        self.progress.plateaus.count(self.progress.epoch)
    }

    /// The parameters that count: their average, where there is one.
    pub(super) fn counted(&self) -> &[f32] {
        self.progress.average.of(&self.params)
    }

    /// Takes the present parameters for the best so far.
    pub(super) fn choose(&mut self) {
        self.best_params = self.counted().to_vec();
        self.progress.chosen_grids.clone_from(&self.progress.constraint.grids);
    }

    /// Ends the choosing pass and begins the refit from fresh parameters.
    pub(super) fn begin_refit(&mut self, params: Vec<f32>, optim: Optim) {
        self.progress.chosen_after.get_or_insert(self.progress.epoch);
        self.progress.pass = Pass::Refit;
        self.restart(params, optim);
    }

    /// Ends a fold and begins the next one from fresh parameters.
    pub(super) fn begin_fold(&mut self, params: Vec<f32>, optim: Optim) {
        self.progress.chosen_after = Some(self.progress.epoch);
        self.progress.fold += 1;
        self.restart(params, optim);
    }

    fn restart(&mut self, params: Vec<f32>, optim: Optim) {
        self.progress.average.reset(&params);
        self.progress.constraint = Constraint::default();
        self.progress.epoch = 0;
        self.progress.first_loss = None;
        self.clear_epoch();
        self.params = params;
        self.optim = optim;
    }

    /// Forgets the sums of the current epoch.
    pub(super) fn clear_epoch(&mut self) {
        let progress = &mut self.progress;
        (progress.batch, progress.loss, progress.correct, progress.rows) = (0, 0.0, 0, 0);
        progress.seconds += progress.epoch_seconds;
        progress.epoch_seconds = 0.0;
    }

    pub(super) fn save(&mut self, path: &Path) -> Result<(), TrainError> {
        self.progress.optim_steps = self.optim.steps;
        let buffers = [
            ("params", &self.params),
            ("first", &self.optim.first),
            ("second", &self.optim.second),
            ("best", &self.best_params),
            ("held", &self.progress.constraint.held),
            ("average", &self.progress.average.values),
            ("held_out", &self.held_out),
            ("carried", &self.carried),
        ]
        .map(|(name, values)| (name, values.len(), bytes(values)));
        let damaged = |what: String| TrainError::Damaged { path: path.to_owned(), what };
        let mut tensors = Vec::new();
        for (name, len, data) in &buffers {
            let view = TensorView::new(Dtype::F32, vec![*len], data).map_err(|e| damaged(e.to_string()))?;
            tensors.push((*name, view));
        }
        let mask = &self.progress.constraint.mask;
        let view = TensorView::new(Dtype::U8, vec![mask.len()], mask).map_err(|e| damaged(e.to_string()))?;
        tensors.push(("mask", view));
        let progress = serde_json::to_string(&self.progress).map_err(|e| damaged(e.to_string()))?;
        let file = with_digest(&progress, |text| {
            serialize(tensors.clone(), Some(HashMap::from([(KEY.to_owned(), text)])))
        })
        .map_err(|e| damaged(e.to_string()))?;
        write_atomic(path, &file).map_err(|source| TrainError::Io { path: path.to_owned(), source })
    }

    /// Continues from the checkpoint at `path`, if there is one; `self` gives the sizes.
    pub(super) fn restore(&mut self, path: &Path) -> Result<bool, TrainError> {
        let file = match std::fs::read(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(TrainError::Io { path: path.to_owned(), source }),
        };
        let damaged = |what: String| TrainError::Damaged { path: path.to_owned(), what };
        let (_, header) = SafeTensors::read_metadata(&file).map_err(|e| damaged(e.to_string()))?;
        let tensors = SafeTensors::deserialize(&file).map_err(|e| damaged(e.to_string()))?;
        let text = header.metadata().as_ref().and_then(|m| m.get(KEY));
        let text = text.ok_or_else(|| damaged("not a checkpoint".into()))?;
        let mut progress: TrainingProgress =
            serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
        if progress.seed != self.progress.seed {
            return Err(damaged(format!("the checkpoint is of seed {}", progress.seed)));
        }
        let take = |name: &str, len: usize| {
            let tensor = tensors.tensor(name).map_err(|e| damaged(e.to_string()))?;
            let values = floats(tensor.data());
            match tensor.dtype() == Dtype::F32 && values.len() == len {
                true => Ok(values),
                false => Err(damaged(format!("`{name}` has {} entries, expected {len}", values.len()))),
            }
        };
        self.params = take("params", self.params.len())?;
        self.optim.first = take("first", self.optim.first.len())?;
        self.optim.second = take("second", self.optim.second.len())?;
        let chosen = progress.best.is_some() || (progress.pass == Pass::Refit && progress.fold == 0);
        self.best_params = take("best", if chosen { self.params.len() } else { 0 })?;
        let held_out = tensors.tensor("held_out").map_err(|e| damaged(e.to_string()))?;
        self.held_out = take("held_out", held_out.data().len() / size_of::<f32>())?;
        let carried = tensors.tensor("carried").map_err(|e| damaged(e.to_string()))?;
        self.carried = take("carried", carried.data().len() / size_of::<f32>())?;
        let mask = tensors.tensor("mask").map_err(|e| damaged(e.to_string()))?;
        let mask = mask.data();
        if !mask.is_empty() && mask.len() != self.params.len() {
            let (found, expected) = (mask.len(), self.params.len());
            return Err(damaged(format!("`mask` has {found} entries, expected {expected}")));
        }
        progress.constraint.mask = mask.to_vec();
        let is_holding = tensors.tensor("held").is_ok_and(|held| !held.data().is_empty());
        progress.constraint.held = take("held", if is_holding { self.params.len() } else { 0 })?;
        progress.average.values = take("average", self.progress.average.values.len())?;
        check_digest(&file, text).map_err(|e| damaged(e.to_string()))?;
        self.optim.steps = progress.optim_steps;
        self.progress = progress;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Optimizer;
    use crate::train::average::Rule;
    use fastgrnn_model::quantize::Grid;
    use fastgrnn_model::settings::ClassWeight;

    fn state() -> State {
        let mut state = State::new(
            3,
            "abc".into(),
            "lr = 1.0".into(),
            vec![0.5; 4],
            Optim::new(Optimizer::Adam, 0.9, 0.0, 4),
        );
        state.progress.loss = 0.1 + 0.2;
        state.progress.best = Some(BestEpoch { epoch: 2, score: Some(1.0 / 3.0), loss: 1.0 / 7.0 });
        state.best_params = vec![f32::MIN_POSITIVE; 4];
        state.progress.constraint.mask = vec![1, 0, 1, 1];
        state.progress.constraint.held = vec![0.0, -1.5, 0.0, 0.0];
        let fixed = |exponent| WeightGrid::Fixed(Grid { exponent });
        state.progress.constraint.grids = vec![fixed(6), WeightGrid::Learnt, fixed(-2)];
        state.progress.chosen_grids = vec![fixed(9)];
        state.progress.average = Average::new(Rule::Moving { decay: 0.9 }, &[0.1, 0.2, 0.3, 0.4]);
        state.progress.average.follow(&[1.0; 4], 0);
        state.progress.plateaus.observe(1, 0.1 + 0.2, 1);
        state.progress.plateaus.observe(2, 0.5, 1);
        state.optim.steps = 7;
        state.optim.second[1] = 1e-30;
        state
    }

    fn blank() -> State {
        State::new(3, String::new(), String::new(), vec![0.0; 4], Optim::new(Optimizer::Adam, 0.9, 0.0, 4))
    }

    #[test]
    fn a_flipped_bit_anywhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        let mut saved = state();
        saved.save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            let mut restored = State { params: vec![0.0; 4], ..state() };
            match restored.restore(&path) {
                Err(TrainError::Damaged { .. }) => {}
                // Blanks behind the header mean nothing.
                other => assert!(whole[at] == b' ' && restored == saved, "byte {at}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_checkpoint_comes_back_to_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let mut saved = state();
        saved.save(&path).unwrap();
        let mut restored = blank();
        restored.progress.average = Average::new(Rule::Moving { decay: 0.9 }, &[0.0; 4]);
        assert!(restored.restore(&path).unwrap());
        assert_eq!(restored, saved);
        assert!(matches!(blank().restore(&path), Err(TrainError::Damaged { .. })), "an average too many");
    }

    #[test]
    fn a_missing_checkpoint_is_a_fresh_start_and_a_damaged_one_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        assert!(!blank().restore(&path).unwrap());
        state().save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 4, 20, whole.len() - 3] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(matches!(blank().restore(&path), Err(TrainError::Damaged { .. })));
        }
    }

    #[test]
    fn a_better_score_beats_a_better_loss_and_ties_go_to_the_loss() {
        let of = |score, loss| BestEpoch { epoch: 1, score, loss };
        assert!(of(Some(0.9), 2.0).beats(&of(Some(0.8), 1.0)));
        assert!(of(Some(0.9), 1.0).beats(&of(Some(0.9), 2.0)));
        assert!(!of(Some(0.9), 1.0).beats(&of(Some(0.9), 1.0)));
        assert!(of(None, 1.0).beats(&of(None, 2.0)));
    }

    #[test]
    fn balanced_classes_are_chosen_by_mean_f1_a_positive_one_by_its_own_and_others_by_accuracy() {
        let data = fastgrnn_data::data::load(&fastgrnn_data::data::Request::new("digits")).unwrap();
        let mut config = crate::train::Recipe::default().resolve(&data).unwrap();
        let (accuracy, f1_macro, f1) = (Some(0.9), Some(0.5), Some(0.3));
        let scores = Scores { accuracy, f1_macro, f1, ..Scores::default() };
        assert_eq!(BestEpoch::of(1, &scores, config.metric()).score, accuracy);
        config.training.class_weight = ClassWeight::Balanced;
        assert_eq!(BestEpoch::of(1, &scores, config.metric()).score, f1_macro);
        config.training.positive = Some("3".into());
        assert_eq!(BestEpoch::of(1, &scores, config.metric()).score, f1);
    }
}
