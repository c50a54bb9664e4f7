//! Models as safetensors files.

use super::digest::{check_digest, with_digest};
use super::{Decision, Model, ModelError, ModelProblem, Task};
use crate::settings::ModelRecipe;
use fastgrnn_core::cells::Role;
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::net::{InitialState, Loss, MAX_LAYERS, MAX_SIZE, Network, Readout, View};
use fastgrnn_data::data::{Normalize, Normalizer};
use fastgrnn_data::features::Spec;
use fastgrnn_data::text::TextFormat;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The latest format. This release reads all formats up to it; it writes float models as format 1,
/// which earlier releases read too, and integer models as format 2.
pub const FORMAT_VERSION: u64 = 2;
/// The format of float models.
pub const FLOAT_FORMAT: u64 = 1;

/// The metadata key that makes a safetensors file a model.
const KEY: &str = "fastgrnn";
/// No model comes near this; a larger file is something else.
const MAX_FILE: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredTask {
    Classes,
    Sets,
    Values,
    NextToken,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum InitialKind {
    Zero,
    Random,
    Given,
}

/// The JSON of the metadata key. Numbers that come in arrays are tensors instead.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// The digest, which is checked and written as text.
    #[serde(default, rename = "sha256", skip_serializing)]
    _digest: Option<String>,
    format: u64,
    network: Network,
    task: StoredTask,
    labels: Vec<String>,
    loss: Loss,
    normalize: Normalize,
    initial_state: InitialKind,
    seed: u64,
    features: Option<Vec<String>>,
    /// How features are made from audio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audio: Option<Spec>,
    /// How tokens are made from texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextFormat>,
    dataset: String,
    steps: usize,
    recipe: ModelRecipe,
    /// The positive class and its threshold, of a model that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    /// The threshold of a model of several labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// The scales of an integer model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integer: Option<Value>,
    /// What turns an integer model's scores on a stream into detections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detector: Option<Value>,
}

fn metadata_error(what: impl Into<String>) -> ModelProblem {
    ModelProblem::Metadata { what: what.into() }
}

/// The same value with the keys of every object in order, however the map type orders them.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let ordered: BTreeMap<String, Value> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn shape(view: &View) -> Vec<usize> {
    match view.role {
        Role::Weight | Role::Embedding | Role::Basis => vec![view.rows, view.cols],
        Role::Bias | Role::Gain | Role::Raw | Role::Step => vec![view.rows],
    }
}

impl Metadata {
    fn of(model: &Model, integer: Option<Value>, detector: Option<Value>) -> Self {
        Self {
            _digest: None,
            format: if integer.is_some() { FORMAT_VERSION } else { FLOAT_FORMAT },
            integer,
            detector,
            network: model.network.clone(),
            task: match model.task {
                Task::Classes { .. } => StoredTask::Classes,
                Task::Sets { .. } => StoredTask::Sets,
                Task::Values { .. } => StoredTask::Values,
                Task::NextToken => StoredTask::NextToken,
            },
            labels: model.labels().to_vec(),
            loss: model.loss,
            normalize: model.normalizer.mode,
            initial_state: match model.initial_state {
                InitialState::Zero => InitialKind::Zero,
                InitialState::Random => InitialKind::Random,
                InitialState::Given(_) => InitialKind::Given,
            },
            seed: model.seed,
            features: model.features.clone(),
            audio: model.audio,
            text: model.text.clone(),
            dataset: model.dataset.clone(),
            steps: model.steps,
            recipe: model.recipe.clone(),
            decision: model.decision.clone(),
            threshold: match model.task {
                Task::Sets { threshold, .. } => Some(threshold),
                _ => None,
            },
        }
    }

    fn parse(text: &str) -> Result<Self, ModelProblem> {
        let value: Value = serde_json::from_str(text).map_err(|e| metadata_error(e.to_string()))?;
        match value.get("format").and_then(Value::as_u64) {
            None => return Err(metadata_error("no `format` number")),
            Some(0) => return Err(metadata_error("format 0 was never written")),
            Some(found) if found > FORMAT_VERSION => {
                return Err(ModelProblem::Newer { found, known: FORMAT_VERSION });
            }
            Some(_) => {}
        }
        let metadata: Self = serde_json::from_value(value).map_err(|e| metadata_error(e.to_string()))?;
        metadata.check()?;
        Ok(metadata)
    }

