//! A byte matrix times vectors of pairs, a few rows at a time.
//!
//! Rows are cut into tiles of at most [`ROWS`] whose sums stay in registers while the vector passes
//! by once. Tiles hold an even number of rows, so that results form pairs again; rows beyond the
//! matrix are 0. Weights lie in the order in which they are read, two to a 32-bit word. A tile of
//! few weights lists them instead, as many for each row as the longest needs.

use super::{IntSimd, Rounding};
use std::ops::Range;

/// Most rows of a tile.
pub const ROWS: usize = 8;

/// What a listed word costs, in others: it loads its part of the vector for itself.
const LISTED: f64 = 1.5;

/// A matrix of bytes, cut into tiles of rows.
#[derive(Clone, Debug)]
pub struct Rows {
    rows: usize,
    /// Pairs of columns.
    pairs: usize,
    tiles: Vec<RowTile>,
}

#[derive(Clone, Debug)]
enum RowTile {
    /// For each pair of columns the words of all rows.
    Dense(Vec<i32>),
    /// For each place in the rows' lists the entries of all rows.
    Listed(Vec<Entry>),
}

/// The word of a pair of columns.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Which pair; less than [`Rows::pairs`].
    pair: u32,
    word: i32,
}

/// Rows of tile `tile`: an even number of them, the last one perhaps beyond the end.
#[inline]
fn tile_rows(rows: usize, tiles: usize, tile: usize) -> Range<usize> {
    // As even as possible: 25 rows are 6 + 6 + 6 + 8.
    let of = |tile: usize| 2 * (rows.div_ceil(2) * tile / tiles);
    of(tile)..of(tile + 1)
}

impl Rows {
    /// Packs the matrix whose entries `each` hands to its argument: row, column, value.
    pub fn new(rows: usize, cols: usize, each: impl FnOnce(&mut dyn FnMut(usize, usize, i8))) -> Self {
        let (pairs, padded) = (cols.div_ceil(2), rows.next_multiple_of(2));
        let mut words = vec![0i32; padded * pairs];
        each(&mut |row, col, value| {
            let half = i32::from(value) & 0xFFFF;
            words[row * pairs + col / 2] |= half << (16 * (col % 2));
        });
        let tiles = padded.div_ceil(ROWS);
        let tile = |tile| {
            let rows = tile_rows(rows, tiles, tile);
            RowTile::new(&words[rows.start * pairs..rows.end * pairs], rows.len(), pairs)
        };
        Self { rows, pairs, tiles: (0..tiles).map(tile).collect() }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Tiles of rows.
    #[inline]
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// The rows of a tile; their number is even, so the last may lie beyond the matrix.
    #[inline]
    pub fn tile(&self, tile: usize) -> Range<usize> {
        tile_rows(self.rows, self.tiles.len(), tile)
    }

    /// Adds the products of a tile's rows to `totals`: the matrix times `v`, which holds a vector
    /// of lanes for each pair of columns. `R` is the tile's number of rows.
    #[inline(always)]
    fn add<S: IntSimd, const R: usize>(&self, s: S, tile: usize, v: &[i32], totals: &mut [S::V; R]) {
        let v = &v[..self.pairs * S::LANES];
        match &self.tiles[tile] {
            RowTile::Dense(words) => {
                for (pair, words) in words.as_chunks::<R>().0.iter().enumerate() {
                    let x = s.load(&v[pair * S::LANES..]);
                    for (r, total) in totals.iter_mut().enumerate() {
                        *total = s.madd(*total, x, s.splat(words[r]));
                    }
                }
            }
            RowTile::Listed(entries) => {
                for entries in entries.as_chunks::<R>().0 {
                    for (r, total) in totals.iter_mut().enumerate() {
                        let entry = entries[r];
                        // SAFETY: `RowTile::new` lists pairs below `self.pairs` only, and `v` has a
                        // vector for each of those.
                        let x = unsafe { s.read(v.as_ptr().add(entry.pair as usize * S::LANES)) };
                        *total = s.madd(*total, x, s.splat(entry.word));
                    }
                }
            }
        }
    }
}

/// A product, the multiplier that it may have, and the rounding shift that follows.
#[derive(Clone, Copy)]
pub struct Term<'a, S: IntSimd> {
    matrix: &'a Rows,
    v: &'a [i32],
    /// With 15 fraction bits; 0 for none.
    multiplier: u16,
    round: Rounding<S>,
}

