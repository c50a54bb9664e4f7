//! A training step allocates nothing once its buffers have grown, on any thread.

use fastgrnn_core::batch::{Batch, Targets, Teacher};
use fastgrnn_core::cells::{CELLS, Cell, MatrixForm, Orthogonal, Start};
use fastgrnn_core::net::Network;
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{Engine, Gradient, Loss};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn batch(rng: &mut Rng) -> Batch {
    let mut batch = Batch::new(3);
    for i in 0..40 {
        batch.push_zeros(20 - i % 7).iter_mut().for_each(|x| *x = rng.normal() as f32);
    }
    batch.targets = Targets::Class((0..40).map(|i| i % 4).collect());
    batch
}

#[test]
fn a_warm_training_step_allocates_nothing() {
    let mut rng = Rng::new(1);
    let mut batches = [batch(&mut rng), batch(&mut rng)];
    batches[1].soft = vec![0.25; 160];
    batches[1].teacher = Teacher { rows: vec![0.25; 160], weight: 0.5, temperature: 2.0 };
    for declaration in CELLS {
        let forms = [MatrixForm::Full, MatrixForm::LowRank(3), MatrixForm::Diagonal].map(|form| (form, None));
        let orthogonal = [
            Orthogonal::Reflections { count: 20 },
            Orthogonal::Spectral { count: 5, margin: 0.1 },
            Orthogonal::Factored { margin: 0.1 },
            Orthogonal::Rotations { layers: 3 },
            Orthogonal::FftRotations,
        ];
        let orthogonal = orthogonal.map(|form| (MatrixForm::Full, Some(form)));
        for (form, orthogonal) in forms.into_iter().chain(orthogonal) {
            let layers = [(3, 20), (20, 20)].map(|(input, hidden)| {
                let mut cell = Cell::new(declaration.kind, input, hidden);
                if input == hidden || form != MatrixForm::Diagonal {
                    cell.form_w = form;
                }
                if declaration.reads_state {
                    (cell.form_u, cell.orthogonal_u) = (form, orthogonal);
                }
                cell
            });
            let net = Network::new(layers.to_vec(), 4);
            let params = net.start(Start::default(), 20, 0);
            let mut gradient = Gradient::new(&net);
            let mut engine = Engine::new(&net, 2).unwrap();
            let mut steps = |n| {
                for i in 0..n {
                    engine
                        .gradient(&params, &batches[i % 2], Loss::SoftmaxCrossEntropy, &mut gradient)
                        .unwrap();
                }
            };
            // Either worker may take either tile, so both must have met both.
            steps(200);
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            steps(50);
            let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
            assert_eq!(allocated, 0, "{} of form {form}, {orthogonal:?}", declaration.name);
        }
    }
}
