//! How a network is computed: which products, of which padded sizes, and where gradients gather.

use crate::cells;
use crate::simd::{Simd, padded};
use fastgrnn_core::cells::{Cell, CellMatrix, MatrixForm, Orthogonal, Scalar, ScalarName};
use fastgrnn_core::net::{EMBEDDING, Layout, Network};
use std::ops::Range;

/// The blocks of `pre` that W's blocks add to: the first ones, in order.
pub(super) const W_BLOCKS: [usize; 4] = [0, 1, 2, 3];

/// How the product with W or U is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// As a full matrix, which the parameters are.
    Direct,
    /// Two products, through the rank.
    Factored,
    /// As a full matrix that is made from the parameters once a training step. For factors the
    /// result is the same up to rounding and cheaper where the rank is not small.
    Materialised,
    /// Element by element, block by block.
    Diagonal,
    /// Not at all.
    Absent,
}

impl Evaluation {
    /// Whether a matrix product computes it.
    pub(super) fn is_product(self) -> bool {
        matches!(self, Self::Direct | Self::Factored | Self::Materialised)
    }
}

/// W or U of a layer: `outputs × inputs`, stacked blocks as rows.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) form: MatrixForm,
    /// How the blocks are made where they are orthogonal, or nearly so.
    pub(super) orthogonal: Option<Orthogonal>,
    pub(super) evaluation: Evaluation,
    pub(super) inputs: usize,
    /// The rank; 0 unless there are factors.
    pub(super) rank: usize,
    /// The rank, padded.
    pub(super) rank_width: usize,
    /// Columns that the main product reads: the inputs, the rank if factored, 0 without a product.
    pub(super) k: usize,
    /// `k`, padded.
    pub(super) width: usize,
    /// The whole matrix, its diagonals, its first factor, or the first part of what makes orthogonal blocks, in the flat
    /// buffer.
    pub(super) first: Range<usize>,
    /// The second factor or part in the flat buffer, if there is one.
    pub(super) second: Range<usize>,
    /// The third part in the flat buffer, if there is one.
    pub(super) third: Range<usize>,
    /// Gradient of the main product's matrix, transposed: `k × pre·width`. Of diagonals: as they lie.
    pub(super) grad_first: Range<usize>,
    /// Gradient of the second factor if factored: `inputs × width`.
    pub(super) grad_second: Range<usize>,
}

impl Matrix {
    /// Where the parameters of orthogonal blocks lie in the flat buffer, in their order.
    pub(super) fn orthogonal_parts(&self) -> impl Iterator<Item = Range<usize>> {
        [self.first.clone(), self.second.clone(), self.third.clone()].into_iter()
    }
}

/// The shape of a cell's element-wise part.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Blocks of `pre`.
    pub(super) pre: usize,
    /// Vectors saved for backward.
    pub(super) saved: usize,
    /// The block of `pre` that each block of U adds to; W's blocks are the first ones, in order.
    pub(super) u_blocks: Vec<usize>,
    /// Whether there is a cell state beside h.
    pub(super) has_c: bool,
}

impl Shape {
    fn new(cell: &Cell) -> Self {
        let declared = cell.kind.shape();
        Self {
            pre: declared.sums(),
            saved: cells::saved(cell.kind),
            u_blocks: (0..declared.blocks).map(|block| declared.place_of_u(block)).collect(),
            has_c: declared.states > 1,
        }
    }
}

/// Blocks of `pre` that are computed together because the same products reach them.
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
    /// Whether the layer below, or the embedding, wants the gradient of this one's input.
    pub(super) needs_dx: bool,
}

/// The linear head. Its outputs are computed in blocks that stay in cache.
pub(super) struct HeadPlan {
    pub(super) hidden: usize,
    /// Hidden units, padded.
    pub(super) hidden_width: usize,
    pub(super) outputs: usize,
    /// Outputs of a block, padded; the last block has as many columns, but fewer outputs.
    pub(super) width: usize,
    /// From one row of scores of a block to the next.
    pub(super) stride: usize,
    /// Columns that a matrix kernel computes together.
    panel: usize,
    lanes: usize,
    pub(super) w: Range<usize>,
    pub(super) b: Range<usize>,
    /// `outputs × hidden_width`; of a wide head, panel by panel, `hidden × outputs of the panel`
    pub(super) grad_w: Range<usize>,
    pub(super) grad_b: Range<usize>,
}

/// Some outputs of a block of a wide head, whose gradients lie together.
pub(super) struct Panel {
    /// The first output, in the block.
    pub(super) first: usize,
    /// Outputs, padding included.
    pub(super) width: usize,
    hidden: usize,
}

impl Panel {
    /// Where the gradients of its weights are among those of the block: `hidden × width`.
    pub(super) fn gradients(&self) -> Range<usize> {
        self.first * self.hidden..(self.first + self.width) * self.hidden
    }
}

