//! A window over the last frames of the input, which moves on by several frames a step.
//!
//! A frame is what the data holds for one moment. Without a window, a network takes a step for each
//! frame. With one it takes a step for every [`stride`](Window::stride) frames and reads the last
//! [`frames`](Window::frames) of them, so that a network with half the steps still sees everything.
//!
//! ```
//! use fastgrnn_core::window::Window;
//! let window = Window { frames: 3, stride: 2 };
//! assert_eq!(window.steps(7), 3);
//! let mut read = [0.0; 3];
//! window.read(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 1, 0, &mut read);
//! assert_eq!(read, [0.0, 1.0, 2.0]); // frames before the first are 0
//! window.read(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 1, 2, &mut read);
//! assert_eq!(read, [4.0, 5.0, 6.0]);
//! ```

use serde::{Deserialize, Serialize};

/// Most frames of a window.
pub const MAX_FRAMES: usize = 255;

/// How many frames a step of a network reads, and how many it moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Frames that a step reads.
    pub frames: usize,
    /// Frames from one step to the next.
    pub stride: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self::FRAME
    }
}

impl Window {
    /// A step for each frame, which reads that frame alone.
    pub const FRAME: Self = Self { frames: 1, stride: 1 };

    /// Whether a step reads one frame, and there is a step for each.
    pub fn is_frame(&self) -> bool {
        *self == Self::FRAME
    }

    /// Whether no frame is left out and no number is too large.
    pub fn is_valid(&self) -> bool {
        (1..=self.frames).contains(&self.stride) && self.frames <= MAX_FRAMES
    }

    /// Steps of a sequence of so many frames: the frames after the last whole stride are not read.
    pub fn steps(&self, frames: usize) -> usize {
        frames / self.stride
    }

    /// Frames after which a sequence has taken so many steps.
    pub fn frames_of(&self, steps: usize) -> usize {
        steps.saturating_mul(self.stride)
    }

    /// Writes what step `t` reads of a sequence whose frames have `dim` numbers, the oldest frame first.
    pub fn read(&self, sequence: &[f32], dim: usize, t: usize, to: &mut [f32]) {
        let end = (t + 1) * self.stride;
        let (zeros, first) = (self.frames.saturating_sub(end), end.saturating_sub(self.frames));
        let (before, of_sequence) = to.split_at_mut(zeros * dim);
        before.fill(0.0);
        of_sequence.copy_from_slice(&sequence[first * dim..end * dim]);
    }
}
