//! Using a model on data: how the data is read, and which part of it the model was trained on.

use super::{Model, Task};
use crate::settings::VAL_SPLIT;
use fastgrnn_core::choice;
use fastgrnn_core::settings::{Choice, Group};
use fastgrnn_data::data::{
    DataError, DataRecipe, Dataset, Examples, Expect, Inherited, LabelKind, Labels, Request, SplitBy,
    TaskKind,
};
use std::path::{Path, PathBuf};

choice! {
    /// A part of a data set.
    DataPart {
        /// The sequences that the model was trained on.
        Train = "train",
        /// The sequences on which its epoch was chosen.
        Val = "val",
        /// The test set.
        #[default]
        Test = "test",
        /// All sequences.
        All = "all",
    }
}

impl DataPart {
    /// The name in answers and flags.
    pub fn name(self) -> &'static str {
        self.choice_name()
    }
}

/// A part that a data set does not have.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The model was trained without validation.
    #[error("the model was trained without a validation part")]
    NoValidation,
    /// The data set has no test part.
    #[error("{dataset} has no test part")]
    NoTest {
        /// The data set.
        dataset: String,
    },
    /// The data cannot be split as it was for the training.
    #[error(transparent)]
    Data(#[from] DataError),
}

impl Model {
    /// How to read `source` for this model: as in its training, except for the keys that `given` has.
    ///
    /// ```
    /// use fastgrnn_data::data::DataRecipe;
    /// # fn read(model: &fastgrnn_model::model::Model) -> Result<(), fastgrnn_data::data::DataError> {
    /// let request = model.request("new.csv", None, DataRecipe::default());
    /// let data = fastgrnn_data::data::load(&request)?;
    /// # let _ = data;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, source: impl Into<String>, test: Option<PathBuf>, given: DataRecipe) -> Request {
        const COMPLETE: &str = "no default of this group depends on the data";
        let inherited = Inherited {
            id_col: given.id_col.is_none(),
            label_col: given.label_col.is_none(),
            group_col: given.group_col.is_none(),
            columns: given.columns.is_none(),
            drop: given.drop.is_none(),
            manifest: given.manifest.is_none(),
        };
        let mut trained = self.recipe.data.clone();
        trained.labels = Some(if self.labels().is_empty() { LabelKind::Value } else { LabelKind::Class });
        if given.window.is_some() {
            // Another window does not go with the stride of the old one.
            trained.stride = None;
        }
        let source = source.into();
        let name =
            Path::new(&source).file_name().map_or(source.as_str().into(), |name| name.to_string_lossy());
        let is_training_data = name == self.dataset.as_str();
        if !is_training_data {
            // The test part was split off the training data; other data is used as it is.
            (trained.test_split, trained.test_split_by) = (None, None);
        }
        let augment = self.recipe.preparation.augment.unwrap_or_default();
        let mut text = self.recipe.text.clone();
        if self.task == Task::NextToken {
            text.task = Some(TaskKind::LanguageModel);
        }
        if let Task::Sets { .. } = self.task {
            text.task = Some(TaskKind::MultiLabel);
        }
        Request {
            test_apart: test.is_some() || self.recipe.source.test_apart.unwrap_or(false),
            test,
            data: trained.overlay(given).with_defaults().complete().expect(COMPLETE),
            audio: self.recipe.audio.clone().with_defaults().complete().expect(COMPLETE),
            text: text.with_defaults().complete().expect(COMPLETE),
            text_format: self.text.clone(),
            audio_copies: augment.audio_copies,
            snr_low: augment.snr_low,
            snr_high: augment.snr_high,
            val_split: self.recipe.preparation.val_split,
            split_seed: self.recipe.preparation.split_seed.unwrap_or(0),
            expect: Some(Expect { is_training_data, ..self.expects() }),
            inherited,
            ..Request::new(source)
        }
    }

    /// The share of the training data that was used for validation.
    fn validation_share(&self) -> f64 {
        self.recipe.preparation.val_split.unwrap_or(VAL_SPLIT)
    }

    /// Training and validation indices into the training examples of `data`, split as in the training
    /// of this model.
    fn split(&self, data: &Dataset) -> Result<(Vec<u32>, Vec<u32>), DataError> {
        let recipe = &self.recipe.preparation;
        let is_by_group = recipe.val_group.unwrap_or(false);
        let by = if is_by_group { SplitBy::Group } else { SplitBy::Stratified };
        data.split(by, self.validation_share(), recipe.split_seed.unwrap_or(0))
    }

    /// The training examples of `data` that the model learnt from. If that is not known, because it was
    /// trained on other data or refitted on everything, these are all of them.
    pub fn trained_on(&self, data: &Dataset) -> Vec<u32> {
        let all = || (0..data.train.len() as u32).collect();
        if self.recipe.training.refit.unwrap_or_default() != Default::default() || self.dataset != data.name {
            return all();
        }
        self.split(data).map_or_else(|_| all(), |(train, _)| train)
    }

    /// The training examples of `data` on which the model's epoch was chosen.
    pub fn validated_on(&self, data: &Dataset) -> Result<Vec<u32>, PartError> {
        let (_, validation) = self.split(data)?;
        if validation.is_empty() { Err(PartError::NoValidation) } else { Ok(validation) }
    }

    /// A part of a data set, split as in the training of this model. Without a choice this is the test
    /// part, or everything if there is none.
    pub fn part(&self, data: Dataset, part: Option<DataPart>) -> Result<(DataPart, Examples), PartError> {
        if let Some(wanted @ (DataPart::Train | DataPart::Val)) = part {
            if self.validation_share() <= 0.0 {
                return Err(PartError::NoValidation);
            }
            let (train, validation) = self.split(&data)?;
            let indices = if wanted == DataPart::Val { validation } else { train };
            return Ok((wanted, data.train.select(&indices)));
        }
        match (part, data.test) {
            (None | Some(DataPart::Test), Some(test)) => Ok((DataPart::Test, test)),
            (Some(DataPart::Test), None) => Err(PartError::NoTest { dataset: data.name }),
            (None, None) => Ok((DataPart::All, data.train)),
            (Some(_), test) => Ok((DataPart::All, join(data.train, test))),
        }
    }
}

