//! A byte matrix as an image stores it, and its products.

use super::ImageError;
use super::bytes::Bytes;

/// How a matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All entries, row by row.
    Dense,
    /// The entries of each row with their columns.
    ByRow,
    /// The entries of each column with their rows.
    ByColumn,
    /// A bit for each entry, and those that are there.
    Bitmap,
    /// The diagonals of stacked square blocks, one after the other.
    Diagonal,
    /// Nothing: the matrix is 0.
    Absent,
    /// All entries, of 4 bits, two rows at a time.
    FourBits,
}

impl Storage {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Dense,
        Self::ByRow,
        Self::ByColumn,
        Self::Bitmap,
        Self::Diagonal,
        Self::Absent,
        Self::FourBits,
    ];
    /// Those that hold any matrix of bytes (of a size that they can list): the smallest is used.
    pub const GENERAL: [Self; 4] = [Self::Dense, Self::ByRow, Self::ByColumn, Self::Bitmap];

    /// The code in device images, which never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Dense => 0,
            Self::ByRow => 1,
            Self::ByColumn => 2,
            Self::Bitmap => 3,
            Self::Diagonal => 4,
            Self::Absent => 5,
            Self::FourBits => 6,
        }
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::ByRow => "by-row",
            Self::ByColumn => "by-column",
            Self::Bitmap => "bitmap",
            Self::Diagonal => "diagonal",
            Self::Absent => "none",
            Self::FourBits => "4-bit",
        }
    }

    fn from_code(code: u8, extended: bool) -> Result<Self, ImageError> {
        let mut known = Self::ALL.into_iter().filter(|&storage| extended || storage != Self::FourBits);
        known.find(|storage| storage.code() == code).ok_or(ImageError::Code { what: "matrix form", code })
    }
}

/// A borrowed `rows × cols` matrix of bytes, or of entries of 4 bits that stand for bytes.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    storage: Storage,
    rows: usize,
    cols: usize,
    /// Numbers of entries, or the bitmap.
    counts: &'a [u8],
    indices: &'a [u8],
    values: &'a [u8],
}

impl<'a> Matrix<'a> {
    pub(super) const EMPTY: Self =
        Self { storage: Storage::Dense, rows: 0, cols: 0, counts: &[], indices: &[], values: &[] };

    /// Reads a matrix that is neither a diagonal nor absent.
    pub(super) fn read(bytes: &mut Bytes<'a>, rows: usize, cols: usize) -> Result<Self, ImageError> {
        let matrix = Self::read_any(bytes, rows, cols)?;
        match matrix.storage {
            Storage::Diagonal | Storage::Absent => {
                Err(ImageError::Code { what: "matrix form here", code: matrix.storage.code() })
            }
            _ => Ok(matrix),
        }
    }

    /// Reads a matrix that stands row by row, without a byte for its form.
    pub(super) fn read_dense(bytes: &mut Bytes<'a>, rows: usize, cols: usize) -> Result<Self, ImageError> {
        let size = rows.checked_mul(cols).ok_or(ImageError::Truncated)?;
        Ok(Self { rows, cols, values: bytes.take(size)?, ..Self::EMPTY })
    }

