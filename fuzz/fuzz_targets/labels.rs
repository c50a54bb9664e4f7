//! Any bytes as data with several labels a sequence: a label file beside two texts, SGML stories, JSON lines and
//! a table. The first byte says which.
#![no_main]

use fastgrnn::data::{Examples, Labels, Request, TaskKind, load_bytes};
use fastgrnn_fuzz::tar;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let mut request = Request::default();
    request.text.task = Some(TaskKind::MultiLabel);
    let archive = tar(&[("trn_X.txt", b"one two\nthree\n"), ("trn_X_Y.txt", rest)]);
    let (name, content) = match which % 4 {
        0 => ("fuzz.tar", &archive[..]),
        1 => ("fuzz.sgm", rest),
        2 => ("trn.json", rest),
        _ => {
            request.data.label_col = Some("label".into());
            request.text.text_col = Some("text".into());
            ("fuzz.csv", rest)
        }
    };
    if let Ok(data) = load_bytes(name, content, &request) {
        check(&data.train);
        data.test.iter().for_each(check);
    }
});

/// Every sequence has a set, in ascending order, of labels that have names.
fn check(part: &Examples) {
    let Labels::Sets { sets, names, unseen } = &part.y else { panic!("sets were asked for") };
    assert_eq!(sets.len(), part.len());
    for set in sets.iter() {
        assert!(set.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(set.iter().all(|&label| (label as usize) < names.len() + unseen.len()));
    }
}
