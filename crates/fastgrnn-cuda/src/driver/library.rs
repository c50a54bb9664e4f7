//! The functions of CUDA's driver, loaded from its library.
//!
//! Handles are opaque and come from the driver alone. Who gets one from here destroys it once, after everything that
//! was made from it.
use super::error::CudaError;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;
const NOT_FOUND: i32 = 500;

/// The oldest version of the driver that reads the stored PTX.
const NEEDED: i32 = 12030;

macro_rules! handles {
    ($($(#[$about:meta])* $name:ident)*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(*mut c_void);

        impl $name {
            const NULL: $name = $name(ptr::null_mut());
        }
    )* };
}
handles! {
    /// The state of a device for this process.
    ContextHandle
    /// A queue of work.
    StreamHandle
    /// Loaded kernels.
    ModuleHandle
    /// A kernel of a module.
    FunctionHandle
    /// A point in a stream.
    EventHandle
    /// Recorded work.
    RecordingHandle
    /// Recorded work that can be launched.
    GraphHandle
    /// Memory of the host that a device reads directly.
    HostMemory
}

/// A device, as the driver numbers it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct GpuNumber(c_int);

/// Numbers of a device; the values are those of CUdevice_attribute.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Attribute {
    Multiprocessors = 16,
    Major = 75,
    Minor = 76,
    BlockMemory = 97,
}

/// Numbers of a kernel; the values are those of CUfunction_attribute.
#[derive(Clone, Copy)]
#[repr(i32)]
enum FunctionAttribute {
    StaticMemory = 1,
    MostDynamicMemory = 8,
}

/// The size of a launch.
#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: [u32; 3],
    pub threads: u32,
    pub shared_bytes: usize,
    /// Whether its blocks may start before the kernel before it has ended. It has to wait for that kernel itself.
    pub overlaps: bool,
}

/// A property of a launch, as the driver reads it.
#[repr(C)]
struct LaunchAttribute {
    /// Which property: a value of CUlaunchAttributeID.
    id: c_int,
    _padding: c_int,
    value: c_int,
    _unused: [c_int; 15],
}

/// A launch, as the driver reads it.
#[repr(C)]
struct LaunchSettings {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: StreamHandle,
    attributes: *const LaunchAttribute,
    attribute_count: c_uint,
}

/// A function that gives a text about an error.
type Describe = unsafe extern "system" fn(c_int, *mut *const c_char) -> c_int;

/// The loaded library.
pub struct Driver {
    functions: Functions,
    _library: Library,
}

// Each line: the function, the name of its newest version, and its arguments.
macro_rules! functions {
    ($($name:ident $symbol:literal ($($argument:ident: $type:ty),*);)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            cuGetErrorName: Describe,
            cuGetErrorString: Describe,
            $($name: unsafe extern "system" fn($($type),*) -> c_int,)*
        }

        impl Functions {
            fn load(library: &Library, path: &Path) -> Result<Functions, CudaError> {
                Ok(Functions {
                    cuGetErrorName: symbol(library, path, "cuGetErrorName")?,
                    cuGetErrorString: symbol(library, path, "cuGetErrorString")?,
                    $($name: symbol(library, path, $symbol)?,)*
                })
            }
        }

        #[allow(non_snake_case)]
        impl Driver { $(
            unsafe fn $name(&self $(, $argument: $type)*) -> Result<(), CudaError> {
                // SAFETY: the caller gives what CUDA's manual asks of the arguments.
                let code = unsafe { (self.functions.$name)($($argument),*) };
                if code == 0 { Ok(()) } else { Err(self.failure(stringify!($name), code)) }
            }
        )* }
    };
}

