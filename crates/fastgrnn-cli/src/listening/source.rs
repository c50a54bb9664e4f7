//! Sources of a stream: a file, standard input or the microphone.

use super::Session;
use crate::args::StreamArgs;
use crate::interrupt;
#[cfg(not(feature = "mic"))]
use crate::misuse::misuse;
use anyhow::Context;
use fastgrnn::audio::{self, Audio};
use fastgrnn::stream::StreamError;
use std::io::{BufRead, BufReader, Read, stdin};

/// Samples handed over at a time: 10 ms at 16 kHz.
const CHUNK: usize = 160;

/// Plays the whole stream to `session`, until it ends or somebody interrupts.
pub fn play(args: &StreamArgs, session: &mut Session<'_>) -> anyhow::Result<()> {
    if args.csv {
        return rows(session);
    }
    let Some(rate) = session.listener.spec().map(|spec| spec.rate()) else {
        return Err(StreamError::NoFrontEnd { dim: session.listener.inputs() }.into());
    };
    if let Some(path) = &args.source.wav {
        let audio = audio::read(path)?;
        return whole(&audio, rate, session);
    }
    if args.source.mic {
        return microphone(rate, session);
    }
    let mut input = BufReader::new(stdin().lock());
    let start = input.fill_buf().context("cannot read standard input")?;
    let is_file = start.starts_with(b"RIFF") || start.starts_with(b"fLaC");
    match args.rate {
        None if is_file => wav(input, rate, session),
        Some(other) if other != rate => {
            let bytes = all(input)?;
            let samples =
                bytes.chunks_exact(2).map(|b| f32::from(i16::from_le_bytes([b[0], b[1]]))).collect();
            whole(&Audio { rate: other, samples }, rate, session)
        }
        _ => raw(input, session),
    }
}

/// A recording, at the listener's rate or not.
fn whole(audio: &Audio, rate: u32, session: &mut Session<'_>) -> anyhow::Result<()> {
    let samples = audio::resample(audio, rate)?.to_i16();
    for chunk in samples.chunks(CHUNK) {
        if interrupt::is_requested() {
            break;
        }
        session.sound(chunk)?;
    }
    Ok(())
}

