//! Work on separate parts of large buffers, on several threads.

use crate::simd::FlushDenormals;

/// Calls `f` with every item, on up to `threads` threads. Unlike [`Pool`](super::pool::Pool), it starts
/// threads for the call, so it is worth it for milliseconds of work only; in turn, items may borrow.
pub(super) fn for_each<T: Send>(threads: usize, items: impl Iterator<Item = T>, f: impl Fn(T) + Sync) {
    if threads <= 1 {
        return items.for_each(f);
    }
    let mut items: Vec<T> = items.collect();
    let share = items.len().div_ceil(threads).max(1);
    let work = |items: Vec<T>| {
        let _flush = FlushDenormals::start();
        items.into_iter().for_each(&f);
    };
    std::thread::scope(|scope| {
        while items.len() > share {
            let part = items.split_off(items.len() - share);
            scope.spawn(|| work(part));
        }
        work(items);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_on_any_number_of_threads() {
        for (threads, n) in [(0, 3), (1, 5), (2, 7), (3, 2), (4, 0), (5, 5)] {
            let mut values = vec![0; n];
            for_each(threads, values.iter_mut(), |value| *value += 1);
            assert_eq!(values, vec![1; n]);
        }
    }
}
