//! Rectangular arrays as NPY and IDX files hold them: a shape, a cell type, and raw bytes.
//!
//! The bytes are borrowed and decoded on demand, after the shape has been checked against their
//! number, so a header that promises a terabyte costs nothing.

use super::missing::fill;
use super::{DataError, Missing, Sequences};

/// The type of an array's cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    /// UCS-4 text of this many characters.
    Text(usize),
    /// ASCII text of this many bytes.
    Bytes(usize),
}

impl Cell {
    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Text(chars) => chars.saturating_mul(4),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// An array whose shape fits its bytes and has no zero in it.
pub(crate) struct Array<'a> {
    file: String,
    pub shape: Vec<usize>,
    cell: Cell,
    big_endian: bool,
    fortran: bool,
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    pub fn new(
        file: &str,
        shape: Vec<usize>,
        cell: Cell,
        big_endian: bool,
        fortran: bool,
        bytes: &'a [u8],
    ) -> Result<Self, DataError> {
        let needed = shape.iter().try_fold(cell.size(), |n, &side| n.checked_mul(side));
        let needed = needed.map_or(u64::MAX, |n| n as u64);
        let (what, found) = (format!("an array of shape {shape:?}"), bytes.len() as u64);
        if shape.contains(&0) || cell.size() == 0 {
            return Err(DataError::Empty { file: file.into(), hint: format!("{what} is empty") });
        }
        if found < needed {
            let file = file.into();
            return Err(DataError::Truncated { file, what, expected: needed, found });
        }
        if found > needed {
            return Err(DataError::Corrupt {
                file: file.into(),
                place: "end".into(),
                problem: format!("{what} needs {needed} bytes, but {found} follow its header"),
            });
        }
        Ok(Self { file: file.into(), shape, cell, big_endian, fortran, bytes })
    }

