//! Memory, kernels, graphs and errors of a device.
use super::emulated;
use fastgrnn_cuda::driver::{self, Address, Buffer, CudaError, Device, Plain};
use std::ffi::{CStr, c_char};
use std::path::Path;

/// The argument of the kernel `add_thread_sums`, which adds the sum of its threads' numbers to each block's number.
#[derive(Clone, Copy)]
#[repr(C)]
struct ThreadSumArguments {
    sums: Address<f32>,
    factor: f32,
}

// SAFETY: an address and a number.
unsafe impl Plain for ThreadSumArguments {}

const BLOCKS: u32 = 5;
const THREADS: u32 = 96;
const SHARED: usize = 3 * 4;

fn add_sums(device: &Device, sums: &Buffer<f32>, factor: f32) -> Result<(), CudaError> {
    let kernel = device.kernel("add_thread_sums")?;
    let args = ThreadSumArguments { sums: sums.address(), factor };
    device.launch(&kernel, [sums.len() as u32, 1, 1], THREADS, SHARED, &args)
}

/// What `add_sums` adds to a block's number.
fn thread_sum(block: u32) -> f32 {
    (block * THREADS..(block + 1) * THREADS).sum::<u32>() as f32
}

#[test]
fn values_come_back_from_a_device() {
    check_copies(&emulated::device());
}

fn check_copies(device: &Device) {
    let values: Vec<u32> = (0..1000).map(|i| i * i).collect();
    let mut buffer = device.upload(&values).unwrap();
    assert_eq!(buffer.len(), 1000);
    assert_eq!(buffer.to_vec().unwrap(), values);
    buffer.write(998, &[7, 8]).unwrap();
    let mut part = [0; 4];
    buffer.read(996, &mut part).unwrap();
    assert_eq!(part, [996 * 996, 997 * 997, 7, 8]);
    buffer.clear().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [0; 1000]);
}

#[test]
fn more_values_than_the_staging_memory_holds_come_back() {
    check_many_values(&emulated::device());
}

fn check_many_values(device: &Device) {
    let values: Vec<u64> = (0..1_000_000).collect();
    assert_eq!(device.upload(&values).unwrap().to_vec().unwrap(), values);
    // Many writes that fill it together.
    let mut buffer = device.buffer::<u64>(values.len()).unwrap();
    for (i, part) in values.chunks(99_999).enumerate() {
        buffer.write(i * 99_999, part).unwrap();
    }
    assert_eq!(buffer.to_vec().unwrap(), values);
}

#[test]
fn a_new_buffer_is_zero_and_an_empty_one_has_no_memory() {
    let device = emulated::device();
    assert_eq!(device.buffer::<f32>(3).unwrap().to_vec().unwrap(), [0.0; 3]);
    let empty = device.buffer::<f32>(0).unwrap();
    assert!(empty.is_empty() && empty.address().is_null());
    assert!(empty.to_vec().unwrap().is_empty());
}

#[test]
#[should_panic(expected = "3 values at 8 of a buffer of 10")]
fn a_write_beyond_a_buffer_panics() {
    let mut buffer = emulated::device().buffer::<f32>(10).unwrap();
    let _ = buffer.write(8, &[1.0, 2.0, 3.0]);
}

#[test]
fn a_buffer_outlives_the_name_of_its_device() {
    let buffer = {
        let device = emulated::device();
        device.upload(&[1.5f32]).unwrap()
    };
    assert_eq!(buffer.to_vec().unwrap(), [1.5]);
}

#[test]
fn a_kernel_adds_to_a_buffer() {
    check_a_launch(&emulated::device());
}

fn check_a_launch(device: &Device) {
    let sums = device.upload(&[1000.0; BLOCKS as usize]).unwrap();
    add_sums(device, &sums, 2.0).unwrap();
    let expected: Vec<f32> = (0..BLOCKS).map(|block| 1000.0 + 2.0 * thread_sum(block)).collect();
    assert_eq!(sums.to_vec().unwrap(), expected);
}

#[test]
fn a_graph_runs_when_it_is_launched_and_as_often() {
    check_graphs(&emulated::device());
}

fn check_graphs(device: &Device) {
    let mut cleared = device.upload(&[3.0f32; 4]).unwrap();
    let sums = device.buffer::<f32>(BLOCKS as usize).unwrap();
    let graph = device
        .record(|| {
            cleared.clear()?;
            add_sums(device, &sums, 1.0)?;
            add_sums(device, &sums, 2.0)
        })
        .unwrap();
    assert_eq!(cleared.to_vec().unwrap(), [3.0; 4]);
    assert_eq!(sums.to_vec().unwrap(), [0.0; BLOCKS as usize]);
    for runs in 1..=3 {
        device.run(&graph).unwrap();
        let expected: Vec<f32> = (0..BLOCKS).map(|block| runs as f32 * 3.0 * thread_sum(block)).collect();
        assert_eq!(sums.to_vec().unwrap(), expected);
    }
    assert_eq!(cleared.to_vec().unwrap(), [0.0; 4]);
}