impl HeadPlan {
    fn new<S: Simd>(net: &Network, layout: &Layout, grads: &mut Ranges) -> Self {
        let range = |name| layout.view(name).map(|view| view.range());
        let hidden_width = padded::<S>(net.hidden());
        let width = padded::<S>(net.outputs.min(HEAD_BLOCK));
        let is_wide = net.outputs > HEAD_BLOCK;
        Self {
            hidden: net.hidden(),
            hidden_width,
            outputs: net.outputs,
            width,
            stride: if is_wide { width + LINE } else { width },
            panel: S::PANEL * S::LANES,
            lanes: S::LANES,
            w: range(if net.is_tied() { EMBEDDING } else { "head.w" }).expect("every network has a head"),
            b: range("head.b").expect("every network has a head"),
            grad_w: grads.take(if is_wide {
                padded::<S>(net.outputs) * net.hidden()
            } else {
                net.outputs * hidden_width
            }),
            grad_b: grads.take(net.outputs),
        }
    }

    /// The outputs of each block.
    pub(super) fn blocks(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let outputs = self.outputs;
        (0..outputs.div_ceil(HEAD_BLOCK)).map(move |i| i * HEAD_BLOCK..outputs.min((i + 1) * HEAD_BLOCK))
    }

    /// Gradients of the weights of a block of a wide head; the last block may have fewer.
    pub(super) fn block_gradients(&self) -> usize {
        self.width * self.hidden
    }

    /// The panels of a block of `outputs` of a wide head.
    pub(super) fn panels(&self, outputs: usize) -> impl Iterator<Item = Panel> + use<> {
        let (panel, hidden) = (self.panel, self.hidden);
        let columns = outputs.next_multiple_of(self.lanes);
        let at = move |first| Panel { first, width: panel.min(columns - first), hidden };
        (0..columns).step_by(panel).map(at)
    }

    /// Whether there are several blocks.
    pub(super) fn is_wide(&self) -> bool {
        self.outputs > HEAD_BLOCK
    }
}

/// Values of a cache line: what keeps rows from lying a power of two apart.
pub(super) const LINE: usize = 16;
/// Outputs that the head computes together: their weights for a few hundred units fit a core's cache.
const HEAD_BLOCK: usize = 512;

/// The vectors of tokens.
#[derive(Clone)]
pub(super) struct EmbeddingPlan {
    /// Numbers of a vector.
    pub(super) dim: usize,
    /// The same, padded.
    pub(super) width: usize,
    pub(super) vocabulary: usize,
    /// The table in the flat buffer.
    pub(super) table: Range<usize>,
    /// Whether the table is the matrix of the head.
    pub(super) is_tied: bool,
}

/// A whole network.
pub(super) struct Plan {
    pub(super) net: Network,
    pub(super) embedding: Option<EmbeddingPlan>,
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
            .map(|i| {
                let needs_dx = i > 0 || net.embedding.is_some();
                LayerPlan::new::<S>(&net.layers[i], i, needs_dx, &layout, &mut grads)
            })
            .collect();
        let head = HeadPlan::new::<S>(net, &layout, &mut grads);
        let embedding = layout.view(EMBEDDING).map(|view| EmbeddingPlan {
            dim: view.cols,
            width: padded::<S>(view.cols),
            vocabulary: view.rows,
            table: view.range(),
            is_tied: net.is_tied(),
        });
        Self { net: net.clone(), embedding, layers, head, params: layout.len(), grads: grads.0 }
    }

    /// Values from one row of the first layer's input to the next.
    pub(super) fn input_stride(&self) -> usize {
        self.embedding.as_ref().map_or(self.net.step_input(), |embedding| embedding.width)
    }
}

