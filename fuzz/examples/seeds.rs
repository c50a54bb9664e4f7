//! Writes inputs for the fuzzer to start from into `corpus/`: valid images and model files, which
//! mutation would not find from nothing.

use fastgrnn_fuzz::{LAYERS, Source, image, metadata, model_files};
use fastgrnn_runtime::int::Model;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in ["image", "image_built", "safetensors", "metadata", "audio", "text", "labels"] {
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
    for (kind, bits) in [(1u16, 8u16), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)] {
        std::fs::write(corpus.join(format!("audio/wav-{kind}-{bits}")), wav(kind, bits))?;
    }
    for (name, text) in [
        ("novel", &b"\x00Don't stop, she said.\n\nNo!\n"[..]),
        ("table", b"\x01text,label\n\"good, very good\",5\nbad,1\n"),
        ("lines", b"\x02{\"text\": \"a b\", \"label\": 1}\n{\"text\": \"c\", \"label\": 2}\n"),
    ] {
        std::fs::write(corpus.join(format!("text/{name}")), text)?;
    }
    let story = "\x01<REUTERS TOPICS=\"YES\" LEWISSPLIT=\"TRAIN\" NEWID=\"1\"><TOPICS><D>corn</D><D>oil</D></TOPICS>\
                 <TEXT><TITLE>A &lt;B></TITLE><BODY>Rain.&#3;</BODY></TEXT></REUTERS>";
    for (name, text) in [
        ("label-file", "\x002 3\n0:1 2:1\n1:1\n"),
        ("features", "\x002 9 3\n0,2 1:0.5\n 4:1\n"),
        ("stories", story),
        (
            "raw",
            "\x02{\"title\": \"a\", \"content\": \"b\", \"target_ind\": [0, 2], \"target_rel\": [1.0, 0.0]}\n",
        ),
        ("table", "\x03text,label\na b,x|y\nc,\n"),
    ] {
        std::fs::write(corpus.join(format!("labels/{name}")), text)?;
    }
    println!("{images} images of 400 were accepted; {} model files", files.len());
    Ok(())
}

/// A WAV file of a few samples.
fn wav(kind: u16, bits: u16) -> Vec<u8> {
    let block = u32::from(bits / 8);
    let data: Vec<u8> = (0..64).collect();
    let mut file = b"RIFF\x64\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    file.extend([kind.to_le_bytes(), 1u16.to_le_bytes()].concat());
    file.extend([16_000u32.to_le_bytes(), (16_000 * block).to_le_bytes()].concat());
    file.extend([(block as u16).to_le_bytes(), bits.to_le_bytes()].concat());
    file.extend(b"data\x40\0\0\0");
    file.extend(data);
    file
}
