//! Readers, splits, audio and features through the public interface.
#![allow(missing_docs)]

mod audio_files;
mod audio_folders;
mod audio_properties;
mod decisions;
mod doctor;
mod errors;
mod features_archive;
mod features_integer;
mod features_oracle;
mod known;
mod properties;
mod readers;
mod sound;
