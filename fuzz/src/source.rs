//! Choices drawn from the fuzzer's bytes.

/// Bytes to draw from. A source that is used up goes on with pseudo-random bytes that depend on
/// what it gave, so that a short input still makes a whole image.
pub struct Source<'a> {
    bytes: &'a [u8],
    mixed: u64,
}

impl<'a> Source<'a> {
    /// Draws from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, mixed: 0x9E37_79B9_7F4A_7C15 }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let byte = match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => (self.mixed >> 56) as u8,
        };
        self.mixed = (self.mixed ^ u64::from(byte)).wrapping_mul(0xD134_2543_DE82_EF95).rotate_left(23);
        byte
    }

    /// The next two bytes.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number below `most`, which is at most 65536.
    pub fn below(&mut self, most: usize) -> usize {
        if most <= 256 { usize::from(self.byte()) % most } else { usize::from(self.word()) % most }
    }
}