functions! {
    cuInit "cuInit" (flags: c_uint);
    cuDriverGetVersion "cuDriverGetVersion" (version: *mut c_int);
    cuDeviceGetCount "cuDeviceGetCount" (count: *mut c_int);
    cuDeviceGet "cuDeviceGet" (device: *mut GpuNumber, index: c_int);
    cuDeviceGetName "cuDeviceGetName" (name: *mut c_char, length: c_int, device: GpuNumber);
    cuDeviceGetAttribute "cuDeviceGetAttribute" (value: *mut c_int, attribute: Attribute, device: GpuNumber);
    cuDevicePrimaryCtxRetain "cuDevicePrimaryCtxRetain" (context: *mut ContextHandle, device: GpuNumber);
    cuDevicePrimaryCtxRelease "cuDevicePrimaryCtxRelease_v2" (device: GpuNumber);
    cuCtxSetCurrent "cuCtxSetCurrent" (context: ContextHandle);
    cuModuleLoadDataEx "cuModuleLoadDataEx"
        (module: *mut ModuleHandle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void);
    cuModuleUnload "cuModuleUnload" (module: ModuleHandle);
    cuModuleGetFunction "cuModuleGetFunction"
        (function: *mut FunctionHandle, module: ModuleHandle, name: *const c_char);
    cuFuncGetAttribute "cuFuncGetAttribute"
        (value: *mut c_int, attribute: FunctionAttribute, function: FunctionHandle);
    cuFuncSetAttribute "cuFuncSetAttribute" (function: FunctionHandle, attribute: FunctionAttribute, value: c_int);
    cuMemAlloc "cuMemAlloc_v2" (address: *mut u64, bytes: usize);
    cuMemFree "cuMemFree_v2" (address: u64);
    cuMemGetInfo "cuMemGetInfo_v2" (free: *mut usize, total: *mut usize);
    cuMemHostAlloc "cuMemHostAlloc" (memory: *mut HostMemory, bytes: usize, flags: c_uint);
    cuMemFreeHost "cuMemFreeHost" (memory: HostMemory);
    cuMemcpyHtoDAsync "cuMemcpyHtoDAsync_v2" (to: u64, from: *const c_void, bytes: usize, stream: StreamHandle);
    cuMemcpyDtoHAsync "cuMemcpyDtoHAsync_v2" (to: *mut c_void, from: u64, bytes: usize, stream: StreamHandle);
    cuMemsetD8Async "cuMemsetD8Async" (address: u64, value: u8, bytes: usize, stream: StreamHandle);
    cuStreamCreate "cuStreamCreate" (stream: *mut StreamHandle, flags: c_uint);
    cuStreamSynchronize "cuStreamSynchronize" (stream: StreamHandle);
    cuStreamDestroy "cuStreamDestroy_v2" (stream: StreamHandle);
    cuLaunchKernelEx "cuLaunchKernelEx"
        (settings: *const LaunchSettings, function: FunctionHandle, arguments: *mut *mut c_void,
         extra: *mut *mut c_void);
    cuEventCreate "cuEventCreate" (event: *mut EventHandle, flags: c_uint);
    cuEventRecord "cuEventRecord" (event: EventHandle, stream: StreamHandle);
    cuEventSynchronize "cuEventSynchronize" (event: EventHandle);
    cuEventElapsedTime "cuEventElapsedTime" (milliseconds: *mut f32, start: EventHandle, end: EventHandle);
    cuEventDestroy "cuEventDestroy_v2" (event: EventHandle);
    cuStreamBeginCapture "cuStreamBeginCapture_v2" (stream: StreamHandle, mode: c_int);
    cuStreamEndCapture "cuStreamEndCapture" (stream: StreamHandle, recording: *mut RecordingHandle);
    cuGraphInstantiateWithFlags "cuGraphInstantiateWithFlags"
        (graph: *mut GraphHandle, recording: RecordingHandle, flags: u64);
    cuGraphLaunch "cuGraphLaunch" (graph: GraphHandle, stream: StreamHandle);
    cuGraphExecDestroy "cuGraphExecDestroy" (graph: GraphHandle);
    cuGraphDestroy "cuGraphDestroy" (recording: RecordingHandle);
}

fn symbol<F: Copy>(library: &Library, path: &Path, name: &'static str) -> Result<F, CudaError> {
    // SAFETY: the types in this file are those of the functions in cuda.h.
    let found = unsafe { library.get::<F>(name) };
    found
        .map(|function| *function)
        .map_err(|_| CudaError::MissingFunction { library: path.display().to_string(), function: name })
}

