//! Tables as other programs write them: separators, decimal commas, encodings, lines around the rows.

use fastgrnn_data::data::{self, Decimal, Encoding, Request};

use crate::support::{classes, csv, has_note};

fn with(text: impl AsRef<[u8]>, change: impl FnOnce(&mut data::DataConfig)) -> data::Dataset {
    data::load_bytes("a.csv", text.as_ref(), &Request::default().with_data(change)).unwrap()
}

#[test]
fn decimal_commas_are_told_from_the_file_with_a_note() {
    for separator in [";", "\t", "|"] {
        let text = "id;x;y;activity\n1;-0,25;2;up\n1;1,5;3,25;up\n2;1;2;down\n2;1e-1;0,5e1;down\n";
        let data = csv(text.replace(';', separator)).unwrap();
        assert_eq!(data.train.x.get(0), [-0.25, 2.0, 1.5, 3.25]);
        assert_eq!(data.train.x.get(1), [1.0, 2.0, 0.1, 5.0]);
        assert!(has_note(&data.notes, "decimal comma"), "{:?}", data.notes);
    }
    let points = csv("a;b;label\n1.5;2;up\n1.25;2;down\n").unwrap();
    assert_eq!(points.train.x.get(0), [1.5, 2.0]);
    assert!(!has_note(&points.notes, "decimal"), "{:?}", points.notes);
}

#[test]
fn a_named_decimal_sign_is_used_without_a_note() {
    let data = with("a;b;label\n1,5;2;up\n3;4;down\n", |d| d.decimal = Some(Decimal::Comma));
    assert_eq!(data.train.x.get(0), [1.5, 2.0]);
    assert!(!has_note(&data.notes, "decimal"), "{:?}", data.notes);
    let request = Request::default().with_data(|d| d.decimal = Some(Decimal::Point));
    let error = data::load_bytes("a.csv", b"a;b;label\n1,5;2;up\n3,5;4;down\n", &request).unwrap_err();
    assert!(error.to_string().contains("'1,5' is not a number"), "{error}");
}

#[test]
fn files_of_other_encodings_have_their_names_and_labels() {
    let text = "x0;x1;Aktivität\n1;2;gehen\n3;4;läuft\n";
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin_1: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for (bytes, note) in [
        ([b"\xff\xfe".as_slice(), &utf_16].concat(), "UTF-16"),
        (utf_16, "UTF-16"),
        (latin_1.clone(), "line 1 is not UTF-8"),
    ] {
        let request = Request::default().with_data(|d| d.label_col = Some("Aktivität".into()));
        let data = data::load_bytes("a.csv", &bytes, &request).unwrap();
        assert_eq!(classes(&data.train), ["gehen", "läuft"]);
        assert!(has_note(&data.notes, note), "{:?}", data.notes);
    }
    let data = with(latin_1, |d| d.encoding = Some(Encoding::Windows1252));
    assert_eq!(classes(&data.train), ["gehen", "läuft"]);
    assert!(!has_note(&data.notes, "UTF-8"), "{:?}", data.notes);
}

#[test]
fn a_first_line_may_name_the_separator() {
    let data = csv("sep=;\r\nx0;x1;label\r\n1;2;up\r\n3;4;down\r\n").unwrap();
    assert_eq!((data.train.len(), data.train.x.get(1)), (2, &[3.0, 4.0][..]));
    let error = csv("sep=;\r\nx0;x1;label\r\n1;2;up\r\n3;oops;down\r\n").unwrap_err().to_string();
    assert!(error.contains("line 4, column 'x1'"), "{error}");
}