impl<'a, S: IntSimd> Term<'a, S> {
    /// `matrix · v`, where `v` holds a vector of lanes for each pair of columns.
    #[inline(always)]
    pub fn new(matrix: &'a Rows, v: &'a [i32], round: Rounding<S>) -> Self {
        Self { matrix, v, multiplier: 0, round }
    }

    /// The same with a multiplier of 15 fraction bits.
    #[inline(always)]
    pub fn times(self, multiplier: u16) -> Self {
        Self { multiplier, ..self }
    }

    /// Writes a vector for each row of a tile.
    #[inline(always)]
    pub fn write(&self, s: S, tile: usize, to: &mut [i32]) {
        match self.matrix.tile(tile).len() {
            2 => self.write_rows::<2>(s, tile, to),
            4 => self.write_rows::<4>(s, tile, to),
            6 => self.write_rows::<6>(s, tile, to),
            _ => self.write_rows::<8>(s, tile, to),
        }
    }

    #[inline(always)]
    fn write_rows<const R: usize>(&self, s: S, tile: usize, to: &mut [i32]) {
        let mut totals = [s.splat(0); R];
        self.matrix.add(s, tile, self.v, &mut totals);
        for (r, total) in totals.iter().enumerate() {
            s.store(self.scaled(s, *total), &mut to[r * S::LANES..]);
        }
    }

    /// A sum, multiplied and shifted.
    #[inline(always)]
    fn scaled(&self, s: S, v: S::V) -> S::V {
        let v = if self.multiplier == 0 { v } else { multiplied(s, v, self.multiplier) };
        self.round.of(s, v)
    }

    /// Writes the sum of two products of matrices with the same number of rows.
    ///
    /// Both share their sums, by R(a, s) + R(b, t) = R(R(a, s) · 2^t + b, t): that must not
    /// overflow with the larger shift first.
    #[inline(always)]
    pub fn write_sum(&self, other: &Self, s: S, tile: usize, to: &mut [i32]) {
        if self.multiplier != 0 || other.multiplier != 0 {
            // Each sum has a multiplier of its own.
            self.write(s, tile, to);
            return match self.matrix.tile(tile).len() {
                2 => other.add_rows::<2>(s, tile, to),
                4 => other.add_rows::<4>(s, tile, to),
                6 => other.add_rows::<6>(s, tile, to),
                _ => other.add_rows::<8>(s, tile, to),
            };
        }
        let self_first = self.round.shift >= other.round.shift;
        let (first, last) = if self_first { (self, other) } else { (other, self) };
        match self.matrix.tile(tile).len() {
            2 => first.write_rows_with::<2>(last, s, tile, to),
            4 => first.write_rows_with::<4>(last, s, tile, to),
            6 => first.write_rows_with::<6>(last, s, tile, to),
            _ => first.write_rows_with::<8>(last, s, tile, to),
        }
    }

    #[inline(always)]
    fn add_rows<const R: usize>(&self, s: S, tile: usize, to: &mut [i32]) {
        let mut totals = [s.splat(0); R];
        self.matrix.add(s, tile, self.v, &mut totals);
        for (r, total) in totals.iter().enumerate() {
            let to = &mut to[r * S::LANES..];
            s.store(s.add(s.load(to), self.scaled(s, *total)), to);
        }
    }

    #[inline(always)]
    fn write_rows_with<const R: usize>(&self, last: &Self, s: S, tile: usize, to: &mut [i32]) {
        let mut totals = [s.splat(0); R];
        self.matrix.add(s, tile, self.v, &mut totals);
        for total in &mut totals {
            *total = s.shl(self.round.of(s, *total), last.round.by);
        }
        last.matrix.add(s, tile, last.v, &mut totals);
        for (r, total) in totals.iter().enumerate() {
            s.store(last.round.of(s, *total), &mut to[r * S::LANES..]);
        }
    }
}

