//! The networks of a cohort, and where their numbers lie in device memory.

use super::jumps::{DRAWS_OF_CHUNK, STATE_WORDS};
use super::mirror::*;
use fastgrnn_core::cells::{Cell, CellKind, CellMatrix, MatrixForm, Scalar, ScalarName};
use fastgrnn_core::net::{Network, View};
use std::ops::Range;

/// Side of a patch of a matrix.
pub(super) const PATCH: usize = 32;
/// Entries that a block copies where there is no matrix to turn.
const PIECE: usize = 1024;
/// Parameters of a network are padded to a multiple of this.
const STRIDE: usize = 32;

/// Why networks cannot be trained together on a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CohortError {
    /// No network.
    #[error("a cohort needs at least one network")]
    Empty,
    /// Too many layers.
    #[error("network {network} has {layers} layers; a GPU trains networks of at most {MAX_LAYERS}")]
    Layers {
        /// Which network.
        network: usize,
        /// Its layers.
        layers: usize,
    },
    /// Networks of several kinds.
    #[error(
        "network {network} differs from network 0 in its cells, inputs or outputs; only networks that differ in \
         widths, ranks and scalars are trained together"
    )]
    Unlike {
        /// Which network.
        network: usize,
    },
    /// A cell without kernels.
    #[error("network {network} has the cell {cell}, which is trained on the CPU only")]
    Cell {
        /// Which network.
        network: usize,
        /// Its cell.
        cell: CellKind,
    },
    /// A network that reads tokens.
    #[error("network {network} reads tokens, and a GPU trains networks that read numbers")]
    Tokens {
        /// Which network.
        network: usize,
    },
}

/// Whether there are kernels for this cell: their rules read each unit apart from the others.
pub fn has_kernels(kind: CellKind) -> bool {
    !kind.declaration().has_pairs
}

/// The networks of a cohort and where their numbers lie in device memory.
#[derive(Clone, Debug)]
pub struct CohortPlan {
    pub(super) places: NetworkPlaces,
    packed: usize,
    padded: usize,
    pub(super) sources: Vec<NetworkSource>,
    views: Vec<Vec<ViewSource>>,
    /// The place of the step of each view.
    steps: Vec<Vec<i32>>,
}

impl CohortPlan {
    /// The plan of checked networks that have the same cells, input and outputs. Units of layers are padded to a
    /// multiple of `units`, features of the data to one of `features`.
    ///
    /// `target` is the fraction of a view of a network that the last projection is to keep, 1 for one that stays dense.
    pub fn new(
        networks: &[Network],
        units: usize,
        features: usize,
        target: impl Fn(usize, &View) -> f64,
    ) -> Result<Self, CohortError> {
        let first = networks.first().ok_or(CohortError::Empty)?;
        for (i, network) in networks.iter().enumerate() {
            if network.embedding.is_some() {
                return Err(CohortError::Tokens { network: i });
            }
            if network.layers.len() > MAX_LAYERS {
                return Err(CohortError::Layers { network: i, layers: network.layers.len() });
            }
            if let Some(cell) = network.layers.iter().find(|cell| !has_kernels(cell.kind)) {
                return Err(CohortError::Cell { network: i, cell: cell.kind });
            }
            let kinds = |network: &Network| network.layers.iter().map(|cell| cell.kind).collect::<Vec<_>>();
            let is_alike = network.input() == first.input() && network.outputs == first.outputs;
            if !is_alike || kinds(network) != kinds(first) {
                return Err(CohortError::Unlike { network: i });
            }
        }
        let (places, padded, packed) = places(networks, units, features);
        let sources = networks.iter().map(source).collect();
        let views = networks.iter().enumerate().map(|(i, network)| views(network, |view| target(i, view)));
        let steps = networks.iter().map(steps).collect();
        Ok(Self { places, packed, padded, sources, views: views.collect(), steps })
    }

    /// How many networks there are.
    pub fn networks(&self) -> usize {
        self.sources.len()
    }

    /// The places of the layers and of the head in a network's part of the padded buffers.
    pub fn places(&self) -> &NetworkPlaces {
        &self.places
    }

    /// Numbers of a network in the padded buffer.
    pub fn packed_stride(&self) -> usize {
        self.packed
    }

    /// Numbers of a network in the padded gradient.
    pub fn padded_stride(&self) -> usize {
        self.padded
    }

    /// Numbers of a network in buffers of flat parameters.
    pub fn parameter_stride(&self) -> usize {
        let most = self.sources.iter().map(|source| source.parameters as usize).max();
        most.unwrap_or(0).next_multiple_of(STRIDE)
    }

