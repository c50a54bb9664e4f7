//! Square matrices that are orthogonal, or nearly so, whatever the values of their parameters are.

use super::param::{Param, Role};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How the blocks of a U are made. Each block is a square matrix of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Orthogonal {
    /// A product of reflections (Mhammedi et al. 2017).
    Reflections {
        /// How many.
        count: usize,
    },
    /// Reflections, singular values near 1, reflections (Zhang et al. 2018).
    Spectral {
        /// Reflections on each side.
        count: usize,
        /// How far singular values may lie from 1.
        margin: f64,
    },
    /// Two orthogonal bases and singular values near 1 (Vorontsov et al. 2017). A basis is the Cayley transform of a
    /// skew-symmetric matrix.
    Factored {
        /// How far singular values may lie from 1.
        margin: f64,
    },
    /// A unitary matrix whose complex numbers are pairs of units: layers of rotations of neighbours (Jing et al. 2017).
    Rotations {
        /// How many.
        layers: usize,
    },
    /// A unitary matrix whose complex numbers are pairs of units: a layer of rotations for every distance that is a power
    /// of two, as in a fast Fourier transform (Jing et al. 2017).
    FftRotations,
}

impl Orthogonal {
    /// The name in settings and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflections { .. } => "reflections",
            Self::Spectral { .. } => "spectral",
            Self::Factored { .. } => "factored",
            Self::Rotations { .. } => "rotations",
            Self::FftRotations => "fft-rotations",
        }
    }

    /// How far singular values may lie from 1.
    pub const fn margin(self) -> f64 {
        match self {
            Self::Reflections { .. } | Self::Rotations { .. } | Self::FftRotations => 0.0,
            Self::Spectral { margin, .. } | Self::Factored { margin } => margin,
        }
    }

    /// Whether pairs of units are complex numbers.
    pub const fn has_pairs(self) -> bool {
        matches!(self, Self::Rotations { .. } | Self::FftRotations)
    }

    /// The pairs of complex numbers that each layer rotates, of this many complex numbers. A number is in one pair of a
    /// layer at most, and without a partner it stays as it is.
    pub fn rotations(self, numbers: usize) -> Vec<Vec<(usize, usize)>> {
        match self {
            Self::Rotations { layers } => {
                let of_layer = |l: usize| (l % 2..numbers.saturating_sub(1)).step_by(2).map(|k| (k, k + 1));
                (0..layers).map(|l| of_layer(l).collect()).collect()
            }
            Self::FftRotations => {
                let distances = (0..usize::BITS).map(|l| 1 << l).take_while(|&distance| distance < numbers);
                let of_distance = |distance: usize| {
                    let first = (0..numbers - distance).filter(move |k| k & distance == 0);
                    first.map(move |k| (k, k + distance))
                };
                distances.map(|distance| of_distance(distance).collect()).collect()
            }
            Self::Reflections { .. } | Self::Spectral { .. } | Self::Factored { .. } => Vec::new(),
        }
    }

    /// The names and lengths of the vectors of parameters of a matrix of `size` rows.
    fn parts(self, size: usize) -> Vec<(&'static str, usize)> {
        match self {
            Self::Reflections { count } => vec![(LEFT, count * size)],
            Self::Spectral { count, .. } => {
                vec![(LEFT, count * size), (RIGHT, count * size), (SPECTRUM, size)]
            }
            Self::Factored { .. } => {
                let basis = size * size.saturating_sub(1) / 2;
                vec![(LEFT, basis), (RIGHT, basis), (SPECTRUM, size)]
            }
            Self::Rotations { .. } | Self::FftRotations => {
                let rotations = self.rotations(size / 2).iter().map(Vec::len).sum();
                vec![(MIXING, rotations), (TURN, rotations), (PHASE, size / 2)]
            }
        }
    }

    /// The lengths of the vectors of parameters of a matrix of `size` rows, of which there are up to three.
    pub fn part_lens(self, size: usize) -> [usize; 3] {
        let parts = self.parts(size);
        std::array::from_fn(|i| parts.get(i).map_or(0, |&(_, len)| len))
    }

    /// The parameter tensors of `blocks` matrices of `size` rows: a row for each block.
    pub(super) fn params(self, blocks: usize, size: usize) -> Vec<Param> {
        let tensor = |(name, cols)| Param { name, rows: blocks, cols, role: Role::Basis, pointwise: None };
        self.parts(size).into_iter().map(tensor).collect()
    }

    /// A starting value of the parameter tensor of this name. Bases are random, singular values are 1, and angles may be
    /// any.
    pub(super) fn first_value(self, name: &str, size: usize, rng: &mut Rng) -> f64 {
        match (self, name) {
            (Self::Rotations { .. } | Self::FftRotations, _) => rng.range(-PI, PI),
            (_, SPECTRUM) => 0.0,
            (Self::Factored { .. }, _) => 1.0 / (size as f64).sqrt() * rng.normal(),
            _ => rng.normal(),
        }
    }
}

