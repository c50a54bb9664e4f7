//! Constant tables of the soft-float C, and the kernels that multiply with them.

use fastgrnn::quantize::IntegerMatrix;

/// The text of the tables, their bytes, and the kernels that they need.
#[derive(Default)]
pub(super) struct FloatTables {
    text: String,
    bytes: usize,
    needs: [bool; 3],
}

/// A kernel that multiplies a matrix with a vector; the order is that of [`FloatTables::needs`].
#[derive(Clone, Copy)]
enum Kernel {
    Dense,
    /// Counts and columns of 8 bits.
    Sparse8,
    /// Counts and columns of 16 bits.
    Sparse16,
}

/// The rows of a matrix of bytes.
pub(super) struct FloatRows {
    cols: usize,
    rows: Vec<Vec<i8>>,
    /// What a byte of 1 is worth.
    unit: f64,
}

impl FloatRows {
    pub(super) fn of(matrix: &IntegerMatrix) -> Self {
        let rows = matrix.entries.chunks_exact(matrix.cols.max(1)).map(<[i8]>::to_vec).collect();
        Self { cols: matrix.cols, rows, unit: matrix.grid.unit() }
    }

    /// Stacked blocks of `hidden` rows and columns, from their diagonals.
    pub(super) fn of_diagonals(diagonals: &IntegerMatrix, hidden: usize) -> Self {
        let row = |(i, &a): (usize, &i8)| {
            let mut row = vec![0; hidden];
            row[i % hidden] = a;
            row
        };
        let rows = diagonals.entries.iter().enumerate().map(row).collect();
        Self { cols: hidden, rows, unit: diagonals.grid.unit() }
    }

    pub(super) fn transposed(matrix: &IntegerMatrix) -> Self {
        let column = |j: usize| matrix.entries.iter().skip(j).step_by(matrix.cols.max(1)).copied().collect();
        Self { cols: matrix.rows, rows: (0..matrix.cols).map(column).collect(), unit: matrix.grid.unit() }
    }

    /// The first `at` rows, and the others.
    pub(super) fn split(mut self, at: usize) -> (Self, Self) {
        let rest = self.rows.split_off(at.min(self.rows.len()));
        let other = Self { cols: self.cols, rows: rest, unit: self.unit };
        (self, other)
    }
}

impl FloatTables {
    /// All tables as C.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of all tables.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes a table of floats.
    pub(super) fn floats(&mut self, name: &str, values: impl IntoIterator<Item = f32>) {
        let values: Vec<String> = values.into_iter().map(literal).collect();
        self.bytes += 4 * values.len();
        self.array("float", name, &values);
    }

    /// Writes a matrix and returns the C statement that stores its product with `v` in `out`, or adds it
    /// to `out` if `adds` is set.
    pub(super) fn product(
        &mut self,
        name: &str,
        matrix: &FloatRows,
        v: &str,
        out: &str,
        adds: bool,
    ) -> String {
        let (rows, cols) = (matrix.rows.len(), matrix.cols);
        let kept = |row: &Vec<i8>| row.iter().filter(|&&a| a != 0).count();
        let entries: usize = matrix.rows.iter().map(kept).sum();
        let longest = matrix.rows.iter().map(kept).max().unwrap_or(0);
        let wide = cols > 256 || longest > 255;
        let width = if wide { 2 } else { 1 };
        let scale = literal(matrix.unit as f32);
        let tail = format!("{rows}, {v}, {scale}, {}, {out});", u8::from(adds));
        if width * (rows + entries) + entries >= rows * cols {
            self.needs[Kernel::Dense as usize] = true;
            self.bytes += rows * cols;
            let values: Vec<String> = matrix.rows.iter().flatten().map(ToString::to_string).collect();
            self.array("int8_t", name, &values);
            return format!("dense({name}, {cols}, {tail}");
        }
        let (form, integer, bits) = match wide {
            true => (Kernel::Sparse16, "uint16_t", 16),
            false => (Kernel::Sparse8, "uint8_t", 8),
        };
        self.needs[form as usize] = true;
        self.bytes += width * (rows + entries) + entries;
        let counts: Vec<String> = matrix.rows.iter().map(|row| kept(row).to_string()).collect();
        let listed = || matrix.rows.iter().flat_map(|row| row.iter().enumerate()).filter(|(_, a)| **a != 0);
        self.array(integer, &format!("{name}_counts"), &counts);
        self.array(
            integer,
            &format!("{name}_index"),
            &listed().map(|(k, _)| k.to_string()).collect::<Vec<_>>(),
        );
        self.array("int8_t", name, &listed().map(|(_, a)| a.to_string()).collect::<Vec<_>>());
        format!("sparse{bits}({name}_counts, {name}_index, {name}, {tail}")
    }

    /// The kernels that are used.
    pub(super) fn kernels(&self) -> String {
        let sparse = |bits: &str| SPARSE.replace("@bits@", bits);
        let all = [DENSE.to_owned(), sparse("8"), sparse("16")];
        all.into_iter().zip(self.needs).filter(|(_, used)| *used).map(|(text, _)| text).collect()
    }

    fn array(&mut self, kind: &str, name: &str, values: &[String]) {
        // C has no empty arrays.
        let nothing = ["0".to_owned()];
        let values = if values.is_empty() { &nothing } else { values };
        self.text.push_str(&format!("static const {kind} {name}[{}] FLASH = {{\n", values.len()));
        for line in values.chunks(16) {
            self.text.push_str(&format!("    {},\n", line.join(", ")));
        }
        self.text.push_str("};\n");
    }
}

/// A float as a C constant, exact to the last bit.
pub(super) fn literal(v: f32) -> String {
    format!("{v:e}f")
}

const DENSE: &str = "\
/* out = scale * A v, or that added to it. */
static void dense(const int8_t *a, uint16_t cols, uint16_t rows, const float *v, float scale, uint8_t adds,
                  float *out)
{
    uint16_t i, k;
    for (i = 0; i < rows; i++) {
        float sum = 0.0f;
        for (k = 0; k < cols; k++, a++)
            sum += (float)BYTE(a) * v[k];
        sum *= scale;
        out[i] = adds ? out[i] + sum : sum;
    }
}

";

const SPARSE: &str = "\
/* The same for rows that list their entries. */
static void sparse@bits@(const uint@bits@_t *counts, const uint@bits@_t *index, const int8_t *a, uint16_t rows,
                    const float *v, float scale, uint8_t adds, float *out)
{
    uint16_t i, n;
    for (i = 0; i < rows; i++) {
        float sum = 0.0f;
        for (n = INDEX@bits@(&counts[i]); n > 0; n--, a++, index++)
            sum += (float)BYTE(a) * v[INDEX@bits@(index)];
        sum *= scale;
        out[i] = adds ? out[i] + sum : sum;
    }
}

";
