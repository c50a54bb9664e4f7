//! The fast training step: forward and backward through time for a whole batch, in f32.
//!
//! ```
//! use fastgrnn_core::batch::{Batch, Targets};
//! use fastgrnn_core::cells::{Cell, CellKind, Start};
//! use fastgrnn_engine::engine::{Engine, Gradient, Loss};
//! use fastgrnn_core::net::Network;
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
//! let params = net.start(Start::default(), 3, 0);
//! let mut batch = Batch::new(1);
//! batch.push(&[0.1, 0.2, 0.3]);
//! batch.targets = Targets::Class(vec![1]);
//! let mut engine = Engine::new(&net, 1).unwrap();
//! let mut gradient = Gradient::new(&net);
//! let step = engine.gradient(&params, &batch, Loss::SoftmaxCrossEntropy, &mut gradient).unwrap();
//! assert!(step.loss > 0.0);
//! ```

mod diagonal;
mod dropped;
mod error;
mod gradient;
mod head;
mod layer;
mod loss;
mod materialise;
mod memory;
mod plan;
mod pool;
mod pooling;
mod soft;
mod spread;
mod sums;
mod tile;
mod tile_out;
mod tokens;
mod weights;
mod wide;

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{FlushDenormals, Portable, Simd, peak_gflops};
pub use error::EngineError;
use fastgrnn_core::batch::Batch;
pub use fastgrnn_core::net::Loss;
use fastgrnn_core::net::{Network, NetworkError, Readout};
pub use gradient::Gradient;
use loss::{Computation, Objective};
pub use memory::workspace_bytes;
use plan::Plan;
use pool::{Job, Pool};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;
use sums::add;
use tile::{SequenceTile, Workspace};
use tile_out::TileOut;
use weights::Weights;

/// The instruction sets the engine has kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust, any CPU.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512F.
    Avx512,
}

impl Isa {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// What a training step says besides the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Weighted mean loss over the rows.
    pub loss: f64,
    /// The penalties on states, which the gradient includes and `loss` does not.
    pub penalty: f64,
    /// Rows whose largest score is the target class, or one of several; 0 for value targets.
    pub correct: usize,
    /// Readout rows.
    pub rows: usize,
}

/// The engine for one network: packed weights, worker threads, reusable buffers.
pub struct Engine {
    backend: Box<dyn Backend>,
    isa: Isa,
}

/// The instruction sets of this CPU, the best one last.
pub fn available_isas() -> Vec<Isa> {
    let mut isas = vec![Isa::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        isas.extend(Avx2::detect().map(|_| Isa::Avx2));
        isas.extend(Avx512::detect().map(|_| Isa::Avx512));
    }
    isas
}