    /// Checks everything that later code relies on, sizes first.
    fn check(&self) -> Result<(), ModelProblem> {
        match (self.format, &self.integer) {
            (FLOAT_FORMAT, None) | (FORMAT_VERSION, Some(_)) => {}
            (format, None) => {
                return Err(metadata_error(format!(
                    "format {format} without the scales of an integer model"
                )));
            }
            (format, Some(_)) => {
                return Err(metadata_error(format!("format {format} with the scales of an integer model")));
            }
        }
        let has_integers = self.task != StoredTask::Sets
            && !self.network.readout.is_pooled()
            && self.network.layers.iter().all(|cell| cell.kind.declaration().has_integers());
        if !has_integers && self.integer.is_some() {
            return Err(metadata_error("the scales of an integer model for one that has no integer form"));
        }
        if self.detector.is_some() && self.integer.is_none() {
            return Err(metadata_error("a detector without the scales of an integer model"));
        }
        let net = &self.network;
        if net.layers.len() > MAX_LAYERS {
            return Err(metadata_error(format!("{} layers", net.layers.len())));
        }
        let vocabulary = net.embedding.map(|embedding| embedding.vocabulary);
        let sizes =
            net.layers.iter().flat_map(|c| [c.input, c.hidden]).chain([net.outputs]).chain(vocabulary);
        if let Some(size) = sizes.into_iter().find(|&size| size > MAX_SIZE) {
            return Err(metadata_error(format!("a size of {size}")));
        }
        net.check()?;
        if (net.readout == Readout::Every) != (self.task == StoredTask::NextToken) {
            return Err(metadata_error("a readout of every state, which only a language model has"));
        }
        let known = self.text.as_ref().map(|text| text.vocabulary.len());
        if known != vocabulary {
            let tokens = |n: Option<usize>| n.map_or("none".into(), |n| n.to_string());
            return Err(metadata_error(format!(
                "a vocabulary of {} tokens for an embedding of {}",
                tokens(known),
                tokens(vocabulary)
            )));
        }
        let outputs = match (self.task, self.loss) {
            (StoredTask::NextToken, Loss::SoftmaxCrossEntropy) => vocabulary.unwrap_or(0),
            (StoredTask::NextToken, _) => {
                return Err(metadata_error("a language model with another loss than softmax-cross-entropy"));
            }
            (StoredTask::Classes, Loss::SquaredError) => {
                return Err(metadata_error("a squared error of classes"));
            }
            (StoredTask::Classes, Loss::BinaryCrossEntropy) if self.labels.len() == 2 => 1,
            (StoredTask::Classes, _) => self.labels.len(),
            (StoredTask::Sets, Loss::BinaryCrossEntropy) => self.labels.len(),
            (StoredTask::Sets, _) => {
                return Err(metadata_error("sets of labels with another loss than binary-cross-entropy"));
            }
            (StoredTask::Values, _) => net.outputs,
        };
        if outputs != net.outputs {
            let labels = self.labels.len();
            return Err(metadata_error(format!("{} outputs for {labels} labels", net.outputs)));
        }
        if self.task == StoredTask::Classes && self.labels.len() < 2 {
            return Err(metadata_error("a classifier of fewer than two classes"));
        }
        match (self.task, self.threshold) {
            (StoredTask::Sets, Some(threshold)) if (0.0..=1.0).contains(&threshold) => {}
            (StoredTask::Sets, Some(threshold)) => {
                return Err(metadata_error(format!("a threshold of {threshold}")));
            }
            (StoredTask::Sets, None) => return Err(metadata_error("sets of labels without a threshold")),
            (_, None) => {}
            (_, Some(_)) => return Err(metadata_error("a threshold without sets of labels")),
        }
        match &self.features {
            Some(names) if names.len() != net.input() => {
                Err(metadata_error(format!("{} feature names for {} features", names.len(), net.input())))
            }
            _ => Ok(()),
        }
    }

