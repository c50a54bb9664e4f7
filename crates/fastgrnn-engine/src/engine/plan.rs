//! How a network is computed: which products, of which padded sizes, and where gradients gather.

use super::pointwise::{self, SCALARS, Shape};
use crate::simd::{Simd, padded};
use fastgrnn_core::cells::{Cell, Scalar};
use fastgrnn_core::net::{Layout, Network};
use std::ops::Range;

/// The blocks of `pre` that W's blocks add to: the first ones, in order.
pub(super) const W_BLOCKS: [usize; 4] = [0, 1, 2, 3];

/// How W or U is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It is stored full-rank.
    Full,
    /// Two products, through the rank.
    Factored,
    /// The factors are multiplied once a step, then it is used as full-rank. The result is the same
    /// up to rounding and cheaper where the rank is not small.
    Merged,
}

/// W or U of a layer: `outputs × inputs`, stacked blocks as rows.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) form: Form,
    pub(super) inputs: usize,
    pub(super) rank: usize,
    /// The rank, padded; 0 for full rank.
    pub(super) rank_width: usize,
    /// Columns that the main product reads: the inputs, or the rank if factored.
    pub(super) k: usize,
    /// `k`, padded.
    pub(super) width: usize,
    /// The whole matrix, or its first factor, in the flat buffer.
    pub(super) first: Range<usize>,
    /// The second factor in the flat buffer; empty for full rank.
    pub(super) second: Range<usize>,
    /// Gradient of the main product's matrix, transposed: `k × pre·width`.
    pub(super) grad_first: Range<usize>,
    /// Gradient of the second factor if factored: `inputs × width`.
    pub(super) grad_second: Range<usize>,
}

/// Blocks of `pre` that are computed together because the same inputs reach them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) first: usize,
    pub(super) blocks: usize,
    pub(super) reads_h: bool,
    pub(super) reads_x: bool,
}

/// Where an element-wise parameter comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The flat buffer; `raw` means through a sigmoid.
    Params { at: Range<usize>, raw: bool },
    /// A constant.
    Fixed(f32),
    /// One minus α.
    Tied,
    /// The cell does not have it.
    Absent,
}

/// One layer.
pub(super) struct LayerPlan {
    pub(super) cell: Cell,
    pub(super) shape: Shape,
    pub(super) hidden: usize,
    /// Hidden units, padded.
    pub(super) width: usize,
    pub(super) w: Matrix,
    pub(super) u: Matrix,
    pub(super) groups: Vec<Group>,
    pub(super) vectors: Vec<Source>,
    pub(super) scalars: [Source; 4],
    /// Gradients of vectors and scalars.
    pub(super) grad_point: Range<usize>,
    /// Whether the layer below wants the gradient of this one's input.
    pub(super) needs_dx: bool,
}

/// The linear head.
pub(super) struct HeadPlan {
    pub(super) hidden: usize,
    pub(super) outputs: usize,
    /// Outputs, padded.
    pub(super) width: usize,
    pub(super) w: Range<usize>,
    pub(super) b: Range<usize>,
    /// `hidden × width`, transposed.
    pub(super) grad_w: Range<usize>,
    pub(super) grad_b: Range<usize>,
}

/// A whole network.
pub(super) struct Plan {
    pub(super) net: Network,
    pub(super) layers: Vec<LayerPlan>,
    pub(super) head: HeadPlan,
    /// Parameters.
    pub(super) params: usize,
    /// Entries of a gradient as the kernels gather it, padded and transposed.
    pub(super) grads: usize,
}

/// Hands out consecutive ranges, each from a cache line on.
struct Ranges(usize);

impl Ranges {
    fn take(&mut self, n: usize) -> Range<usize> {
        let start = self.0.next_multiple_of(16);
        self.0 = start + n;
        start..self.0
    }
}

impl Plan {
    pub(super) fn new<S: Simd>(net: &Network) -> Self {
        let layout = net.layout();
        let mut grads = Ranges(0);
        let layers = (0..net.layers.len())
            .map(|i| LayerPlan::new::<S>(&net.layers[i], i, &layout, &mut grads))
            .collect();
        let width = padded::<S>(net.outputs);
        let range = |name| layout.view(name).expect("every network has a head").range();
        let head = HeadPlan {
            hidden: net.hidden(),
            outputs: net.outputs,
            width,
            w: range("head.w"),
            b: range("head.b"),
            grad_w: grads.take(net.hidden() * width),
            grad_b: grads.take(width),
        };
        Self { net: net.clone(), layers, head, params: layout.len(), grads: grads.0 }
    }
}

