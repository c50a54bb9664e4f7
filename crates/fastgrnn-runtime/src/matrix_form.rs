//! The parameterisation of a matrix: how W or U is made from its stored parameters.

/// How W or U, `rows × cols` with stacked blocks as rows, is made from its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatrixForm {
    /// Every entry is a parameter.
    #[default]
    Full,
    /// `A1·A2ᵀ` with factors of this many columns: one factorisation of the whole stack.
    LowRank(usize),
    /// A diagonal in each block, which is square: `rows` parameters.
    Diagonal,
    /// The matrix is 0 and has no parameters; its product is left out.
    Absent,
}

impl MatrixForm {
    /// The form with factors of `rank` columns, or the full one.
    pub const fn of_rank(rank: Option<usize>) -> Self {
        match rank {
            Some(rank) => Self::LowRank(rank),
            None => Self::Full,
        }
    }

    /// Columns of the factors, where there are two.
    pub const fn rank(self) -> Option<usize> {
        match self {
            Self::LowRank(rank) => Some(rank),
            _ => None,
        }
    }

    /// Products that an entry of the result adds up, in the last multiplication, for `cols` columns.
    pub const fn terms(self, cols: usize) -> usize {
        match self {
            Self::Full => cols,
            Self::LowRank(rank) => rank,
            Self::Diagonal => 1,
            Self::Absent => 0,
        }
    }

    /// Whether entries of it may be set to 0 for good. A diagonal has nothing to spare, and the
    /// device formats list no entries of one.
    pub const fn can_be_sparse(self) -> bool {
        matches!(self, Self::Full | Self::LowRank(_))
    }

    /// The name in settings, files and messages; a rank is a number there.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::LowRank(_) => "low-rank",
            Self::Diagonal => "diagonal",
            Self::Absent => "none",
        }
    }
}

impl core::fmt::Display for MatrixForm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::LowRank(rank) => write!(f, "rank {rank}"),
            form => f.pad(form.name()),
        }
    }
}

#[cfg(feature = "serde")]
mod serde_impl {
    use super::MatrixForm;
    use serde::de::{Deserialize, Deserializer, Error, Visitor};
    use serde::ser::{Serialize, Serializer};

    /// A low rank is its number, the other forms are their names.
    impl Serialize for MatrixForm {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::LowRank(rank) => s.serialize_u64(*rank as u64),
                form => s.serialize_str(form.name()),
            }
        }
    }

    struct Form;

    impl Visitor<'_> for Form {
        type Value = MatrixForm;

        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("\"full\", \"diagonal\", \"none\" or a rank")
        }

        fn visit_u64<E: Error>(self, rank: u64) -> Result<MatrixForm, E> {
            usize::try_from(rank).map(MatrixForm::LowRank).map_err(E::custom)
        }

        fn visit_i64<E: Error>(self, rank: i64) -> Result<MatrixForm, E> {
            usize::try_from(rank).map(MatrixForm::LowRank).map_err(E::custom)
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<MatrixForm, E> {
            [MatrixForm::Full, MatrixForm::Diagonal, MatrixForm::Absent]
                .into_iter()
                .find(|form| form.name() == name)
                .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
        }
    }

    impl<'de> Deserialize<'de> for MatrixForm {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_any(Form)
        }
    }
}
