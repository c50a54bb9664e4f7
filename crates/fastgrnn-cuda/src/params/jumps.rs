//! How the states of a stream of random numbers are reached without drawing all numbers before them.

/// Draws that one thread makes one after the other.
pub(super) const DRAWS_OF_CHUNK: usize = 128;
/// Words of 32 bits of the state of a stream.
pub(super) const STATE_WORDS: usize = 8;
/// Bits of the state of a stream.
const STATE_BITS: usize = 32 * STATE_WORDS;

/// What draws do to the state of a stream (xoshiro256++), column by column: column `j` is what becomes of bit `j`.
#[derive(Clone)]
struct Jump([[u64; 4]; STATE_BITS]);

impl Jump {
    fn new(draws: usize) -> Self {
        Self(std::array::from_fn(|bit| {
            let mut state = [0; 4];
            state[bit / 64] = 1 << (bit % 64);
            for _ in 0..draws {
                let t = state[1] << 17;
                state[2] ^= state[0];
                state[3] ^= state[1];
                state[1] ^= state[2];
                state[0] ^= state[3];
                state[2] ^= t;
                state[3] = u64::rotate_left(state[3], 45);
            }
            state
        }))
    }

    fn apply(&self, state: &[u64; 4]) -> [u64; 4] {
        let mut out = [0; 4];
        let is_set = |bit: usize| state[bit / 64] >> (bit % 64) & 1 == 1;
        for (_, column) in self.0.iter().enumerate().filter(|(bit, _)| is_set(*bit)) {
            out.iter_mut().zip(column).for_each(|(out, word)| *out ^= word);
        }
        out
    }

    /// The same jump twice.
    fn twice(&self) -> Self {
        Self(std::array::from_fn(|bit| self.apply(&self.0[bit])))
    }

    /// Row by row, in words of 32 bits.
    fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        (0..STATE_BITS * STATE_WORDS).map(|place| {
            let (row, first) = (place / STATE_WORDS, place % STATE_WORDS * 32);
            let bit = |i: usize| (self.0[first + i][row / 64] >> (row % 64) & 1) as u32;
            (0..32).fold(0, |word, i| word | bit(i) << i)
        })
    }
}

/// The jumps over 1, 2, 4, … chunks that reach the starts of `chunks` chunks.
pub(super) fn jumps(chunks: usize) -> Vec<u32> {
    let (mut words, mut jump, mut known) = (Vec::new(), None::<Jump>, 1);
    while known < chunks {
        let next = jump.as_ref().map_or_else(|| Jump::new(DRAWS_OF_CHUNK), Jump::twice);
        words.extend(next.rows());
        jump = Some(next);
        known *= 2;
    }
    words
}