fn described(describe: Describe, code: i32) -> Option<String> {
    let mut text = ptr::null();
    // SAFETY: the place is valid during the call.
    if unsafe { describe(code, &mut text) } != 0 || text.is_null() {
        return None;
    }
    // SAFETY: the driver gives a text that ends with a zero and is never freed.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The environment variable that names the library of the driver, where the system does not find it.
const LIBRARY_VARIABLE: &str = "FASTGRNN_CUDA_LIBRARY";

impl Driver {
    /// The file that the environment variable names, or the name by which the system finds the driver.
    pub fn usual_path() -> PathBuf {
        let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
        std::env::var_os(LIBRARY_VARIABLE)
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| name.into())
            .into()
    }

    /// Loads and initialises a driver.
    pub fn load(path: &Path) -> Result<Driver, CudaError> {
        // SAFETY: a driver's library has no initialisers that ask anything of the program.
        let library = unsafe { Library::new(path) }.map_err(|error| {
            // The error itself only says that it failed.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            CudaError::NoDriver { library: path.display().to_string(), reason }
        })?;
        let driver = Driver { functions: Functions::load(&library, path)?, _library: library };
        let version = driver.version()?;
        if version < NEEDED {
            return Err(CudaError::OldDriver { version, needed: NEEDED });
        }
        // SAFETY: it can be called any number of times.
        match unsafe { driver.cuInit(0) } {
            Err(CudaError::Failed { code: NO_DEVICE, .. }) => Err(CudaError::NoGpu),
            done => done.map(|()| driver),
        }
    }

    /// The version of CUDA that the driver supports: 12030 is 12.3.
    pub fn version(&self) -> Result<i32, CudaError> {
        let mut version = 0;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuDriverGetVersion(&mut version) }.map(|()| version)
    }

    fn failure(&self, function: &str, code: i32) -> CudaError {
        let name = described(self.functions.cuGetErrorName, code);
        let text = described(self.functions.cuGetErrorString, code);
        CudaError::Failed {
            function: function.to_owned(),
            code,
            name: name.unwrap_or_else(|| format!("error {code}")),
            text: text.unwrap_or_else(|| "the driver does not describe it".to_owned()),
        }
    }

    /// How many GPUs there are.
    pub fn count(&self) -> Result<usize, CudaError> {
        let mut count = 0;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuDeviceGetCount(&mut count) }?;
        match usize::try_from(count) {
            Ok(0) | Err(_) => Err(CudaError::NoGpu),
            Ok(count) => Ok(count),
        }
    }

    /// A GPU by its place in the driver's list.
    pub fn gpu(&self, index: usize) -> Result<GpuNumber, CudaError> {
        let count = self.count()?;
        if index >= count {
            return Err(CudaError::NoSuchGpu { index, count });
        }
        let mut gpu = GpuNumber(0);
        // SAFETY: the place is valid during the call.
        unsafe { self.cuDeviceGet(&mut gpu, index as c_int) }.map(|()| gpu)
    }

    pub fn name(&self, gpu: GpuNumber) -> Result<String, CudaError> {
        let mut name = [0u8; 256];
        // SAFETY: the driver writes at most the given length, with a zero at its end.
        unsafe { self.cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, gpu) }?;
        let text = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(text.to_string_lossy().into_owned())
    }

    pub fn attribute(&self, attribute: Attribute, gpu: GpuNumber) -> Result<i32, CudaError> {
        let mut value = 0;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuDeviceGetAttribute(&mut value, attribute, gpu) }.map(|()| value)
    }

    pub fn retain(&self, gpu: GpuNumber) -> Result<ContextHandle, CudaError> {
        let mut context = ContextHandle::NULL;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuDevicePrimaryCtxRetain(&mut context, gpu) }.map(|()| context)
    }

    pub fn release(&self, gpu: GpuNumber) -> Result<(), CudaError> {
        // SAFETY: the owner of a retained context releases it once.
        unsafe { self.cuDevicePrimaryCtxRelease(gpu) }
    }

    /// Makes a context that of the calling thread.
    pub fn activate(&self, context: ContextHandle) -> Result<(), CudaError> {
        // SAFETY: the context is retained.
        unsafe { self.cuCtxSetCurrent(context) }
    }

    /// Loads kernels: PTX, which ends with a zero byte, or a cubin.
    pub fn load_module(&self, image: &[u8]) -> Result<ModuleHandle, CudaError> {
        const ERROR_LOG: c_int = 5;
        const ERROR_LOG_BYTES: c_int = 6;
        let mut log = [0u8; 8192];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
        let mut module = ModuleHandle::NULL;
        // SAFETY: the image and the places are valid during the call; the driver writes at most the given length of
        // the log, with a zero at its end.
        let loaded = unsafe {
            self.cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded {
            Ok(()) => Ok(module),
            Err(CudaError::Failed { name, text, .. }) => {
                let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
                Err(CudaError::BadKernels { name, text, log: log.to_string_lossy().trim().to_owned() })
            }
            Err(other) => Err(other),
        }
    }

    pub fn unload_module(&self, module: ModuleHandle) -> Result<(), CudaError> {
        // SAFETY: the owner of a module unloads it once.
        unsafe { self.cuModuleUnload(module) }
    }

    pub fn function(&self, module: ModuleHandle, name: &str) -> Result<FunctionHandle, CudaError> {
        let unknown = || CudaError::UnknownKernel(name.to_owned());
        let text = CString::new(name).map_err(|_| unknown())?;
        let mut function = FunctionHandle::NULL;
        // SAFETY: the module is loaded, and the place and the text are valid during the call.
        match unsafe { self.cuModuleGetFunction(&mut function, module, text.as_ptr()) } {
            Err(CudaError::Failed { code: NOT_FOUND, .. }) => Err(unknown()),
            done => done.map(|()| function),
        }
    }

    /// Lets a kernel have all shared memory that a block can have.
    pub fn allow_block_memory(&self, function: FunctionHandle, most: usize) -> Result<(), CudaError> {
        let mut fixed = 0;
        // SAFETY: the place is valid during the call, and the module of the function is loaded.
        unsafe { self.cuFuncGetAttribute(&mut fixed, FunctionAttribute::StaticMemory, function) }?;
        let dynamic = most as c_int - fixed;
        // SAFETY: the module of the function is loaded.
        unsafe { self.cuFuncSetAttribute(function, FunctionAttribute::MostDynamicMemory, dynamic) }
    }

    /// The bytes of device memory that are free, and all there are.
    pub fn memory(&self) -> Result<(usize, usize), CudaError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the places are valid during the call.
        unsafe { self.cuMemGetInfo(&mut free, &mut total) }.map(|()| (free, total))
    }

    pub fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        let mut address = 0;
        // SAFETY: the place is valid during the call.
        match unsafe { self.cuMemAlloc(&mut address, bytes) } {
            Err(CudaError::Failed { code: OUT_OF_MEMORY, .. }) => {
                let free = self.memory().map_or(0, |(free, _)| free);
                Err(CudaError::OutOfMemory { wanted: bytes, free })
            }
            done => done.map(|()| address),
        }
    }

    pub fn free(&self, address: u64) -> Result<(), CudaError> {
        // SAFETY: the owner of device memory frees it once. The driver waits for work that uses it.
        unsafe { self.cuMemFree(address) }
    }

    pub fn allocate_host(&self, bytes: usize) -> Result<HostMemory, CudaError> {
        let mut memory = HostMemory::NULL;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuMemHostAlloc(&mut memory, bytes, 0) }.map(|()| memory)
    }

    pub fn free_host(&self, memory: HostMemory) -> Result<(), CudaError> {
        // SAFETY: the owner of the memory frees it once, after the copies from it.
        unsafe { self.cuMemFreeHost(memory) }
    }

    /// Copies to a device by way of `memory`, at a place from which no other copy is under way until the stream has
    /// been waited for.
    ///
    /// # Safety
    ///
    /// The memory has room for the values at this place, and no copy reads that part of it.
    pub unsafe fn write_by<T: Copy>(
        &self,
        memory: HostMemory,
        at: usize,
        to: u64,
        values: &[T],
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        let bytes = size_of_val(values);
        // SAFETY: the caller makes sure that there is room. The memory belongs to the driver, so the values do not
        // overlap it.
        let from = unsafe {
            let from = memory.0.cast::<u8>().add(at);
            ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), from, bytes);
            from
        };
        // SAFETY: the copied bytes stay as they are until the stream has been waited for.
        unsafe { self.cuMemcpyHtoDAsync(to, from.cast(), bytes, stream) }
    }

    /// Copies to a device and waits.
    pub fn write<T: Copy>(&self, to: u64, values: &[T], stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: the values are valid until the copy is done, because the stream is waited for.
        unsafe {
            self.cuMemcpyHtoDAsync(to, values.as_ptr().cast(), size_of_val(values), stream)?;
            self.cuStreamSynchronize(stream)
        }
    }

    /// Copies from a device and waits.
    ///
    /// # Safety
    ///
    /// Every pattern of bits is a value of the type.
    pub unsafe fn read<T: Copy>(
        &self,
        into: &mut [T],
        from: u64,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        // SAFETY: the place is valid until the copy is done, because the stream is waited for.
        unsafe {
            self.cuMemcpyDtoHAsync(into.as_mut_ptr().cast(), from, size_of_val(into), stream)?;
            self.cuStreamSynchronize(stream)
        }
    }

    pub fn clear(&self, address: u64, bytes: usize, stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: the driver checks that the bytes are memory of the device.
        unsafe { self.cuMemsetD8Async(address, 0, bytes, stream) }
    }

    pub fn create_stream(&self) -> Result<StreamHandle, CudaError> {
        // It does not wait for the default stream.
        const NON_BLOCKING: c_uint = 1;
        let mut stream = StreamHandle::NULL;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuStreamCreate(&mut stream, NON_BLOCKING) }.map(|()| stream)
    }

    pub fn synchronize(&self, stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: the stream exists.
        unsafe { self.cuStreamSynchronize(stream) }
    }

    pub fn destroy_stream(&self, stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: the owner of a stream destroys it once.
        unsafe { self.cuStreamDestroy(stream) }
    }

    pub fn launch<A: Copy>(
        &self,
        function: FunctionHandle,
        shape: Shape,
        stream: StreamHandle,
        args: &A,
    ) -> Result<(), CudaError> {
        const END: usize = 0;
        const POINTER: usize = 1;
        const BYTES: usize = 2;
        let number = ptr::without_provenance_mut::<c_void>;
        let mut bytes = size_of::<A>();
        let mut extra = [
            number(POINTER),
            ptr::from_ref(args).cast_mut().cast(),
            number(BYTES),
            ptr::from_mut(&mut bytes).cast(),
            number(END),
        ];
        // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        const OVERLAP: c_int = 6;
        let overlap = LaunchAttribute { id: OVERLAP, _padding: 0, value: 1, _unused: [0; 15] };
        let settings = LaunchSettings {
            grid: shape.grid,
            block: [shape.threads, 1, 1],
            shared_bytes: shape.shared_bytes as c_uint,
            stream,
            attributes: &overlap,
            attribute_count: shape.overlaps.into(),
        };
        // SAFETY: the module of the function is loaded. The driver copies the settings and the arguments, whose size it
        // is given, before it returns.
        unsafe { self.cuLaunchKernelEx(&settings, function, ptr::null_mut(), extra.as_mut_ptr()) }
    }

    pub fn create_event(&self) -> Result<EventHandle, CudaError> {
        let mut event = EventHandle::NULL;
        // SAFETY: the place is valid during the call.
        unsafe { self.cuEventCreate(&mut event, 0) }.map(|()| event)
    }

    pub fn record_event(&self, event: EventHandle, stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: both exist.
        unsafe { self.cuEventRecord(event, stream) }
    }

    /// Waits for the end, and gives the milliseconds between two events.
    pub fn milliseconds(&self, start: EventHandle, end: EventHandle) -> Result<f32, CudaError> {
        let mut milliseconds = 0.0;
        // SAFETY: both exist, and the place is valid during the call.
        unsafe {
            self.cuEventSynchronize(end)?;
            self.cuEventElapsedTime(&mut milliseconds, start, end)?;
        }
        Ok(milliseconds)
    }

    pub fn destroy_event(&self, event: EventHandle) -> Result<(), CudaError> {
        // SAFETY: the owner of an event destroys it once.
        unsafe { self.cuEventDestroy(event) }
    }

    pub fn begin_recording(&self, stream: StreamHandle) -> Result<(), CudaError> {
        // Calls of other threads are not concerned.
        const THREAD_LOCAL: c_int = 1;
        // SAFETY: the stream exists.
        unsafe { self.cuStreamBeginCapture(stream, THREAD_LOCAL) }
    }

    pub fn end_recording(&self, stream: StreamHandle) -> Result<RecordingHandle, CudaError> {
        let mut recording = RecordingHandle::NULL;
        // SAFETY: the stream exists, and the place is valid during the call.
        unsafe { self.cuStreamEndCapture(stream, &mut recording) }.map(|()| recording)
    }

    pub fn instantiate(&self, recording: RecordingHandle) -> Result<GraphHandle, CudaError> {
        let mut graph = GraphHandle::NULL;
        // SAFETY: the recording exists, and the place is valid during the call.
        unsafe { self.cuGraphInstantiateWithFlags(&mut graph, recording, 0) }.map(|()| graph)
    }

    pub fn launch_graph(&self, graph: GraphHandle, stream: StreamHandle) -> Result<(), CudaError> {
        // SAFETY: both exist.
        unsafe { self.cuGraphLaunch(graph, stream) }
    }

    pub fn destroy_graph(&self, graph: GraphHandle) -> Result<(), CudaError> {
        // SAFETY: the owner of a graph destroys it once.
        unsafe { self.cuGraphExecDestroy(graph) }
    }

    pub fn destroy_recording(&self, recording: RecordingHandle) -> Result<(), CudaError> {
        // SAFETY: the owner of a recording destroys it once.
        unsafe { self.cuGraphDestroy(recording) }
    }
}