impl LayerPlan {
    fn new<S: Simd>(cell: &Cell, index: usize, needs_dx: bool, layout: &Layout, grads: &mut Ranges) -> Self {
        let range = |name: &str| layout.view(&format!("layer{index}.{name}")).map(|v| v.range());
        let shape = Shape::new(cell);
        let width = padded::<S>(cell.hidden);
        let mut matrix = |of_cell: &CellMatrix, evaluation: Evaluation| {
            let tensors = of_cell.params();
            let at = |i: usize| tensors.get(i).and_then(|p| range(p.name)).unwrap_or(0..0);
            let (rank, inputs) = (of_cell.form.rank().unwrap_or(0), of_cell.cols);
            let rank_width = padded::<S>(rank);
            let k = match evaluation {
                Evaluation::Direct | Evaluation::Materialised => inputs,
                Evaluation::Factored => rank,
                Evaluation::Diagonal | Evaluation::Absent => 0,
            };
            let entries =
                if evaluation == Evaluation::Diagonal { of_cell.rows } else { k * shape.pre * width };
            let of_second = if evaluation == Evaluation::Factored { inputs * rank_width } else { 0 };
            Matrix {
                form: of_cell.form,
                orthogonal: of_cell.orthogonal,
                evaluation,
                inputs,
                rank,
                rank_width,
                k,
                width: padded::<S>(k),
                first: at(0),
                second: at(1),
                third: at(2),
                grad_first: grads.take(entries),
                grad_second: grads.take(of_second),
            }
        };
        let w = matrix(&cell.w(), evaluation_of_w::<S>(&cell.w(), needs_dx));
        let u = matrix(&cell.u(), evaluation_of_u::<S>(&cell.u()));
        let source = |name: &str, raw: bool| match cell.scalars.mode(name) {
            Scalar::Fixed(value) if raw => Source::Fixed(value),
            Scalar::Tied if raw => Source::Tied,
            _ => range(name).map_or(Source::Absent, |at| Source::Params { at, raw }),
        };
        let declared = cell.kind.declaration().pointwise;
        let vectors: Vec<Source> =
            declared.iter().filter(|p| p.is_vector).map(|p| source(p.name, p.through_sigmoid())).collect();
        let scalars = ScalarName::ALL.map(|scalar| {
            let is_scalar = declared.iter().any(|p| p.name == scalar.name() && !p.is_vector);
            if is_scalar { source(scalar.name(), true) } else { Source::Absent }
        });
        let grad_point = grads.take(vectors.len() * width + scalars.len());
        Self {
            cell: cell.clone(),
            groups: groups(&w, &u, cell.blocks(), &shape),
            shape,
            hidden: cell.hidden,
            width,
            w,
            u,
            vectors,
            scalars,
            grad_point,
            needs_dx,
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

    /// Runs of blocks of `pre` that a product with U reaches: (first, count).
    pub(super) fn u_runs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups_with(|g| g.reads_h)
    }

    /// Runs of blocks of `pre` that a product with W reaches.
    pub(super) fn w_runs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups_with(|g| g.reads_x)
    }

    fn groups_with(&self, reads: impl Fn(&Group) -> bool) -> impl Iterator<Item = (usize, usize)> {
        self.groups.iter().filter(move |g| reads(g)).map(|g| (g.first, g.blocks))
    }
}

/// Blocks grouped by the products that reach them: one group for all cells but the GRU.
fn groups(w: &Matrix, u: &Matrix, w_blocks: usize, shape: &Shape) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for block in 0..shape.pre {
        let reads_h = u.evaluation.is_product() && shape.u_blocks.contains(&block);
        let reads_x = w.evaluation.is_product() && block < w_blocks;
        match groups.last_mut() {
            Some(g) if g.reads_h == reads_h && g.reads_x == reads_x => g.blocks += 1,
            _ => groups.push(Group { first: block, blocks: 1, reads_h, reads_x }),
        }
    }
    groups
}

/// How a matrix is evaluated that is not low-rank.
fn evaluation(form: MatrixForm) -> Result<Evaluation, usize> {
    match form {
        MatrixForm::Full => Ok(Evaluation::Direct),
        MatrixForm::Diagonal => Ok(Evaluation::Diagonal),
        MatrixForm::Absent => Ok(Evaluation::Absent),
        MatrixForm::LowRank(rank) => Err(rank),
    }
}

/// How U is evaluated. For factors, the multiply-adds of a training step decide; padding counts,
/// since it is computed.
fn evaluation_of_u<S: Simd>(u: &CellMatrix) -> Evaluation {
    if u.orthogonal.is_some() {
        return Evaluation::Materialised;
    }
    let rank = match evaluation(u.form) {
        Ok(evaluation) => return evaluation,
        Err(rank) => rank,
    };
    let (hidden, stacked) = (u.cols, u.rows);
    let (width, rank_width, stacked_width) =
        (padded::<S>(hidden), padded::<S>(rank), stacked / hidden * padded::<S>(hidden));
    let materialised = 2 * hidden * stacked_width + stacked * width;
    let factored = 2 * (hidden * rank_width + rank * stacked_width) + stacked * rank_width + rank * width;
    cheaper(materialised, factored)
}

/// The same for W.
fn evaluation_of_w<S: Simd>(w: &CellMatrix, needs_dx: bool) -> Evaluation {
    let rank = match evaluation(w.form) {
        Ok(evaluation) => return evaluation,
        Err(rank) => rank,
    };
    let (inputs, stacked) = (w.cols, w.rows);
    let rank_width = padded::<S>(rank);
    let materialised = 2 * inputs * stacked + if needs_dx { inputs * stacked } else { 0 };
    let factored = 2 * (inputs * rank_width + rank * stacked)
        + stacked * rank_width
        + if needs_dx { rank * inputs } else { 0 };
    cheaper(materialised, factored)
}

/// A single product also saves passes over the activations, hence the margin of a tenth.
fn cheaper(materialised: usize, factored: usize) -> Evaluation {
    if 10 * materialised <= 11 * factored { Evaluation::Materialised } else { Evaluation::Factored }
}
