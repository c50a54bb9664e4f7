//! Integer models as safetensors files: int8 weights and gains, int16 biases, scales in the metadata. Entries of
//! 4 bits and biases of 8 bits are stored in as many bits as others, which is easier to read.

use super::build::check_form;
use super::detector::Detector;
use super::network::{meaning, stored_scalars};
use super::{
    BiasBits, EntryGrid, Grid, InputScale, IntegerEmbedding, IntegerFactors, IntegerLayer, IntegerMatrix,
    IntegerModel, IntegerNetwork, StepGrid,
};
use crate::model::{ModelError, ModelProblem, Opened, Tensor, load_file, write_file, write_tensors};
use fastgrnn_core::cells::{Cell, MatrixForm, Role, WeightBits};
use fastgrnn_core::net::{EMBEDDING, Embedding, InitialState};
use fastgrnn_runtime::int::Shifts;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// What the metadata of an integer model hold besides a float model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scales {
    input_bits: u32,
    input_shift: u32,
    offset_shift: u32,
    layers: Vec<LayerScales>,
    head_grid: StoredGrid,
    head_shift: u32,
    #[serde(default, skip_serializing_if = "BiasBits::is_sixteen")]
    head_bias_bits: BiasBits,
    /// Of a network that reads texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embedding_grid: Option<Grid>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerScales {
    sums: u32,
    state: u32,
    memory: u32,
    bias: u32,
    w2: u32,
    w1: u32,
    u2: u32,
    u1: u32,
    /// In the order of the layer's matrices.
    grids: Vec<StoredGrid>,
    /// Whether a state to start from is stored.
    start: bool,
    #[serde(default, skip_serializing_if = "BiasBits::is_sixteen")]
    bias_bits: BiasBits,
}

/// The grid of a matrix: the exponent of bytes, or the step of entries of 4 bits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredGrid {
    Bytes(Grid),
    FourBits(StoredStep),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStep {
    step: f32,
}

impl From<EntryGrid> for StoredGrid {
    fn from(grid: EntryGrid) -> Self {
        match grid {
            EntryGrid::Bytes(grid) => Self::Bytes(grid),
            EntryGrid::FourBits(StepGrid { step }) => Self::FourBits(StoredStep { step }),
        }
    }
}

const LSB: &str = "input.lsb";
const OFFSET: &str = "input.offset";
const FACTOR: &str = "input.factor";

impl IntegerModel {
    /// The model as the bytes of a file; the same bytes for the same model.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelProblem> {
        let network = &self.network;
        let input = &network.input;
        let dim = input.lsb.len();
        let words = |values: &[i16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let unsigned = |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let lsb = input.lsb.iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut tensors = match network.embedding {
            Some(_) => Vec::new(),
            None => vec![
                Tensor::new(LSB, Dtype::F32, vec![dim], lsb),
                Tensor::new(OFFSET, Dtype::I16, vec![dim], words(&input.offsets)),
                Tensor::new(FACTOR, Dtype::U16, vec![dim], unsigned(&input.factors)),
            ],
        };
        let matrix = |name: String, m: &IntegerMatrix| {
            let unit = unit(m.bits());
            let bytes = m.entries.iter().map(|&v| (v / unit) as u8).collect();
            Tensor::new(name, Dtype::I8, vec![m.rows, m.cols], bytes)
        };
        for (i, layer) in network.layers.iter().enumerate() {
            let mut matrices = layer.w.matrices().chain(layer.u.matrices());
            let mut biases = layer.biases.iter();
            for p in layer.cell.params() {
                let name = format!("layer{i}.{}", p.name);
                match p.role {
                    Role::Weight => tensors.extend(matrices.next().map(|m| matrix(name, m))),
                    Role::Bias => tensors.extend(
                        biases.next().map(|b| Tensor::new(name, Dtype::I16, vec![b.len()], words(b))),
                    ),
                    Role::Gain => {
                        let bytes = layer.gains.iter().map(|&v| v as u8).collect();
                        tensors.push(Tensor::new(name, Dtype::I8, vec![layer.gains.len()], bytes));
                    }
                    Role::Raw | Role::Embedding | Role::Basis | Role::Step => {}
                }
            }
            for (scalar, entries) in layer.stored_scalars() {
                let (name, bytes) = (scalar.name(), unsigned(layer.scalar(scalar)));
                tensors.push(Tensor::new(format!("layer{i}.{name}"), Dtype::U16, vec![entries], bytes));
            }
            if !layer.start.is_empty() {
                let shape = vec![layer.start.len()];
                tensors.push(Tensor::new(format!("layer{i}.start"), Dtype::I16, shape, words(&layer.start)));
            }
        }
        if !network.is_tied() {
            tensors.push(matrix("head.w".into(), &network.head));
        }
        if let Some(embedding) = &network.embedding {
            tensors.push(matrix(EMBEDDING.into(), &embedding.vectors));
        }
        let biases = words(&network.head_biases);
        tensors.push(Tensor::new("head.b", Dtype::I16, vec![network.head_biases.len()], biases));
        let json = |what: serde_json::Result<Value>| {
            what.map_err(|e| ModelProblem::Metadata { what: e.to_string() })
        };
        let scales = json(serde_json::to_value(self.scales()))?;
        let detector = self.detector().map(|d| json(serde_json::to_value(d))).transpose()?;
        write_tensors(&self.model, tensors, Some(scales), detector)
    }

