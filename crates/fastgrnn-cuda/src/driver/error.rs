//! What can fail between this program and a GPU.

/// Why a GPU cannot be used, or why work on it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The library of the driver is not installed.
    #[error(
        "the library {library} of the CUDA driver could not be loaded: install the driver of the NVIDIA GPU, \
         or use the device cpu ({reason})"
    )]
    NoDriver {
        /// The file or name that was tried.
        library: String,
        /// What the system says.
        reason: String,
    },
    /// The library lacks a function.
    #[error("the library {library} has no function {function}: it is no CUDA driver, or one that is too old")]
    MissingFunction {
        /// The file or name of the library.
        library: String,
        /// The name of the function.
        function: &'static str,
    },
    /// The driver does not know the kernels' version of PTX.
    #[error(
        "the driver supports CUDA {}.{}, and CUDA {}.{} is needed: update the NVIDIA driver, or use the device cpu",
        version / 1000, version % 1000 / 10, needed / 1000, needed % 1000 / 10
    )]
    OldDriver {
        /// The version that the driver supports, as CUDA writes it: 12030 is 12.3.
        version: i32,
        /// The oldest version that is enough.
        needed: i32,
    },
    /// The driver finds no GPU.
    #[error("the CUDA driver finds no GPU: check it with nvidia-smi, or use the device cpu")]
    NoGpu,
    /// There are fewer GPUs.
    #[error("there is no GPU {index}: {}", gpus_there_are(*count))]
    NoSuchGpu {
        /// The number of the GPU that was wanted.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU has an old architecture.
    #[error(
        "the GPU {name} has compute capability {major}.{minor}, and 8.0 is needed: choose another GPU, \
         or use the device cpu"
    )]
    OldGpu {
        /// The name of the GPU.
        name: String,
        /// The number before the dot of its compute capability.
        major: i32,
        /// The number after it.
        minor: i32,
    },
    /// The memory of the GPU is not enough.
    #[error(
        "the GPU has too little memory: {wanted} bytes are needed and {free} bytes are free; train fewer networks \
         at once or smaller batches, end other programs on the GPU, or use the device cpu"
    )]
    OutOfMemory {
        /// The bytes of the buffer that was wanted.
        wanted: usize,
        /// The bytes that are free.
        free: usize,
    },
    /// The driver does not load the kernels.
    #[error("the driver cannot load the kernels: {name} ({text}){}", after_a_colon(log))]
    BadKernels {
        /// CUDA's name of the error.
        name: String,
        /// CUDA's description of the error.
        text: String,
        /// The messages of the driver's compiler.
        log: String,
    },
    /// No kernel has this name.
    #[error("there is no kernel {0}")]
    UnknownKernel(String),
    /// The kernel that checks a GPU gives another result than it should.
    #[error(
        "the GPU {name} computes a wrong sum, {found} instead of {expected}: use another GPU or the device cpu"
    )]
    WrongSum {
        /// The name of the GPU.
        name: String,
        /// What it computed, as text.
        found: String,
        /// What is right, as text.
        expected: String,
    },
    /// Something that needs the host was tried while work was recorded.
    #[error("a graph cannot hold this: {0}")]
    WhileRecording(&'static str),
    /// Any other failure.
    #[error("{function} failed: {name} ({text})")]
    Failed {
        /// The function of CUDA's driver, for a launch with the name of the kernel.
        function: String,
        /// CUDA's number of the error.
        code: i32,
        /// CUDA's name of the error.
        name: String,
        /// CUDA's description of the error.
        text: String,
    },
}

fn gpus_there_are(count: usize) -> String {
    match count {
        1 => "there is one GPU, 0".to_owned(),
        _ => format!("there are {count} GPUs, 0 to {}", count - 1),
    }
}

fn after_a_colon(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(": {log}") }
}
