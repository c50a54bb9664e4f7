//! The same for many sequences, on several threads.

use super::error::AnalyzeError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time between two looks at how far it is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// `of` for each number below `count`, in order. `watch` is given how many are done, on the thread of the caller.
pub(super) fn in_parallel<T: Send>(
    count: usize,
    threads: usize,
    of: impl Fn(usize) -> Result<T, AnalyzeError> + Sync,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<Vec<T>, AnalyzeError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Result<T, AnalyzeError>>>> = Mutex::new((0..count).map(|_| None).collect());
    let take = || loop {
        let place = next.fetch_add(1, Ordering::SeqCst);
        if place >= count {
            return;
        }
        let result = of(place);
        if result.is_err() {
            // The others need not be begun.
            next.store(count, Ordering::SeqCst);
        }
        results.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(result);
        done.fetch_add(1, Ordering::SeqCst);
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, count.max(1))).map(|_| scope.spawn(take)).collect();
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            watch(done.load(Ordering::SeqCst), count);
            std::thread::sleep(BETWEEN_LOOKS);
        }
    });
    watch(done.load(Ordering::SeqCst), count);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // An error comes before the places that it left empty, or after them.
    let mut all = Vec::with_capacity(count);
    let mut failure = None;
    for result in results {
        match result {
            Some(Ok(value)) => all.push(value),
            Some(Err(error)) => failure = failure.or(Some(error)),
            None => {}
        }
    }
    failure.map_or(Ok(all), Err)
}