    fn scales(&self) -> Scales {
        let network = &self.network;
        let layers = network.layers.iter().map(|layer| {
            let Shifts { sums, state, memory, bias, w2, w1, u2, u1 } = layer.shifts;
            let grids = layer.w.matrices().chain(layer.u.matrices()).map(|m| m.grid.into()).collect();
            let (start, bias_bits) = (!layer.start.is_empty(), layer.bias_bits);
            LayerScales { sums, state, memory, bias, w2, w1, u2, u1, grids, start, bias_bits }
        });
        let bytes_only = |grid: EntryGrid| match grid {
            EntryGrid::Bytes(grid) => Some(grid),
            EntryGrid::FourBits(_) => None,
        };
        Scales {
            input_bits: network.input.bits,
            input_shift: network.input.shift,
            offset_shift: network.input.offset_shift,
            layers: layers.collect(),
            head_grid: network.head.grid.into(),
            head_shift: network.head_shift,
            head_bias_bits: network.head_bias_bits,
            embedding_grid: network.embedding.as_ref().and_then(|e| bytes_only(e.vectors.grid)),
        }
    }

    /// Reads the bytes of an integer model's file, which may be anything.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelProblem> {
        Self::read(Opened::new(bytes)?)
    }

    pub(crate) fn read(mut file: Opened<'_>) -> Result<Self, ModelProblem> {
        let Some(scales) = file.scales::<Scales>()? else { return Err(ModelProblem::NotInteger) };
        let contents = file.contents();
        let detector: Option<Detector> = file.detector()?;
        let about = file.network().clone();
        let initial = if file.starts_at_random() { InitialState::Random } else { InitialState::Zero };
        check_form(&about, file.normalize(), &initial)
            .map_err(|e| ModelProblem::Metadata { what: e.to_string() })?;
        let wrong = |what: &str| ModelProblem::Metadata { what: format!("integer scales: {what}") };
        if scales.layers.len() != about.layers.len() {
            return Err(wrong("they are of another number of layers"));
        }
        let dim = about.input();
        let vectors = match (about.embedding, scales.embedding_grid) {
            (Some(Embedding { vocabulary, .. }), Some(on)) => {
                let on = StoredGrid::Bytes(on);
                Some(read_matrix(&mut file, EMBEDDING, vocabulary, dim, on, WeightBits::Eight)?)
            }
            (None, None) => None,
            (Some(_), None) => return Err(wrong("`embedding_grid` is missing")),
            (None, Some(_)) => return Err(wrong("`embedding_grid` of a network that reads no texts")),
        };
        let input = match scales.embedding_grid {
            Some(grid) => {
                let input = InputScale::of_tokens(grid);
                let found = (scales.input_bits, scales.input_shift, scales.offset_shift);
                if found != (input.bits, input.shift, input.offset_shift) {
                    return Err(wrong("those of the input are not those of the vectors of tokens"));
                }
                input
            }
            None => InputScale {
                lsb: file.floats(LSB, vec![dim])?,
                offsets: file.words(OFFSET, dim)?,
                factors: file.unsigned(FACTOR, dim)?,
                shift: byte(scales.input_shift)?,
                offset_shift: byte(scales.offset_shift)?,
                bits: byte(scales.input_bits)?,
            },
        };
        if input.lsb.iter().any(|v| *v <= 0.0) {
            return Err(wrong("a count must be worth more than 0"));
        }
        let mut layers = Vec::new();
        for (i, (cell, scales)) in about.layers.iter().zip(&scales.layers).enumerate() {
            layers.push(read_layer(&mut file, i, cell, scales)?);
        }
        let (outputs, hidden) = (about.outputs, about.hidden());
        let head = match &vectors {
            Some(vectors) if about.is_tied() => {
                if StoredGrid::from(vectors.grid) != scales.head_grid {
                    return Err(wrong(
                        "`head_grid` is not that of the vectors of tokens, which are its matrix",
                    ));
                }
                vectors.clone()
            }
            _ => read_matrix(&mut file, "head.w", outputs, hidden, scales.head_grid, about.bits_head)?,
        };
        let tied = about.is_tied();
        let embedding = vectors.map(|vectors| IntegerEmbedding { vectors, tied });
        let head_bias_bits = scales.head_bias_bits;
        let head_biases = read_biases(&mut file, "head.b", outputs, head_bias_bits)?;
        let model = file.finish(Vec::new())?;
        let meaning = meaning(&model.task, model.loss, outputs);
        let head_shift = byte(scales.head_shift)?;
        let network = IntegerNetwork {
            embedding,
            input,
            window: about.window,
            layers,
            head,
            head_biases,
            head_bias_bits,
            head_shift,
            meaning,
        };
        if !(-8..=34).contains(&network.score_bits()) {
            return Err(wrong("scores with fewer than -8 or more than 34 fraction bits"));
        }
        let mut integer =
            Self::new(&model, network).map_err(|e| ModelProblem::Metadata { what: e.to_string() })?;
        integer.set_detector(detector).map_err(|e| ModelProblem::Metadata { what: e.to_string() })?;
        contents.check()?;
        Ok(integer)
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        write_file(path.as_ref(), self.to_bytes())
    }

    /// Reads an integer model's file, which may be anything.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        load_file(path.as_ref(), Self::from_bytes)
    }
}