    /// The cells themselves, last index fastest, if they are bytes.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        (self.cell == Cell::U8 && !self.fortran).then_some(self.bytes)
    }

    /// Whether the cells are text.
    pub fn is_text(&self) -> bool {
        matches!(self.cell, Cell::Text(_) | Cell::Bytes(_))
    }

    /// `[N, T, D]`, or `[N, T]` with one feature, as sequences.
    pub fn sequences(&self) -> Result<Sequences, DataError> {
        Ok(self.filled_sequences(Missing::Error)?.0)
    }

    /// The same with values that are NaN filled in or dropped, and how many these are.
    pub fn filled_sequences(&self, missing: Missing) -> Result<(Sequences, usize), DataError> {
        let (n, steps, dim) = match self.shape[..] {
            [n, steps, dim] => (n, steps, dim),
            [n, steps] => (n, steps, 1),
            _ => {
                return Err(self.unsupported(format!(
                    "inputs of shape {:?}; they must be [sequences, steps, features] or [sequences, steps]",
                    self.shape
                )));
            }
        };
        let offsets = (0..=n).map(|i| i * steps).collect();
        let place = |sequence, step, feature| format!("sequence {sequence}, step {step}, feature {feature}");
        self.filled(dim, offsets, missing, &place)
    }

    /// Cuts values of `dim` features a step into sequences at the steps in `offsets`. Values that are
    /// NaN are filled in or dropped, and counted; others that are not finite are errors, whose place
    /// `place` tells from the sequence, the step and the feature.
    pub fn filled(
        &self,
        dim: usize,
        offsets: Vec<usize>,
        missing: Missing,
        place: &dyn Fn(usize, usize, usize) -> String,
    ) -> Result<(Sequences, usize), DataError> {
        let mut values = self.decode(|v| v as f32)?;
        let is_wrong = |v: &f32| !v.is_finite() && (missing == Missing::Error || !v.is_nan());
        if let Some(i) = values.iter().position(is_wrong) {
            let sequence = offsets.partition_point(|&start| start <= i / dim) - 1;
            let end = offsets[sequence + 1] * dim;
            let is_padding = i % dim == 0 && values[i..end].iter().all(|v| v.is_nan());
            let advice = match values[i].is_nan() {
                true if is_padding => {
                    "if sequences are padded with NaN, store them end to end instead, with their steps in `lengths`"
                }
                true => "fill it in, or see `missing`, which drops, holds or interpolates such values",
                false => "correct it",
            };
            return Err(DataError::NotFinite {
                file: self.file.clone(),
                place: place(sequence, i / dim - offsets[sequence], i % dim),
                value: self.numbers()?[i].to_string(),
                advice,
            });
        }
        let count = values.iter().filter(|v| v.is_nan()).count();
        if count == 0 {
            return Ok((Sequences::cut(dim, values, offsets), 0));
        }
        let mut x = Sequences::new(dim);
        for sequence in 0..offsets.len() - 1 {
            let all_missing = |feature: Option<usize>| DataError::AllMissing {
                file: self.file.clone(),
                place: format!("sequence {sequence}"),
                feature: feature.map_or("every feature".into(), |feature| format!("feature {feature}")),
                missing,
            };
            let mut rows: Vec<usize> = (offsets[sequence]..offsets[sequence + 1]).collect();
            fill(&mut values, dim, &mut rows, missing).map_err(|feature| all_missing(Some(feature)))?;
            if rows.is_empty() {
                return Err(all_missing(None));
            }
            let steps: Vec<f32> =
                rows.iter().flat_map(|row| &values[row * dim..(row + 1) * dim]).copied().collect();
            x.push(&steps);
        }
        Ok((x, count))
    }

    /// The cells as numbers, last index fastest.
    pub fn numbers(&self) -> Result<Vec<f64>, DataError> {
        self.decode(|v| v)
    }

    /// The cells as text, for arrays of text.
    pub fn text(&self) -> Result<Vec<String>, DataError> {
        let cells = self.bytes.chunks_exact(self.cell.size());
        let decoded: Option<Vec<String>> = match self.cell {
            Cell::Bytes(_) => cells.map(|c| Some(trimmed(c.iter().map(|&b| b as char)))).collect(),
            Cell::Text(_) => cells.map(|c| self.ucs4(c)).collect(),
            _ => return Err(self.unsupported("numbers where text is needed".into())),
        };
        let decoded = decoded.ok_or_else(|| DataError::Corrupt {
            file: self.file.clone(),
            place: "text cells".into(),
            problem: "a character that is not Unicode".into(),
        })?;
        Ok(self.in_c_order(decoded))
    }

    fn ucs4(&self, cell: &[u8]) -> Option<String> {
        let chars: Option<Vec<char>> = cell
            .chunks_exact(4)
            .map(|b| {
                let b = [b[0], b[1], b[2], b[3]];
                char::from_u32(if self.big_endian { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) })
            })
            .collect();
        Some(trimmed(chars?.into_iter()))
    }

    fn decode<T: Clone>(&self, to: impl Fn(f64) -> T) -> Result<Vec<T>, DataError> {
        macro_rules! cells {
            ($type:ty, $size:literal, $widen:expr) => {{
                let cells = self.bytes.chunks_exact($size).map(|b| {
                    let mut cell = [0u8; $size];
                    cell.copy_from_slice(b);
                    let v = if self.big_endian {
                        <$type>::from_be_bytes(cell)
                    } else {
                        <$type>::from_le_bytes(cell)
                    };
                    to($widen(v))
                });
                cells.collect::<Vec<T>>()
            }};
        }
        let values = match self.cell {
            Cell::I8 => cells!(i8, 1, f64::from),
            Cell::U8 => cells!(u8, 1, f64::from),
            Cell::I16 => cells!(i16, 2, f64::from),
            Cell::U16 => cells!(u16, 2, f64::from),
            Cell::I32 => cells!(i32, 4, f64::from),
            Cell::U32 => cells!(u32, 4, f64::from),
            Cell::I64 => cells!(i64, 8, |v| v as f64),
            Cell::U64 => cells!(u64, 8, |v| v as f64),
            Cell::F16 => cells!(u16, 2, half),
            Cell::F32 => cells!(f32, 4, f64::from),
            Cell::F64 => cells!(f64, 8, |v| v),
            Cell::Text(_) | Cell::Bytes(_) => {
                return Err(self.unsupported("text where numbers are needed".into()));
            }
        };
        Ok(self.in_c_order(values))
    }

    /// Puts cells stored first index fastest into last-index-fastest order.
    fn in_c_order<T: Clone>(&self, cells: Vec<T>) -> Vec<T> {
        if !self.fortran || self.shape.len() < 2 {
            return cells;
        }
        let mut index = vec![0usize; self.shape.len()];
        let mut ordered = Vec::with_capacity(cells.len());
        for _ in 0..cells.len() {
            let at = index.iter().zip(&self.shape).rev().fold(0, |at, (i, side)| at * side + i);
            ordered.push(cells[at].clone());
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < self.shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        ordered
    }

    fn unsupported(&self, problem: String) -> DataError {
        DataError::Unsupported { file: self.file.clone(), problem }
    }
}

fn trimmed(chars: impl Iterator<Item = char>) -> String {
    chars.collect::<String>().trim_end_matches('\0').into()
}

/// The value of an IEEE half-precision number.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_have_their_values() {
        let expected = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2f64.powi(-24))];
        for (bits, value) in expected {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan() && half(0x7c00).is_infinite());
    }

    #[test]
    fn fortran_order_is_turned() {
        let bytes = [1, 2, 3, 4, 5, 6];
        let array = Array::new("a", vec![2, 3], Cell::U8, false, true, &bytes).unwrap();
        assert_eq!(array.numbers().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn a_shape_that_overflows_is_truncated_not_allocated() {
        for shape in [vec![usize::MAX, 9], vec![1_000_000_000_000], vec![1 << 40, 1 << 40]] {
            let error = Array::new("a", shape, Cell::F64, false, false, &[0; 8]).err().unwrap();
            assert!(matches!(error, DataError::Truncated { .. }), "{error}");
        }
    }
}
