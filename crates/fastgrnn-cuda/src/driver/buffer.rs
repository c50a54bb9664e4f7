//! Memory of a device.
use super::context::{Owned, Queue};
use super::error::CudaError;
use super::library::Driver;
use super::plain::{Address, Plain, zero};
use std::rc::Rc;

/// Values in the memory of a device, which is freed at the end of the buffer.
pub struct Buffer<T: Plain> {
    // Before the queue, so that it is freed first. Nothing where there are no values.
    memory: Option<Owned<u64>>,
    queue: Rc<Queue>,
    address: Address<T>,
    len: usize,
}

impl<T: Plain> Buffer<T> {
    pub(super) fn zeros(queue: &Rc<Queue>, len: usize) -> Result<Buffer<T>, CudaError> {
        let mut buffer = Buffer::allocate(queue, len)?;
        buffer.clear()?;
        Ok(buffer)
    }

    pub(super) fn of(queue: &Rc<Queue>, values: &[T]) -> Result<Buffer<T>, CudaError> {
        let mut buffer = Buffer::allocate(queue, values.len())?;
        buffer.write(0, values)?;
        Ok(buffer)
    }

    fn allocate(queue: &Rc<Queue>, len: usize) -> Result<Buffer<T>, CudaError> {
        queue.outside_graphs("new memory")?;
        let bytes = len.saturating_mul(size_of::<T>());
        let memory = if bytes == 0 {
            None
        } else {
            Some(Owned::new(&queue.context, |driver| driver.allocate(bytes), Driver::free)?)
        };
        let address = memory.as_ref().map_or(Address::NULL, |memory| Address::new(memory.handle));
        Ok(Buffer { memory, queue: queue.clone(), address, len })
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the first value, for kernels. It is the null pointer where there are no values. Work that uses it
    /// has to be launched before the buffer ends.
    pub fn address(&self) -> Address<T> {
        self.address
    }

    /// Sets all bytes to zero, after the work launched before. A graph can hold it.
    pub fn clear(&mut self) -> Result<(), CudaError> {
        if self.memory.is_none() {
            return Ok(());
        }
        let bytes = self.len * size_of::<T>();
        self.queue.set_follows_kernel(false);
        self.queue.context.activate()?.clear(self.address.bytes(), bytes, self.queue.stream())
    }

    /// Writes values from place `at` on, after the work launched before. Many values (megabytes) are waited for.
    ///
    /// # Panics
    ///
    /// If the values do not fit.
    pub fn write(&mut self, at: usize, values: &[T]) -> Result<(), CudaError> {
        self.check(at, values.len());
        if values.is_empty() {
            return Ok(());
        }
        self.queue.write(self.address.offset(at).bytes(), values)
    }

    /// Reads values from place `at` on, after the work launched before, and waits for them.
    ///
    /// # Panics
    ///
    /// If there are not as many values.
    pub fn read(&self, at: usize, into: &mut [T]) -> Result<(), CudaError> {
        self.check(at, into.len());
        if into.is_empty() {
            return Ok(());
        }
        self.queue.read(into, self.address.offset(at).bytes())
    }

    /// All values, after the work launched before.
    pub fn to_vec(&self) -> Result<Vec<T>, CudaError> {
        let mut values = vec![zero(); self.len];
        self.read(0, &mut values)?;
        Ok(values)
    }

    fn check(&self, at: usize, len: usize) {
        let fits = at.checked_add(len).is_some_and(|end| end <= self.len);
        assert!(fits, "{len} values at {at} of a buffer of {}", self.len);
    }
}
