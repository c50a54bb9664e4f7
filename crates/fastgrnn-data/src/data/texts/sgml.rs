//! The SGML files of Reuters-21578: stories with attributes, topics and text.

use super::super::archive::Tree;
use super::super::encoding::decoded;
use super::super::names::listed;
use super::super::parts::Parts;
use super::super::{DataError, Request};
use super::part_texts::{Texts, to_parts};
use fastgrnn_core::format::quantity;

/// Share of the training stories, the latest ones, that is for validation.
const VALIDATION_SHARE: f64 = 0.1;

/// The part that a story belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoryPart {
    Train,
    Test,
}

/// A story.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Story {
    /// The attribute LEWISSPLIT.
    split: String,
    /// The attribute TOPICS: whether someone looked for topics.
    is_indexed: bool,
    /// Its topics.
    topics: Vec<String>,
    /// Title and body.
    text: String,
    /// The attribute NEWID, which is different for every story of the set.
    id: String,
}

/// Whether a file holds stories.
pub(super) fn is_stories(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".sgm")
}

/// The stories with topics of all files in the parts of the ModApte split, and notes about others.
pub(crate) fn read(tree: &mut Tree, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let mut files: Vec<usize> = (0..tree.files.len()).filter(|&i| is_stories(&tree.files[i].name)).collect();
    files.sort_by(|&a, &b| tree.files[a].name.cmp(&tree.files[b].name));
    let source = tree.name.clone();
    let mut train = Texts::new(&format!("{source}, training part"));
    let mut test = Texts::new(&format!("{source}, test part"));
    let (mut without, mut outside) = (0u64, 0u64);
    for &i in &files {
        let name = tree.files[i].name.clone();
        let bytes = tree.read(i)?;
        let (text, _) = decoded(&name, &bytes, request.data.encoding)?;
        for Story { split, is_indexed, topics, text, id } in stories(&name, &String::from_utf8_lossy(&text))?
        {
            let texts = match mod_apte(&split, is_indexed) {
                Some(StoryPart::Train) => &mut train,
                Some(StoryPart::Test) => &mut test,
                None => {
                    outside += 1;
                    continue;
                }
            };
            match labelled {
                true if topics.is_empty() => {
                    without += 1;
                    continue;
                }
                true => texts.push_with_set(text, topics),
                false => texts.texts.push(text),
            }
            texts.ids.get_or_insert_default().push(id);
        }
    }
    let filled = |texts: Texts| (!texts.texts.is_empty()).then_some(texts);
    // Stories of one day resemble each other, and the test part is later than all others.
    let validation = if labelled { filled(train.split_end(VALIDATION_SHARE)) } else { None };
    let (train, test) = (filled(train), filled(test));
    if train.is_none() && test.is_none() {
        let hint = "no story of the ModApte split has a topic".into();
        return Err(DataError::Empty { file: source, hint });
    }
    let mut parts = to_parts(train, validation, test, request)?;
    for (many, why) in [(outside, "are not in the ModApte split"), (without, "of the split have no topic")] {
        if many > 0 {
            parts.note(format!("{source}: {} {why} and are left out", quantity(many, "story")));
        }
    }
    let others = tree.files.iter().map(|file| file.name.clone()).filter(|name| !is_stories(name));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        parts.note(format!("not read: {}", listed(&others)));
    }
    Ok(parts)
}

/// The part of the ModApte split that a story belongs to, if it belongs to one.
fn mod_apte(split: &str, is_indexed: bool) -> Option<StoryPart> {
    match (is_indexed, split) {
        (true, "TRAIN") => Some(StoryPart::Train),
        (true, "TEST") => Some(StoryPart::Test),
        _ => None,
    }
}

/// The stories of a file.
fn stories(file: &str, text: &str) -> Result<Vec<Story>, DataError> {
    let mut stories = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("<REUTERS") {
        rest = &rest[start + "<REUTERS".len()..];
        let number = stories.len() + 1;
        let corrupt = |problem: &str| DataError::Corrupt {
            file: file.into(),
            place: format!("story {number}"),
            problem: problem.into(),
        };
        let tag_end = rest.find('>').ok_or_else(|| corrupt("its first tag has no end"))?;
        let end = rest.find("</REUTERS>").ok_or_else(|| corrupt("there is no </REUTERS>"))?;
        if end < tag_end {
            return Err(corrupt("its first tag has no end"));
        }
        let (attributes, content) = (&rest[..tag_end], &rest[tag_end + 1..end]);
        let of = |name| attribute(attributes, name).ok_or_else(|| corrupt(&format!("no attribute {name}")));
        let topics = element(content, "TOPICS").ok_or_else(|| corrupt("there is no <TOPICS>"))?;
        stories.push(Story {
            split: of("LEWISSPLIT")?.into(),
            is_indexed: of("TOPICS")? == "YES",
            topics: elements(topics, "D").map(|topic| plain(topic).trim().to_string()).collect(),
            id: attribute(attributes, "NEWID").map_or_else(|| number.to_string(), String::from),
            text: title_and_body(element(content, "TEXT").unwrap_or_default()),
        });
        rest = &rest[end..];
    }
    match stories.is_empty() {
        true => Err(DataError::Empty { file: file.into(), hint: "no <REUTERS> story was found".into() }),
        false => Ok(stories),
    }
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start().strip_prefix('"')?;
        let (value, more) = after.split_once('"')?;
        if key.trim() == name {
            return Some(value);
        }
        rest = more;
    }
    None
}