/// Training and test examples together.
fn join(train: Examples, test: Option<Examples>) -> Examples {
    let Some(test) = test else { return train };
    // The two parts may both count from 0.
    let ids = |part: &Examples, name: &str| -> Vec<String> {
        (0..part.len()).map(|i| format!("{name}:{}", part.id(i))).collect()
    };
    let ids = [ids(&train, "train"), ids(&test, "test")].concat();
    let mut x = train.x;
    x.append(&test.x);
    let y = match (train.y, test.y) {
        (Labels::Class { mut index, names }, Labels::Class { index: more, .. }) => {
            index.extend(more);
            Labels::Class { index, names }
        }
        (Labels::Sets { mut sets, names, unseen }, Labels::Sets { sets: more, unseen: of_test, .. }) => {
            // A label that no training data had may be in both parts.
            let mut all = unseen;
            let place = |name: &String| {
                let found = all.iter().position(|other| other == name);
                (names.len()
                    + found.unwrap_or_else(|| {
                        all.push(name.clone());
                        all.len() - 1
                    })) as u32
            };
            let moved: Vec<u32> = (0..names.len() as u32).chain(of_test.iter().map(place)).collect();
            for set in more.iter() {
                sets.push(&set.iter().map(|&label| moved[label as usize]).collect::<Vec<u32>>());
            }
            Labels::Sets { sets, names, unseen: all }
        }
        (Labels::Value { width, mut values }, Labels::Value { values: more, .. }) => {
            values.extend(more);
            Labels::Value { width, values }
        }
        (Labels::Next, Labels::Next) => Labels::Next,
        _ => Labels::None,
    };
    Examples { ids: Some(ids), ..Examples::new(x, y) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Task;
    use crate::settings::{ModelRecipe, Refit};
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::Network;
    use fastgrnn_data::data::Sequences;

    fn model() -> Model {
        let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 2)], 2);
        let params = vec![0.0; network.layout().len()];
        let labels = vec!["low".to_owned(), "high".to_owned()];
        let mut recipe = ModelRecipe::default();
        (recipe.data.window, recipe.data.stride) = (Some(8), Some(4));
        recipe.data.label_col = Some("level".into());
        recipe.preparation.val_split = Some(0.5);
        Model { recipe, dataset: "example".into(), ..Model::new(network, params, Task::Classes { labels }) }
    }

    fn data() -> Dataset {
        let mut x = Sequences::new(1);
        (0..8).for_each(|i| x.push(&[i as f32; 3]));
        let y =
            Labels::Class { index: vec![0, 1, 0, 1, 0, 1, 0, 1], names: vec!["low".into(), "high".into()] };
        Dataset::new("example", Examples::new(x, y))
    }

    #[test]
    fn data_is_read_as_in_training_unless_a_key_is_given() {
        let request = model().request("new.csv", None, DataRecipe::default());
        assert_eq!((request.data.window, request.data.stride), (Some(8), Some(4)));
        assert_eq!(request.data.labels, LabelKind::Class);
        assert!(request.inherited.label_col);
        let given = DataRecipe { window: Some(6), label_col: Some("l".into()), ..DataRecipe::default() };
        let request = model().request("new.csv", None, given);
        assert_eq!((request.data.window, request.data.stride), (Some(6), None));
        assert!(!request.inherited.label_col && request.inherited.id_col);
    }

    #[test]
    fn a_model_knows_which_examples_it_was_trained_on() {
        let (mut model, mut data) = (model(), data());
        let (train, validation) = (model.trained_on(&data), model.validated_on(&data).unwrap());
        assert_eq!((train.len(), validation.len()), (4, 4));
        assert!(train.iter().all(|i| !validation.contains(i)));
        data.name = "other".into();
        assert_eq!(model.trained_on(&data).len(), 8, "the split of other data is not known");
        data.name = "example".into();
        model.recipe.training.refit = Some(Refit::Full);
        assert_eq!(model.trained_on(&data).len(), 8, "a refit sees everything");
    }

    #[test]
    fn parts_that_are_not_there_are_errors() {
        let mut model = model();
        assert!(matches!(model.part(data(), Some(DataPart::Test)), Err(PartError::NoTest { .. })));
        assert_eq!(model.part(data(), None).unwrap().0, DataPart::All);
        model.recipe.preparation.val_split = Some(0.0);
        assert!(matches!(model.part(data(), Some(DataPart::Val)), Err(PartError::NoValidation)));
        assert!(matches!(model.validated_on(&data()), Err(PartError::NoValidation)));
    }
}
