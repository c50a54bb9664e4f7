//! Writes inputs for the fuzzer to start from into `corpus/`: valid images and model files, which
//! mutation would not find from nothing.

use fastgrnn_fuzz::{LAYERS, Source, image, metadata, model_files};
use fastgrnn_runtime::int::Model;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in ["image", "image_built", "safetensors", "metadata"] {
        std::fs::create_dir_all(corpus.join(target))?;
    }
    let mut images = 0;
    for seed in 0..400_u32 {
        let choices = seed.wrapping_mul(2_654_435_761).to_le_bytes();
        let image = image(&mut Source::new(&choices));
        if image.len() < 4_096 && Model::<LAYERS>::read(&image).is_ok() {
            std::fs::write(corpus.join(format!("image/seed-{seed}")), &image)?;
            std::fs::write(corpus.join(format!("image_built/seed-{seed}")), choices)?;
            images += 1;
        }
    }
    let files = model_files();
    for (index, file) in files.iter().enumerate() {
        std::fs::write(
            corpus.join(format!("metadata/seed-{index}")),
            [&[index as u8], metadata(file).as_bytes()].concat(),
        )?;
        std::fs::write(corpus.join(format!("safetensors/seed-{index}")), file)?;
    }
    println!("{images} images of 400 were accepted; {} model files", files.len());
    Ok(())
}
