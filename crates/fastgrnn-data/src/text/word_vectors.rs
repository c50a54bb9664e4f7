//! Vectors of words from the text files of GloVe and word2vec.
//!
//! Each line holds a word and its numbers, separated by blanks or tabs. A first line of two whole numbers
//! is word2vec's count of words and numbers. A word may hold blanks itself: the numbers are the last
//! fields of a line, as many as the first word has.

use super::Vocabulary;
use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 1 << 20;
/// The first bytes of a file that gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a file of word vectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WordVectorsError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is packed.
    #[error("it is packed by gzip; unpack it with gunzip first")]
    Packed,
    /// It holds nothing.
    #[error("it holds no vectors; every line is a word and its numbers, separated by blanks")]
    Empty,
    /// It is not as long as its first line says.
    #[error("its first line says {expected} words, but there are {found}; the file is not complete")]
    Incomplete {
        /// Words that the first line says.
        expected: u64,
        /// Words of the file.
        found: usize,
    },
    /// It is in word2vec's binary format.
    #[error(
        "it is in word2vec's binary format; save it as text (gensim: save_word2vec_format with binary=False)"
    )]
    Binary,
    /// A line does not end in as many numbers as the others have.
    #[error("line {line}: '{value}' is no number, but {width} numbers follow a word in this file")]
    Number {
        /// The line, from 1.
        line: usize,
        /// What stands in the place of a number.
        value: String,
        /// Numbers of a vector.
        width: usize,
    },
    /// A line has too few fields.
    #[error("line {line} has {found} fields; a word and {width} numbers were expected")]
    Short {
        /// The line, from 1.
        line: usize,
        /// Its fields.
        found: usize,
        /// Numbers of a vector.
        width: usize,
    },
    /// A line without end.
    #[error("line {line} is longer than {MAX_LINE} bytes; this is no text file of word vectors")]
    Long {
        /// The line, from 1.
        line: usize,
    },
    /// None of its words is in the vocabulary.
    #[error(
        "none of its {words} words is in the vocabulary of {vocabulary} tokens; see `lowercase` and `tokens`"
    )]
    NoneKnown {
        /// Words of the file.
        words: usize,
        /// Tokens of the vocabulary.
        vocabulary: usize,
    },
}

/// The vectors of those words that a vocabulary has.
#[derive(Clone, Debug, PartialEq)]
pub struct WordVectors {
    /// Numbers of a vector.
    pub width: usize,
    /// The token and vector of each word, in the order of the file; a word that comes again is left out.
    pub rows: Vec<(u32, Vec<f32>)>,
    /// Words of the file.
    pub words: usize,
    /// Words of the vocabulary that the file has more than once; the first vector counts.
    pub repeated: usize,
}

impl WordVectors {
    /// Reads the vectors of the tokens of `vocabulary`.
    pub fn read(mut reader: impl BufRead, vocabulary: &Vocabulary) -> Result<Self, WordVectorsError> {
        if reader.fill_buf()?.starts_with(&GZIP) {
            return Err(WordVectorsError::Packed);
        }
        let mut vectors = Self { width: 0, rows: Vec::new(), words: 0, repeated: 0 };
        let mut expected = None;
        let mut is_seen = vec![false; vocabulary.len()];
        let (mut bytes, mut line) = (Vec::new(), 0);
        loop {
            bytes.clear();
            line += 1;
            if reader.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            if bytes.len() == MAX_LINE {
                return Err(WordVectorsError::Long { line });
            }
            if bytes.contains(&0) {
                return Err(WordVectorsError::Binary);
            }
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r', ' ', '\t']);
            if text.is_empty() {
                continue;
            }
            if let Some((words, width)) = header(text).filter(|_| line == 1) {
                (expected, vectors.width) = (Some(words), width);
                continue;
            }
            if vectors.width == 0 {
                vectors.width = fields(text).count() - 1;
            }
            vectors.add(line, text, vocabulary, &mut is_seen)?;
        }
        if let Some(expected) =
            expected.filter(|&expected| vectors.words > 0 && expected != vectors.words as u64)
        {
            return Err(WordVectorsError::Incomplete { expected, found: vectors.words });
        }
        match (vectors.words, vectors.rows.is_empty()) {
            (0, _) => Err(WordVectorsError::Empty),
            (words, true) => Err(WordVectorsError::NoneKnown { words, vocabulary: vocabulary.len() }),
            _ => Ok(vectors),
        }
    }