/// Calls a function generic over [`Simd`] with the token of `isa`; `None` if this CPU lacks it.
macro_rules! with_isa {
    ($isa:expr, $s:ident => $body:expr) => {
        match $isa {
            Isa::Portable => {
                let $s = Portable;
                Some($body)
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().map(|$s| $body),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().map(|$s| $body),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    };
}

/// The f32 multiply-add peak of `threads` threads on the best instruction set, measured now over
/// about `time`, in GFLOP/s.
pub fn fma_peak_gflops(threads: usize, time: Duration) -> f64 {
    with_isa!(best_isa(), s => peak_gflops(s, threads.max(1), time)).unwrap_or(0.0)
}

/// The instruction set that an engine uses on this CPU unless told otherwise.
pub fn best_isa() -> Isa {
    available_isas().pop().unwrap_or(Isa::Portable)
}

impl Engine {
    /// An engine with `threads` workers on the best instruction set of this CPU.
    pub fn new(net: &Network, threads: usize) -> Result<Self, NetworkError> {
        net.check()?;
        let isa = best_isa();
        let backend =
            backend(net, threads, isa).unwrap_or_else(|| Box::new(CpuBackend::new(Portable, net, threads)));
        Ok(Self { backend, isa })
    }

    /// An engine on a given instruction set, for comparisons; `None` if this CPU lacks it.
    pub fn with_isa(net: &Network, threads: usize, isa: Isa) -> Result<Option<Self>, NetworkError> {
        net.check()?;
        Ok(backend(net, threads, isa).map(|backend| Self { backend, isa }))
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Computes the gradient of the batch's mean loss, with the penalties and the dropout of the batch.
    ///
    /// The result depends on parameters and batch alone, to the bit, whatever the thread count.
    pub fn gradient(
        &mut self,
        params: &[f32],
        batch: &Batch,
        loss: Loss,
        gradient: &mut Gradient,
    ) -> Result<Step, EngineError> {
        self.check_loss(params, batch, loss)?;
        length("the gradient", gradient.values.len(), params.len())?;
        let net = &self.backend.plan().net;
        let objective = Objective::with_penalties(loss, batch, net);
        let step = self.backend.run(params, batch, Computation::Gradient(objective));
        self.backend.collect_gradient(params, batch, gradient);
        Ok(step)
    }

    /// Computes the batch's mean loss, without penalties and dropout and without keeping scores.
    pub fn evaluate(&mut self, params: &[f32], batch: &Batch, loss: Loss) -> Result<Step, EngineError> {
        self.check_loss(params, batch, loss)?;
        let objective = Objective::plain(loss, batch, self.backend.plan().net.readout);
        Ok(self.backend.run(params, batch, Computation::Loss(objective)))
    }

    /// Computes the scores (`rows × outputs`) of the batch into `scores`.
    pub fn forward(
        &mut self,
        params: &[f32],
        batch: &Batch,
        scores: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        self.check(params, batch)?;
        self.backend.run(params, batch, Computation::Scores);
        self.backend.collect_scores(scores);
        Ok(())
    }

    /// The whole state of each sequence of the last batch after its last step, laid out as
    /// [`Batch::carried`]: a batch that gets it continues the sequences.
    pub fn states(&self, states: &mut Vec<f32>) {
        self.backend.collect_states(states);
    }

    /// Computes the loss of given scores (`rows × outputs`, as from [`Engine::forward`]).
    pub fn loss(&self, scores: &[f32], batch: &Batch, loss: Loss) -> Result<Step, EngineError> {
        let Network { outputs, readout, .. } = self.backend.plan().net;
        let rows = loss::rows(batch, readout);
        loss::check(batch, rows, outputs, loss)?;
        length("the score buffer", scores.len(), rows * outputs)?;
        let mut step = Step { loss: 0.0, penalty: 0.0, correct: 0, rows };
        let mut row = 0;
        let mut buffer = vec![0.0; outputs];
        for i in 0..batch.len() {
            let weight = f64::from(loss::weight(batch, i));
            for _ in 0..if readout == Readout::Every { batch.steps(i) } else { 1 } {
                buffer.copy_from_slice(&scores[row * outputs..][..outputs]);
                let (value, correct) = loss::row(loss, &mut buffer, batch, row, 0.0);
                step.loss += weight * value;
                step.correct += usize::from(correct);
                row += 1;
            }
        }
        step.loss /= loss::total_weight(batch, readout);
        Ok(step)
    }

    fn check_loss(&self, params: &[f32], batch: &Batch, loss: Loss) -> Result<(), EngineError> {
        self.check(params, batch)?;
        let net = &self.backend.plan().net;
        loss::check(batch, loss::rows(batch, net.readout), net.outputs, loss)
    }

    fn check(&self, params: &[f32], batch: &Batch) -> Result<(), EngineError> {
        let plan = self.backend.plan();
        match &plan.embedding {
            Some(embedding) => check_tokens(batch, embedding.vocabulary)?,
            None if batch.has_tokens() => return Err(EngineError::Tokens { expected: "numbers" }),
            None if batch.dim() != plan.net.input() => {
                return Err(EngineError::Dim { found: batch.dim(), expected: plan.net.input() });
            }
            None if batch.window() != plan.net.window => {
                return Err(EngineError::Window { found: batch.window(), expected: plan.net.window });
            }
            None => {}
        }
        if let Some(index) = (0..batch.len()).find(|&i| batch.steps(i) == 0) {
            return Err(EngineError::Empty { index });
        }
        length("the parameter buffer", params.len(), plan.params)?;
        if !batch.initial.is_empty() {
            let states: usize = plan.net.layers.iter().map(|cell| cell.hidden).sum();
            length("the initial state", batch.initial.len(), batch.len() * states)?;
        }
        if !batch.carried.is_empty() {
            length("the carried state", batch.carried.len(), batch.len() * plan.net.state_len())?;
        }
        Ok(())
    }
}

fn check_tokens(batch: &Batch, vocabulary: usize) -> Result<(), EngineError> {
    if !batch.has_tokens() {
        return Err(EngineError::Tokens { expected: "tokens" });
    }
    for sequence in 0..batch.len() {
        let unknown = |&&token: &&u32| token as usize >= vocabulary;
        if let Some(&token) = batch.tokens(sequence).iter().find(unknown) {
            return Err(EngineError::Vocabulary { sequence, token, vocabulary });
        }
    }
    Ok(())
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), EngineError> {
    if found == expected { Ok(()) } else { Err(EngineError::Length { what, found, expected }) }
}

fn backend(net: &Network, threads: usize, isa: Isa) -> Option<Box<dyn Backend>> {
    with_isa!(isa, s => Box::new(CpuBackend::new(s, net, threads)) as Box<dyn Backend>)
}

/// The engine with its instruction set hidden; arguments are checked.
trait Backend: Send {
    fn plan(&self) -> &Plan;
    fn run(&mut self, params: &[f32], batch: &Batch, computation: Computation) -> Step;
    /// The gradient of the last run, on the same parameters and batch.
    fn collect_gradient(&mut self, params: &[f32], batch: &Batch, gradient: &mut Gradient);
    fn collect_scores(&self, scores: &mut Vec<f32>);
    fn collect_states(&self, states: &mut Vec<f32>);
}

/// What the workers share.
struct Shared<S> {
    s: S,
    plan: Plan,
    task: RwLock<Task>,
    /// One for each tile.
    outs: RwLock<Vec<Mutex<TileOut>>>,
    /// One for each worker.
    spaces: Vec<Mutex<Workspace>>,
}

/// What is to be computed.
struct Task {
    weights: Weights,
    batch: Batch,
    /// The vectors of the batch's tokens, step by step.
    vectors: Vec<f32>,
    tiles: usize,
    computation: Computation,
}

struct CpuBackend<S> {
    shared: Arc<Shared<S>>,
    pool: Pool,
    job: Job,
    /// Sum of the tiles' gradients.
    grads: Vec<f32>,
    tiles: usize,
}

const LOCKED: &str = "a task that panicked is never continued";

impl<S: Simd> CpuBackend<S> {
    fn new(s: S, net: &Network, threads: usize) -> Self {
        let pool = Pool::new(threads.max(1));
        let plan = Plan::new::<S>(net);
        let task = Task {
            weights: Weights::new::<S>(&plan),
            batch: net.empty_batch(),
            vectors: Vec::new(),
            tiles: 0,
            computation: Computation::Scores,
        };
        let spaces = (0..pool.threads()).map(|_| Mutex::default()).collect();
        let grads = vec![0.0; plan.grads];
        let shared = Arc::new(Shared { s, plan, task: RwLock::new(task), outs: RwLock::default(), spaces });
        let job: Job = {
            let shared = Arc::clone(&shared);
            Arc::new(move |worker, tile| shared.run_tile(worker, tile))
        };
        Self { shared, pool, job, grads, tiles: 0 }
    }

    /// Calls `f` with what each tile of the last run computed, in order.
    fn for_tiles(&self, mut f: impl FnMut(&TileOut)) {
        let outs = self.shared.outs.read().expect(LOCKED);
        outs[..self.tiles].iter().for_each(|out| f(&out.lock().expect(LOCKED)));
    }

    /// Adds up the gradients of the weights of a wide head in `sums` and writes them to the flat `out`,
    /// block by block.
    fn collect_wide_head(&self, sums: &mut [f32], out: &mut [f32]) {
        let head = &self.shared.plan.head;
        let outs = self.shared.outs.read().expect(LOCKED);
        let tiles: Vec<_> = outs[..self.tiles].iter().map(|out| out.lock().expect(LOCKED)).collect();
        let tiles: Vec<&[f32]> = tiles.iter().map(|out| &out.grads[head.grad_w.clone()]).collect();
        let len = head.block_gradients();
        let blocks = sums.chunks_mut(len).zip(out.chunks_mut(len)).enumerate();
        spread::for_each(self.pool.threads(), blocks, |(i, (sums, out))| {
            sums.fill(0.0);
            for tile in &tiles {
                add(sums, &tile[i * len..]);
            }
            weights::unpack_block(head, sums, out);
        });
    }
}

impl<S: Simd> Shared<S> {
    fn run_tile(&self, worker: usize, tile: usize) {
        let task = self.task.read().expect(LOCKED);
        let outs = self.outs.read().expect(LOCKED);
        let mut out = outs[tile].lock().expect(LOCKED);
        let mut space = self.spaces[worker].lock().expect(LOCKED);
        let tile = SequenceTile {
            s: self.s,
            plan: &self.plan,
            weights: &task.weights,
            vectors: &task.vectors,
            batch: &task.batch,
            sequences: tile::range(task.batch.len(), task.tiles, tile),
            computation: task.computation,
        };
        tile.run(&mut space, &mut out);
    }
}

impl<S: Simd> Backend for CpuBackend<S> {
    fn plan(&self) -> &Plan {
        &self.shared.plan
    }

    fn run(&mut self, params: &[f32], batch: &Batch, computation: Computation) -> Step {
        let shared = &*self.shared;
        self.tiles = tile::count(batch.len(), &shared.plan);
        {
            let mut task = shared.task.write().expect(LOCKED);
            let Task { weights, batch: own, vectors, tiles, computation: what } = &mut *task;
            let threads = self.pool.threads();
            weights.pack(shared.s, &shared.plan, params, computation.is_gradient(), threads);
            own.assign(batch);
            vectors.clear();
            if let Some(embedding) = &shared.plan.embedding {
                let table = &params[embedding.table.clone()];
                for &token in (0..batch.len()).flat_map(|i| batch.tokens(i)) {
                    vectors.extend_from_slice(&table[token as usize * embedding.dim..][..embedding.dim]);
                }
            }
            (*tiles, *what) = (self.tiles, computation);
            let mut outs = shared.outs.write().expect(LOCKED);
            if outs.len() < self.tiles {
                outs.resize_with(self.tiles, Mutex::default);
            }
        }
        self.pool.run(&self.job, self.tiles);
        let rows = loss::rows(batch, shared.plan.net.readout);
        let mut step = Step { loss: 0.0, penalty: 0.0, correct: 0, rows };
        if let Computation::Loss(objective) | Computation::Gradient(objective) = computation {
            self.for_tiles(|out| {
                step.loss += out.loss / objective.total_weight;
                step.penalty += out.penalty;
                step.correct += out.correct;
            });
        }
        step
    }

    fn collect_gradient(&mut self, params: &[f32], batch: &Batch, gradient: &mut Gradient) {
        let _flush = FlushDenormals::start();
        let shared = &*self.shared;
        let head = &shared.plan.head;
        let in_blocks = if head.is_wide() { head.grad_w.clone() } else { 0..0 };
        let mut grads = std::mem::take(&mut self.grads);
        for part in [0..in_blocks.start, in_blocks.end..grads.len()] {
            grads[part.clone()].fill(0.0);
            self.for_tiles(|out| add(&mut grads[part.clone()], &out.grads[part.clone()]));
        }
        if head.is_wide() {
            self.collect_wide_head(&mut grads[in_blocks], &mut gradient.values[head.w.clone()]);
        }
        gradient.clear_rows();
        let weights = &mut shared.task.write().expect(LOCKED).weights;
        weights.unpack(shared.s, &shared.plan, &grads, params, &mut gradient.values);
        self.grads = grads;
        if let Some(embedding) = &shared.plan.embedding {
            self.for_tiles(|out| {
                for (token, from) in out.tokens.iter() {
                    let at = embedding.table.start + token as usize * embedding.dim;
                    let to = &mut gradient.values[at..at + embedding.dim];
                    add(to, from);
                }
            });
            if !embedding.is_tied {
                gradient.set_rows((0..batch.len()).flat_map(|i| batch.tokens(i)).copied());
            }
        }
    }

    fn collect_scores(&self, scores: &mut Vec<f32>) {
        scores.clear();
        self.for_tiles(|out| scores.extend_from_slice(&out.scores));
    }

    fn collect_states(&self, states: &mut Vec<f32>) {
        states.clear();
        self.for_tiles(|out| states.extend_from_slice(&out.states));
    }
}