/// Everything up to the end, within what a recording may have.
fn all(input: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(audio::MAX_BYTES).read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

/// 16-bit samples as they come.
fn raw(mut input: impl Read, session: &mut Session<'_>) -> anyhow::Result<()> {
    let (mut bytes, mut kept) = ([0; 2 * CHUNK], 0);
    loop {
        let read = match input.read(&mut bytes[kept..]) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted && !interrupt::is_requested() => {
                continue;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => 0,
            other => other.context("cannot read standard input")?,
        };
        if read == 0 || interrupt::is_requested() {
            return Ok(());
        }
        let whole = (kept + read) / 2 * 2;
        let samples: Vec<i16> =
            bytes[..whole].chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
        session.sound(&samples)?;
        bytes.copy_within(whole..kept + read, 0);
        kept = kept + read - whole;
    }
}

/// A recording from a pipe. A WAV file of 16-bit mono at the right rate is heard as it comes; of any
/// other file the end must be known before it can be converted.
fn wav(mut input: impl BufRead, rate: u32, session: &mut Session<'_>) -> anyhow::Result<()> {
    let head = Head::read(&mut input)?;
    if head.plain_rate() == Some(rate) {
        // What follows the samples is no sound; a pipe may not know how many there are.
        return match head.samples() {
            Some(length) => raw(input.take(length), session),
            None => raw(input, session),
        };
    }
    let mut bytes = head.bytes;
    bytes.extend(all(input)?);
    whole(&audio::decode("standard input", &bytes)?, rate, session)
}

/// Most bytes before the samples of a WAV file that is heard as it comes.
const MOST_HEAD: usize = 1 << 16;
/// Lengths from here on are what programs write that do not know the length.
const UNKNOWN_LENGTH: u32 = 0x7fff_0000;

/// What comes before a WAV file's samples; less if it is something else.
struct Head {
    bytes: Vec<u8>,
    /// Where the fields of its format begin.
    format: Option<usize>,
    /// The length that it gives its samples, once they follow.
    length: Option<u32>,
}

impl Head {
    fn read(input: &mut impl BufRead) -> anyhow::Result<Self> {
        let mut head = Self { bytes: Vec::new(), format: None, length: None };
        let mut take = |bytes: &mut Vec<u8>, n: usize| -> anyhow::Result<bool> {
            let before = bytes.len();
            input.by_ref().take(n as u64).read_to_end(bytes).context("cannot read standard input")?;
            Ok(bytes.len() == before + n)
        };
        if !take(&mut head.bytes, 12)? || !head.bytes.starts_with(b"RIFF") {
            return Ok(head);
        }
        loop {
            let at = head.bytes.len();
            if !take(&mut head.bytes, 8)? {
                return Ok(head);
            }
            let chunk = &head.bytes[at..];
            let size = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
            match &chunk[..4] {
                b"data" => {
                    head.length = Some(size);
                    return Ok(head);
                }
                b"fmt " => head.format = Some(at + 8),
                _ => {}
            }
            let size = size as usize + size as usize % 2;
            if head.bytes.len() + size > MOST_HEAD || !take(&mut head.bytes, size)? {
                return Ok(head);
            }
        }
    }

    /// The rate, if 16-bit mono samples follow.
    fn plain_rate(&self) -> Option<u32> {
        let start = self.format.filter(|_| self.length.is_some())?;
        let fields = self.bytes.get(start..start + 16)?;
        let word = |at: usize| u16::from_le_bytes([fields[at], fields[at + 1]]);
        let is_plain = word(0) == 1 && word(2) == 1 && word(14) == 16;
        is_plain.then(|| u32::from_le_bytes([fields[4], fields[5], fields[6], fields[7]]))
    }

    /// Bytes of the samples, where that is known.
    fn samples(&self) -> Option<u64> {
        self.length.filter(|length| (1..UNKNOWN_LENGTH).contains(length)).map(u64::from)
    }
}

/// Rows of numbers; a first line of names is left out.
fn rows(session: &mut Session<'_>) -> anyhow::Result<()> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(stdin().lock());
    let (mut record, mut values) = (csv::StringRecord::new(), Vec::new());
    let mut line = 0;
    while !interrupt::is_requested()
        && reader.read_record(&mut record).context("cannot read standard input")?
    {
        let is_first = line == 0;
        line = record.position().map_or(line + 1, csv::Position::line);
        values.clear();
        let parsed: Result<(), (usize, &str)> =
            record.iter().enumerate().try_for_each(|(at, cell)| match cell.parse::<f32>() {
                Ok(value) if value.is_finite() => {
                    values.push(value);
                    Ok(())
                }
                _ => Err((at + 1, cell)),
            });
        match parsed {
            Ok(()) => session.row(&values).with_context(|| format!("standard input, line {line}"))?,
            Err(_) if is_first => {}
            Err((column, cell)) => {
                anyhow::bail!("standard input, line {line}, column {column}: '{cell}' is not a number")
            }
        }
    }
    Ok(())
}

#[cfg(not(feature = "mic"))]
fn microphone(rate: u32, _: &mut Session<'_>) -> anyhow::Result<()> {
    Err(misuse(format!(
        "this build has no microphone; build with `cargo build --release --features mic` (Linux needs the \
         ALSA headers: libasound2-dev), or pipe one in: \
         arecord -f S16_LE -r {rate} -c 1 -t raw | fastgrnn stream MODEL --stdin"
    )))
}

#[cfg(feature = "mic")]
fn microphone(rate: u32, session: &mut Session<'_>) -> anyhow::Result<()> {
    super::microphone::play(rate, &mut |samples| {
        session.sound(samples)?;
        Ok(!interrupt::is_requested())
    })
}
