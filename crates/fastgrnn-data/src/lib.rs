//! Recordings in, sequences out: readers, splits, normalisation, augmentation, audio features.
//!
//! | module | contents |
//! | --- | --- |
//! | [`data`] | sequences, readers, splits, normalisation, augmentation |
//! | [`audio`] | WAV and FLAC files as samples |
//! | [`features`] | the audio front end, in floats and in integers |
pub mod audio;
pub mod data;
pub mod features;