    /// The entries of a row of a dense matrix.
    pub(super) fn dense_row(&self, row: usize) -> &'a [u8] {
        &self.values[row * self.cols..(row + 1) * self.cols]
    }

    /// Reads a matrix of a layer. Whether the layer may have this one is for the caller to check.
    pub(super) fn read_any(bytes: &mut Bytes<'a>, rows: usize, cols: usize) -> Result<Self, ImageError> {
        let storage = Storage::from_code(bytes.u8()?, bytes.is_extended())?;
        let size = rows.checked_mul(cols).ok_or(ImageError::Truncated)?;
        let mut new = Self { storage, rows, cols, ..Self::EMPTY };
        match storage {
            Storage::Dense => new.values = bytes.take(size)?,
            Storage::ByRow => new.read_lists(bytes, rows, cols)?,
            Storage::ByColumn => new.read_lists(bytes, cols, rows)?,
            Storage::Diagonal => new.values = bytes.take(rows)?,
            Storage::Absent => {}
            Storage::FourBits => {
                let size = rows.div_ceil(2).checked_mul(cols).ok_or(ImageError::Truncated)?;
                new.values = bytes.take(size)?;
                let unpaired = if rows % 2 == 1 { &new.values[size - cols..] } else { &[] };
                if unpaired.iter().any(|&pair| pair & 0xF0 != 0) {
                    return Err(ImageError::FourBits);
                }
            }
            Storage::Bitmap => {
                new.counts = bytes.take(size.div_ceil(8))?;
                let stray = size % 8 != 0 && new.counts[size / 8] >> (size % 8) != 0;
                if stray {
                    return Err(ImageError::Bitmap);
                }
                let present = new.counts.iter().map(|b| b.count_ones() as usize).sum();
                new.values = bytes.take(present)?;
            }
        }
        Ok(new)
    }

    fn read_lists(&mut self, bytes: &mut Bytes<'a>, lines: usize, length: usize) -> Result<(), ImageError> {
        if length > 256 {
            return Err(ImageError::TooLong { what: "a list of indices", size: length, most: 256 });
        }
        self.counts = bytes.take(lines)?;
        let present: usize = self.counts.iter().map(|&n| usize::from(n)).sum();
        self.indices = bytes.take(present)?;
        self.values = bytes.take(present)?;
        let mut rest = self.indices;
        for &count in self.counts {
            let (line, after) = rest.split_at(usize::from(count));
            let ascending = line.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascending || line.last().is_some_and(|&i| usize::from(i) >= length) {
                return Err(ImageError::Indices);
            }
            rest = after;
        }
        Ok(())
    }

    /// How it is stored.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// Products that an entry of the result adds up.
    pub fn terms(&self) -> usize {
        match self.storage {
            Storage::Diagonal => 1,
            Storage::Absent => 0,
            _ => self.cols,
        }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Bytes of entries.
    pub fn value_bytes(&self) -> usize {
        self.values.len()
    }

    /// Bytes that say where entries are: counts and indices, or a bitmap.
    pub fn index_bytes(&self) -> usize {
        self.counts.len() + self.indices.len()
    }

    /// Calls `each(row, column, entry)` for all stored entries. An entry of 4 bits is the byte that it
    /// stands for.
    #[inline(always)]
    pub fn for_each(&self, mut each: impl FnMut(usize, usize, i8)) {
        match self.storage {
            Storage::Dense => {
                let rows = self.values.chunks_exact(self.cols.max(1)).enumerate();
                rows.for_each(|(r, row)| row.iter().enumerate().for_each(|(c, &v)| each(r, c, v as i8)));
            }
            Storage::ByRow => self.lists(&mut each),
            Storage::ByColumn => self.lists(|line, index, value| each(index, line, value)),
            Storage::Absent => {}
            Storage::Diagonal => {
                for (block, diagonal) in self.values.chunks_exact(self.cols.max(1)).enumerate() {
                    let entries = diagonal.iter().enumerate();
                    entries.for_each(|(c, &value)| each(block * self.cols + c, c, value as i8));
                }
            }
            Storage::FourBits => {
                for (pair, row) in self.values.chunks_exact(self.cols.max(1)).enumerate() {
                    for (c, &byte) in row.iter().enumerate() {
                        each(2 * pair, c, low(byte));
                        if 2 * pair + 1 < self.rows {
                            each(2 * pair + 1, c, high(byte));
                        }
                    }
                }
            }
            Storage::Bitmap => {
                let mut values = self.values.iter();
                let (mut row, mut col) = (0, 0);
                let mut left = self.rows * self.cols;
                for &byte in self.counts {
                    let mut bits = byte;
                    for _ in 0..left.min(8) {
                        if bits & 1 != 0
                            && let Some(&value) = values.next()
                        {
                            each(row, col, value as i8);
                        }
                        bits >>= 1;
                        col += 1;
                        if col == self.cols {
                            (row, col) = (row + 1, 0);
                        }
                    }
                    left -= left.min(8);
                }
            }
        }
    }

    fn lists(&self, mut each: impl FnMut(usize, usize, i8)) {
        let mut entries = self.indices.iter().zip(self.values);
        for (line, &count) in self.counts.iter().enumerate() {
            for (&index, &value) in entries.by_ref().take(usize::from(count)) {
                each(line, usize::from(index), value as i8);
            }
        }
    }

    /// Adds the matrix times `v` to `out`.
    pub(super) fn times(&self, v: &[i16], out: &mut [i32]) {
        if self.storage == Storage::Dense {
            for (sum, row) in out.iter_mut().zip(self.values.chunks_exact(self.cols.max(1))) {
                *sum += row.iter().zip(v).map(|(&a, &v)| i32::from(a as i8) * i32::from(v)).sum::<i32>();
            }
        } else if self.storage == Storage::FourBits {
            self.four_bit_rows(v, |r, sum| out[r] += sum);
        } else {
            self.for_each(|r, c, a| out[r] += i32::from(a) * i32::from(v[c]));
        }
    }

    /// Calls `each(row, sum)` with the rows of a matrix of 4-bit entries times `v`.
    pub(super) fn four_bit_rows(&self, v: &[i16], mut each: impl FnMut(usize, i32)) {
        for (pair, row) in self.values.chunks_exact(self.cols.max(1)).enumerate() {
            let (mut sum, mut next) = (0, 0);
            for (&pair, &v) in row.iter().zip(v) {
                sum += i32::from(low(pair)) * i32::from(v);
                next += i32::from(high(pair)) * i32::from(v);
            }
            each(2 * pair, sum);
            if 2 * pair + 1 < self.rows {
                each(2 * pair + 1, next);
            }
        }
    }

    /// Adds the transposed matrix times `v` to `out`.
    pub(super) fn transposed_times(&self, v: &[i16], out: &mut [i32]) {
        if self.storage == Storage::Dense {
            for (&v, row) in v.iter().zip(self.values.chunks_exact(self.cols.max(1))) {
                out.iter_mut().zip(row).for_each(|(sum, &a)| *sum += i32::from(a as i8) * i32::from(v));
            }
        } else if self.storage == Storage::FourBits {
            for (v, row) in v.chunks(2).zip(self.values.chunks_exact(self.cols.max(1))) {
                let (v, next) = (i32::from(v[0]), i32::from(v.get(1).copied().unwrap_or(0)));
                out.iter_mut().zip(row).for_each(|(sum, &pair)| {
                    *sum += i32::from(low(pair)) * v + i32::from(high(pair)) * next;
                });
            }
        } else {
            self.for_each(|r, c, a| out[c] += i32::from(a) * i32::from(v[r]));
        }
    }
}

/// The byte that the low entry of a pair stands for.
#[inline(always)]
const fn low(pair: u8) -> i8 {
    (pair << 4) as i8
}

/// The byte that the high entry of a pair stands for.
#[inline(always)]
const fn high(pair: u8) -> i8 {
    (pair & 0xF0) as i8
}