#[test]
fn copies_and_new_memory_in_a_graph_are_errors_and_the_device_goes_on() {
    check_recording_errors(&emulated::device());
}

fn check_recording_errors(device: &Device) {
    let mut buffer = device.upload(&[1.0f32, 2.0]).unwrap();
    let error = |result: Result<_, CudaError>| result.err().expect("a graph cannot hold it").to_string();
    assert_eq!(
        error(device.record(|| buffer.write(0, &[5.0]))),
        "a graph cannot hold this: a copy to the GPU"
    );
    assert_eq!(
        error(device.record(|| buffer.to_vec().map(drop))),
        "a graph cannot hold this: a copy from the GPU"
    );
    assert_eq!(
        error(device.record(|| device.buffer::<u8>(1).map(drop))),
        "a graph cannot hold this: new memory"
    );
    assert_eq!(
        error(device.record(|| device.synchronize())),
        "a graph cannot hold this: waiting for the GPU"
    );
    assert_eq!(buffer.to_vec().unwrap(), [1.0, 2.0]);
}

#[test]
fn both_orders_of_threads_give_the_same_bits() {
    let results = [emulated::device(), emulated::descending_device()].map(|device| {
        let sums = device.buffer::<f32>(BLOCKS as usize).unwrap();
        add_sums(&device, &sums, 0.1).unwrap();
        sums.to_vec().unwrap().iter().map(|sum| sum.to_bits()).collect::<Vec<_>>()
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn time_passes_between_events() {
    check_events(&emulated::device());
}

fn check_events(device: &Device) {
    let sums = device.buffer::<f32>(200).unwrap();
    let start = device.event().unwrap();
    add_sums(device, &sums, 1.0).unwrap();
    let end = device.event().unwrap();
    assert!(end.since(&start).unwrap() > 0.0);
}

#[test]
fn a_gpu_does_what_the_emulator_does() {
    let Some(device) = emulated::gpu() else {
        return;
    };
    check_copies(&device);
    check_many_values(&device);
    check_a_launch(&device);
    check_graphs(&device);
    check_recording_errors(&device);
    check_events(&device);
    check_too_little_memory(&device);
    check_wrong_launches(&device);
    assert_eq!(driver::devices().unwrap()[0], device.name());
    assert_eq!(device.kernel("none").err(), Some(CudaError::UnknownKernel("none".to_owned())));
    println!(
        "{}: {} multiprocessors, {} bytes a block",
        device.name(),
        device.multiprocessors(),
        device.block_memory()
    );
}

#[test]
fn the_devices_have_names() {
    assert_eq!(emulated::device().name(), "emulator");
    assert_eq!(
        driver::devices_with_library(emulated::library()).unwrap(),
        ["emulator", "emulator, descending", "emulator, small"]
    );
}

#[test]
fn an_index_beyond_the_gpus_is_an_error_that_counts_them() {
    let error = Device::with_library(emulated::library(), 3).err().unwrap();
    assert_eq!(error.to_string(), "there is no GPU 3: there are 3 GPUs, 0 to 2");
    let error = CudaError::NoSuchGpu { index: 3, count: 1 };
    assert_eq!(error.to_string(), "there is no GPU 3: there is one GPU, 0");
}

#[test]
fn a_missing_library_is_an_error_that_says_what_to_do() {
    let error = Device::with_library(Path::new("/nowhere/libcuda.so.1"), 0).err().unwrap().to_string();
    let start = "the library /nowhere/libcuda.so.1 of the CUDA driver could not be loaded: install the driver of the \
                 NVIDIA GPU, or use the device cpu (";
    assert!(error.starts_with(start), "{error}");
    assert!(error.ends_with("No such file or directory)"), "{error}");
}

#[test]
fn an_old_driver_is_named_with_its_version() {
    let error = CudaError::OldDriver { version: 11080, needed: 12030 }.to_string();
    assert!(error.starts_with("the driver supports CUDA 11.8, and CUDA 12.3 is needed: update"), "{error}");
}

#[test]
fn an_unknown_kernel_is_an_error_with_its_name() {
    let error = emulated::device().kernel("no_such_kernel").err().unwrap();
    assert_eq!(error, CudaError::UnknownKernel("no_such_kernel".to_owned()));
    assert_eq!(error.to_string(), "there is no kernel no_such_kernel");
}

#[test]
fn too_little_memory_is_an_error_with_the_bytes() {
    check_too_little_memory(&emulated::device());
}

fn check_too_little_memory(device: &Device) {
    let wanted = 1 << 40;
    match device.buffer::<u8>(wanted).err() {
        Some(CudaError::OutOfMemory { wanted: bytes, free }) => {
            assert_eq!(bytes, wanted);
            assert!(free > 0 && free < wanted, "{free}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_kernel_that_waits_may_begin_before_the_kernel_before_it_has_ended() {
    let overlapping = || {
        // SAFETY: the library has no initialisers that ask anything, and the function returns a number.
        unsafe {
            let library = libloading::Library::new(emulated::library()).unwrap();
            let count = library.get::<extern "C" fn() -> usize>("emulator_overlapping").unwrap();
            count()
        }
    };
    let added = |device: &Device| {
        let before = overlapping();
        let mut sums = device.buffer::<f32>(BLOCKS as usize).unwrap();
        let graph = device.record(|| (0..3).try_for_each(|_| add_sums(device, &sums, 1.0))).unwrap();
        device.run(&graph).unwrap();
        // After a graph, after a kernel, after a copy, and after memory was cleared.
        add_sums(device, &sums, 1.0).unwrap();
        add_sums(device, &sums, 1.0).unwrap();
        sums.write(0, &[1.0]).unwrap();
        add_sums(device, &sums, 1.0).unwrap();
        sums.clear().unwrap();
        add_sums(device, &sums, 1.0).unwrap();
        assert_eq!(sums.to_vec().unwrap()[1], thread_sum(1));
        add_sums(device, &sums, 1.0).unwrap();
        overlapping() - before
    };
    // Two in the graph, one after it.
    assert_eq!(added(&emulated::descending_device()), 3);
    assert_eq!(added(&emulated::device()), 0, "kernels of other GPUs do not wait");
}

#[test]
fn a_wrong_launch_is_an_error_with_the_kernel() {
    check_wrong_launches(&emulated::device());
}

fn check_wrong_launches(device: &Device) {
    let kernel = device.kernel("add_thread_sums").unwrap();
    let sums = device.buffer::<f32>(1).unwrap();
    let args = ThreadSumArguments { sums: sums.address(), factor: 1.0 };
    let launch = |threads, shared| device.launch(&kernel, [1, 1, 1], threads, shared, &args);
    // The kernel is declared for 256 threads.
    let error = launch(288, 36).err().unwrap().to_string();
    assert_eq!(
        error,
        "cuLaunchKernelEx of add_thread_sums on a grid of [1, 1, 1] blocks of 288 threads with 36 bytes failed: \
         CUDA_ERROR_INVALID_VALUE (invalid argument)"
    );
    assert!(launch(256, device.block_memory()).is_ok());
    assert!(launch(256, device.block_memory() + 4).is_err());
}

#[test]
fn the_stored_kernels_are_all_that_there_are_and_old_drivers_read_them() {
    let modules = fastgrnn_cuda::ptx().into_iter().map(|text| String::from_utf8(text).unwrap());
    let modules: Vec<String> = modules.collect();
    for ptx in &modules {
        assert!(ptx.starts_with(".version 8.3\n.target sm_80\n"), "{}", &ptx[..ptx.len().min(100)]);
    }
    let ptx = modules.concat();
    assert!(fastgrnn_cuda::cubin().iter().all(|cubin| cubin.starts_with(b"\x7fELF")));
    let cubin = fastgrnn_cuda::cubin().concat();
    let kernels = kernels();
    assert!(kernels.iter().any(|kernel| kernel == "add_thread_sums"), "{kernels:?}");
    for kernel in &kernels {
        let help = format!("{kernel} is not compiled: run scripts/build-kernels");
        assert!(ptx.contains(&format!(".entry {kernel}(")), "{help}");
        let section = format!(".text.{kernel}\0").into_bytes();
        assert!(cubin.windows(section.len()).any(|bytes| bytes == section), "{help}");
    }
    assert_eq!(
        ptx.matches(".entry ").count(),
        kernels.len(),
        "a compiled kernel has no source: run scripts/build-kernels"
    );
}

/// The names of the kernels in the emulator.
fn kernels() -> Vec<String> {
    // SAFETY: the library has no initialisers that ask anything, and the function returns a text that is never freed.
    let names = unsafe {
        let library = libloading::Library::new(emulated::library()).unwrap();
        let names = library.get::<extern "C" fn() -> *const c_char>("emulator_kernels").unwrap();
        CStr::from_ptr(names()).to_str().unwrap().to_owned()
    };
    names.lines().map(str::to_owned).collect()
}
