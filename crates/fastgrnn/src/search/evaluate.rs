//! Trains many networks: on the CPU several at a time, each on a thread; on a GPU all that are alike at once.

use super::clock::{Clock, epochs};
use super::options::SearchObserver;
use crate::train::{
    Config, DeviceChoice, EpochReport, Observer, Outcome, RunOptions, TrainError, is_gpu_used, run, run_all,
    shared_settings,
};
use fastgrnn_data::data::Dataset;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;

/// A network that is to be trained.
pub(crate) struct Training<'a> {
    /// Its run folder.
    pub folder: PathBuf,
    pub config: Config,
    pub data: &'a Dataset,
    /// What it costs, in the units of the [`Clock`].
    pub work: f64,
}

/// How a training ended.
pub(crate) enum Ended {
    Trained(Box<Outcome>),
    /// It diverged, or its own settings made it fail otherwise.
    Failed(TrainError),
}

/// Whether the settings of a training made it fail, and not the machine: others may succeed.
fn is_of_its_settings(error: &TrainError) -> bool {
    use TrainError::{
        Config, Data, Diverged, Engine, Network, Quantize, Teacher, Unsupported, VectorWidth, WordVectors,
    };
    matches!(
        error,
        Diverged { .. }
            | Quantize(_)
            | Config(_)
            | Network(_)
            | Engine(_)
            | Data(_)
            | Teacher(_)
            | WordVectors { .. }
            | VectorWidth { .. }
            | Unsupported { .. }
    )
}

/// What trains networks.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub threads: usize,
    pub device: DeviceChoice,
    /// Whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Seconds that have to be left once a training has ended, if time is limited.
    pub time: Option<f64>,
}

/// Why not all networks were trained.
pub(crate) enum Stopped<E> {
    /// Somebody asked to stop.
    Interrupted,
    /// A training failed.
    Training(TrainError),
    /// A result could not be taken in.
    Result(E),
}

/// Takes in what a network came to, whose place among the trainings is given.
pub(crate) type OnEnd<'a, E> = dyn FnMut(usize, Ended, &mut dyn SearchObserver) -> Result<(), E> + 'a;

/// Trains networks into their folders, continuing what is there, and hands over what they came to in their order.
/// Returns whether all were trained: where time is limited, no training begins that would end too late.
pub(crate) fn train_each<E>(
    trainings: &[Training],
    workers: Workers,
    clock: &mut Clock,
    observer: &mut dyn SearchObserver,
    on_end: &mut OnEnd<E>,
) -> Result<bool, Stopped<E>> {
    let Some(first) = trainings.first() else { return Ok(true) };
    let configs: Vec<&Config> = trainings.iter().map(|training| &training.config).collect();
    let is_on_gpu = is_gpu_used(workers.device, &configs, first.data, observer).map_err(Stopped::Training)?;
    match is_on_gpu {
        true => train_on_gpu(trainings, workers, clock, observer, on_end),
        false => train_on_cpu(trainings, workers, clock, observer, on_end),
    }
}

/// Watches one of several trainings: it passes on how far it is, and asks it to stop.
struct Watch<'a> {
    stop: &'a (dyn Fn() -> bool + Sync),
    is_over: &'a AtomicBool,
    events: &'a mpsc::Sender<Event>,
    /// What an epoch costs.
    work: f64,
}

/// What happens to one of several trainings.
enum Event {
    /// An epoch is done, which cost so much.
    Epoch(f64),
    /// The training at this place ended, after so many seconds.
    End(usize, Box<Result<Outcome, TrainError>>, f64),
}

impl Observer for Watch<'_> {
    fn epoch(&mut self, _: &EpochReport) {
        // Nobody may listen any more; then it is asked to stop.
        let _ = self.events.send(Event::Epoch(self.work));
    }

    fn should_stop(&mut self) -> bool {
        self.is_over.load(Ordering::Relaxed) || (self.stop)()
    }
}

