//! Worker threads that run numbered tasks of a job, without allocating per job.
//!
//! Unlike a scoped pool it needs no `unsafe`: a job is an `Arc` that owns what it works on (behind
//! locks that are never contended), made once and run for every training step. Which worker takes
//! which task is left to chance; a job's results must not depend on it.

use crate::simd::FlushDenormals;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work in numbered tasks; the first argument is the worker's number, below the pool's size.
pub(super) type Job = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// How long a thread looks for work before it sleeps: about as long as packing weights and updating
/// parameters take, so that workers stay awake through that part of a step.
const SPIN: Duration = Duration::from_micros(60);

#[derive(Default)]
struct Current {
    job: Option<Job>,
    tasks: usize,
    /// Workers that take part: no more than there are tasks for.
    workers: usize,
    quit: bool,
}

#[derive(Default)]
struct PoolState {
    current: Mutex<Current>,
    /// Counts jobs, so that a waiting worker sees a new one without taking the lock.
    generation: AtomicUsize,
    next_task: AtomicUsize,
    /// Workers that have not finished the current job.
    busy: AtomicUsize,
    failed: AtomicBool,
    wake: Condvar,
    done: Condvar,
}

/// The calling thread and `threads − 1` workers.
pub(super) struct Pool {
    shared: Arc<PoolState>,
    workers: Vec<JoinHandle<()>>,
}

fn lock(shared: &PoolState) -> MutexGuard<'_, Current> {
    shared.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Spins until `ready`, for a while; then the caller should sleep.
fn spin(ready: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..64 {
            if ready() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > SPIN {
            return false;
        }
    }
}

impl Pool {
    pub(super) fn new(threads: usize) -> Self {
        let shared = Arc::new(PoolState::default());
        let workers = (1..threads)
            .map_while(|number| {
                let shared = Arc::clone(&shared);
                // A machine that gives no more threads computes the same with fewer.
                std::thread::Builder::new()
                    .name(format!("fastgrnn-{number}"))
                    .spawn(move || work(&shared, number))
                    .ok()
            })
            .collect();
        Self { shared, workers }
    }

    /// Threads that work, the caller included.
    pub(super) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Runs tasks `0..tasks` of `job` and returns when all are done.
    ///
    /// # Panics
    /// If a task panics.
    pub(super) fn run(&self, job: &Job, tasks: usize) {
        let shared = &*self.shared;
        if tasks <= 1 || self.workers.is_empty() {
            let _flush = FlushDenormals::start();
            (0..tasks).for_each(|task| job(0, task));
            return;
        }
        let workers = self.workers.len().min(tasks - 1);
        {
            let mut current = lock(shared);
            current.job = Some(Arc::clone(job));
            current.tasks = tasks;
            current.workers = workers;
            shared.next_task.store(0, Ordering::Relaxed);
            shared.busy.store(workers, Ordering::Relaxed);
            shared.generation.fetch_add(1, Ordering::Release);
            shared.wake.notify_all();
        }
        take_tasks(shared, job, tasks, 0);
        let idle = || shared.busy.load(Ordering::Acquire) == 0;
        if !spin(idle) {
            let mut current = lock(shared);
            while !idle() {
                current = shared.done.wait(current).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
        assert!(!shared.failed.swap(false, Ordering::Relaxed), "a worker thread panicked");
    }
}

fn take_tasks(shared: &PoolState, job: &Job, tasks: usize, worker: usize) {
    let _flush = FlushDenormals::start();
    loop {
        let task = shared.next_task.fetch_add(1, Ordering::Relaxed);
        if task >= tasks {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| job(worker, task))).is_err() {
            shared.failed.store(true, Ordering::Relaxed);
        }
    }
}

fn work(shared: &PoolState, number: usize) {
    let mut seen = 0;
    loop {
        spin(|| shared.generation.load(Ordering::Acquire) != seen);
        let (job, tasks) = {
            let mut current = lock(shared);
            while shared.generation.load(Ordering::Acquire) == seen && !current.quit {
                current = shared.wake.wait(current).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            if current.quit {
                return;
            }
            seen = shared.generation.load(Ordering::Acquire);
            match &current.job {
                Some(job) if number <= current.workers => (Arc::clone(job), current.tasks),
                _ => continue,
            }
        };
        take_tasks(shared, &job, tasks, number);
        drop(job);
        if shared.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The lock orders this with the caller's check, so that the caller cannot miss it.
            drop(lock(shared));
            shared.done.notify_one();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.shared).quit = true;
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker cannot panic outside a task, and those are caught.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_per_job_on_any_number_of_threads() {
        for threads in 1..4 {
            let pool = Pool::new(threads);
            let counts: Arc<Vec<AtomicUsize>> = Arc::new((0..7).map(|_| AtomicUsize::new(0)).collect());
            let job: Job = {
                let counts = Arc::clone(&counts);
                Arc::new(move |_, task| {
                    counts[task].fetch_add(1, Ordering::Relaxed);
                })
            };
            for _ in 0..500 {
                pool.run(&job, 7);
            }
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 500));
        }
    }

    #[test]
    #[should_panic(expected = "a worker thread panicked")]
    fn a_panicking_task_reaches_the_caller() {
        let job: Job = Arc::new(|_, task| assert!(task != 1, "task 1"));
        Pool::new(2).run(&job, 2);
    }
}
