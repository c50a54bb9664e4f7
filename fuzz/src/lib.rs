//! What the fuzz targets share: sealing an image, building one from bytes, running one, and packing files.

mod build;
mod models;
mod source;

pub use build::image;
pub use models::{metadata, model_files, read_model, with_metadata};
pub use source::Source;

use fastgrnn_runtime::int::{Model, checksum};

/// Most layers of a model here.
pub const LAYERS: usize = 3;

/// Makes the header's constant bytes, length and check sum right, so that a reader looks further.
pub fn seal(image: &mut [u8]) {
    if image.len() < 10 {
        return;
    }
    let version = if (1..=3).contains(&image[2]) { image[2] } else { 1 };
    image[..3].copy_from_slice(&[b'F', b'G', version]);
    let length = image.len() as u32;
    image[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(image);
    image[8..10].copy_from_slice(&sum.to_le_bytes());
}

/// The bytes of an archive of these files.
pub fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// Runs a model that the reader accepted on counts from `source` and on the extremes. Nothing may
/// panic (overflow checks are on), and the same counts after a reset must give the same states.
pub fn exercise(model: &Model<'_, LAYERS>, source: &mut Source<'_>) {
    let counts: Vec<i16> = (0..model.inputs()).map(|_| source.word() as i16).collect();
    let inputs = [counts, vec![i16::MIN; model.inputs()], vec![i16::MAX; model.inputs()]];
    let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
    let mut scores = vec![0; model.outputs()];
    let mut state = model.start(&mut memory, &mut scratch).expect("buffers of the stated lengths");
    let mut run = || {
        model.reset(&mut state).expect("the state is the model's");
        for step in 0..9 {
            model.step(&mut state, &inputs[step % 3]).expect("an input of the stated length");
            model.scores(&state, &mut scores).expect("scores of the stated length");
            assert!(model.decide(&scores).class < model.outputs().max(2));
        }
        (state.layers().to_vec(), scores.clone())
    };
    assert_eq!(run(), run(), "the same counts after a reset");
}