    /// The numbers of a network in buffers of flat parameters.
    pub fn parameters(&self, network: usize) -> Range<usize> {
        let first = network * self.parameter_stride();
        first..first + self.sources[network].parameters as usize
    }

    /// Views of the network that has the most.
    pub fn view_stride(&self) -> usize {
        self.views.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Words of a network that say which of its entries are dropped.
    pub fn drawn_stride(&self) -> usize {
        self.chunks() * DRAWS_OF_CHUNK / 32
    }

    /// The bytes of block memory that the draws of dropped entries need.
    pub fn drop_bytes(&self) -> usize {
        self.chunks() * STATE_WORDS * size_of::<u32>()
    }

    /// Chunks of draws of the network that has the most.
    pub(super) fn chunks(&self) -> usize {
        let most = self.sources.iter().map(|source| source.draws as usize).max();
        most.unwrap_or(0).div_ceil(DRAWS_OF_CHUNK)
    }

    /// Blocks of the kernel `pack` for each network.
    pub(super) fn pack_jobs(&self) -> usize {
        let NetworkPlaces { layer_count, layers, head } = &self.places;
        let of_layer = |layer: &LayerPlaces| {
            let LayerPlaces { hidden, input, w_blocks, u_blocks, .. } = *layer;
            patches(w_blocks * hidden) * patches(input) + patches(u_blocks * hidden) * patches(hidden) + 1
        };
        let of_layers: usize = layers[..*layer_count as usize].iter().map(of_layer).sum();
        of_layers + pieces(head.outputs * (head.hidden + 1))
    }

    /// Blocks of the kernel `pull_back` for the network that needs the most.
    pub(super) fn pull_back_jobs(&self) -> usize {
        let NetworkPlaces { layer_count, layers, head } = &self.places;
        let of_matrix = |source: &MatrixSource, rows: i32, columns: i32| match source.form {
            FULL => patches(rows) * patches(columns),
            LOW_RANK => (patches(rows) + patches(columns)) * patches(source.rank),
            DIAGONAL => pieces(rows),
            _ => 0,
        };
        let of_network = |source: &NetworkSource| {
            let both = layers[..*layer_count as usize].iter().zip(&source.layers);
            let of_layers = both.map(|(places, layer)| {
                of_matrix(&layer.w, places.w_blocks * layer.hidden, layer.input)
                    + of_matrix(&layer.u, places.u_blocks * layer.hidden, layer.hidden)
                    + 1
            });
            of_layers.sum::<usize>() + pieces(head.outputs * (source.head_hidden + 1))
        };
        self.sources.iter().map(of_network).max().unwrap_or(0)
    }

    /// The parameter whose gradient each number of the padded gradients is, or [`NO_PARAMETER`], with [`RAW_PARAMETER`]
    /// where the cell reads it through a sigmoid. None where a gradient is made of several numbers: that of a factor,
    /// or of a scalar to which another one is tied.
    pub(super) fn parameter_of(&self) -> Option<Vec<i32>> {
        let mut all = vec![NO_PARAMETER; self.networks() * self.padded];
        for (of, source) in all.chunks_mut(self.padded.max(1)).zip(&self.sources) {
            for (places, layer) in self.places.layers.iter().zip(&source.layers).take(self.layer_count()) {
                let u = (&layer.u, places.u, places.u_blocks, layer.hidden);
                for (matrix, at, blocks, columns) in [(&layer.w, places.w, places.w_blocks, layer.input), u] {
                    let rows = blocks * layer.hidden;
                    let mut set = |row: i32, column: i32, parameter: i32| {
                        let padded_row = row / layer.hidden * places.hidden + row % layer.hidden;
                        of[(at + column * blocks * places.hidden + padded_row) as usize] = parameter;
                    };
                    match matrix.form {
                        FULL => {
                            (0..rows * columns).for_each(|i| set(i / columns, i % columns, matrix.first + i))
                        }
                        DIAGONAL => {
                            (0..rows).for_each(|row| set(row, row % layer.hidden, matrix.first + row));
                        }
                        NO_MATRIX => {}
                        _ => return None,
                    }
                }
                for (vector, point) in layer.vectors.iter().enumerate().filter(|(_, point)| point.at >= 0) {
                    let raw = if point.is_raw != 0 { RAW_PARAMETER } else { 0 };
                    let at = places.vectors + vector as i32 * places.hidden;
                    (0..layer.hidden).for_each(|unit| of[(at + unit) as usize] = (point.at + unit) | raw);
                }
                for (scalar, point) in layer.scalars.iter().enumerate() {
                    match point.at {
                        TIED => return None,
                        at if at >= 0 => of[places.scalars as usize + scalar] = at | RAW_PARAMETER,
                        _ => {}
                    }
                }
            }
            let (head, hidden) = (&self.places.head, source.head_hidden);
            for i in 0..head.outputs * hidden {
                of[(head.w + i / hidden * head.hidden + i % hidden) as usize] = source.head_w + i;
            }
            (0..head.outputs).for_each(|o| of[(head.b + o) as usize] = source.head_b + o);
        }
        Some(all)
    }

    fn layer_count(&self) -> usize {
        self.places.layer_count as usize
    }

    /// The views of all networks, as many of each as of the one that has the most.
    pub(super) fn all_views(&self) -> Vec<ViewSource> {
        let stride = self.view_stride();
        let padding = std::iter::repeat(ViewSource { target: 1.0, ..ViewSource::default() });
        self.views
            .iter()
            .flat_map(|views| views.iter().copied().chain(padding.clone()).take(stride))
            .collect()
    }

    /// The place of the step of each view, if any network has matrices of 4 bits.
    pub(super) fn steps(&self) -> Option<Vec<i32>> {
        let stride = self.view_stride();
        let padded = |steps: &Vec<i32>| {
            let padding = std::iter::repeat(NO_STEP);
            steps.iter().copied().chain(padding).take(stride).collect::<Vec<_>>()
        };
        let is_there = self.steps.iter().flatten().any(|&step| step != NO_STEP);
        is_there.then(|| self.steps.iter().flat_map(padded).collect())
    }

    /// The view of each entry of the flat buffers.
    pub(super) fn view_of(&self) -> Vec<u8> {
        let mut view_of = vec![0; self.networks() * self.parameter_stride()];
        for (network, views) in self.views.iter().enumerate() {
            let entries = &mut view_of[self.parameters(network)];
            for (number, view) in views.iter().enumerate() {
                entries[view.offset as usize..(view.offset + view.length) as usize].fill(number as u8);
            }
        }
        view_of
    }
}

fn patches(length: i32) -> usize {
    (length as usize).div_ceil(PATCH)
}

fn pieces(length: i32) -> usize {
    (length as usize).div_ceil(PIECE)
}

/// The places of a cohort, and the numbers of a network in the padded gradient and in the padded buffer.
fn places(networks: &[Network], units: usize, features: usize) -> (NetworkPlaces, usize, usize) {
    let mut at = 0usize;
    // Kernels read four numbers at a time.
    let mut take = |count: i32| {
        let first = at;
        at = (at + count as usize).next_multiple_of(4);
        first as i32
    };
    let mut all = NetworkPlaces { layer_count: networks[0].layers.len() as i32, ..NetworkPlaces::default() };
    let mut input = networks[0].input().next_multiple_of(features) as i32;
    for (i, cell) in networks[0].layers.iter().enumerate() {
        let widest = networks.iter().map(|network| network.layers[i].hidden).max().unwrap_or(0);
        let (hidden, blocks) = (widest.next_multiple_of(units) as i32, cell.blocks() as i32);
        let declaration = cell.kind.declaration();
        let u_blocks = if declaration.reads_state { blocks } else { 0 };
        let vector_count = declaration.pointwise.iter().filter(|point| point.is_vector).count() as i32;
        all.layers[i] = LayerPlaces {
            hidden,
            input,
            w_blocks: blocks,
            u_blocks,
            vector_count,
            w: take(input * blocks * hidden),
            u: take(hidden * u_blocks * hidden),
            vectors: take(vector_count * hidden),
            scalars: take(SCALARS as i32),
            w_rows: 0,
            u_rows: 0,
        };
        input = hidden;
    }
    let outputs = networks[0].outputs as i32;
    all.head = HeadPlaces { hidden: input, outputs, w: take(outputs * input), b: take(outputs) };
    // What has no gradient comes last.
    let padded = take(0) as usize;
    for layer in &mut all.layers[..networks[0].layers.len()] {
        layer.w_rows = take(layer.w_blocks * layer.hidden * layer.input);
        layer.u_rows = take(layer.u_blocks * layer.hidden * layer.hidden);
    }
    let packed = take(0) as usize;
    (all, padded, packed)
}

/// A number of a padded gradient that belongs to no parameter.
const NO_PARAMETER: i32 = -1;
/// The bit of a parameter that the cell reads through a sigmoid.
const RAW_PARAMETER: i32 = 1 << 30;

const FULL: i32 = 0;
const LOW_RANK: i32 = 1;
const DIAGONAL: i32 = 2;
const NO_MATRIX: i32 = 3;

/// The place of the step of a view that has none.
const NO_STEP: i32 = -1;

/// Whether entries of a view are dropped.
fn is_recurrent(view: &View) -> bool {
    matches!(view.name.split_once('.'), Some((_, "u" | "u1" | "u2")))
}

/// The views of a network, in order.
fn views(network: &Network, target: impl Fn(&View) -> f64) -> Vec<ViewSource> {
    use fastgrnn_core::cells::Role;
    let mut draws = 0;
    let of_view = |view: &View| {
        let draw = if is_recurrent(view) { draws } else { -1 };
        draws += if is_recurrent(view) { view.len() as i32 } else { 0 };
        ViewSource {
            offset: view.offset as i32,
            length: view.len() as i32,
            draw,
            is_decayed: i32::from(matches!(view.role, Role::Weight | Role::Embedding)),
            target: target(view),
        }
    };
    network.layout().views().iter().map(of_view).collect()
}

/// The place of the step of each view of a network.
fn steps(network: &Network) -> Vec<i32> {
    let layout = network.layout();
    let step =
        |view: &View| layout.stepped().find(|(matrix, _)| *matrix == view).map(|(_, step)| step.offset);
    layout.views().iter().map(|view| step(view).map_or(NO_STEP, |at| at as i32)).collect()
}

/// Where a network's flat buffer holds what.
fn source(network: &Network) -> NetworkSource {
    let layout = network.layout();
    let views = views(network, |_| 1.0);
    let of_name = |name: &str| {
        let number = layout.views().iter().position(|view| view.name == name);
        number.map(|number| views[number])
    };
    let at = |name: &str| of_name(name).map_or(ABSENT, |view| view.offset);
    let mut source = NetworkSource {
        parameters: layout.len() as i32,
        views: views.len() as i32,
        draws: views.iter().filter(|view| view.draw >= 0).map(|view| view.length).sum(),
        head_hidden: network.hidden() as i32,
        head_w: at("head.w"),
        head_b: at("head.b"),
        layers: [LayerSource::default(); MAX_LAYERS],
    };
    for (i, cell) in network.layers.iter().enumerate() {
        source.layers[i] = layer_source(cell, |name| of_name(&format!("layer{i}.{name}")));
    }
    source
}

fn layer_source(cell: &Cell, of_name: impl Fn(&str) -> Option<ViewSource>) -> LayerSource {
    let matrix = |matrix: &CellMatrix| {
        let of_param =
            |i: usize| matrix.params().get(i).and_then(|param| of_name(param.name)).unwrap_or_default();
        let (form, rank) = match matrix.form {
            MatrixForm::Full => (FULL, 0),
            MatrixForm::LowRank(rank) => (LOW_RANK, rank as i32),
            MatrixForm::Diagonal => (DIAGONAL, 0),
            MatrixForm::Absent => (NO_MATRIX, 0),
        };
        let (first, second) = (of_param(0), of_param(1));
        MatrixSource { form, rank, first: first.offset, second: second.offset, draw: first.draw }
    };
    let point = |name: &str, is_raw: bool| {
        let (at, value) = match cell.scalars.mode(name) {
            Scalar::Fixed(value) if is_raw => (FIXED, value),
            Scalar::Tied if is_raw => (TIED, 0.0),
            _ => (of_name(name).map_or(ABSENT, |view| view.offset), 0.0),
        };
        PointSource { at, is_raw: i32::from(is_raw), value }
    };
    let declared = cell.kind.declaration().pointwise;
    let mut vectors = [PointSource::default(); MAX_VECTORS];
    for (to, vector) in vectors.iter_mut().zip(declared.iter().filter(|point| point.is_vector)) {
        *to = point(vector.name, vector.through_sigmoid());
    }
    let scalars = ScalarName::ALL.map(|scalar| {
        let is_scalar = declared.iter().any(|point| point.name == scalar.name() && !point.is_vector);
        if is_scalar { point(scalar.name(), true) } else { PointSource::default() }
    });
    LayerSource {
        input: cell.input as i32,
        hidden: cell.hidden as i32,
        w: matrix(&cell.w()),
        u: matrix(&cell.u()),
        vectors,
        scalars,
    }
}
