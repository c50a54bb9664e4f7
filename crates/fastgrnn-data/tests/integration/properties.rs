//! Readers under arbitrary bytes, and round trips under arbitrary data.

use fastgrnn_data::data::{self, Dataset, Examples, Expect, Inherited, Labels, Request, Sequences, TaskKind};
use fastgrnn_data::text::TokenKind;
use proptest::prelude::*;

/// A name for every reader.
const NAMES: [&str; 14] = [
    "a.csv",
    "a.tsv",
    "a.txt",
    "a.jsonl",
    "a.ts",
    "a.npy",
    "a.npz",
    "a-images-idx3-ubyte",
    "a.zip",
    "a.tar",
    "a.tar.gz",
    "a.csv.gz",
    "a.csv.xz",
    "a.tar.xz",
];

/// Where files of a folder may lie.
const PATHS: [&str; 13] = [
    "a.csv",
    "labels.csv",
    "b.csv",
    "up/a.csv",
    "up/b.txt",
    "down/a.csv",
    "down/c.wav",
    "train/up/a.csv",
    "test/up/a.csv",
    "train/a.csv",
    "s_TRAIN.csv",
    "s_TEST.csv",
    "deep/er/still/a.csv",
];

/// Text that is nearly a table.
const FILE: &str = "((a,b,label|file,label|a,u|up/a,v|id,x,y|x,x|0,1,2|1,2,u|3,4,v|5,nan,u|t,a\\n1,2)\n){0,5}[0-9a-b,\n]{0,6}";

/// The beginnings of real files, so that arbitrary bytes get past the first check.
fn beginnings() -> Vec<Vec<u8>> {
    let npy = |descr: &str, shape: &str| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape}, }}");
        [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
    };
    vec![
        Vec::new(),
        npy("<f4", "(1, 2, 3)"),
        npy("<U2", "(2, 2)"),
        npy(">f2", "(3, 2)"),
        b"\x93NUMPY\x01\x00".to_vec(),
        vec![0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2],
        vec![0, 0, 13],
        b"@dimensions 2\n@equalLength true\n@classLabel true a b\n@data\n".to_vec(),
        b"@".to_vec(),
        b"id,time,label,x\n1,2,a,".to_vec(),
        b"PK\x03\x04".to_vec(),
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff".to_vec(),
        b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16".to_vec(),
    ]
}

fn try_all(bytes: &[u8], request: &Request) {
    for name in NAMES {
        if let Err(error) = data::load_bytes(name, bytes, request) {
            assert!(!error.to_string().is_empty());
        }
    }
}

fn language_model() -> Request {
    let mut request = Request::default();
    request.text.task = Some(TaskKind::LanguageModel);
    request.text.tokens = Some(TokenKind::Characters);
    request
}

fn texts() -> Request {
    let mut request = Request::default().with_data(|data| {
        data.label_col = Some("1".into());
        data.test_split = Some(0.3);
    });
    request.text.text_col = Some("0".into());
    request
}