#[test]
fn comments_and_lines_before_the_table_are_skipped_with_notes() {
    let text = "Phone logger 2.1\nDevice: X; Serial: 3\n\nx0,x1,label\n1,2,up\n# a break\n3,4,down\n";
    let data = csv(text).unwrap();
    assert_eq!(data.train.len(), 2);
    assert!(has_note(&data.notes, "2 lines before the table, which begin with 'Phone logger 2.1'"));
    assert!(has_note(&data.notes, "1 comment line"), "{:?}", data.notes);
    let error = csv(text.replace("3,4", "3,oops")).unwrap_err().to_string();
    assert!(error.contains("line 7"), "{error}");
    for mark in ["#", "%", "//"] {
        let data = csv(format!("{mark} one, two\n{mark} \"three\nx0,x1,label\n1,2,up\n3,4,down\n")).unwrap();
        assert_eq!((data.train.len(), data.features), (2, None));
    }
    // A label that begins like a comment is no comment.
    let data = csv("label,x0,x1\n#1,1,2\n#2,3,4\n#1,5,6\n").unwrap();
    assert_eq!(classes(&data.train), ["#1", "#2", "#1"]);
}

#[test]
fn a_header_with_a_column_too_few_is_still_an_error() {
    for text in ["a,label\n1,2,up\n3,4,down\n", "1,2,3,up\n1,2,down\n3,4,down\n"] {
        let error = csv(text).unwrap_err().to_string();
        assert!(error.contains("columns, found"), "{error}");
    }
}

#[test]
fn columns_may_be_separated_by_blanks() {
    let data = csv("  1.5   -2e-1 7  up\n -3 4.25\t8 down\n 1 2  9 up \n").unwrap();
    assert_eq!(data.train.x.get(1), [-3.0, 4.25, 8.0]);
    assert!(has_note(&data.notes, "blanks"), "{:?}", data.notes);
    let data = csv("x0 x1 label\n1 2 'u'\n3 4 \"down there\"\n").unwrap();
    assert_eq!(classes(&data.train), ["'u'", "down there"]);
}

#[test]
fn keys_force_what_would_be_told_from_the_file() {
    let data = with("x0:x1:label\n1:2:up\n3:4:down\n", |d| d.delimiter = Some(":".into()));
    assert_eq!(data.train.x.get(0), [1.0, 2.0]);
    let data = with("1,2,3\nx0,x1,label\n1,2,up\n3,4,down\n", |d| d.skip_rows = Some(1));
    assert_eq!(data.train.len(), 2);
    for (delimiter, is_good) in [("tab", true), ("blank", true), ("ab", false), ("\"", false), ("", false)] {
        let request = Request::default().with_data(|d| d.delimiter = Some(delimiter.into()));
        let error = data::load_bytes("a.csv", b"1\n", &request).unwrap_err().to_string();
        assert_eq!(error.contains("`delimiter`"), !is_good, "{error}");
    }
    let request = Request::default().with_data(|d| d.skip_rows = Some(9));
    assert!(data::load_bytes("a.csv", b"1,2\n3,4\n", &request).is_err());
    let request = Request::default().with_data(|d| d.decimal = Some(Decimal::Comma));
    let error = data::load_bytes("a.ts", b"@data\n", &request).unwrap_err().to_string();
    assert!(error.contains("`decimal = comma` is for CSV files"), "{error}");
}

#[test]
fn line_numbers_are_right_whichever_way_lines_end() {
    for end in ["\n", "\r\n", "\r"] {
        for blank in ["", end] {
            let text = ["a,b,label", "1,2,up", "3,4,down", "5,oops,up", ""].join(end);
            let text = text.replacen(end, &format!("{end}{blank}"), 1);
            let line = if blank.is_empty() { 4 } else { 5 };
            let error = csv(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line},")), "{end:?} {blank:?}: {error}");
            let error = csv(text.replace("5,oops", "5")).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}:")), "{end:?} {blank:?}: {error}");
        }
    }
    let error = csv("a,b,label\r\n1,2,\"u\r\nv\"\r\n3,oops,down\r\n").unwrap_err().to_string();
    assert!(error.contains("line 4,"), "{error}");
}