/// A scale, which an image holds in a byte; the image's reader checks its range.
fn byte(value: u32) -> Result<u32, ModelProblem> {
    let what = || format!("integer scales: {value} is no shift");
    if value <= 30 { Ok(value) } else { Err(ModelProblem::Metadata { what: what() }) }
}

/// What an entry of 1 in a file is among those of an [`IntegerMatrix`].
fn unit(bits: WeightBits) -> i8 {
    match bits {
        WeightBits::Eight => 1,
        WeightBits::Four => 16,
    }
}

/// The grid of a matrix whose entries have so many bits.
fn grid(name: &str, grid: StoredGrid, bits: WeightBits) -> Result<EntryGrid, ModelProblem> {
    let wrong = |what: String| Err(ModelProblem::Metadata { what: format!("integer scales: {what}") });
    match (grid, bits) {
        (StoredGrid::Bytes(grid), WeightBits::Eight) => match grid.exponent {
            Grid::COARSEST..=Grid::FINEST => Ok(EntryGrid::Bytes(grid)),
            other => wrong(format!("a grid exponent of {other}")),
        },
        (StoredGrid::FourBits(StoredStep { step }), WeightBits::Four) => {
            match StepGrid::STEPS.contains(&step) {
                true => Ok(EntryGrid::FourBits(StepGrid { step })),
                false => wrong(format!("a step of {step} for {name}, outside 1e-7 to 4096")),
            }
        }
        (StoredGrid::FourBits(_), _) => wrong(format!("a step for {name}, whose entries have 8 bits")),
        (StoredGrid::Bytes(_), _) => wrong(format!("no step for {name}, whose entries have 4 bits")),
    }
}

