//! Loads a model and says what it makes of a file of sequences.
//!
//! `cargo run --example predict_file -- runs/digits-fastgrnn-1/model.safetensors new.csv`

use fastgrnn::data::{self, Request};
use fastgrnn::model::Model;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [model, file] = &arguments[..] else {
        return Err("usage: predict_file MODEL FILE".into());
    };
    let model = Model::load(model)?;
    let request = Request { expect: Some(model.expects()), ..Request::default() };
    let input = data::load_unlabelled(file, &request)?;
    for note in &input.notes {
        eprintln!("{note}");
    }

    let predictions = model.predict(&input.x, 2)?;
    for (i, id) in input.ids.iter().enumerate() {
        match predictions.classes.get(i) {
            Some(&class) => {
                let probability = predictions.row(i)[class as usize];
                println!("{id}: {} ({:.1} %)", model.labels()[class as usize], 100.0 * probability);
            }
            None => println!("{id}: {:?}", predictions.row(i)),
        }
    }
    Ok(())
}