    /// Name and shape of every tensor besides the parameters. `coordinates` is the width of a
    /// per-coordinate normalisation, which only the file knows.
    fn others(&self, coordinates: usize) -> Vec<(&'static str, usize)> {
        let mut others = Vec::new();
        let normalized = match self.normalize {
            Normalize::None => 0,
            Normalize::PerFeature => self.network.input(),
            Normalize::PerCoordinate => coordinates,
        };
        if self.normalize != Normalize::None {
            others.extend([(NORMALIZER_MEAN, normalized), (NORMALIZER_SCALE, normalized)]);
        }
        if self.task == StoredTask::Values {
            others.extend([(TARGET_MEAN, self.network.outputs), (TARGET_SCALE, self.network.outputs)]);
        }
        if self.initial_state == InitialKind::Given {
            others.push((INITIAL_STATE, self.network.layers.iter().map(|c| c.hidden).sum()));
        }
        others
    }
}

const NORMALIZER_MEAN: &str = "normalizer.mean";
const NORMALIZER_SCALE: &str = "normalizer.scale";
const TARGET_MEAN: &str = "target.mean";
const TARGET_SCALE: &str = "target.scale";
const INITIAL_STATE: &str = "initial_state";

/// A tensor on its way into a file.
pub struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Tensor {
    pub(crate) fn new(name: impl Into<String>, dtype: Dtype, shape: Vec<usize>, data: Vec<u8>) -> Self {
        Self { name: name.into(), dtype, shape, data }
    }
}

/// A whole file and the text of its metadata, for the check of its digest.
#[derive(Clone)]
pub struct Contents<'a> {
    file: &'a [u8],
    metadata: String,
}

impl Contents<'_> {
    /// Checks that nothing of the file is damaged. Called last: other checks can say more about what is wrong.
    pub(crate) fn check(&self) -> Result<(), ModelProblem> {
        check_digest(self.file, &self.metadata)
    }
}

/// A model file whose metadata are read; its tensors are taken out one by one.
pub struct Opened<'a> {
    contents: Contents<'a>,
    metadata: Metadata,
    tensors: BTreeMap<String, TensorView<'a>>,
}

