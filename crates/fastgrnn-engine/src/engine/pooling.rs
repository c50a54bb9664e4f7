//! One vector of all states of a sequence, and the gradient of the states by it.

/// The states of one row of a tile, step by step.
pub(super) struct RowStates<'a> {
    pub(super) states: &'a [f32],
    /// Where the row's first state begins.
    pub(super) first: usize,
    /// From one of its states to the next.
    pub(super) stride: usize,
    pub(super) width: usize,
}

impl RowStates<'_> {
    /// Where the state after step `t` begins.
    fn at(&self, t: usize) -> usize {
        self.first + t * self.stride
    }

    fn state(&self, t: usize) -> &[f32] {
        &self.states[self.at(t)..][..self.width]
    }
}

/// How states become one vector.
pub(super) trait Pooling {
    /// Writes the vector of the first `steps` states.
    fn pool(&self, row: &RowStates, steps: usize, to: &mut [f32]);

    /// Adds the gradient `dh` of that vector to those of the states in `dout`, which lie as the states do.
    fn spread(&self, row: &RowStates, steps: usize, pooled: &[f32], dh: &[f32], dout: &mut [f32]);
}

/// The mean of all states.
pub(super) struct MeanState;

impl Pooling for MeanState {
    fn pool(&self, row: &RowStates, steps: usize, to: &mut [f32]) {
        to.fill(0.0);
        for t in 0..steps {
            to.iter_mut().zip(row.state(t)).for_each(|(sum, h)| *sum += h);
        }
        let share = 1.0 / steps as f32;
        to.iter_mut().for_each(|sum| *sum *= share);
    }

    fn spread(&self, row: &RowStates, steps: usize, _: &[f32], dh: &[f32], dout: &mut [f32]) {
        let share = 1.0 / steps as f32;
        for t in 0..steps {
            let to = &mut dout[row.at(t)..][..row.width];
            to.iter_mut().zip(dh).for_each(|(d, dh)| *d += dh * share);
        }
    }
}

/// The largest value of each unit. Its gradient goes to the first state that has it.
pub(super) struct LargestState;

impl Pooling for LargestState {
    fn pool(&self, row: &RowStates, steps: usize, to: &mut [f32]) {
        to.copy_from_slice(row.state(0));
        for t in 1..steps {
            to.iter_mut().zip(row.state(t)).for_each(|(largest, h)| *largest = largest.max(*h));
        }
    }

    fn spread(&self, row: &RowStates, steps: usize, pooled: &[f32], dh: &[f32], dout: &mut [f32]) {
        for k in 0..row.width {
            let is_largest = |t: &usize| row.states[row.at(*t) + k] == pooled[k];
            if let Some(t) = (0..steps).find(is_largest) {
                dout[row.at(t) + k] += dh[k];
            }
        }
    }
}
