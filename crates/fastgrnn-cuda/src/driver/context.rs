//! An opened GPU: its context, its stream, and what has to be given back.
use super::error::CudaError;
use super::library::{ContextHandle, Driver, GpuNumber, HostMemory, ModuleHandle, StreamHandle};
use super::plain::Plain;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The bytes of host memory through which values go to the device.
const STAGING: usize = 4 << 20;

/// The state of a GPU for this process.
pub struct Context {
    pub driver: Driver,
    gpu: GpuNumber,
    handle: ContextHandle,
}

impl Context {
    pub fn new(driver: Driver, gpu: GpuNumber) -> Result<Context, CudaError> {
        let handle = driver.retain(gpu)?;
        Ok(Context { driver, gpu, handle })
    }

    /// Makes this GPU that of the calling thread.
    pub fn activate(&self) -> Result<&Driver, CudaError> {
        self.driver.activate(self.handle).map(|()| &self.driver)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Nothing can be done about a failure here; the end of the process gives everything back.
        let _ = self.driver.release(self.gpu);
    }
}

/// Something of the driver that is given back at its end.
pub struct Owned<H: Copy> {
    context: Rc<Context>,
    pub handle: H,
    give_back: fn(&Driver, H) -> Result<(), CudaError>,
}

impl<H: Copy> Owned<H> {
    pub fn new(
        context: &Rc<Context>,
        make: impl FnOnce(&Driver) -> Result<H, CudaError>,
        give_back: fn(&Driver, H) -> Result<(), CudaError>,
    ) -> Result<Owned<H>, CudaError> {
        let handle = make(context.activate()?)?;
        Ok(Owned { context: context.clone(), handle, give_back })
    }
}

impl<H: Copy> Drop for Owned<H> {
    fn drop(&mut self) {
        // Nothing can be done about a failure here; the end of the process gives everything back.
        let _ = self.context.activate().and_then(|driver| (self.give_back)(driver, self.handle));
    }
}

/// Memory of the host through which values go to the device, so that a write does not wait for it.
struct Staging {
    memory: Owned<HostMemory>,
    /// The bytes at the front from which copies may be under way.
    used: usize,
}

/// A GPU with a stream of work and the loaded kernels.
pub struct Queue {
    pub context: Rc<Context>,
    pub modules: Vec<Owned<ModuleHandle>>,
    stream: Owned<StreamHandle>,
    staging: RefCell<Staging>,
    is_recording: Cell<bool>,
    /// Whether the last work was a kernel, in the same recording if there is one.
    follows_kernel: Cell<bool>,
}

impl Queue {
    pub fn new(context: Rc<Context>, modules: &[Vec<u8>]) -> Result<Queue, CudaError> {
        let load =
            |image: &Vec<u8>| Owned::new(&context, |driver| driver.load_module(image), Driver::unload_module);
        let modules = modules.iter().map(load).collect::<Result<_, _>>()?;
        let stream = Owned::new(&context, Driver::create_stream, Driver::destroy_stream)?;
        let memory = Owned::new(&context, |driver| driver.allocate_host(STAGING), Driver::free_host)?;
        let staging = RefCell::new(Staging { memory, used: 0 });
        let (is_recording, follows_kernel) = (Cell::new(false), Cell::new(false));
        Ok(Queue { context, modules, stream, staging, is_recording, follows_kernel })
    }

    pub fn stream(&self) -> StreamHandle {
        self.stream.handle
    }

    /// The driver, for something that a graph cannot hold.
    pub fn outside_graphs(&self, what: &'static str) -> Result<&Driver, CudaError> {
        if self.is_recording.get() { Err(CudaError::WhileRecording(what)) } else { self.context.activate() }
    }

    pub fn set_recording(&self, is_recording: bool) {
        self.is_recording.set(is_recording);
        self.follows_kernel.set(false);
    }

    pub fn follows_kernel(&self) -> bool {
        self.follows_kernel.get()
    }

    /// Says whether the work that was launched last is a kernel.
    pub fn set_follows_kernel(&self, follows_kernel: bool) {
        self.follows_kernel.set(follows_kernel);
    }

    /// Waits until all work is done.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.outside_graphs("waiting for the GPU")?.synchronize(self.stream())?;
        self.staging.borrow_mut().used = 0;
        Ok(())
    }

    /// Copies to the device. The values are free for other use after the call, which waits only where there are many.
    pub fn write<T: Plain>(&self, to: u64, values: &[T]) -> Result<(), CudaError> {
        let driver = self.outside_graphs("a copy to the GPU")?;
        self.set_follows_kernel(false);
        let bytes = size_of_val(values);
        if bytes > STAGING {
            return driver.write(to, values, self.stream());
        }
        if self.staging.borrow().used + bytes > STAGING {
            self.synchronize()?;
        }
        let mut staging = self.staging.borrow_mut();
        let (memory, at) = (staging.memory.handle, staging.used);
        staging.used += bytes;
        // SAFETY: there is room, and what is used is free again only after waiting for the stream.
        unsafe { driver.write_by(memory, at, to, values, self.stream()) }
    }

    /// Copies from the device, after all work before.
    pub fn read<T: Plain>(&self, into: &mut [T], from: u64) -> Result<(), CudaError> {
        let driver = self.outside_graphs("a copy from the GPU")?;
        self.set_follows_kernel(false);
        // SAFETY: every pattern of bits is a value of a plain type.
        unsafe { driver.read(into, from, self.stream()) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Copies from the staging memory may be under way, which is freed next. A failure means that there are none.
        let _ = self.context.activate().and_then(|driver| driver.synchronize(self.stream()));
    }
}
