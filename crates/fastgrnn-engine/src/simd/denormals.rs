//! Flushing denormals to zero while kernels run.
//!
//! Rust assumes the default floating-point environment. This deviates from it on purpose and within
//! bounds: between setting and restoring, the only difference is that denormal results become zero,
//! which no code here relies on.
//!
//! Gradients that vanish through time pass through the denormal range, where x86 arithmetic is up
//! to a hundred times slower; nothing that small matters to training.

/// Flushes denormals on this thread until dropped, then restores what was before.
pub struct FlushDenormals {
    before: u64,
}

impl FlushDenormals {
    pub fn start() -> Self {
        let before = control();
        set_control(before | FLUSH);
        Self { before }
    }
}

impl Drop for FlushDenormals {
    fn drop(&mut self) {
        set_control(self.before);
    }
}

/// MXCSR's flush-to-zero and denormals-are-zero bits.
#[cfg(target_arch = "x86_64")]
const FLUSH: u64 = 0x8040;
/// FPCR's flush-to-zero bit.
#[cfg(target_arch = "aarch64")]
const FLUSH: u64 = 1 << 24;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const FLUSH: u64 = 0;

#[cfg(target_arch = "x86_64")]
fn control() -> u64 {
    let mut value = 0u32;
    // SAFETY: stores the 32-bit MXCSR to a local; SSE is in the x86-64 baseline.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) };
    u64::from(value)
}

#[cfg(target_arch = "x86_64")]
fn set_control(value: u64) {
    let value = value as u32;
    // SAFETY: loads MXCSR with bits read from it before, flush bits added: no exception is unmasked.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly)) };
}

#[cfg(target_arch = "aarch64")]
fn control() -> u64 {
    let value: u64;
    // SAFETY: reads the floating-point control register.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) value, options(nostack)) };
    value
}

#[cfg(target_arch = "aarch64")]
fn set_control(value: u64) {
    // SAFETY: writes back bits read from the register, the flush bit added.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) value, options(nostack)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn control() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn set_control(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn denormals_are_flushed_inside_and_restored_after() {
        let halve = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        assert!(halve() > 0.0);
        if FLUSH != 0 {
            let guard = FlushDenormals::start();
            assert_eq!(halve(), 0.0);
            drop(guard);
        }
        assert!(halve() > 0.0);
    }
}