/// The parameters of the first basis.
const LEFT: &str = "u_left";
/// The parameters of the second basis.
const RIGHT: &str = "u_right";
/// The singular values, each through a sigmoid.
const SPECTRUM: &str = "u_spectrum";
/// The angles θ of rotations, layer by layer: how far two numbers are mixed.
const MIXING: &str = "u_theta";
/// The angles φ of rotations, layer by layer: how far the first of two numbers is turned.
const TURN: &str = "u_phi";
/// The angles by which all numbers are turned in the end.
const PHASE: &str = "u_phase";

#[cfg(test)]
mod tests {
    use crate::cells::{Cell, CellKind, Orthogonal};
    use crate::net::Network;

    #[test]
    fn parameters_are_those_of_bases_and_spectrum() {
        let of = |kind, orthogonal| {
            let cell = Cell::new(kind, 3, 6).with_orthogonal_u(orthogonal);
            let params = cell.params().into_iter().filter(|p| p.name.starts_with("u_"));
            params.map(|p| (p.name, p.rows, p.cols)).collect::<Vec<_>>()
        };
        assert_eq!(of(CellKind::Rnn, Orthogonal::Reflections { count: 4 }), [("u_left", 1, 24)]);
        let spectral = Orthogonal::Spectral { count: 2, margin: 0.1 };
        assert_eq!(
            of(CellKind::Gru, spectral),
            [("u_left", 3, 12), ("u_right", 3, 12), ("u_spectrum", 3, 6)]
        );
        let factored = Orthogonal::Factored { margin: 0.1 };
        assert_eq!(
            of(CellKind::Rnn, factored),
            [("u_left", 1, 15), ("u_right", 1, 15), ("u_spectrum", 1, 6)]
        );
        // Three complex numbers: a pair in each layer.
        let rotations = Orthogonal::Rotations { layers: 3 };
        assert_eq!(of(CellKind::Rnn, rotations), [("u_theta", 1, 3), ("u_phi", 1, 3), ("u_phase", 1, 3)]);
        let fft = Orthogonal::FftRotations;
        assert_eq!(of(CellKind::Gru, fft), [("u_theta", 3, 2), ("u_phi", 3, 2), ("u_phase", 3, 3)]);
    }

    #[test]
    fn layers_of_rotations_alternate_or_double_their_distance() {
        let rotations = |layers, numbers| Orthogonal::Rotations { layers }.rotations(numbers);
        assert_eq!(rotations(3, 4), [vec![(0, 1), (2, 3)], vec![(1, 2)], vec![(0, 1), (2, 3)]]);
        assert_eq!(rotations(2, 5), [vec![(0, 1), (2, 3)], vec![(1, 2), (3, 4)]]);
        let fft = |numbers| Orthogonal::FftRotations.rotations(numbers);
        assert_eq!(fft(4), [vec![(0, 1), (2, 3)], vec![(0, 2), (1, 3)]]);
        assert_eq!(fft(3), [vec![(0, 1)], vec![(0, 2)]]);
        assert_eq!(fft(64).len(), 6);
        assert!(fft(64).iter().all(|layer| layer.len() == 32));
    }

    #[test]
    fn what_makes_no_orthogonal_matrix_is_refused() {
        let check = |orthogonal| {
            let cell = Cell::new(CellKind::Rnn, 3, 6).with_orthogonal_u(orthogonal);
            Network::new(vec![cell], 2).check().map_err(|error| error.to_string())
        };
        assert_eq!(check(Orthogonal::Reflections { count: 6 }), Ok(()));
        assert!(check(Orthogonal::Reflections { count: 7 }).unwrap_err().contains("number of units, 6"));
        assert!(check(Orthogonal::Reflections { count: 0 }).unwrap_err().contains("reflections 0"));
        assert!(check(Orthogonal::Factored { margin: 1.0 }).unwrap_err().contains("below 1"));
        assert!(check(Orthogonal::Spectral { count: 2, margin: f64::NAN }).is_err());
        assert_eq!(check(Orthogonal::Rotations { layers: 3 }), Ok(()));
        assert!(check(Orthogonal::Rotations { layers: 0 }).unwrap_err().contains("rotations 0"));
        assert!(check(Orthogonal::Rotations { layers: 4 }).unwrap_err().contains("half of the units, 3"));
        for (form, hidden, instead) in [
            (Orthogonal::Rotations { layers: 1 }, 7, "such as 8"),
            (Orthogonal::FftRotations, 5, "such as 6"),
            (Orthogonal::FftRotations, 2, "such as 4"),
        ] {
            let cell = Cell::new(CellKind::Rnn, 3, hidden).with_orthogonal_u(form);
            let error = Network::new(vec![cell], 2).check().unwrap_err().to_string();
            assert!(error.contains(instead) && error.contains(form.name()), "{error}");
        }
        let cell = Cell::new(CellKind::MinGru, 3, 6).with_orthogonal_u(Orthogonal::Reflections { count: 6 });
        assert!(Network::new(vec![cell], 2).check().unwrap_err().to_string().contains("no matrix U"));
    }
}
