//! The data of a search: read once for each way of reading it, without its test part.

use super::SearchError;
use crate::train::{Recipe, data_fingerprint};
use fastgrnn_data::data::{DataError, Dataset, Examples, Request};

/// Reads a data set.
pub type Load<'a> = &'a dyn Fn(&Request) -> Result<Dataset, DataError>;

/// Data sets that were read.
pub struct Datasets<'a> {
    load: Load<'a>,
    sets: Vec<StoredSet>,
}

struct StoredSet {
    request: Request,
    /// Without its test part, so that no trial can read it.
    data: Dataset,
    test: Option<Examples>,
    /// A short name for the content of `data`.
    fingerprint: String,
}

impl<'a> Datasets<'a> {
    /// None so far.
    pub fn new(load: Load<'a>) -> Self {
        Self { load, sets: Vec::new() }
    }

    /// The data that a recipe asks for, without its test part.
    pub fn of(&mut self, recipe: &Recipe) -> Result<&Dataset, SearchError> {
        let place = self.read(recipe)?;
        Ok(&self.sets[place].data)
    }

    /// The data sets that recipes ask for, which were read before.
    pub(super) fn known(&self, recipe: &Recipe) -> Option<&Dataset> {
        let request = recipe.request();
        self.sets.iter().find(|set| set.request == request).map(|set| &set.data)
    }

    /// The data that a recipe asks for, with its test part.
    pub(crate) fn with_test(&mut self, recipe: &Recipe) -> Result<Dataset, SearchError> {
        let place = self.read(recipe)?;
        let set = &self.sets[place];
        Ok(Dataset { test: set.test.clone(), ..set.data.clone() })
    }

    fn read(&mut self, recipe: &Recipe) -> Result<usize, SearchError> {
        let request = recipe.request();
        if let Some(place) = self.sets.iter().position(|set| set.request == request) {
            return Ok(place);
        }
        let mut data = (self.load)(&request)
            .map_err(|source| SearchError::Data { dataset: request.source.clone(), source })?;
        let test = data.test.take();
        let fingerprint = data_fingerprint(&data);
        self.sets.push(StoredSet { request, data, test, fingerprint });
        Ok(self.sets.len() - 1)
    }

    /// A short name for the content of the data of a recipe, without its test part.
    pub(crate) fn fingerprint(&mut self, recipe: &Recipe) -> Result<String, SearchError> {
        let place = self.read(recipe)?;
        Ok(self.sets[place].fingerprint.clone())
    }
}
