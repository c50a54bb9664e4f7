//! The window over the last frames of the input (section 1).

use super::ImageError;
use super::bytes::Bytes;

/// How many frames a step reads, and how many it moves on.
///
/// A model of one frame takes a step with every frame. Another one keeps the last frames in its state and takes a
/// step with every `stride`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Frames that a step reads.
    pub frames: usize,
    /// Frames from one step to the next.
    pub stride: usize,
}

impl Window {
    /// A step for each frame, which reads that frame alone.
    pub const FRAME: Self = Self { frames: 1, stride: 1 };

    /// Whether a step reads one frame, and there is a step for each.
    pub fn is_frame(&self) -> bool {
        self.frames == 1
    }

    /// Reads the window of a network whose frames have `features` numbers, or that reads tokens.
    pub(super) fn read(bytes: &mut Bytes<'_>, features: usize, tokens: bool) -> Result<Self, ImageError> {
        let most = if tokens { 1 } else { usize::from(u16::MAX) / features.max(1) };
        let within = |what, value: u8, most: usize| match value {
            1.. if usize::from(value) <= most => Ok(usize::from(value)),
            value => Err(ImageError::Range { what, value: value.into(), least: 1, most: most as u32 }),
        };
        let frames = within("frames of a window", bytes.u8()?, most.min(usize::from(u8::MAX)))?;
        Ok(Self { frames, stride: within("stride of a window", bytes.u8()?, frames)? })
    }

    /// Entries of 16 bits that a state keeps besides the frames: how far the next step is.
    pub(super) fn phase_len(&self) -> usize {
        usize::from(!self.is_frame())
    }

    /// Where the next frame belongs among those of the window, of `width` numbers each, and whether it completes
    /// a step. `phase` counts the frames since the last step.
    #[inline(always)]
    pub(super) fn place(&self, phase: &mut [i16]) -> (usize, bool) {
        let Some(phase) = phase.first_mut() else { return (0, true) };
        // Buffers from elsewhere may hold anything.
        let passed = usize::from(*phase as u16).min(self.stride - 1);
        let is_step = passed + 1 == self.stride;
        *phase = if is_step { 0 } else { passed as i16 + 1 };
        (self.frames - self.stride + passed, is_step)
    }

    /// Makes room for the next frames, after a step.
    #[inline(always)]
    pub(super) fn move_on(&self, frames: &mut [i16], width: usize) {
        frames.copy_within(self.stride * width.., 0);
    }
}
