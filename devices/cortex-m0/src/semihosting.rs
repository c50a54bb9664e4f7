//! Files and the exit code of the machine that emulates this one.
//!
//! ARM's semihosting: a breakpoint with the number 0xAB, an operation in r0, and in r1 the address
//! of its arguments. The answer comes back in r0.

use core::arch::asm;

const OPEN: u32 = 0x01;
const WRITE: u32 = 0x05;
const READ: u32 = 0x06;
const EXIT_EXTENDED: u32 = 0x20;
const APPLICATION_EXIT: u32 = 0x20026;

/// How a file is opened.
#[derive(Clone, Copy)]
pub enum Mode {
    /// An existing one, from its start.
    Read = 1,
    /// A new or emptied one.
    Write = 5,
}

/// An open file of the host.
pub struct File(u32);

impl File {
    /// Opens the file `name`, which ends with a zero byte; `None` if the host refuses.
    pub fn open(name: &[u8], mode: Mode) -> Option<Self> {
        let length = name.strip_suffix(&[0])?.len() as u32;
        let handle = call(OPEN, &[name.as_ptr() as u32, mode as u32, length]);
        (handle != u32::MAX).then_some(Self(handle))
    }

    /// Fills `bytes` as far as the file goes and returns how many it got.
    pub fn read(&mut self, bytes: &mut [u8]) -> usize {
        let missing = call(READ, &[self.0, bytes.as_mut_ptr() as u32, bytes.len() as u32]);
        bytes.len().saturating_sub(missing as usize)
    }

    /// Whether all of `bytes` were written.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        call(WRITE, &[self.0, bytes.as_ptr() as u32, bytes.len() as u32]) == 0
    }
}

/// Ends the emulator with this exit code.
pub fn exit(code: u32) -> ! {
    loop {
        call(EXIT_EXTENDED, &[APPLICATION_EXIT, code]);
    }
}

fn call(operation: u32, arguments: &[u32]) -> u32 {
    let answer;
    // SAFETY: the host reads the arguments, which are borrowed for the call. It writes only for
    // READ, whose pointer and length come from a `&mut [u8]` that `File::read` holds. Without
    // `nomem` the compiler assumes that any memory it has given an address of may change.
    unsafe {
        asm!(
            "bkpt 0xAB",
            inlateout("r0") operation => answer,
            in("r1") arguments.as_ptr(),
            options(nostack, preserves_flags),
        );
    }
    answer
}