/// The content of the first element called `name`, which may have attributes.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    elements(text, name).next()
}

/// The contents of all elements called `name`.
fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find(&open)? + open.len()..];
            // <D> is no <DATE>.
            if !rest.starts_with(['>', ' ', '\n', '\r', '\t']) {
                continue;
            }
            let start = rest.find('>')? + 1;
            let end = start + rest[start..].find(&close)?;
            let found = &rest[start..end];
            rest = &rest[end..];
            return Some(found);
        }
    })
}

/// Title and body; of a story without a body everything in it.
fn title_and_body(text: &str) -> String {
    let title = element(text, "TITLE").unwrap_or_default();
    match element(text, "BODY") {
        Some(body) => format!("{}\n{}", plain(title), plain(body)),
        None => plain(text),
    }
}

/// Text without tags, with entities and without control characters.
fn plain(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, sign) = match rest.as_bytes()[0] {
            b'<' => rest.find('>').map_or((1, Some('<')), |end| (end + 1, Some(' '))),
            _ => entity(rest),
        };
        found.extend(sign);
        rest = &rest[length..];
    }
    found.push_str(rest);
    found.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// The length of the entity that `text` begins with, and what it stands for. A lone `&` is one.
fn entity(text: &str) -> (usize, Option<char>) {
    const LONGEST: usize = 10;
    let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == ';').map(|(at, _)| at);
    let Some(end) = end else { return (1, Some('&')) };
    let sign = match &text[1..end] {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        name => {
            let number = name.strip_prefix('#').and_then(|number| number.parse().ok());
            number.and_then(char::from_u32)
        }
    };
    match sign {
        Some(sign) => (end + 1, Some(sign)),
        None => (1, Some('&')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n\
        <REUTERS TOPICS=\"YES\" LEWISSPLIT=\"TRAIN\" CGISPLIT=\"TRAINING-SET\" OLDID=\"5544\" NEWID=\"1\">\n\
        <DATE>26-FEB-1987</DATE>\n<TOPICS><D>cocoa</D><D>el&amp;x</D></TOPICS>\n<PLACES><D>brazil</D></PLACES>\n\
        <TEXT>&#2;\n<TITLE>A &lt;B&gt; REVIEW</TITLE>\n<DATELINE>    SALVADOR</DATELINE><BODY>Showers & rain.\n Reuter\n&#3;</BODY></TEXT>\n\
        </REUTERS>\n";

    #[test]
    fn a_story_has_its_split_its_topics_title_and_body() {
        let story = &stories("a.sgm", STORY).unwrap()[0];
        assert_eq!(mod_apte(&story.split, story.is_indexed), Some(StoryPart::Train));
        assert_eq!(story.topics, ["cocoa", "el&x"]);
        assert_eq!(story.text, "A <B> REVIEW\nShowers & rain.\n Reuter\n ");
    }

    fn part(text: &str) -> Option<StoryPart> {
        let story = &stories("a.sgm", text).unwrap()[0];
        mod_apte(&story.split, story.is_indexed)
    }

    #[test]
    fn stories_outside_the_split_belong_to_no_part() {
        for (from, to, expected) in [
            ("TOPICS=\"YES\"", "TOPICS=\"NO\"", None),
            ("TOPICS=\"YES\"", "TOPICS=\"BYPASS\"", None),
            ("\"TRAIN\"", "\"NOT-USED\"", None),
            ("\"TRAIN\"", "\"TEST\"", Some(StoryPart::Test)),
        ] {
            let text = STORY.replace(from, to);
            assert_eq!(part(&text), expected, "{to}");
        }
    }

    #[test]
    fn a_story_without_a_body_is_all_its_text() {
        let text = STORY.replace("<BODY>", "").replace("</BODY>", "");
        let story = &stories("a.sgm", &text).unwrap()[0];
        assert!(story.text.contains("A <B> REVIEW") && story.text.contains("Showers"), "{}", story.text);
    }

    #[test]
    fn damaged_files_are_refused_with_the_story() {
        for (text, part) in [
            (STORY.replace("</REUTERS>", ""), "a.sgm: story 1: there is no </REUTERS>"),
            (STORY.replace("LEWISSPLIT", "SPLIT"), "no attribute LEWISSPLIT"),
            (STORY.replace("TOPICS>", "THEMES>"), "there is no <TOPICS>"),
            ("nothing".into(), "no <REUTERS> story"),
        ] {
            let error = stories("a.sgm", &text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn every_cut_of_a_story_is_read_or_refused() {
        for (end, _) in STORY.char_indices() {
            let _ = stories("a.sgm", &STORY[..end]);
            let _ = stories("a.sgm", &STORY[end..]);
        }
    }
}
