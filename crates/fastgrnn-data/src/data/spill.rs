//! Values on the disk instead of in memory: a temporary file without a name, mapped to read.

use std::io::Write;
use std::sync::Arc;

use memmap2::Mmap;

/// Values that lie in a file of their own.
#[derive(Clone, Debug)]
pub(super) struct Block(Arc<Mmap>);

impl Block {
    /// Puts `values` onto the disk; `None` if there is no place for them.
    pub fn new(values: &[f32]) -> Option<Self> {
        let mut file = tempfile::tempfile().ok()?;
        file.write_all(bytemuck::cast_slice(values)).ok()?;
        // SAFETY: the file has no name and no other handle, so nobody can change or shorten it
        // while it is mapped.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        Some(Self(Arc::new(map)))
    }

    /// The values.
    pub fn values(&self) -> &[f32] {
        // A map begins at a page and holds what was written as whole values.
        bytemuck::cast_slice(&self.0)
    }
}
