//! Why an image is refused.

/// The format of images whose networks read counts.
pub const VERSION: u8 = 1;
/// The format of images whose networks read tokens.
pub const TOKEN_VERSION: u8 = 2;

/// The format of images with a window, multipliers, entries of 4 bits or biases of 8 bits.
pub const EXTENDED_VERSION: u8 = 3;

/// Why an image is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The first bytes are not an image's.
    NotAnImage,
    /// Another version of the format.
    Version {
        /// The version found.
        found: u8,
    },
    /// The image ends too early.
    Truncated,
    /// The length is not what the header says.
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes that the header promises.
        stated: u32,
    },
    /// The bytes were changed.
    Checksum {
        /// The check sum of the bytes.
        found: u16,
        /// The check sum that the header states.
        stated: u16,
    },
    /// More layers than the reader holds.
    Layers {
        /// Layers of the image.
        found: usize,
        /// Layers that the reader holds.
        most: usize,
    },
    /// No layer, unit, input or output.
    Empty,
    /// A code that means nothing.
    Code {
        /// Of what.
        what: &'static str,
        /// The code.
        code: u8,
    },
    /// A number outside its range.
    Range {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The least allowed.
        least: u32,
        /// The most allowed.
        most: u32,
    },
    /// Something too long for its form.
    TooLong {
        /// What.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The most allowed.
        most: usize,
    },
    /// Indices of a sparse matrix that do not ascend or lie outside.
    Indices,
    /// A bitmap with bits beyond its matrix.
    Bitmap,
    /// Entries of 4 bits beyond their matrix.
    FourBits,
    /// A gate whose values the cell cannot take.
    Gate,
    /// A table that does not rise.
    Table,
    /// Vectors of tokens that cannot be the head's matrix.
    Tied,
    /// Sizes and shifts with which a sum could leave 32 bits.
    Overflow {
        /// Which sum.
        what: &'static str,
    },
}

impl core::fmt::Display for ImageError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::NotAnImage => f.write_str("this is not a fastgrnn image: it does not begin with FG"),
            Self::Version { found } => {
                write!(
                    f,
                    "the image has format version {found}, this reader knows {VERSION} to {EXTENDED_VERSION}"
                )
            }
            Self::Truncated => f.write_str("the image ends too early"),
            Self::Length { found, stated } => {
                write!(f, "the image has {found} bytes, its header says {stated}")
            }
            Self::Checksum { found, stated } => {
                write!(
                    f,
                    "the image is damaged: its check sum is {found:#06x}, its header says {stated:#06x}"
                )
            }
            Self::Layers { found, most } => {
                write!(f, "the image has {found} layers, this reader holds at most {most}")
            }
            Self::Empty => f.write_str("a network needs at least one layer, unit, input and output"),
            Self::Code { what, code } => write!(f, "{code} is no code of a {what}"),
            Self::Range { what, value, least, most } => {
                write!(f, "{what}: {value} is not between {least} and {most}")
            }
            Self::TooLong { what, size, most } => write!(f, "{what} of {size} exceeds {most}"),
            Self::Indices => f.write_str("the indices of a sparse matrix do not ascend or lie outside of it"),
            Self::Bitmap => f.write_str("a bitmap has bits beyond its matrix"),
            Self::FourBits => {
                f.write_str("a matrix of an odd number of rows has entries of 4 bits beyond its last")
            }
            Self::Gate => f.write_str("the gate's nonlinearity cannot be used in this cell"),
            Self::Table => f.write_str("the table of the smooth nonlinearities does not rise up to 32768"),
            Self::Tied => f.write_str("the vectors of the tokens do not have the shape of the head's matrix"),
            Self::Overflow { what } => write!(f, "{what} could leave 32 bits with these sizes and shifts"),
        }
    }
}

impl core::error::Error for ImageError {}
