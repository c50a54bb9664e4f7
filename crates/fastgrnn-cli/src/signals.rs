//! Signals of the system: which arrive, and what is called then.

pub use system::{exit_at_once, on_signals, write_stderr};

#[cfg(unix)]
mod system {
    use std::sync::OnceLock;

    /// The requests to stop that a terminal, a user or a scheduler sends.
    const REQUESTS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    static CALLBACK: OnceLock<fn(i32)> = OnceLock::new();

    /// Calls `callback` with the number of each request to stop from now on. The callback may only do what is
    /// safe in a signal handler: no allocation and no lock.
    ///
    /// A signal that was ignored when the program started stays ignored: `nohup` and shells that start a
    /// program in the background rely on it.
    pub fn on_signals(callback: fn(i32)) {
        if CALLBACK.set(callback).is_err() {
            return;
        }
        for signal in REQUESTS {
            // SAFETY: `sigaction` is plain data for which zeros are a valid value.
            let mut present: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: the new action may be null, which only reads the present one into a valid place.
            let is_known = unsafe { libc::sigaction(signal, std::ptr::null(), &mut present) } == 0;
            if !is_known || present.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            present.sa_sigaction = handle as *const () as libc::sighandler_t;
            present.sa_flags = libc::SA_RESTART;
            // SAFETY: `handle` has the signature that a handler without SA_SIGINFO has, lives as long as the
            // program and only does what is safe in a handler.
            unsafe { libc::sigaction(signal, &present, std::ptr::null_mut()) };
        }
    }

    extern "C" fn handle(signal: i32) {
        // The code that was interrupted may be about to read its error number.
        let error = errno::errno();
        if let Some(callback) = CALLBACK.get() {
            callback(signal);
        }
        errno::set_errno(error);
    }

    /// Writes text to stderr without a lock; safe in a signal handler.
    pub fn write_stderr(text: &str) {
        // SAFETY: the pointer and the length are those of one string.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    }

    /// Ends the program without any clean-up; safe in a signal handler.
    pub fn exit_at_once(code: i32) -> ! {
        // SAFETY: it takes any number and does not return.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(not(unix))]
mod system {
    /// The number that stands for Ctrl-C.
    const INTERRUPT: i32 = 2;

    /// Calls `callback` at each Ctrl-C from now on.
    pub fn on_signals(callback: fn(i32)) {
        // Without a handler a run still resumes from its last checkpoint, so a failure is no reason to stop.
        let _ = ctrlc::set_handler(move || callback(INTERRUPT));
    }

    /// Writes text to stderr.
    pub fn write_stderr(text: &str) {
        eprint!("{text}");
    }

    /// Ends the program.
    pub fn exit_at_once(code: i32) -> ! {
        std::process::exit(code)
    }
}
