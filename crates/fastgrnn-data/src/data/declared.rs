//! What a file says about its size when it is unpacked, before that is done.
//!
//! A file may claim anything: one that claims too much is refused at once, and one that claims too
//! little is still held to the limit while it is unpacked.

use std::io::{Read, Seek, SeekFrom};

/// How a file says how large its content is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Declared {
    /// By its own length.
    Length,
    /// A gzip file does not say it reliably: a suspicious one is unpacked into nothing first.
    Gz,
    /// In the index at the end of an XZ file.
    XzIndex,
    /// In a place that its reader looks at.
    Elsewhere,
}

/// The content is larger than allowed.
#[derive(Debug)]
pub(crate) struct TooMuch;

/// Bytes that are unpacked to see how strongly a gzip file is packed.
const GZ_SAMPLE: u64 = 1 << 24;

/// A gzip file that is packed more strongly than this is suspicious.
const GZ_RATIO: u64 = 50;

/// Bytes at the start and at the end of an XZ stream.
const XZ_EDGE: u64 = 12;

/// Fails if `reader` says that its content has more than `limit` bytes. Whatever is wrong with it
/// otherwise is for the one that unpacks it to find.
pub(crate) fn check<R: Read + Seek + ?Sized>(
    reader: &mut R,
    declared: Declared,
    limit: u64,
) -> Result<(), TooMuch> {
    let Ok(length) = reader.seek(SeekFrom::End(0)) else { return Ok(()) };
    let size = match declared {
        Declared::Length => Some(length),
        Declared::XzIndex => xz_size(reader, length),
        Declared::Gz => suspicious_gz_size(reader, length, limit),
        Declared::Elsewhere => None,
    };
    let is_too_much = size.is_some_and(|size| size > limit);
    match reader.rewind() {
        Ok(()) if is_too_much => Err(TooMuch),
        _ => Ok(()),
    }
}

/// How large a gzip file becomes, if it could exceed `limit` and is packed suspiciously well. At most
/// `limit` and a little are unpacked, and nothing is kept.
fn suspicious_gz_size<R: Read + Seek + ?Sized>(reader: &mut R, length: u64, limit: u64) -> Option<u64> {
    // Deflate makes nothing more than 1032 times smaller.
    if length.saturating_mul(1_032) <= limit {
        return None;
    }
    reader.rewind().ok()?;
    let unpacked = count(flate2::read::MultiGzDecoder::new(&mut *reader), GZ_SAMPLE.min(limit));
    let packed = reader.stream_position().ok()?.max(1);
    if unpacked / packed < GZ_RATIO {
        return None;
    }
    reader.rewind().ok()?;
    Some(count(flate2::read::MultiGzDecoder::new(&mut *reader), limit.saturating_add(1)))
}

/// Reads up to `most` bytes and counts them.
fn count(reader: impl Read, most: u64) -> u64 {
    let mut taken = reader.take(most);
    let mut buffer = [0; 1 << 14];
    let mut sum = 0;
    while let Ok(n @ 1..) = taken.read(&mut buffer) {
        sum += n as u64;
    }
    sum
}

/// The size that the indexes of the streams of an XZ file give; `None` if they cannot be read.
fn xz_size<R: Read + Seek + ?Sized>(reader: &mut R, length: u64) -> Option<u64> {
    let (mut end, mut size) = (length, 0u64);
    while end >= 2 * XZ_EDGE {
        let mut footer = [0; XZ_EDGE as usize];
        reader.seek(SeekFrom::Start(end - XZ_EDGE)).ok()?;
        reader.read_exact(&mut footer).ok()?;
        if footer[8..] == [0; 4] {
            // Padding between streams.
            end -= 4;
            continue;
        }
        let backward = u64::from(u32::from_le_bytes([footer[4], footer[5], footer[6], footer[7]]));
        let index = (backward + 1) * 4;
        if footer[10..] != *b"YZ" || index + 2 * XZ_EDGE > end {
            return None;
        }
        reader.seek(SeekFrom::Start(end - XZ_EDGE - index)).ok()?;
        let mut records = std::io::BufReader::new((&mut *reader).take(index));
        let mut first = [0; 1];
        records.read_exact(&mut first).ok()?;
        let count = variable(&mut records)?;
        let mut packed = 0u64;
        // Each record takes at least two bytes of the index.
        for _ in 0..count.min(index / 2) {
            packed = packed.checked_add(variable(&mut records)?.checked_next_multiple_of(4)?)?;
            size = size.saturating_add(variable(&mut records)?);
        }
        end = end.checked_sub(packed.checked_add(index)?.checked_add(2 * XZ_EDGE)?)?;
    }
    Some(size)
}

