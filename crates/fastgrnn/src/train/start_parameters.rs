//! The parameters that a training starts from.

use super::fingerprint::Fingerprint;
use super::first_biases::set_first_biases;
use super::{Config, TrainError};
use fastgrnn_core::format::quantity;
use fastgrnn_core::net::{EMBEDDING, Network};
use fastgrnn_data::data::Dataset;
use fastgrnn_data::text::{WordVectors, WordVectorsError};
use std::fs::File;
use std::io::BufReader;

/// The start of every training of a run.
#[derive(Clone)]
pub(super) struct StartParameters {
    network: Network,
    /// Vectors of tokens from a file.
    vectors: Option<WordVectors>,
}

impl StartParameters {
    /// The start that `config` describes; reads the file of word vectors, if there is one.
    pub(super) fn new(config: &Config, data: &Dataset) -> Result<Self, TrainError> {
        let network = config.network(data);
        let (Some(path), Some(text)) = (&config.parameters.word_vectors, &data.text) else {
            return Ok(Self { network, vectors: None });
        };
        let unusable = |source| TrainError::WordVectors { path: path.to_owned(), source };
        let file = File::open(path).map_err(|source| unusable(WordVectorsError::Io(source)))?;
        let vectors = WordVectors::read(BufReader::new(file), &text.vocabulary).map_err(unusable)?;
        let (found, expected) = (vectors.width, network.input());
        if found != expected {
            return Err(TrainError::VectorWidth { path: path.to_owned(), found, expected });
        }
        Ok(Self { network, vectors: Some(vectors) })
    }

    /// A note on the words that were found, for the user.
    pub(super) fn note(&self) -> Option<String> {
        let (vectors, embedding) = (self.vectors.as_ref()?, self.network.embedding?);
        let (found, all) = (vectors.rows.len(), embedding.vocabulary);
        let repeated = match vectors.repeated {
            0 => String::new(),
            n => format!("; {} came again, and the first vector counts", quantity(n as u64, "word")),
        };
        Some(format!(
            "{found} of {all} tokens start from the vectors of the file, the others at random{repeated}"
        ))
    }

    /// A short name for the vectors of the file, which a training depends on.
    pub(super) fn fingerprint(&self) -> Option<String> {
        let mut fingerprint = Fingerprint::new();
        for (token, vector) in &self.vectors.as_ref()?.rows {
            fingerprint.add(u64::from(*token));
            fingerprint.add_floats(vector);
        }
        Some(fingerprint.text())
    }

    /// The parameters that the training of a seed starts from.
    pub(super) fn of_seed(&self, config: &Config, data: &Dataset, seed: u64) -> Vec<f32> {
        let mut params = self.network.start(config.parameters.start, config.remembered_steps(data), seed);
        let layout = self.network.layout();
        set_first_biases(&layout, &mut params, &data.train.y);
        if let (Some(vectors), Some(view)) = (&self.vectors, layout.view(EMBEDDING)) {
            for (token, vector) in &vectors.rows {
                let first = view.offset + *token as usize * view.cols;
                params[first..first + view.cols].copy_from_slice(vector);
            }
        }
        params
    }
}
