//! Values that go to a device as bytes.
use std::fmt;
use std::marker::PhantomData;

/// A type whose values are copied to a device and back as bytes.
///
/// # Safety
///
/// Every pattern of bits is a value of the type, it has no pointers to memory of the host, and its layout is fixed:
/// a number, an array, or a `#[repr(C)]` struct of such types.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $number {}
    )* };
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

// SAFETY: an array of plain values has no bytes beside theirs.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The value whose bytes are zeros.
pub(super) fn zero<T: Plain>() -> T {
    // SAFETY: every pattern of bits is a value of a plain type.
    unsafe { std::mem::zeroed() }
}

/// The place of values in a device's memory, for the arguments of kernels. It does not keep the buffer alive.
#[repr(transparent)]
pub struct Address<T> {
    bytes: u64,
    values: PhantomData<fn() -> T>,
}

// SAFETY: a number, which only kernels take for a place in memory.
unsafe impl<T: 'static> Plain for Address<T> {}

impl<T> Address<T> {
    /// The null pointer.
    pub const NULL: Address<T> = Address::new(0);

    pub(super) const fn new(bytes: u64) -> Address<T> {
        Address { bytes, values: PhantomData }
    }

    /// The place `count` values later.
    pub fn offset(self, count: usize) -> Address<T> {
        Address::new(self.bytes + (count * size_of::<T>()) as u64)
    }

    /// Whether it is the null pointer.
    pub fn is_null(self) -> bool {
        self.bytes == 0
    }

    pub(super) fn bytes(self) -> u64 {
        self.bytes
    }
}

impl<T> Clone for Address<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Address<T> {}

impl<T> fmt::Debug for Address<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:#x}", self.bytes)
    }
}