fn train_on_cpu<E>(
    trainings: &[Training],
    workers: Workers,
    clock: &mut Clock,
    observer: &mut dyn SearchObserver,
    on_end: &mut OnEnd<E>,
) -> Result<bool, Stopped<E>> {
    let at_once = workers.threads.min(trainings.len()).max(1);
    // A training on several threads gains less than several trainings on one.
    let threads = (workers.threads / at_once).max(1);
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    // The clock counts as if all threads were at work.
    let share = threads as f64 / workers.threads.max(1) as f64;
    let clock = Mutex::new(clock);
    let may_start = |training: &Training| {
        let clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
        workers.time.is_none_or(|kept| clock.left() > kept + clock.seconds(training.work) / share)
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let (sender, next, is_over, may_start) = (sender.clone(), &next, &is_over, &may_start);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(training) = trainings.get(place) else { return };
                    if !may_start(training) {
                        next.store(trainings.len(), Ordering::Relaxed);
                        return;
                    }
                    let options = RunOptions {
                        out: training.folder.clone(),
                        resume: true,
                        threads,
                        device: DeviceChoice::Cpu,
                    };
                    let epochs = epochs(&training.config, training.data).max(1);
                    let work = training.work / epochs as f64;
                    let mut watch = Watch { stop: workers.stop, is_over, events: &sender, work };
                    let began = Instant::now();
                    let result = run(&training.config, training.data, &options, &mut watch);
                    let seconds = began.elapsed().as_secs_f64();
                    if sender.send(Event::End(place, Box::new(result), seconds)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut stopped = None;
        let mut waiting: Vec<Option<Ended>> = trainings.iter().map(|_| None).collect();
        let mut given = 0;
        let all: f64 = trainings.iter().map(|training| training.work).sum();
        let mut done = 0.0;
        for event in receiver {
            let (place, result, seconds) = match event {
                Event::Epoch(work) => {
                    done += work;
                    observer.trained((done / all.max(f64::MIN_POSITIVE)).min(1.0));
                    continue;
                }
                Event::End(place, result, seconds) => (place, *result, seconds),
            };
            let mut clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
            clock.note(trainings[place].work, seconds * share);
            drop(clock);
            match result {
                Ok(outcome) => waiting[place] = Some(Ended::Trained(Box::new(outcome))),
                Err(error) if is_of_its_settings(&error) => waiting[place] = Some(Ended::Failed(error)),
                Err(error) => {
                    is_over.store(true, Ordering::Relaxed);
                    let is_interrupted = matches!(error, TrainError::Interrupted { .. });
                    // Once one has failed, the others are interrupted, too.
                    match (is_interrupted, &stopped) {
                        (true, None) => stopped = Some(Stopped::Interrupted),
                        (false, None | Some(Stopped::Interrupted)) => {
                            stopped = Some(Stopped::Training(error));
                        }
                        _ => {}
                    }
                }
            }
            while let Some(ended) = waiting.get_mut(given).and_then(Option::take) {
                if matches!(stopped, Some(Stopped::Result(_))) {
                    break;
                }
                if let Err(error) = on_end(given, ended, observer) {
                    is_over.store(true, Ordering::Relaxed);
                    stopped = Some(Stopped::Result(error));
                }
                given += 1;
            }
        }
        stopped.map_or(Ok(given == trainings.len()), Err)
    })
}

fn train_on_gpu<E>(
    trainings: &[Training],
    workers: Workers,
    clock: &mut Clock,
    observer: &mut dyn SearchObserver,
    on_end: &mut OnEnd<E>,
) -> Result<bool, Stopped<E>> {
    let mut ended: Vec<Option<Ended>> = trainings.iter().map(|_| None).collect();
    let groups: Vec<String> = trainings.iter().map(|training| shared_settings(&training.config)).collect();
    let mut given = 0;
    while let Some(first) = (given..trainings.len()).find(|&place| ended[place].is_none()) {
        let is_alike = |&place: &usize| {
            ended[place].is_none()
                && groups[place] == groups[first]
                && std::ptr::eq(trainings[place].data, trainings[first].data)
        };
        let group: Vec<usize> = (first..trainings.len()).filter(is_alike).collect();
        let work: f64 = group.iter().map(|&place| trainings[place].work).sum();
        if workers.time.is_some_and(|kept| clock.left() <= kept + clock.seconds(work)) {
            return Ok(false);
        }
        let began = Instant::now();
        train_group(trainings, group, workers, observer, &mut ended)?;
        clock.note(work, began.elapsed().as_secs_f64());
        while let Some(one) = ended.get_mut(given).and_then(Option::take) {
            on_end(given, one, observer).map_err(Stopped::Result)?;
            given += 1;
        }
    }
    Ok(true)
}

/// Trains networks at once. Those that fail by their own settings leave the others.
fn train_group<E>(
    trainings: &[Training],
    mut left: Vec<usize>,
    workers: Workers,
    observer: &mut dyn SearchObserver,
    ended: &mut [Option<Ended>],
) -> Result<(), Stopped<E>> {
    while let Some(&first) = left.first() {
        let runs: Vec<(&Config, PathBuf)> =
            left.iter().map(|&place| (&trainings[place].config, trainings[place].folder.clone())).collect();
        let options = RunOptions {
            out: PathBuf::new(),
            resume: true,
            threads: workers.threads,
            device: workers.device,
        };
        match run_all(&runs, trainings[first].data, &options, observer) {
            Ok(outcomes) => {
                for (place, outcome) in left.drain(..).zip(outcomes) {
                    ended[place] = Some(Ended::Trained(Box::new(outcome)));
                }
            }
            Err(TrainError::Interrupted { .. }) => return Err(Stopped::Interrupted),
            // The others have checkpoints and go on without it.
            Err(error) => match of_training(&error, trainings, &left) {
                Some(at) => ended[left.remove(at)] = Some(Ended::Failed(error)),
                // Of an error that names no network the first one alone may be the cause.
                None if is_of_its_settings(&error) && left.len() == 1 => {
                    ended[left.remove(0)] = Some(Ended::Failed(error));
                }
                None if is_of_its_settings(&error) => {
                    for place in left.drain(..) {
                        train_group(trainings, vec![place], workers, observer, ended)?;
                    }
                }
                None => return Err(Stopped::Training(error)),
            },
        }
    }
    Ok(())
}

/// The place in `left` of the training that an error names.
fn of_training(error: &TrainError, trainings: &[Training], left: &[usize]) -> Option<usize> {
    let TrainError::Diverged { out, .. } = error else { return None };
    left.iter().position(|&place| out.ends_with(&trainings[place].folder))
}