/// An integer of 7 bits a byte, the lowest first.
fn variable(reader: &mut impl Read) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let mut byte = [0; 1];
        reader.read_exact(&mut byte).ok()?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Counts what passes, so that even skipped entries are held to the limit.
pub(crate) struct Metered<'a> {
    pub inner: &'a mut dyn Read,
    pub left: u64,
    pub exceeded: &'a std::cell::Cell<bool>,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        match self.left.checked_sub(n as u64) {
            Some(left) => self.left = left,
            None => {
                self.exceeded.set(true);
                return Err(std::io::Error::other("size limit"));
            }
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use proptest::prelude::*;

    use super::*;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// An XZ stream that claims blocks of these packed and unpacked sizes, without the blocks.
    fn claims(sizes: &[(u64, u64)]) -> Vec<u8> {
        let write = |bytes: &mut Vec<u8>, mut value: u64| loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            bytes.push(if value > 0 { low | 0x80 } else { low });
            if value == 0 {
                break;
            }
        };
        let mut index = vec![0];
        write(&mut index, sizes.len() as u64);
        for &(packed, unpacked) in sizes {
            write(&mut index, packed);
            write(&mut index, unpacked);
        }
        index.resize(index.len().next_multiple_of(4) + 4, 0);
        let packed: u64 = sizes.iter().map(|size| size.0.next_multiple_of(4)).sum();
        let mut stream = vec![7; 12 + packed as usize];
        stream.extend(&index);
        stream.extend([0; 4]);
        stream.extend((index.len() as u32 / 4 - 1).to_le_bytes());
        stream.extend(b"\0\x04YZ");
        stream
    }

    #[test]
    fn an_xz_file_that_claims_too_much_is_refused_without_unpacking() {
        let size = |bytes: &[u8]| xz_size(&mut Cursor::new(bytes), bytes.len() as u64);
        assert_eq!(size(&claims(&[(100, 6 << 30)])), Some(6 << 30));
        let two = [claims(&[(8, 5), (9, 6)]), vec![0; 8], claims(&[(40, 7)])].concat();
        assert_eq!(size(&two), Some(18));
        assert!(check(&mut Cursor::new(&two), Declared::XzIndex, 17).is_err());
        assert!(check(&mut Cursor::new(&two), Declared::XzIndex, 18).is_ok());
    }

    #[test]
    fn a_gzip_bomb_is_counted_and_a_plain_file_of_the_same_size_is_not() {
        let zeros = gz(&vec![0; 4_000_000]);
        let small = |limit| suspicious_gz_size(&mut Cursor::new(&zeros), zeros.len() as u64, limit);
        assert_eq!(small(1_000_000), Some(1_000_001));
        assert!(check(&mut Cursor::new(&zeros), Declared::Gz, 1_000_000).is_err());
        assert!(check(&mut Cursor::new(&zeros), Declared::Gz, 4_000_000).is_ok());
        let noise: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let packed = gz(&noise);
        assert_eq!(suspicious_gz_size(&mut Cursor::new(&packed), packed.len() as u64, 100_000), None);
    }

    #[test]
    fn a_plain_file_says_its_size() {
        assert!(check(&mut Cursor::new([0; 11]), Declared::Length, 10).is_err());
        assert!(check(&mut Cursor::new([0; 10]), Declared::Length, 10).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at_and_rewound(
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            footer: bool,
            limit: u64,
        ) {
            if footer {
                bytes.extend(b"\0\0\0\0\x01\0\0\0\0\x04YZ");
            }
            for declared in [Declared::Length, Declared::Gz, Declared::XzIndex, Declared::Elsewhere] {
                let mut reader = Cursor::new(&bytes);
                let _ = check(&mut reader, declared, limit);
                prop_assert_eq!(reader.position(), 0);
            }
        }
    }
}
