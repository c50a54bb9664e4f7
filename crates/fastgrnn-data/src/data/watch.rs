//! Telling how far the reading of data is.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes between two calls about bytes.
pub(crate) const BYTES_BETWEEN: u64 = 4 << 20;

/// Bytes of one read.
const READ_AT_ONCE: usize = 1 << 20;

/// What is counted while data is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadUnit {
    /// Recordings that have become features.
    Recordings,
    /// Tables of a folder that have been parsed.
    Files,
    /// Bytes of a file that have been read, before they are unpacked.
    BytesRead,
    /// Bytes of a table that have been parsed.
    BytesParsed,
}

/// How far the reading of data is. Each unit is counted by itself, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    /// What is counted.
    pub unit: ReadUnit,
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub all: u64,
}

/// A callback that is told now and then how far the reading is.
///
/// ```
/// use fastgrnn_data::data::{Request, Watch};
/// let watch = Watch::new(|progress| eprintln!("{} of {}", progress.done, progress.all));
/// let request = Request { watch: Some(watch), ..Request::new("clips") };
/// # let _ = request;
/// ```
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(&ReadProgress) + Send + Sync>);

impl Watch {
    /// Calls `tell` from the thread that reads.
    pub fn new(tell: impl Fn(&ReadProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, unit: ReadUnit, done: u64, all: u64) {
        (self.0)(&ReadProgress { unit, done: done.min(all), all });
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// The callback does not take part in equality.
impl PartialEq for Watch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A file that tells a [`Watch`] how many of its bytes have been read.
pub(crate) struct WatchedFile<'a, R> {
    file: R,
    watch: &'a Watch,
    done: u64,
    told: u64,
    all: u64,
}

impl<'a, R: Read + Seek> WatchedFile<'a, R> {
    /// `file`, which has `all` bytes.
    pub fn new(file: R, all: u64, watch: &'a Watch) -> Self {
        Self { file, watch, done: 0, told: 0, all }
    }

    /// Tells that everything was read.
    pub fn finish(self) {
        self.watch.tell(ReadUnit::BytesRead, self.all, self.all);
    }
}

impl<R: Read> Read for WatchedFile<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // A vector that is read into is zeroed in pieces as large as the reads it sees.
        let most = buffer.len().min(READ_AT_ONCE);
        let n = self.file.read(&mut buffer[..most])?;
        self.done += n as u64;
        if self.done - self.told >= BYTES_BETWEEN {
            self.told = self.done;
            // The directory of an archive is read besides its entries.
            self.watch.tell(ReadUnit::BytesRead, self.done.min(self.all.saturating_sub(1)), self.all);
        }
        Ok(n)
    }
}

impl<R: Seek> Seek for WatchedFile<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}
