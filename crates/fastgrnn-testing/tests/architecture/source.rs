//! Rust source as far as the module graph needs it: the paths that a file names, the items that it
//! defines, and its modules. Comments, strings and `#[cfg(test)]` items do not count.

use std::collections::BTreeSet;

/// A path as written, with what it is imported as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Segments, such as `crate`, `net`, `Layout`.
    pub path: Vec<String>,
    /// The name that it has in this file; `*` for a glob.
    pub name: String,
    /// Whether the import only passes the item on (`pub use`).
    pub is_reexport: bool,
}

/// What one file says.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Everything after `use`.
    pub imports: Vec<Import>,
    /// Paths of two or more segments in the code itself.
    pub paths: Vec<Vec<String>>,
    /// Every name in the code outside `use`.
    pub names: BTreeSet<String>,
    /// Names of items that the file defines.
    pub items: Vec<String>,
    /// Those of them that are structs, enums, unions or traits.
    pub types: Vec<String>,
    /// Names of modules in files of their own.
    pub modules: Vec<String>,
}

/// Reads the text of a file.
pub fn read(text: &str) -> Source {
    let tokens = without_tests(tokens(text));
    let mut source = Source::default();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "use" => {
                let end = position(&tokens, at, ";");
                let is_reexport = is_public(&tokens[..at]);
                import(&tokens[at + 1..end], &mut Vec::new(), is_reexport, &mut source.imports);
                at = end;
            }
            "mod" if tokens.get(at + 2).is_some_and(|t| t == ";") => {
                source.modules.push(tokens[at + 1].clone());
                at += 2;
            }
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" | "mod" => {
                if let Some(name) = tokens.get(at + 1).filter(|t| is_name(t)) {
                    if matches!(&*tokens[at], "struct" | "enum" | "union" | "trait") {
                        source.types.push(name.clone());
                    }
                    source.items.push(name.clone());
                }
                at += 1;
            }
            "macro_rules" => {
                source.items.push(tokens[at + 2].clone());
                at += 2;
            }
            // Our own macros that define a type: `choice! { /// … Name { … } }`.
            "choice" if tokens.get(at + 1).is_some_and(|t| t == "!") => {
                let end = position(&tokens, at + 3, "{");
                source.types.push(tokens[end - 1].clone());
                source.items.push(tokens[end - 1].clone());
                at = end;
            }
            name if is_name(name) && follows(&tokens, at, "::") && !preceded(&tokens, at, "::") => {
                let mut path = vec![name.to_owned()];
                source.names.insert(name.to_owned());
                while follows(&tokens, at, "::") && tokens.get(at + 2).is_some_and(|t| is_name(t)) {
                    at += 2;
                    path.push(tokens[at].clone());
                }
                source.paths.push(path);
                at += 1;
            }
            name => {
                source.names.insert(name.to_owned());
                at += 1;
            }
        }
    }
    source
}

/// Names, `::` and single characters.
fn tokens(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some(length) = raw_string(rest) {
            at += length;
        } else if bytes[at] == b'"' {
            at += string(rest);
        } else if let Some(length) = character(rest) {
            at += length;
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            at += 2;
        } else if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..end].to_owned());
            at += end;
        } else {
            let c = rest.chars().next().expect("there is text left");
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            at += c.len_utf8();
        }
    }
    tokens
}

/// The length of a raw string at the start of `text`.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r').or_else(|| text.strip_prefix("br"))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - after.len() + hashes + 1;
    text[start..].find(&close).map(|end| start + end + close.len())
}

/// The length of the string literal at the start of `text`.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character literal at the start of `text`; lifetimes are none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    if let Some(escaped) = inside.strip_prefix('\\') {
        return escaped.find('\'').map(|end| end + 3);
    }
    let c = inside.chars().next()?;
    inside[c.len_utf8()..].starts_with('\'').then_some(c.len_utf8() + 2)
}

/// The tokens without what `#[cfg(test)]` stands before.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().map(String::as_str).take(MARK.len()).eq(MARK) {
            at = end_of_item(&tokens, at + MARK.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Where the item that starts at `at` ends: after its `;` or its braces.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Expands what follows `use` up to its end.
fn import(tokens: &[String], prefix: &mut Vec<String>, is_reexport: bool, out: &mut Vec<Import>) {
    let depth = prefix.len();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "::" => at += 1,
            "{" => {
                let mut start = at + 1;
                let mut level = 1;
                for i in at + 1..tokens.len() {
                    match tokens[i].as_str() {
                        "{" => level += 1,
                        "}" => level -= 1,
                        _ => {}
                    }
                    if (level == 1 && tokens[i] == ",") || level == 0 {
                        if start < i {
                            import(&tokens[start..i], &mut prefix.clone(), is_reexport, out);
                        }
                        start = i + 1;
                    }
                    if level == 0 {
                        break;
                    }
                }
                prefix.truncate(depth);
                return;
            }
            "as" => break,
            name => {
                prefix.push(name.to_owned());
                at += 1;
            }
        }
    }
    let mut path = prefix.clone();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = match tokens.get(at) {
        Some(word) if word == "as" => tokens[at + 1].clone(),
        _ => path.last().cloned().unwrap_or_default(),
    };
    out.push(Import { path, name, is_reexport });
    prefix.truncate(depth);
}

/// Whether the tokens before an item end in `pub` or `pub(…)`.
fn is_public(before: &[String]) -> bool {
    match before.last().map(String::as_str) {
        Some("pub") => true,
        Some(")") => {
            let open = before.iter().rposition(|t| t == "(");
            open.is_some_and(|open| open > 0 && before[open - 1] == "pub")
        }
        _ => false,
    }
}

fn position(tokens: &[String], from: usize, what: &str) -> usize {
    tokens[from..].iter().position(|t| t == what).map_or(tokens.len(), |i| from + i)
}

fn follows(tokens: &[String], at: usize, what: &str) -> bool {
    tokens.get(at + 1).is_some_and(|t| t == what)
}

fn preceded(tokens: &[String], at: usize, what: &str) -> bool {
    at > 0 && tokens[at - 1] == what
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
