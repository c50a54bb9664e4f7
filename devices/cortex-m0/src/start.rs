//! What the core does at power on and at a fault.

use crate::semihosting::exit;

/// Exit code of a fault: an access to memory that is not there, an unaligned one, an instruction
/// that a Cortex-M0 lacks.
const FAULT: u32 = 102;

/// The vectors after the first (the stack's start, which the linker script writes): reset, NMI,
/// hard fault.
// SAFETY: the section's place is the linker script's; nothing else uses its name.
#[unsafe(link_section = ".vectors")]
#[used]
static VECTORS: [extern "C" fn() -> !; 3] = [reset, fault, fault];

// SAFETY: the name is the linker script's entry point and nothing else's.
#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    exit(match crate::run() {
        Ok(()) => 0,
        Err(failure) => failure as u32,
    })
}

extern "C" fn fault() -> ! {
    exit(FAULT)
}
