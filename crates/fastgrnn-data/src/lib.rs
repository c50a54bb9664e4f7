//! Recordings and texts in, sequences out: readers, splits, normalisation, augmentation, audio features,
//! tokens.
//!
//! | module | contents |
//! | --- | --- |
//! | [`data`] | sequences, readers, splits, normalisation, augmentation |
//! | [`audio`] | WAV and FLAC files as samples |
//! | [`features`] | the audio front end, in floats and in integers |
//! | [`text`] | texts as tokens, and vocabularies |
pub mod audio;
pub mod data;
pub mod features;
pub mod text;
