//! Rows of weights as tables, and the call that multiplies a row with a vector.

use super::helpers::{Helper, Helpers};
use super::text::ConstantTables;
use fastgrnn::cells::WeightBits;
use fastgrnn::quantize::IntegerMatrix;

/// How rows are stored. Each kind of storage has a kernel in `parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// Every weight, zeros included.
    Dense,
    /// Nonzero weights with byte offsets, for at most 128 columns.
    Sparse,
    /// Nonzero weights with distances, for any number of columns.
    SparseFar,
    /// Every weight, of 4 bits, four rows and two columns in a word.
    FourRows,
}

/// The rows of a matrix as a table.
pub(super) struct StoredRows {
    storage: Storage,
    cols: usize,
    /// The table.
    bytes: Vec<i8>,
    /// The table of rows of 4 bits.
    words: Vec<u32>,
}

impl StoredRows {
    /// The rows of `matrix` in the storage that takes the fewest bytes.
    pub(super) fn new(matrix: &IntegerMatrix) -> Self {
        let order: Vec<usize> = (0..matrix.rows).collect();
        Self::ordered(matrix, &order)
    }

    /// All entries of `matrix`, zeros included.
    pub(super) fn dense(matrix: &IntegerMatrix) -> Self {
        Self { storage: Storage::Dense, cols: matrix.cols, bytes: matrix.entries.clone(), words: vec![] }
    }

    /// The rows of `matrix` in a given order.
    pub(super) fn ordered(matrix: &IntegerMatrix, order: &[usize]) -> Self {
        let row = |r: usize| &matrix.entries[r * matrix.cols..(r + 1) * matrix.cols];
        Self::of(matrix.bits(), matrix.cols, order.iter().map(|&r| row(r).to_vec()).collect())
    }

    /// The columns of `matrix` as rows.
    pub(super) fn transposed(matrix: &IntegerMatrix) -> Self {
        let column = |c: usize| matrix.entries.iter().skip(c).step_by(matrix.cols).copied().collect();
        Self::of(matrix.bits(), matrix.rows, (0..matrix.cols).map(column).collect())
    }

    fn of(bits: WeightBits, cols: usize, rows: Vec<Vec<i8>>) -> Self {
        if bits == WeightBits::Four {
            let words = rows.chunks(4).flat_map(|four| (0..cols).step_by(2).map(|c| word(four, c))).collect();
            return Self { storage: Storage::FourRows, cols, bytes: vec![], words };
        }
        let storage = if cols <= 128 { Storage::Sparse } else { Storage::SparseFar };
        let sparse: Vec<i8> = rows.iter().flat_map(|row| listed(row, storage)).collect();
        let dense: Vec<i8> = rows.concat();
        if sparse.len() < dense.len() {
            Self { storage, cols, bytes: sparse, words: vec![] }
        } else {
            Self { storage: Storage::Dense, cols, bytes: dense, words: vec![] }
        }
    }

    /// Whether four rows are multiplied at once, by [`StoredRows::four`], and not one by
    /// [`StoredRows::call`].
    pub(super) fn are_four(&self) -> bool {
        self.storage == Storage::FourRows
    }

    /// Writes the table.
    pub(super) fn write(&self, name: &str, tables: &mut ConstantTables) {
        match self.storage {
            Storage::FourRows => tables.long_words(name, &self.words),
            _ => tables.bytes(name, &self.bytes),
        }
    }

    /// The C type of an entry of the table.
    pub(super) fn kind(&self) -> &'static str {
        if self.are_four() { "uint32_t" } else { "int8_t" }
    }

    /// The call that writes the next four rows, times `vector`, to `sums`, and returns where the others are;
    /// `eight` is what [`StoredRows::eight`] gives.
    pub(super) fn four(
        &self,
        pointer: &str,
        vector: &str,
        eight: &str,
        sums: &str,
        helpers: &Helpers,
    ) -> String {
        helpers.require(Helper::FourRows);
        format!("four_rows({pointer}, {vector}, {}, {eight}, {sums})", self.cols)
    }

    /// The call that prepares [`StoredRows::four`] for a vector.
    pub(super) fn eight(&self, vector: &str, helpers: &Helpers) -> String {
        helpers.require(Helper::EightSums);
        format!("eight_sums({vector}, {})", self.cols)
    }

    /// The call that multiplies the row at `pointer` with `vector`; it returns an `fg_row`.
    pub(super) fn call(&self, pointer: &str, vector: &str, helpers: &Helpers) -> String {
        let (helper, call) = match self.storage {
            Storage::Dense => (Helper::DenseRow, format!("dense_row({pointer}, {vector}, {})", self.cols)),
            Storage::Sparse => (Helper::SparseRow, format!("sparse_row({pointer}, {vector})")),
            Storage::SparseFar => (Helper::SparseFarRow, format!("sparse_far_row({pointer}, {vector})")),
            Storage::FourRows => unreachable!("rows of 4 bits are multiplied four at a time"),
        };
        helpers.require(helper);
        call
    }
}

/// Two columns of four rows of 4 bits, each plus 8; weights that are not there are 0.
fn word(rows: &[Vec<i8>], first: usize) -> u32 {
    let entry = |i: usize| {
        let found = rows.get(i % 4).and_then(|row| row.get(first + i / 4));
        (i32::from(found.copied().unwrap_or(0)) / 16 + 8) as u32
    };
    (0..8).map(|i| entry(i) << (4 * i)).sum()
}

/// A row as the number of its nonzero weights, and a pair of position and weight for each.
fn listed(row: &[i8], storage: Storage) -> Vec<i8> {
    let there = || row.iter().enumerate().filter(|&(_, &w)| w != 0);
    if storage == Storage::Sparse {
        let pairs = there().flat_map(|(c, &w)| [(2 * c) as u8 as i8, w]);
        return std::iter::once(there().count() as u8 as i8).chain(pairs).collect();
    }
    let (mut pairs, mut at) = (Vec::new(), 0);
    for (c, &w) in there() {
        while c - at > 255 {
            pairs.extend([255_u8 as i8, 0]);
            at += 255;
        }
        pairs.extend([(c - at) as u8 as i8, w]);
        at = c;
    }
    let count = (pairs.len() / 2) as u16;
    let mut out: Vec<i8> = count.to_le_bytes().iter().map(|&b| b as i8).collect();
    out.extend(pairs);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_more_than_a_byte_are_bridged_by_zero_weights() {
        let mut row = vec![0; 600];
        (row[0], row[599]) = (5, -7);
        assert_eq!(listed(&row, Storage::SparseFar), [4, 0, 0, 5, -1, 0, -1, 0, 89, -7]);
    }

    #[test]
    fn a_word_holds_two_columns_of_four_rows() {
        let rows = [vec![-128, 112, 16], vec![0, -16, 32], vec![48, 64, 0]];
        let stored = StoredRows::of(WeightBits::Four, 3, rows.to_vec());
        assert_eq!(stored.words, [0x8C7F_8B80, 0x8888_88A9]);
    }

    #[test]
    fn short_rows_list_byte_offsets() {
        assert_eq!(listed(&[0, 3, 0, -4], Storage::Sparse), [2, 2, 3, 6, -4]);
    }
}