fn read_matrix(
    file: &mut Opened<'_>,
    name: &str,
    rows: usize,
    cols: usize,
    on: StoredGrid,
    bits: WeightBits,
) -> Result<IntegerMatrix, ModelProblem> {
    let mut entries: Vec<i8> =
        file.bytes(name, Dtype::I8, vec![rows, cols])?.iter().map(|&b| b as i8).collect();
    for entry in &mut entries {
        *entry = entry.checked_mul(unit(bits)).ok_or_else(|| ModelProblem::Metadata {
            what: format!("{name} has the entry {entry}, which does not fit 4 bits"),
        })?;
    }
    Ok(IntegerMatrix { rows, cols, entries, grid: grid(name, on, bits)? })
}

fn read_biases(
    file: &mut Opened<'_>,
    name: &str,
    len: usize,
    bits: BiasBits,
) -> Result<Vec<i16>, ModelProblem> {
    let biases = file.words(name, len)?;
    let most = bits.largest();
    match biases.iter().find(|bias| !(-most - 1..=most).contains(*bias)) {
        None => Ok(biases),
        Some(bias) => Err(ModelProblem::Metadata {
            what: format!("{name} has the entry {bias}, which does not fit {} bits", bits.count()),
        }),
    }
}

fn read_layer(
    file: &mut Opened<'_>,
    i: usize,
    cell: &Cell,
    scales: &LayerScales,
) -> Result<IntegerLayer, ModelProblem> {
    let wrong =
        |what: String| ModelProblem::Metadata { what: format!("integer scales of layer {i}: {what}") };
    let mut matrices = Vec::new();
    let (mut biases, mut gains) = (Vec::new(), Vec::new());
    let params = cell.params();
    let weights = params.iter().filter(|p| p.role == Role::Weight).count();
    let bits = |name: &str| if name.starts_with('w') { cell.bits_w } else { cell.bits_u };
    if scales.grids.len() != weights {
        return Err(wrong(format!("{} grids for {weights} matrices", scales.grids.len())));
    }
    let mut grids = scales.grids.iter();
    for p in &params {
        let name = format!("layer{i}.{}", p.name);
        match (p.role, grids.as_slice()) {
            (Role::Weight, [on, ..]) => {
                matrices.push(read_matrix(file, &name, p.rows, p.cols, *on, bits(p.name))?);
                grids.next();
            }
            (Role::Bias, _) => biases.push(read_biases(file, &name, p.rows, scales.bias_bits)?),
            (Role::Gain, _) => {
                let bytes = file.bytes(&name, Dtype::I8, vec![p.rows])?;
                gains.extend(bytes.iter().map(|&b| b as i8));
            }
            _ => {}
        }
    }
    let mut matrices = matrices.into_iter();
    let mut factors = |form: MatrixForm| {
        if form == MatrixForm::Absent {
            return Ok(IntegerFactors::absent());
        }
        let first = matrices.next().ok_or_else(|| wrong("a matrix is missing".into()))?;
        let second = if form.rank().is_some() { matrices.next() } else { None };
        Ok::<_, ModelProblem>(IntegerFactors { first, second })
    };
    let (w, u) = (factors(cell.form_w)?, factors(cell.form_u)?);
    let mut layer = IntegerLayer {
        cell: cell.clone(),
        shifts: Shifts {
            sums: byte(scales.sums)?,
            state: byte(scales.state)?,
            memory: byte(scales.memory)?,
            bias: byte(scales.bias)?,
            w2: byte(scales.w2)?,
            w1: byte(scales.w1)?,
            u2: byte(scales.u2)?,
            u1: byte(scales.u1)?,
        },
        w,
        u,
        biases,
        gains,
        bias_bits: scales.bias_bits,
        alpha: Vec::new(),
        beta: 0,
        zeta: 0,
        nu: 0,
        start: Vec::new(),
    };
    for (scalar, entries) in stored_scalars(cell) {
        layer.set_scalar(scalar, file.unsigned(&format!("layer{i}.{}", scalar.name()), entries)?);
    }
    if scales.start {
        layer.start = file.words(&format!("layer{i}.start"), cell.state_len())?;
    }
    Ok(layer)
}
