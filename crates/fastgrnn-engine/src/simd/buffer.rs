//! Growable memory that starts on a cache line, so that aligned vectors never straddle two.

use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

const LINE: usize = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// A `Vec` of numbers aligned to 64 bytes; its length is rounded up to whole cache lines.
#[derive(Clone, Default)]
pub struct Buffer<T = f32>(Vec<Line>, PhantomData<T>);

impl<T: Pod> Buffer<T> {
    /// `n` zeros, rounded up.
    pub fn zeros(n: usize) -> Self {
        let mut new = Self(Vec::new(), PhantomData);
        new.reserve(n);
        new
    }

    /// Makes it at least `n` long; what is there stays, what is new is 0.
    pub fn reserve(&mut self, n: usize) {
        let lines = n.div_ceil(LINE / size_of::<T>());
        if self.0.len() < lines {
            self.0.resize(lines, Line::zeroed());
        }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
