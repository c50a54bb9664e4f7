//! A byte matrix times vectors of pairs, a few rows at a time.
//!
//! Rows are cut into tiles of at most [`ROWS`] whose sums stay in registers while the vector passes
//! by once. Tiles hold an even number of rows, so that results form pairs again; rows beyond the
//! matrix are 0. Weights lie in the order in which they are read, two to a 32-bit word.

use super::IntSimd;
use std::ops::Range;

/// Most rows of a tile.
pub(crate) const ROWS: usize = 8;

/// What a listed pair costs, in dense ones: the vector is loaded again for each of its rows.
const LISTED: f64 = 1.5;

/// A matrix of bytes, cut into tiles of rows.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    rows: usize,
    /// Pairs of columns.
    pairs: usize,
    tiles: usize,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// Tile after tile, in it pair after pair, for each pair its rows.
    Dense(Vec<i32>),
    /// Row after row those pairs that are not 0; `starts` has one more entry than rows.
    Listed { starts: Vec<usize>, entries: Vec<Entry> },
}

/// The weights of a pair of columns, of which one is not 0.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Which pair; less than [`Rows::pairs`].
    pair: u32,
    weights: i32,
}

/// Rows of tile `tile` of `rows` rows: an even number of them, the last one perhaps beyond the end.
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
            let word = &mut words[row * pairs + col / 2];
            *word = if col % 2 == 0 {
                *word & !0xFFFF | i32::from(value) & 0xFFFF
            } else {
                *word & 0xFFFF | i32::from(value) << 16
            };
        });
        let tiles = padded.div_ceil(ROWS);
        let listed = words.iter().filter(|&&w| w != 0).count();
        let form = if listed as f64 * LISTED < words.len() as f64 {
            Form::listed(&words, padded, pairs)
        } else {
            let tile = |t| {
                let words = &words;
                let rows = tile_rows(rows, tiles, t);
                (0..pairs).flat_map(move |p| rows.clone().map(move |r| words[r * pairs + p]))
            };
            Form::Dense((0..tiles).flat_map(tile).collect())
        };
        Self { rows, pairs, tiles, form }
    }

    /// Rows of the matrix.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Tiles of rows.
    pub(crate) fn tiles(&self) -> usize {
        self.tiles
    }

    /// The rows of a tile; their number is even, so the last may lie beyond the matrix.
    pub(crate) fn tile(&self, tile: usize) -> Range<usize> {
        tile_rows(self.rows, self.tiles, tile)
    }

    /// The sums of a tile's rows: the matrix times `v`, which holds a vector of lanes for each
    /// pair of columns. Entries of `sums` beyond the tile stay what they are.
    #[inline(always)]
    pub(crate) fn times<S: IntSimd>(&self, s: S, tile: usize, v: &[i32], sums: &mut [S::V; ROWS]) {
        let rows = self.tile(tile);
        let v = &v[..self.pairs * S::LANES];
        match &self.form {
            Form::Dense(words) => {
                let words = &words[rows.start * self.pairs..rows.end * self.pairs];
                match rows.len() {
                    2 => dense::<S, 2>(s, words, v, sums),
                    4 => dense::<S, 4>(s, words, v, sums),
                    6 => dense::<S, 6>(s, words, v, sums),
                    _ => dense::<S, 8>(s, words, v, sums),
                }
            }
            Form::Listed { starts, entries } => {
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let mut total = s.splat(0);
                    for entry in &entries[starts[row]..starts[row + 1]] {
                        // SAFETY: `Form::listed` makes entries of pairs below `self.pairs` only,
                        // and `v` has a vector for each of those.
                        let x = unsafe { s.read(v.as_ptr().add(entry.pair as usize * S::LANES)) };
                        total = s.madd(total, x, s.splat(entry.weights));
                    }
                    *sum = total;
                }
            }
        }
    }
}

impl Form {
    fn listed(words: &[i32], rows: usize, pairs: usize) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for row in 0..rows {
            let row = words[row * pairs..][..pairs].iter().enumerate();
            let listed = row.filter(|(_, w)| **w != 0);
            entries.extend(listed.map(|(pair, &weights)| Entry { pair: pair as u32, weights }));
            starts.push(entries.len());
        }
        Self::Listed { starts, entries }
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