impl LayerPlan {
    fn new<S: Simd>(cell: &Cell, index: usize, layout: &Layout, grads: &mut Ranges) -> Self {
        let range = |name: &str| layout.view(&format!("layer{index}.{name}")).map(|v| v.range());
        let shape = pointwise::shape(cell.kind);
        let width = padded::<S>(cell.hidden);
        let stacked = cell.blocks() * cell.hidden;
        let mut matrix = |names: [&str; 3], inputs: usize, rank: Option<usize>, form: Form| {
            let rank_width = rank.map_or(0, padded::<S>);
            let k = if form == Form::Factored { rank.unwrap_or(0) } else { inputs };
            Matrix {
                form,
                inputs,
                rank: rank.unwrap_or(0),
                rank_width,
                k,
                width: padded::<S>(k),
                first: range(names[0]).or_else(|| range(names[1])).expect("a cell has W and U"),
                second: range(names[2]).unwrap_or(0..0),
                grad_first: grads.take(k * shape.pre * width),
                grad_second: grads.take(if form == Form::Factored { inputs * rank_width } else { 0 }),
            }
        };
        let w_form = form_of_w::<S>(cell.rank_w, cell.input, stacked, index > 0);
        let w = matrix(["w", "w1", "w2"], cell.input, cell.rank_w, w_form);
        let u_form = form_of_u::<S>(cell.rank_u, cell.hidden, stacked);
        let u = matrix(["u", "u1", "u2"], cell.hidden, cell.rank_u, u_form);
        let source = |name: &str, raw: bool| match cell.scalars.mode(name) {
            Scalar::Fixed(value) if raw => Source::Fixed(value),
            Scalar::Tied if raw => Source::Tied,
            _ => range(name).map_or(Source::Absent, |at| Source::Params { at, raw }),
        };
        let declared = cell.kind.declaration().pointwise;
        let vectors: Vec<Source> =
            declared.iter().filter(|p| p.is_vector).map(|p| source(p.name, p.through_sigmoid)).collect();
        let scalars = SCALARS.map(|name| {
            let is_scalar = declared.iter().any(|p| p.name == name && !p.is_vector);
            if is_scalar { source(name, true) } else { Source::Absent }
        });
        let grad_point = grads.take(vectors.len() * width + SCALARS.len());
        Self {
            cell: cell.clone(),
            groups: groups(cell.blocks(), &shape),
            shape,
            hidden: cell.hidden,
            width,
            w,
            u,
            vectors,
            scalars,
            grad_point,
            needs_dx: index > 0,
        }
    }

    /// Columns of a row of `pre`.
    pub(super) fn pre_width(&self) -> usize {
        self.shape.pre * self.width
    }

    /// Vectors of a row saved for backward.
    pub(super) fn saved_width(&self) -> usize {
        self.shape.saved * self.width
    }

    /// Runs of blocks of `pre` that U reaches: (first, count).
    pub(super) fn u_runs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups_with(|g| g.reads_h)
    }

    /// Runs of blocks of `pre` that W reaches.
    pub(super) fn w_runs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups_with(|g| g.reads_x)
    }

    fn groups_with(&self, reads: impl Fn(&Group) -> bool) -> impl Iterator<Item = (usize, usize)> {
        self.groups.iter().filter(move |g| reads(g)).map(|g| (g.first, g.blocks))
    }
}

/// Blocks grouped by what reaches them: one group for all cells but the GRU.
fn groups(w_blocks: usize, shape: &Shape) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for block in 0..shape.pre {
        let (reads_h, reads_x) = (shape.u_blocks.contains(&block), block < w_blocks);
        match groups.last_mut() {
            Some(g) if g.reads_h == reads_h && g.reads_x == reads_x => g.blocks += 1,
            _ => groups.push(Group { first: block, blocks: 1, reads_h, reads_x }),
        }
    }
    groups
}

/// Multiply-adds of a training step decide; padding counts, since it is computed.
fn form_of_u<S: Simd>(rank: Option<usize>, hidden: usize, stacked: usize) -> Form {
    let Some(rank) = rank else { return Form::Full };
    let (width, rank_width, stacked_width) =
        (padded::<S>(hidden), padded::<S>(rank), stacked / hidden * padded::<S>(hidden));
    let merged = 2 * hidden * stacked_width + stacked * width;
    let factored = 2 * (hidden * rank_width + rank * stacked_width) + stacked * rank_width + rank * width;
    // A single product also saves passes over the activations, hence the margin of a tenth.
    if 10 * merged <= 11 * factored { Form::Merged } else { Form::Factored }
}

fn form_of_w<S: Simd>(rank: Option<usize>, inputs: usize, stacked: usize, needs_dx: bool) -> Form {
    let Some(rank) = rank else { return Form::Full };
    let rank_width = padded::<S>(rank);
    let merged = 2 * inputs * stacked + if needs_dx { inputs * stacked } else { 0 };
    let factored = 2 * (inputs * rank_width + rank * stacked)
        + stacked * rank_width
        + if needs_dx { rank * inputs } else { 0 };
    if 10 * merged <= 11 * factored { Form::Merged } else { Form::Factored }
}
