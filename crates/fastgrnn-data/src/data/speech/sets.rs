//! Which clips make up `google30`, `google12` and `wakeword:<word>`.

use super::{Clip, Split};
use fastgrnn_core::rng::{Rng, stream};

/// The ten words of `google12`.
pub const COMMANDS: [&str; 10] = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"];
/// The class of background noise.
pub const SILENCE: &str = "silence";
/// The class of words that are none of those to tell apart.
pub const UNKNOWN: &str = "unknown";
/// What is not the wake word.
pub const OTHER: &str = "other";

/// The share of `silence` and of `unknown` in `google12`, of the ten words' clips.
const TENTH: f64 = 0.1;

/// Noise clips that a wake word trains against, for each word clip of the training part.
const WAKE_NOISE: f64 = 0.05;

/// A set cut from the recordings.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// Every word is a class.
    Words,
    /// These words, and a tenth each of `silence` and `unknown`.
    Commands(Vec<String>),
    /// One word against all others and noise.
    WakeWord(String),
    /// These words, or all; and `unknown` and `silence` in shares of the words' clips.
    Folder {
        /// The words that are classes; every word where nothing is said.
        words: Option<Vec<String>>,
        /// Clips of other words, as a share of those of `words`.
        unknown: f64,
        /// Clips of noise, likewise; 0 for no such class.
        silence: f64,
    },
}

/// What one sequence of a set is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The clip of this number.
    Clip(usize),
    /// A second of background noise: this many of them come before it in its part.
    Noise(usize),
}

/// The classes of `set`, and what makes up its part `split`: what to take, and its class.
///
/// `clips` must be sorted by file. The draw depends on nothing else.
pub fn choose(set: &Set, clips: &[Clip], split: Split) -> (Vec<String>, Vec<(Pick, usize)>) {
    let of_split = || clips.iter().enumerate().filter(|(_, clip)| clip.split == split);
    match set {
        Set::Words => shared(None, 0.0, 0.0, clips, split),
        Set::Commands(words) => shared(Some(words), TENTH, TENTH, clips, split),
        Set::Folder { words, unknown, silence } => shared(words.as_deref(), *unknown, *silence, clips, split),
        Set::WakeWord(word) => {
            let mut picks: Vec<(Pick, usize)> =
                of_split().map(|(i, clip)| (Pick::Clip(i), usize::from(clip.word() == word))).collect();
            if split == Split::Train {
                let noise = (WAKE_NOISE * picks.len() as f64).round() as usize;
                picks.extend((0..noise).map(|k| (Pick::Noise(k), 0)));
            }
            (vec![OTHER.to_owned(), word.clone()], picks)
        }
    }
}

/// `words` as classes, or all words; noise and other words in shares of their clips.
fn shared(
    words: Option<&[String]>,
    unknown: f64,
    silence: f64,
    clips: &[Clip],
    split: Split,
) -> (Vec<String>, Vec<(Pick, usize)>) {
    let of_split = || clips.iter().enumerate().filter(|(_, clip)| clip.split == split);
    let mut names: Vec<String> = match words {
        Some(words) => words.to_vec(),
        None => {
            let mut all: Vec<String> = clips.iter().map(|clip| clip.word().to_owned()).collect();
            all.dedup();
            all
        }
    };
    let class = |clip: &Clip| names.iter().position(|word| word == clip.word());
    let mut picks: Vec<(Pick, usize)> =
        of_split().filter_map(|(i, clip)| Some((Pick::Clip(i), class(clip)?))).collect();
    let mut others: Vec<usize> =
        of_split().filter(|(_, clip)| class(clip).is_none()).map(|(i, _)| i).collect();
    // A hair less, so that a tenth of 30 is 3 whatever the rounding.
    let count = |share: f64| (share * picks.len() as f64 - 1e-6).ceil().max(0.0) as usize;
    let (noise, drawn) = (count(silence), count(unknown));
    Rng::keyed(0, &[stream::SPEECH, split as u64]).shuffle(&mut others);
    others.truncate(drawn);
    others.sort_unstable();
    if silence > 0.0 {
        let class = place(&mut names, SILENCE);
        picks.extend((0..noise).map(|k| (Pick::Noise(k), class)));
    }
    if words.is_some() && unknown > 0.0 {
        let class = place(&mut names, UNKNOWN);
        picks.extend(others.into_iter().map(|i| (Pick::Clip(i), class)));
    }
    (names, picks)
}

/// The class called `name`, which is added if it is not there.
fn place(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 clips each of four words, in parts 30, 5 and 5.
    fn clips() -> Vec<Clip> {
        let split = |k| match k {
            0..30 => Split::Train,
            30..35 => Split::Validation,
            _ => Split::Test,
        };
        let word = |word: &str| -> Vec<Clip> {
            let file = |k| format!("{word}/{k:03}_nohash_0.wav");
            (0..40).map(|k| Clip { file: file(k), split: split(k) }).collect()
        };
        ["bed", "no", "tree", "yes"].map(word).concat()
    }

    #[test]
    fn commands_come_with_a_tenth_each_of_noise_and_unknown_words_of_their_own_part() {
        let (clips, set) = (clips(), Set::Commands(vec!["yes".into(), "no".into()]));
        for (split, words, tenth) in [(Split::Train, 60, 6), (Split::Validation, 10, 1), (Split::Test, 10, 1)]
        {
            let (names, picks) = choose(&set, &clips, split);
            assert_eq!(names, ["yes", "no", SILENCE, UNKNOWN]);
            let count = |class| picks.iter().filter(|(_, c)| *c == class).count();
            assert_eq!((count(0) + count(1), count(2), count(3)), (words, tenth, tenth));
            for (pick, class) in &picks {
                match pick {
                    Pick::Clip(i) => {
                        assert_eq!(clips[*i].split, split);
                        assert_eq!(*class == 3, !["yes", "no"].contains(&clips[*i].word()));
                    }
                    Pick::Noise(_) => assert_eq!(*class, 2),
                }
            }
        }
        assert_eq!(choose(&set, &clips, Split::Train), choose(&set, &clips, Split::Train));
    }

    #[test]
    fn a_wake_word_stands_against_every_other_clip_and_is_tested_on_words_alone() {
        let (clips, set) = (clips(), Set::WakeWord("tree".into()));
        let (names, test) = choose(&set, &clips, Split::Test);
        assert_eq!(names, [OTHER, "tree"]);
        assert_eq!((test.len(), test.iter().filter(|(_, class)| *class == 1).count()), (20, 5));
        let (_, train) = choose(&set, &clips, Split::Train);
        assert_eq!(train.len(), 120 + 6);
    }

    #[test]
    fn all_words_are_classes_in_the_order_of_their_names() {
        let (names, picks) = choose(&Set::Words, &clips(), Split::Validation);
        assert_eq!(names, ["bed", "no", "tree", "yes"]);
        assert_eq!(picks.len(), 20);
    }
}