fn requests() -> Vec<Request> {
    let some = |s: &str| Some(s.to_string());
    vec![
        Request::default().with_data(|data| data.size_limit = 1 << 20),
        Request::default().with_data(|data| {
            data.window = Some(2);
            data.stride = Some(1);
            data.label_col = some("0");
        }),
        Request::default().with_data(|data| {
            data.id_col = some("0");
            data.label_col = some("1");
        }),
        Request::default().with_data(|data| {
            data.timesteps = Some(2);
            data.group_col = some("1");
            data.columns = Some(vec!["0-1".into()]);
        }),
        Request::default().with_data(|data| data.manifest = Some("labels.csv".into())),
        language_model(),
        texts(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_never_panic(
        beginning in prop::sample::select(beginnings()),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        request in prop::sample::select(requests()),
    ) {
        try_all(&[beginning, bytes].concat(), &request);
    }

    #[test]
    fn arbitrary_text_never_panics(
        beginning in prop::sample::select(beginnings()),
        text in "([0-9a-b.,:;?\"\n\t @#-]|nan|inf|true|label|id|\u{e9}){0,80}",
        request in prop::sample::select(requests()),
    ) {
        try_all(&[&beginning, text.as_bytes()].concat(), &request);
    }

    #[test]
    fn arbitrary_folders_never_panic(
        files in prop::collection::vec((prop::sample::select(PATHS.to_vec()), FILE), 0..5),
        request in prop::sample::select(requests()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in &files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let source = dir.path().to_str().unwrap();
        let _ = data::load(&Request { source: source.into(), ..request.clone() });
        let _ = data::load_unlabelled(dir.path(), &request);
    }

    #[test]
    fn arbitrary_unlabelled_files_never_panic(
        beginning in prop::sample::select(beginnings()),
        text in FILE,
        name in prop::sample::select(NAMES.to_vec()),
        request in prop::sample::select(requests()),
        dim in 0usize..4,
        named in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, [&beginning, text.as_bytes()].concat()).unwrap();
        let features = named.then(|| ["a", "b", "x"].iter().take(dim).map(|f| f.to_string()).collect());
        let expect = Expect { dim, features, steps: 2, ..Expect::default() };
        let inherited =
            Inherited { id_col: true, label_col: true, group_col: true, columns: true, drop: true, manifest: true };
        let request = Request { expect: Some(expect), inherited, ..request };
        let _ = data::load_unlabelled(&path, &request);
        let _ = data::load_bytes(name, &[&beginning, text.as_bytes()].concat(), &request);
    }

    #[test]
    fn arbitrary_files_of_known_sets_never_panic(
        texts in prop::collection::vec("([0-9. e,\n-]|nan){0,60}", 4),
        rows in 0usize..3,
        width in 126usize..130,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: String, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let signal = format!("{}\n", "0.5 ".repeat(width)).repeat(rows);
        for side in ["train", "test"] {
            for (i, kind) in ["body_acc", "body_gyro", "total_acc"].iter().enumerate() {
                for axis in ["x", "y", "z"] {
                    let text = if i == 2 { &texts[0] } else { &signal };
                    put(format!("har/UCI HAR Dataset/{side}/Inertial Signals/{kind}_{axis}_{side}.txt"), text);
                }
            }
            put(format!("har/UCI HAR Dataset/{side}/y_{side}.txt"), &texts[1]);
            put(format!("har/UCI HAR Dataset/{side}/subject_{side}.txt"), &texts[2]);
        }
        put("dsa/data/a01/p1/s01.txt".into(), &texts[3]);
        for name in ["har2", "har6", "dsa19"] {
            let data_dir = Some(dir.path().to_path_buf());
            let _ = data::load(&Request::new(name).with_data(|data| data.data_dir = data_dir));
        }
    }

    #[test]
    fn a_changed_byte_anywhere_never_panics(
        which in 0usize..3,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(["s.npz", "s.csv", "s.ts"][which]);
        data::write(&example(&[3, 1, 2], 2, &[0.5; 12], false), &path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let name = path.file_name().unwrap().to_str().unwrap();
        let request = Request::default().with_data(|data| data.size_limit = 1 << 20);
        let _ = data::load_bytes(name, &bytes, &request);
        bytes.truncate(cut.index(bytes.len()));
        let _ = data::load_bytes(name, &bytes, &request);
    }

    #[test]
    fn what_is_written_reads_back_bit_for_bit(
        ending in prop::sample::select(vec!["npz", "csv", "ts"]),
        lengths in prop::collection::vec(1usize..6, 2..6),
        dim in 1usize..4,
        bits in prop::collection::vec(any::<f32>(), 100),
        regression in any::<bool>(),
    ) {
        let values: Vec<f32> = bits.into_iter().map(|v| if v.is_finite() { v } else { 0.25 }).collect();
        let original = example(&lengths, dim, &values, regression);
        let dir = tempfile::tempdir().unwrap();
        let written = data::write(&original, &dir.path().join(format!("s.{ending}"))).unwrap();
        let id_col = (ending == "csv").then(|| "id".to_string());
        let again = data::load(&Request::new(written[0].to_str().unwrap()).with_data(|data| data.id_col = id_col)).unwrap();
        prop_assert_eq!(&again.train.x, &original.train.x);
        prop_assert_eq!(&again.train.y, &original.train.y);
    }
}

fn example(lengths: &[usize], dim: usize, values: &[f32], regression: bool) -> Dataset {
    let mut x = Sequences::new(dim);
    let mut source = values.iter().copied().cycle();
    for &length in lengths {
        x.push(&source.by_ref().take(length * dim).collect::<Vec<f32>>());
    }
    let n = lengths.len();
    let y = if regression {
        Labels::Value { width: 1, values: (0..n).map(|i| i as f32 + 0.5).collect() }
    } else {
        let names = vec!["no".to_string(), "yes".to_string()];
        Labels::Class { index: (0..n as u32).map(|i| i % 2).collect(), names }
    };
    Dataset::new("example", Examples::new(x, y))
}
