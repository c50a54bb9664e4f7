//! Asking for memory before it is needed.
//!
//! Saved activations of long sequences exceed the caches, and backward reads them from the last step
//! to the first, which hardware prefetchers follow badly. A burst of prefetches would stall like the
//! loads it stands for, so matrix kernels ask for one cache line in each round of their inner loop,
//! where memory is otherwise idle.

/// Memory that will be read or written soon, handed out line by line.
pub struct Ahead {
    next: *const f32,
    end: *const f32,
    then: (*const f32, *const f32),
}

impl Ahead {
    /// The cache lines of `memory`, first to last.
    pub fn new(memory: [&[f32]; 2]) -> Self {
        let [first, then] = memory.map(|m| m.as_ptr_range()).map(|r| (r.start, r.end));
        Self { next: first.0, end: first.1, then }
    }

    /// Asks for the next line, if any is left.
    #[inline(always)]
    pub fn prefetch(&mut self) {
        if self.next >= self.end {
            (self.next, self.end) = self.then;
            self.then.0 = self.then.1;
        }
        if self.next < self.end {
            prefetch_line(self.next);
            self.next = self.next.wrapping_add(LINE);
        }
    }

    /// The same, but the first cache keeps what it has: for memory that is needed somewhat later.
    #[inline(always)]
    pub fn prefetch_to_second_cache(&mut self) {
        if self.next < self.end {
            prefetch_line_to_second_cache(self.next);
            self.next = self.next.wrapping_add(LINE);
        }
    }
}

/// Values in a cache line.
const LINE: usize = 16;

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_line(line: *const f32) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no effect on memory, whatever the address; SSE is in the baseline.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_line_to_second_cache(line: *const f32) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: as above.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_: *const f32) {}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line_to_second_cache(_: *const f32) {}
