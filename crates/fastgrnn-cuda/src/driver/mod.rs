//! GPUs: their memory, kernels, graphs and times.
//!
//! A [`Device`] has one stream. Launches, writes and graphs run in their order, and only reads and
//! [`Device::synchronize`] wait for them. Buffers, kernels, graphs and events keep their device open.
mod buffer;
mod context;
mod error;
mod library;
mod plain;

pub use buffer::Buffer;
pub use error::CudaError;
pub use plain::{Address, Plain};

use crate::kernels;
use context::{Context, Owned, Queue};
use library::{Attribute, Driver, EventHandle, FunctionHandle, GpuNumber, GraphHandle, ModuleHandle, Shape};
use std::path::Path;
use std::rc::Rc;

/// The first version of the driver that surely loads a cubin of CUDA 13.
const LOADS_CUBIN: i32 = 13000;

/// The names of the GPUs. The place of a name is the number that [`Device::open`] takes.
pub fn devices() -> Result<Vec<String>, CudaError> {
    devices_with_library(&Driver::usual_path())
}

/// The names of the GPUs of another driver library.
pub fn devices_with_library(path: &Path) -> Result<Vec<String>, CudaError> {
    let driver = Driver::load(path)?;
    (0..driver.count()?).map(|index| driver.name(driver.gpu(index)?)).collect()
}

/// A GPU with one stream of work and the loaded kernels. A copy is the same device.
#[derive(Clone)]
pub struct Device {
    queue: Rc<Queue>,
    limits: Rc<Limits>,
}

struct Limits {
    name: String,
    block_memory: usize,
    multiprocessors: usize,
    /// Whether its kernels wait for the kernel before them, so that the driver need not.
    overlaps: bool,
}

/// A kernel of a device.
pub struct Kernel {
    function: FunctionHandle,
    name: String,
    // The function is part of its module.
    _queue: Rc<Queue>,
}

/// Recorded work of a device.
pub struct Graph {
    handle: Owned<GraphHandle>,
    // The kernels in it are part of its module.
    _queue: Rc<Queue>,
}

/// A moment in the work of a device.
pub struct Event {
    handle: Owned<EventHandle>,
    queue: Rc<Queue>,
}

impl Device {
    /// Opens a GPU by its place in [`devices`], and checks that it computes.
    pub fn open(index: usize) -> Result<Device, CudaError> {
        Device::with_library(&Driver::usual_path(), index)
    }

    /// Opens a GPU of another driver library.
    pub fn with_library(path: &Path, index: usize) -> Result<Device, CudaError> {
        let driver = Driver::load(path)?;
        let gpu = driver.gpu(index)?;
        let name = driver.name(gpu)?;
        let form = form_for(&driver, gpu, &name)?;
        let limits = Limits {
            name,
            block_memory: driver.attribute(Attribute::BlockMemory, gpu)?.max(0) as usize,
            multiprocessors: driver.attribute(Attribute::Multiprocessors, gpu)?.max(1) as usize,
            overlaps: form == Form::Cubin,
        };
        let context = Rc::new(Context::new(driver, gpu)?);
        let device = Device { queue: Rc::new(Queue::new(context, &form.images())?), limits: Rc::new(limits) };
        device.check()?;
        Ok(device)
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        &self.limits.name
    }

    /// The most bytes of shared memory that a block can have.
    pub fn block_memory(&self) -> usize {
        self.limits.block_memory
    }

    /// The number of multiprocessors.
    pub fn multiprocessors(&self) -> usize {
        self.limits.multiprocessors
    }

    /// The bytes of its memory that are free.
    pub fn free_memory(&self) -> Result<usize, CudaError> {
        Ok(self.queue.outside_graphs("a question about memory")?.memory()?.0)
    }

    /// A buffer of zeros.
    pub fn buffer<T: Plain>(&self, len: usize) -> Result<Buffer<T>, CudaError> {
        Buffer::zeros(&self.queue, len)
    }

    /// A buffer with these values.
    pub fn upload<T: Plain>(&self, values: &[T]) -> Result<Buffer<T>, CudaError> {
        Buffer::of(&self.queue, values)
    }

    /// A kernel by its name. It may have all shared memory that a block can have.
    pub fn kernel(&self, name: &str) -> Result<Kernel, CudaError> {
        let driver = self.queue.context.activate()?;
        let find = |found: Result<_, CudaError>, module: &Owned<ModuleHandle>| match found {
            Err(CudaError::UnknownKernel(_)) => driver.function(module.handle, name),
            found => found,
        };
        let unknown = Err(CudaError::UnknownKernel(name.to_owned()));
        let function = self.queue.modules.iter().fold(unknown, find)?;
        driver.allow_block_memory(function, self.block_memory())?;
        Ok(Kernel { function, name: name.to_owned(), _queue: self.queue.clone() })
    }

