//! How often an integer model decides the same from integer features as from float ones, over all
//! recordings of a folder with one sub-folder a word.
//!
//! `cargo run --release -p fastgrnn-bench --example front_decisions -- MODEL FOLDER`

use fastgrnn::audio;
use fastgrnn::data::Sequences;
use fastgrnn::features::{COUNT, extract, extract_counts};
use fastgrnn::quantize::IntegerModel;
use std::path::{Path, PathBuf};

type Failure = Box<dyn std::error::Error>;

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(model), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("name a model file and a folder of words".into());
    };
    let model = IntegerModel::load(Path::new(&model))?;
    let spec = model.front().ok_or("the model does not listen")?;
    let second = spec.rate() as usize;
    let (mut float, mut integer) = (Sequences::new(spec.dim()), Sequences::new(spec.dim()));
    for word in entries(Path::new(&folder))?.into_iter().filter(|path| path.is_dir()) {
        if word.ends_with("_background_noise_") {
            continue;
        }
        for clip in entries(&word)? {
            let sound = audio::resample(&audio::read(&clip)?, spec.rate())?.to_i16();
            let mut padded = vec![0; second.saturating_sub(sound.len())];
            padded.extend(&sound[..sound.len().min(second)]);
            float.push(&extract(&spec, &padded));
            let counts = extract_counts(&spec, &padded);
            integer.push(&counts.iter().map(|&n| f32::from(n) * COUNT).collect::<Vec<f32>>());
        }
    }
    let (by_float, by_integer) = (model.predict(&float, 2)?.0.classes, model.predict(&integer, 2)?.0.classes);
    let same = by_float.iter().zip(&by_integer).filter(|(a, b)| a == b).count();
    println!("{same} of {} clips are decided alike", by_float.len());
    Ok(())
}