    /// Takes in a line that is not empty.
    fn add(
        &mut self,
        line: usize,
        text: &str,
        vocabulary: &Vocabulary,
        is_seen: &mut [bool],
    ) -> Result<(), WordVectorsError> {
        let width = self.width;
        let found = fields(text).count();
        if width == 0 || found <= width {
            return Err(WordVectorsError::Short { line, found, width: width.max(1) });
        }
        let numbers: Vec<&str> = text.rsplitn(width + 1, [' ', '\t']).collect();
        let (word, numbers) = numbers.split_last().expect("a line has a field");
        // A word may hold blanks, but a number before the numbers is one too many.
        let is_longer = found > width + 1 && word.rsplit([' ', '\t']).next().is_some_and(is_number);
        if is_longer {
            return Err(WordVectorsError::Short { line, found, width });
        }
        self.words += 1;
        let Some(token) = vocabulary.get(word) else { return Ok(()) };
        if std::mem::replace(&mut is_seen[token as usize], true) {
            self.repeated += 1;
            return Ok(());
        }
        let number = |value: &&str| match value.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(WordVectorsError::Number { line, value: value.chars().take(40).collect(), width }),
        };
        let vector = numbers.iter().rev().map(number).collect::<Result<_, _>>()?;
        self.rows.push((token, vector));
        Ok(())
    }
}

fn fields(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t'])
}

fn is_number(text: &str) -> bool {
    text.parse::<f32>().is_ok()
}

/// The words and the numbers of a vector, if a first line is word2vec's: two whole numbers and nothing else.
fn header(text: &str) -> Option<(u64, usize)> {
    let (words, width) = text.split_once([' ', '\t'])?;
    Some((words.parse().ok()?, width.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Counts, UNKNOWN};
    use proptest::prelude::*;

    fn vocabulary() -> Vocabulary {
        let mut counts = Counts::default();
        ["cat", "dog", "new york"].into_iter().for_each(|word| counts.add(word));
        counts.vocabulary(10, 1, &[])
    }

    fn read(text: &str) -> Result<WordVectors, WordVectorsError> {
        WordVectors::read(text.as_bytes(), &vocabulary())
    }

    #[test]
    fn both_formats_give_the_same_vectors() {
        let lines = "cat 1 2.5 -3e-1\nbird 0 0 0\nnew york 4 5 6 \r\ncat 9 9 9\n";
        let vectors = read(lines).unwrap();
        let index = |word| vocabulary().get(word).unwrap();
        let rows = vec![(index("cat"), vec![1.0, 2.5, -0.3]), (index("new york"), vec![4.0, 5.0, 6.0])];
        assert_eq!(vectors, WordVectors { width: 3, rows, words: 4, repeated: 1 });
        assert_eq!(read(&format!("4 3\n{lines}")).unwrap(), vectors);
        assert_eq!(read(&lines.replace(' ', "\t").replace("new\tyork", "new york")).unwrap(), vectors);
    }

    #[test]
    fn the_vector_of_unknown_words_is_used_too() {
        assert_eq!(read(&format!("{UNKNOWN} 1 2\n")).unwrap().rows, [(0, vec![1.0, 2.0])]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, message) in [
            ("", "it holds no vectors"),
            ("3 100\n", "it holds no vectors"),
            ("cat 1 2\ndog 1 x2\n", "line 2: 'x2' is no number, but 2 numbers follow"),
            ("cat 1 2\ndog 1 inf\n", "line 2: 'inf' is no number"),
            ("cat 1 2\ndog 1\n", "line 2 has 2 fields; a word and 2 numbers"),
            ("cat\n", "line 1 has 1 fields; a word and 1 numbers"),
            ("bird 1 2\n", "none of its 1 words is in the vocabulary of 4 tokens"),
            ("cat 1 2\ndog 1 2 3\n", "line 2 has 4 fields; a word and 2 numbers"),
            ("9 2\ncat 1 2\n", "its first line says 9 words, but there are 1"),
            ("1 3\ncat 1 2\n", "line 2 has 3 fields; a word and 3 numbers"),
            ("1 3\ncat \0\u{1}\n", "binary format"),
        ] {
            let error = read(text).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
        let packed = WordVectors::read(&[0x1f, 0x8b, 8, 0][..], &vocabulary()).unwrap_err();
        assert!(packed.to_string().contains("gunzip"));
        let long = vec![b'x'; MAX_LINE + 5];
        let error = WordVectors::read(&long[..], &vocabulary()).unwrap_err();
        assert!(error.to_string().contains("line 1 is longer"), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_give_vectors_of_one_width_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(vectors) = WordVectors::read(&bytes[..], &vocabulary()) {
                prop_assert!(vectors.rows.iter().all(|(_, row)| row.len() == vectors.width));
            }
        }

        #[test]
        fn any_lines_give_vectors_of_one_width_or_an_error(lines in "((cat|dog|x)( [0-9.x-]{1,3}){0,4}\n){0,5}") {
            if let Ok(vectors) = read(&lines) {
                prop_assert!(vectors.rows.iter().all(|(_, row)| row.len() == vectors.width));
            }
        }
    }
}