impl<'a> Opened<'a> {
    /// Reads the metadata of a file, which may be anything.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, ModelProblem> {
        let not_safetensors =
            |e: safetensors::SafeTensorError| ModelProblem::NotSafetensors { what: e.to_string() };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(not_safetensors)?;
        let file = SafeTensors::deserialize(bytes).map_err(not_safetensors)?;
        let tensors: BTreeMap<String, TensorView<'a>> = file.tensors().into_iter().collect();
        let Some(text) = header.metadata().as_ref().and_then(|m| m.get(KEY)) else {
            let names: Vec<&str> = tensors.keys().take(3).map(String::as_str).collect();
            return Err(ModelProblem::Foreign { tensors: tensors.len(), example: names.join(", ") });
        };
        let contents = Contents { file: bytes, metadata: text.clone() };
        Ok(Self { contents, metadata: Metadata::parse(text)?, tensors })
    }

    /// What its digest is of.
    pub(crate) fn contents(&self) -> Contents<'a> {
        self.contents.clone()
    }

    /// Whether it holds an integer model.
    pub(crate) fn is_integer(&self) -> bool {
        self.metadata.integer.is_some()
    }

    /// The scales of an integer model, in the type that its reader gives them.
    pub(crate) fn scales<T: DeserializeOwned>(&self) -> Result<Option<T>, ModelProblem> {
        typed(self.metadata.integer.as_ref())
    }

    /// The detector, in the type that its reader gives it.
    pub(crate) fn detector<T: DeserializeOwned>(&self) -> Result<Option<T>, ModelProblem> {
        typed(self.metadata.detector.as_ref())
    }

    pub(crate) fn network(&self) -> &Network {
        &self.metadata.network
    }

    /// How the input is normalised.
    pub(crate) fn normalize(&self) -> Normalize {
        self.metadata.normalize
    }

    /// Whether sequences start from random states.
    pub(crate) fn starts_at_random(&self) -> bool {
        self.metadata.initial_state == InitialKind::Random
    }

    /// Takes out the bytes of a tensor of this type and shape.
    pub(crate) fn bytes(
        &mut self,
        name: &str,
        dtype: Dtype,
        expected: Vec<usize>,
    ) -> Result<&'a [u8], ModelProblem> {
        let name = name.to_owned();
        let Some(tensor) = self.tensors.remove(&name) else { return Err(ModelProblem::Missing { name }) };
        if tensor.dtype() != dtype {
            let (found, expected) = (tensor.dtype().to_string(), dtype.to_string());
            return Err(ModelProblem::Type { name, found, expected });
        }
        if tensor.shape() != expected {
            return Err(ModelProblem::Shape { name, found: tensor.shape().to_vec(), expected });
        }
        Ok(tensor.data())
    }

    pub(crate) fn floats(&mut self, name: &str, expected: Vec<usize>) -> Result<Vec<f32>, ModelProblem> {
        let values = floats(self.bytes(name, Dtype::F32, expected)?);
        check_finite(name, &values)?;
        Ok(values)
    }

    pub(crate) fn words(&mut self, name: &str, len: usize) -> Result<Vec<i16>, ModelProblem> {
        let bytes = self.bytes(name, Dtype::I16, vec![len])?;
        Ok(bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect())
    }

    pub(crate) fn unsigned(&mut self, name: &str, len: usize) -> Result<Vec<u16>, ModelProblem> {
        let bytes = self.bytes(name, Dtype::U16, vec![len])?;
        Ok(bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
    }

    /// Takes out what is left and makes a model of it, with these parameters.
    pub(crate) fn finish(mut self, params: Vec<f32>) -> Result<Model, ModelProblem> {
        let coordinates = self.tensors.get(NORMALIZER_MEAN).map_or(0, |t| t.shape().iter().product());
        if self.metadata.normalize == Normalize::PerCoordinate
            && !coordinates.is_multiple_of(self.network().input())
        {
            return Err(metadata_error(format!("{coordinates} normalised coordinates are no whole steps")));
        }
        let mut others = BTreeMap::new();
        for (name, length) in self.metadata.others(coordinates) {
            others.insert(name, self.floats(name, vec![length])?);
        }
        if let Some(name) = self.tensors.into_keys().next() {
            return Err(ModelProblem::Extra { name });
        }
        let mut other = |name: &str| others.remove(name).unwrap_or_default();
        let metadata = self.metadata;
        let model = Model {
            params,
            task: match metadata.task {
                StoredTask::Classes => Task::Classes { labels: metadata.labels },
                StoredTask::Sets => {
                    Task::Sets { labels: metadata.labels, threshold: metadata.threshold.unwrap_or(0.5) }
                }
                StoredTask::Values => Task::Values { mean: other(TARGET_MEAN), scale: other(TARGET_SCALE) },
                StoredTask::NextToken => Task::NextToken,
            },
            loss: metadata.loss,
            normalizer: Normalizer {
                mode: metadata.normalize,
                mean: other(NORMALIZER_MEAN),
                scale: other(NORMALIZER_SCALE),
            },
            initial_state: match metadata.initial_state {
                InitialKind::Zero => InitialState::Zero,
                InitialKind::Random => InitialState::Random,
                InitialKind::Given => InitialState::Given(other(INITIAL_STATE)),
            },
            seed: metadata.seed,
            features: metadata.features,
            audio: metadata.audio,
            text: metadata.text,
            dataset: metadata.dataset,
            steps: metadata.steps,
            recipe: metadata.recipe,
            decision: metadata.decision,
            network: metadata.network,
        };
        model.check_decision().map_err(metadata_error)?;
        Ok(model)
    }
}

