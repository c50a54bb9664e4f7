//! The end of a training on a GPU: networks are evaluated and written.

use crate::train::TrainError;
use crate::train::job::Job;
use crate::train::observe::Observer;
use crate::train::seed::SeedRun;
use crate::train::summary::SeedRecord;
use std::sync::{Mutex, PoisonError};

/// A seed that is to be trained.
pub(in crate::train) struct Member {
    /// The place of its run in the list of jobs.
    pub job: usize,
    /// Its place among the seeds of the run.
    pub index: usize,
    pub run: SeedRun,
}

/// Writes and evaluates trained seeds, on the CPU: one on all threads, or several on a thread each.
pub(super) fn deliver(
    jobs: &mut [&mut Job],
    trained: Vec<Member>,
    observer: &mut dyn Observer,
) -> Result<Vec<(usize, usize, SeedRecord)>, TrainError> {
    let workers = jobs.iter().map(|job| job.threads).max().unwrap_or(1).min(trained.len());
    let mut records = Vec::new();
    if workers <= 1 {
        for Member { job, index, run } in trained {
            let record = run.record(jobs[job])?;
            observer.seed_finished(&record.result);
            records.push((job, index, record));
        }
        return Ok(records);
    }
    let mut waiting = Vec::new();
    for Member { job, index, run } in trained.into_iter().rev() {
        waiting.push((job, index, run, jobs[job].on_one_thread()?));
    }
    let waiting = Mutex::new(waiting);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let Some((job, index, run, mut own)) = next else { return };
                    // Nobody listens any more once a delivery has failed.
                    if sender.send(run.record(&mut own).map(|record| (job, index, record))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for delivered in receiver {
            let delivered = delivered?;
            observer.seed_finished(&delivered.2.result);
            records.push(delivered);
        }
        Ok::<(), TrainError>(())
    })?;
    Ok(records)
}
