//! Readers, splits, audio and features through the public interface.
#![allow(missing_docs)]

mod advice;
mod audio_files;
mod audio_folders;
mod audio_properties;
mod decisions;
mod dialects;
mod doctor;
mod errors;
mod features_archive;
mod features_integer;
mod features_oracle;
mod known;
mod label_sets;
mod label_text;
mod manifest;
mod missing_values;
mod names;
mod parts;
mod properties;
mod readers;
mod sound;
mod splits;
mod support;
mod watch;
