//! The encoding of a text file: UTF-8, UTF-16 or Windows-1252, told from its bytes.

use std::borrow::Cow;

use super::DataError;

fastgrnn_core::choice! {
    /// The encoding of a text file.
    Encoding {
        /// UTF-8, with or without a byte-order mark.
        #[default]
        Utf8 = "utf-8",
        /// UTF-16, low byte first.
        Utf16Le = "utf-16-le",
        /// UTF-16, high byte first.
        Utf16Be = "utf-16-be",
        /// Windows-1252, of which Latin-1 is a part.
        Windows1252 = "windows-1252",
    }
}

/// Bytes looked at to tell UTF-16 without a mark.
const LOOKED_AT: usize = 4096;

/// The characters 0x80 to 0x9f of Windows-1252; the others are those of Unicode.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of a file as UTF-8, and a note if it was in another encoding that nobody named.
pub(crate) fn decoded<'a>(
    file: &str,
    bytes: &'a [u8],
    requested: Option<Encoding>,
) -> Result<(Cow<'a, [u8]>, Option<String>), DataError> {
    let encoding = requested.unwrap_or_else(|| detected(bytes));
    let note =
        |what: &str| requested.is_none().then(|| format!("the text was read as {what}; see `encoding`"));
    match encoding {
        Encoding::Utf8 => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match (std::str::from_utf8(bytes), requested) {
                (Ok(_), _) => Ok((Cow::Borrowed(bytes), None)),
                (Err(error), Some(_)) => Err(DataError::Corrupt {
                    file: file.into(),
                    place: format!("line {}", line_at(bytes, error.valid_up_to())),
                    problem: "not UTF-8 text; name its encoding with `encoding`".into(),
                }),
                (Err(error), None) => {
                    let text = windows_1252(bytes);
                    let line = line_at(bytes, error.valid_up_to());
                    let what = format!("Windows-1252, because line {line} is not UTF-8");
                    Ok((Cow::Owned(text.into_bytes()), note(&what)))
                }
            }
        }
        Encoding::Windows1252 => Ok((Cow::Owned(windows_1252(bytes).into_bytes()), None)),
        Encoding::Utf16Le => Ok((Cow::Owned(utf16(bytes, u16::from_le_bytes)), note("UTF-16"))),
        Encoding::Utf16Be => Ok((Cow::Owned(utf16(bytes, u16::from_be_bytes)), note("UTF-16"))),
    }
}

/// The encoding that a byte-order mark names, or that zeros between the characters give away.
fn detected(bytes: &[u8]) -> Encoding {
    let sample = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |first: usize| sample.iter().skip(first).step_by(2).filter(|&&b| b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    match bytes {
        [0xff, 0xfe, ..] => Encoding::Utf16Le,
        [0xfe, 0xff, ..] => Encoding::Utf16Be,
        _ if odd * 4 > sample.len() && even == 0 => Encoding::Utf16Le,
        _ if even * 4 > sample.len() && odd == 0 => Encoding::Utf16Be,
        _ => Encoding::Utf8,
    }
}

/// The line, counted from 1, on which byte `at` lies.
fn line_at(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|&&b| b == b'\n').count()
}

fn windows_1252(bytes: &[u8]) -> String {
    let decode = |&b: &u8| match b {
        0x80..=0x9f => WINDOWS_1252[usize::from(b - 0x80)],
        _ => char::from(b),
    };
    bytes.iter().map(decode).collect()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim_start_matches('\u{feff}').to_owned().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], requested: Option<Encoding>) -> (String, Option<String>) {
        let (text, note) = decoded("a.csv", bytes, requested).unwrap();
        (String::from_utf8(text.into_owned()).unwrap(), note)
    }

    #[test]
    fn windows_1252_is_read_with_a_note_that_names_the_first_line() {
        let (text, note) = read(b"a\nb,Aktivit\xe4t \x80\n", None);
        assert_eq!(text, "a\nb,Aktivität €\n");
        assert!(note.unwrap().contains("line 2 is not UTF-8"));
        assert_eq!(read(b"\xe4", Some(Encoding::Windows1252)), ("ä".into(), None));
        assert!(
            decoded("a.csv", b"a\n\xe4", Some(Encoding::Utf8)).unwrap_err().to_string().contains("line 2")
        );
    }

    #[test]
    fn utf_16_is_told_by_its_mark_or_by_its_zeros() {
        let text = "x,Aktivität\n1,gehen\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little, big] {
            let (read, note) = read(&bytes, None);
            assert_eq!(read, text);
            assert!(note.unwrap().contains("UTF-16"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_become_text(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for encoding in [None, Some(Encoding::Utf16Le), Some(Encoding::Utf16Be), Some(Encoding::Windows1252)] {
                let (text, _) = decoded("a.csv", &bytes, encoding).unwrap();
                prop_assert!(std::str::from_utf8(&text).is_ok());
            }
        }

        #[test]
        fn text_survives_either_utf_16(text in "[a-zäß€,0-9 \n]{8,60}") {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(read(&bytes, Some(Encoding::Utf16Le)).0, text);
        }
    }
}