    /// Launches a kernel on a grid of blocks of `threads` threads, each block with `shared_bytes` of dynamic shared
    /// memory. The arguments have the layout of the kernel's struct.
    pub fn launch<A: Plain>(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        threads: u32,
        shared_bytes: usize,
        args: &A,
    ) -> Result<(), CudaError> {
        let overlaps = self.limits.overlaps && self.queue.follows_kernel();
        let shape = Shape { grid, threads, shared_bytes, overlaps };
        let launched =
            self.queue.context.activate()?.launch(kernel.function, shape, self.queue.stream(), args);
        self.queue.set_follows_kernel(launched.is_ok());
        launched.map_err(|error| match error {
            CudaError::Failed { function, code, name, text } => {
                let function = format!(
                    "{function} of {} on a grid of {grid:?} blocks of {threads} threads with {shared_bytes} bytes",
                    kernel.name
                );
                CudaError::Failed { function, code, name, text }
            }
            other => other,
        })
    }

    /// Waits until all work is done.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.queue.synchronize()
    }

    /// Records the launches in `work` without running them. Kernels, and [`Buffer::clear`], can be recorded; copies
    /// between host and device, new buffers and waits cannot. The buffers have to live as long as the graph runs.
    pub fn record(&self, work: impl FnOnce() -> Result<(), CudaError>) -> Result<Graph, CudaError> {
        let driver = self.queue.outside_graphs("another recording")?;
        driver.begin_recording(self.queue.stream())?;
        self.queue.set_recording(true);
        let worked = work();
        self.queue.set_recording(false);
        let recording = Owned::new(
            &self.queue.context,
            |driver| driver.end_recording(self.queue.stream()),
            |driver, recording| driver.destroy_recording(recording),
        );
        worked?;
        let recording = recording?;
        let handle = Owned::new(
            &self.queue.context,
            |driver| driver.instantiate(recording.handle),
            Driver::destroy_graph,
        )?;
        Ok(Graph { handle, _queue: self.queue.clone() })
    }

    /// Runs recorded work.
    pub fn run(&self, graph: &Graph) -> Result<(), CudaError> {
        self.queue.set_follows_kernel(false);
        self.queue.outside_graphs("another graph")?.launch_graph(graph.handle.handle, self.queue.stream())
    }

    /// The moment when all work launched so far is done.
    pub fn event(&self) -> Result<Event, CudaError> {
        let driver = self.queue.outside_graphs("an event")?;
        let handle = Owned::new(&self.queue.context, Driver::create_event, Driver::destroy_event)?;
        driver.record_event(handle.handle, self.queue.stream())?;
        Ok(Event { handle, queue: self.queue.clone() })
    }

    /// Runs a kernel whose result is known: it shows whether the driver and the GPU work.
    fn check(&self) -> Result<(), CudaError> {
        const BLOCKS: u32 = 4;
        const THREADS: u32 = 64;
        let sums = self.buffer::<f32>(BLOCKS as usize)?;
        let args = ThreadSumArguments { sums: sums.address(), factor: 0.5 };
        self.launch(&self.kernel("add_thread_sums")?, [BLOCKS, 1, 1], THREADS, sum_memory(THREADS), &args)?;
        let found = sums.to_vec()?;
        let sum = |block: u32| (block * THREADS..(block + 1) * THREADS).sum::<u32>() as f32 * args.factor;
        let expected: Vec<f32> = (0..BLOCKS).map(sum).collect();
        if found == expected {
            return Ok(());
        }
        let name = self.name().to_owned();
        Err(CudaError::WrongSum { name, found: format!("{found:?}"), expected: format!("{expected:?}") })
    }
}

impl Event {
    /// The milliseconds from an earlier event to this one. Waits until this one has come.
    pub fn since(&self, earlier: &Event) -> Result<f32, CudaError> {
        self.queue
            .outside_graphs("waiting for an event")?
            .milliseconds(earlier.handle.handle, self.handle.handle)
    }
}

/// The argument of the kernel `add_thread_sums`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ThreadSumArguments {
    sums: Address<f32>,
    factor: f32,
}

// SAFETY: an address and a number.
unsafe impl Plain for ThreadSumArguments {}

/// The shared memory of `block_sum` of f32: a value for each warp.
fn sum_memory(threads: u32) -> usize {
    threads as usize / 32 * size_of::<f32>()
}

/// The forms in which the compiled kernels are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Machine code for GPUs of compute capability 9.0. These kernels wait for the kernel before them.
    Cubin,
    /// Text that the driver compiles for its GPU.
    Ptx,
}

impl Form {
    fn images(self) -> Vec<Vec<u8>> {
        match self {
            Form::Cubin => kernels::cubin(),
            Form::Ptx => kernels::ptx().into_iter().map(|text| [text, vec![0]].concat()).collect(),
        }
    }
}

/// The form of the kernels for a GPU.
fn form_for(driver: &Driver, gpu: GpuNumber, name: &str) -> Result<Form, CudaError> {
    let [major, minor] = [driver.attribute(Attribute::Major, gpu)?, driver.attribute(Attribute::Minor, gpu)?];
    if major < 8 {
        return Err(CudaError::OldGpu { name: name.to_owned(), major, minor });
    }
    let is_cubin = (major, minor) == (9, 0) && driver.version()? >= LOADS_CUBIN;
    Ok(if is_cubin { Form::Cubin } else { Form::Ptx })
}