/// `v` times a multiplier of 15 fraction bits, rounded: the bits above the lowest 15 and those apart.
#[inline(always)]
fn multiplied<S: IntSimd>(s: S, v: S::V, multiplier: u16) -> S::V {
    let (m, fifteen) = (s.splat(multiplier.into()), s.splat(15));
    let low = s.add(s.mul(s.and(v, s.splat(0x7FFF)), m), s.splat(1 << 14));
    s.add(s.mul(s.shr(v, fifteen), m), s.shr(low, fifteen))
}

impl RowTile {
    /// A tile of the given words, row by row, each of `pairs`.
    fn new(words: &[i32], rows: usize, pairs: usize) -> Self {
        let mut lists: Vec<Vec<Entry>> = Vec::new();
        for row in words.chunks_exact(pairs.max(1)) {
            let entries = row.iter().zip(0..).filter(|(word, _)| **word != 0);
            lists.push(entries.map(|(&word, pair)| Entry { pair, word }).collect());
        }
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        if longest as f64 * LISTED >= pairs as f64 {
            let words = (0..pairs).flat_map(|p| (0..rows).map(move |r| words[r * pairs + p]));
            return Self::Dense(words.collect());
        }
        let nothing = Entry { pair: 0, word: 0 };
        let entry = |i: usize| lists[i % rows].get(i / rows).copied().unwrap_or(nothing);
        Self::Listed((0..longest * rows).map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::int::PortableInt;
    use fastgrnn_core::rng::Rng;

    #[test]
    fn sums_of_dense_and_of_listed_tiles_are_the_products() {
        let mut rng = Rng::new(6);
        for (rows, cols, kept) in [(1, 1, 1.0), (25, 7, 1.0), (9, 40, 0.1), (16, 13, 0.0), (3, 12, 0.4)] {
            let entry = |rng: &mut Rng| if rng.uniform() < kept { rng.below(256) as u8 as i8 } else { 0 };
            let matrix: Vec<i8> = (0..rows * cols).map(|_| entry(&mut rng)).collect();
            let packed = Rows::new(rows, cols, |each| {
                matrix.iter().enumerate().for_each(|(i, &value)| each(i / cols, i % cols, value));
            });
            let lanes = PortableInt::LANES;
            let v: Vec<i16> = (0..cols * lanes).map(|_| rng.next_u64() as i16).collect();
            let at = |col: usize, lane: usize| if col < cols { i32::from(v[col * lanes + lane]) } else { 0 };
            let pairs: Vec<i32> = (0..cols.div_ceil(2) * lanes)
                .map(|i| (2 * (i / lanes), i % lanes))
                .map(|(col, lane)| at(col, lane) & 0xFFFF | at(col + 1, lane) << 16)
                .collect();
            for tile in 0..packed.tiles() {
                let mut sums = [[0; ROWS * 8]; 2];
                let [one, two] =
                    [0, 3].map(|shift| Term::new(&packed, &pairs, Rounding::new(PortableInt, shift)));
                one.write(PortableInt, tile, &mut sums[0]);
                one.write_sum(&two, PortableInt, tile, &mut sums[1]);
                let mut multiplied = [0; ROWS * 8];
                one.write_sum(&two.times(20_001), PortableInt, tile, &mut multiplied);
                for (r, row) in packed.tile(tile).enumerate().filter(|(_, row)| *row < rows) {
                    for lane in 0..lanes {
                        let product = |col| i32::from(matrix[row * cols + col]) * at(col, lane);
                        let sum: i32 = (0..cols).map(product).sum();
                        let expected = [sum, sum + (sum + 4).div_euclid(8)];
                        assert_eq!(sums.map(|s| s[r * lanes + lane]), expected, "{rows} {cols} {row} {lane}");
                        let product = (i64::from(sum) * 20_001 + (1 << 14)).div_euclid(1 << 15) as i32;
                        assert_eq!(multiplied[r * lanes + lane], sum + (product + 4).div_euclid(8));
                    }
                }
            }
        }
    }
}
