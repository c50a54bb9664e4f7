//! Any bytes as texts: the tokenizer, the file of word vectors, and the readers for language models and for
//! texts with labels. The first byte says which.
#![no_main]

use fastgrnn::data::{Request, TaskKind, load_bytes};
use fastgrnn::text::{Counts, TokenKind, Tokenizer, WordVectors};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    for kind in [TokenKind::Words, TokenKind::Characters, TokenKind::Blanks] {
        for lowercase in [false, true] {
            Tokenizer { kind, lowercase }.for_each(&text, |token| assert!(!token.is_empty()));
        }
    }
    let mut counts = Counts::default();
    Tokenizer::default().for_each(&text, |token| counts.add(token));
    if let Ok(vectors) = WordVectors::read(rest, &counts.vocabulary(100, 1, &[])) {
        assert!(vectors.rows.iter().all(|(_, vector)| vector.len() == vectors.width));
    }
    let mut request = Request::default().with_data(|data| data.label_col = Some("label".into()));
    let name = match which % 3 {
        0 => {
            request.text.task = Some(TaskKind::LanguageModel);
            "fuzz.txt"
        }
        1 => {
            request.text.text_col = Some("text".into());
            "fuzz.csv"
        }
        _ => {
            request.text.task = Some(TaskKind::Classify);
            "fuzz.jsonl"
        }
    };
    if let Ok(data) = load_bytes(name, rest, &request) {
        let format = data.text.expect("texts have a vocabulary");
        let mut tokens = Vec::new();
        format.encode_lines(&text, &mut tokens);
        format.decode(&tokens);
        let known = format.vocabulary.len();
        assert!(tokens.iter().all(|&token| (token as usize) < known));
        for i in 0..data.train.len() {
            assert!(!data.train.x.tokens(i).is_empty());
            assert!(data.train.x.tokens(i).iter().all(|&token| (token as usize) < known));
        }
    }
});