/// The bytes of a file with these parameters, and what else a model holds.
pub fn write_tensors(
    model: &Model,
    mut tensors: Vec<Tensor>,
    integer: Option<Value>,
    detector: Option<Value>,
) -> Result<Vec<u8>, ModelProblem> {
    let metadata = Metadata::of(model, integer, detector);
    metadata.check()?;
    model.check_decision().map_err(metadata_error)?;
    for (name, expected) in metadata.others(model.normalizer.mean.len()) {
        let values: Vec<f32> = match (name, &model.task, &model.initial_state) {
            (NORMALIZER_MEAN, _, _) => model.normalizer.mean.clone(),
            (NORMALIZER_SCALE, _, _) => model.normalizer.scale.clone(),
            (TARGET_MEAN, Task::Values { mean, .. }, _) => mean.clone(),
            (TARGET_SCALE, Task::Values { scale, .. }, _) => scale.clone(),
            (_, _, InitialState::Given(values)) if values.len() == 1 => vec![values[0]; expected],
            (_, _, InitialState::Given(values)) => values.clone(),
            _ => Vec::new(),
        };
        if values.len() != expected {
            let (name, found) = (name.to_owned(), vec![values.len()]);
            return Err(ModelProblem::Shape { name, found, expected: vec![expected] });
        }
        check_finite(name, &values)?;
        tensors.push(Tensor::new(name, Dtype::F32, vec![expected], bytes(&values)));
    }
    let views = tensors
        .iter()
        .map(|t| TensorView::new(t.dtype, t.shape.clone(), &t.data).map(|view| (t.name.as_str(), view)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| metadata_error(e.to_string()))?;
    let json = serde_json::to_value(&metadata).map_err(|e| metadata_error(e.to_string()))?;
    with_digest(&sorted(json).to_string(), |text| {
        serialize(views.clone(), Some(HashMap::from([(KEY.to_owned(), text)])))
    })
    .map_err(|e| metadata_error(e.to_string()))
}

fn typed<T: DeserializeOwned>(value: Option<&Value>) -> Result<Option<T>, ModelProblem> {
    let parse = |value: &Value| serde_json::from_value(value.clone());
    value.map(parse).transpose().map_err(|e| metadata_error(e.to_string()))
}

fn check_finite(name: &str, values: &[f32]) -> Result<(), ModelProblem> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(ModelProblem::NotFinite { name: name.to_owned(), index, value: values[index] }),
        None => Ok(()),
    }
}

/// Little-endian bytes as f32 values.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// f32 values as little-endian bytes.
pub fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|v| v.to_le_bytes()).collect()
}

impl Model {
    /// The model as the bytes of a file; the same bytes for the same model.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelProblem> {
        self.network.check()?;
        let layout = self.network.layout();
        if self.params.len() != layout.len() {
            let what = format!("{} parameters, the network has {}", self.params.len(), layout.len());
            return Err(metadata_error(what));
        }
        let mut tensors = Vec::new();
        for view in layout.views() {
            let values = &self.params[view.range()];
            check_finite(&view.name, values)?;
            tensors.push(Tensor::new(view.name.clone(), Dtype::F32, shape(view), bytes(values)));
        }
        write_tensors(self, tensors, None, None)
    }

    /// Reads the bytes of a model file, which may be anything.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelProblem> {
        Self::read(Opened::new(bytes)?)
    }

    pub(crate) fn read(mut file: Opened<'_>) -> Result<Self, ModelProblem> {
        if file.is_integer() {
            return Err(ModelProblem::NotFloat);
        }
        let contents = file.contents();
        let layout = file.network().layout();
        let mut params = Vec::new();
        for view in layout.views() {
            params.extend(file.floats(&view.name, shape(view))?);
        }
        let model = file.finish(params)?;
        contents.check()?;
        Ok(model)
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        write_file(path.as_ref(), self.to_bytes())
    }

    /// Reads a model file, which may be anything.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        load_file(path.as_ref(), Self::from_bytes)
    }
}

/// Writes a model's bytes, whole or not at all.
pub fn write_file(path: &Path, bytes: Result<Vec<u8>, ModelProblem>) -> Result<(), ModelError> {
    let bytes = bytes.map_err(ModelError::Unwritable)?;
    write_atomic(path, &bytes).map_err(|source| ModelError::Io { path: path.to_owned(), source })
}

/// Reads a model file by `read`; what is wrong with its bytes is said with its path.
pub fn load_file<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, ModelProblem>,
) -> Result<T, ModelError> {
    let bytes = read_file(path)?;
    read(&bytes).map_err(|problem| ModelError::Invalid { path: path.to_owned(), problem })
}

/// The bytes of a file that is no larger than a model may be.
fn read_file(path: &Path) -> Result<Vec<u8>, ModelError> {
    use std::io::Read;
    let io = |source| ModelError::Io { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let found = file.metadata().map_err(io)?.len();
    if found > MAX_FILE {
        return Err(ModelError::TooLarge { path: path.to_owned(), found, limit: MAX_FILE });
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}
