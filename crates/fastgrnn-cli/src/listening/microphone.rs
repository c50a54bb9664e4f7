//! The microphone, through the system's own sound library (feature `mic`).

use anyhow::Context;
use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{BufferSize, StreamConfig};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Chunks that may wait while a slow machine catches up; beyond that, sound is lost.
const WAITING: usize = 256;

/// What the sound library calls with.
enum Event {
    Sound(Vec<i16>),
    Failed(String),
}

/// Hands over 16-bit mono sound at `rate` until `sound` says to stop.
pub fn play(rate: u32, sound: &mut impl FnMut(&[i16]) -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let device = cpal::default_host().default_input_device().context("there is no microphone")?;
    let config = StreamConfig { channels: 1, sample_rate: rate, buffer_size: BufferSize::Default };
    let (sender, events) = sync_channel(WAITING);
    let failures: SyncSender<Event> = sender.clone();
    let stream = device
        .build_input_stream(
            config,
            move |samples: &[i16], _| {
                let _ = sender.try_send(Event::Sound(samples.to_vec()));
            },
            move |error| {
                let _ = failures.try_send(Event::Failed(error.to_string()));
            },
            None,
        )
        .with_context(|| {
            format!(
                "the microphone does not give 16-bit mono sound at {rate} Hz; pipe it through a program that \
                 converts: arecord -f S16_LE -r {rate} -c 1 -t raw | fastgrnn stream MODEL --stdin"
            )
        })?;
    stream.play().context("the microphone does not start")?;
    loop {
        let going = match events.recv_timeout(Duration::from_millis(200)) {
            Ok(Event::Sound(samples)) => sound(&samples)?,
            Ok(Event::Failed(error)) => anyhow::bail!("the microphone failed: {error}"),
            // Lets the caller look whether somebody wants to stop.
            Err(RecvTimeoutError::Timeout) => sound(&[])?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if !going {
            return Ok(());
        }
    }
}
