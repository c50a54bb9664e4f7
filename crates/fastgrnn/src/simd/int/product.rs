//! A byte matrix times vectors of pairs, a few rows at a time.
//!
//! Rows are cut into tiles of at most [`ROWS`] whose sums stay in registers while the vector passes
//! by once. Tiles hold an even number of rows, so that results form pairs again; rows beyond the
//! matrix are 0. Weights lie in the order in which they are read, two to a 32-bit word. A tile of
//! few weights lists them instead, as many for each row as the longest needs.

use super::IntSimd;
use std::ops::Range;

/// Most rows of a tile.
pub(crate) const ROWS: usize = 8;

/// What a listed word costs, in others: it loads its part of the vector for itself.
const LISTED: f64 = 1.5;

/// A matrix of bytes, cut into tiles of rows.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    rows: usize,
    /// Pairs of columns.
    pairs: usize,
    tiles: Vec<Tile>,
}

#[derive(Clone, Debug)]
enum Tile {
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
fn tile_rows(rows: usize, tiles: usize, tile: usize) -> Range<usize> {
    // As even as possible: 25 rows are 6 + 6 + 6 + 8.
    let of = |tile: usize| 2 * (rows.div_ceil(2) * tile / tiles);
    of(tile)..of(tile + 1)
}

impl Rows {
    /// Packs the matrix whose entries `each` hands to its argument: row, column, value.
    pub(crate) fn new(rows: usize, cols: usize, each: impl FnOnce(&mut dyn FnMut(usize, usize, i8))) -> Self {
        let (pairs, padded) = (cols.div_ceil(2), rows.next_multiple_of(2));
        let mut words = vec![0i32; padded * pairs];
        each(&mut |row, col, value| {
            let half = i32::from(value) & 0xFFFF;
            words[row * pairs + col / 2] |= half << (16 * (col % 2));
        });
        let tiles = padded.div_ceil(ROWS);
        let tile = |tile| {
            let rows = tile_rows(rows, tiles, tile);
            Tile::new(&words[rows.start * pairs..rows.end * pairs], rows.len(), pairs)
        };
        Self { rows, pairs, tiles: (0..tiles).map(tile).collect() }
    }

    /// Rows of the matrix.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Tiles of rows.
    pub(crate) fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// The rows of a tile; their number is even, so the last may lie beyond the matrix.
    pub(crate) fn tile(&self, tile: usize) -> Range<usize> {
        tile_rows(self.rows, self.tiles.len(), tile)
    }

    /// The sums of a tile's rows: the matrix times `v`, which holds a vector of lanes for each
    /// pair of columns. Entries of `sums` beyond the tile stay what they are.
    #[inline(always)]
    pub(crate) fn times<S: IntSimd>(&self, s: S, tile: usize, v: &[i32], sums: &mut [S::V; ROWS]) {
        let v = &v[..self.pairs * S::LANES];
        match (&self.tiles[tile], self.tile(tile).len()) {
            (Tile::Dense(words), 2) => dense::<S, 2>(s, words, v, sums),
            (Tile::Dense(words), 4) => dense::<S, 4>(s, words, v, sums),
            (Tile::Dense(words), 6) => dense::<S, 6>(s, words, v, sums),
            (Tile::Dense(words), _) => dense::<S, 8>(s, words, v, sums),
            // SAFETY: `Tile::new` lists pairs below `self.pairs` only, and `v` has a vector for
            // each of those.
            (Tile::Listed(entries), rows) => unsafe {
                match rows {
                    2 => listed::<S, 2>(s, entries, v, sums),
                    4 => listed::<S, 4>(s, entries, v, sums),
                    6 => listed::<S, 6>(s, entries, v, sums),
                    _ => listed::<S, 8>(s, entries, v, sums),
                }
            },
        }
    }
}

impl Tile {
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

#[inline(always)]
fn dense<S: IntSimd, const R: usize>(s: S, words: &[i32], v: &[i32], sums: &mut [S::V; ROWS]) {
    let mut totals = [s.splat(0); R];
    for (words, v) in words.as_chunks::<R>().0.iter().zip(v.chunks_exact(S::LANES)) {
        let x = s.load(v);
        for (total, &word) in totals.iter_mut().zip(words) {
            *total = s.madd(*total, x, s.splat(word));
        }
    }
    for (sum, total) in sums.iter_mut().zip(totals) {
        *sum = total;
    }
}

/// # Safety
/// `v` must have a vector for each listed pair.
#[inline(always)]
unsafe fn listed<S: IntSimd, const R: usize>(s: S, entries: &[Entry], v: &[i32], sums: &mut [S::V; ROWS]) {
    let mut totals = [s.splat(0); R];
    for entries in entries.as_chunks::<R>().0 {
        for (total, entry) in totals.iter_mut().zip(entries) {
            // SAFETY: the caller promises the vector.
            let x = unsafe { s.read(v.as_ptr().add(entry.pair as usize * S::LANES)) };
            *total = s.madd(*total, x, s.splat(entry.word));
        }
    }
    for (sum, total) in sums.iter_mut().zip(totals) {
        *sum = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::simd::int::PortableInt;

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
                let mut sums = [[0; 8]; ROWS];
                packed.times(PortableInt, tile, &pairs, &mut sums);
                for (row, sum) in packed.tile(tile).zip(sums).filter(|(row, _)| *row < rows) {
                    for (lane, &sum) in sum.iter().enumerate() {
                        let product = |col| i32::from(matrix[row * cols + col]) * at(col, lane);
                        assert_eq!(sum, (0..cols).map(product).sum::<i32>(), "{rows} {cols} {row} {lane}");
                    }
                }
            }
        }
    }
}
