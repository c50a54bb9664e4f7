//! Tests of the structure, computed from the sources: the module graph has no cycle,
//! ARCHITECTURE.md shows it, and a type name means one thing in a crate.
//!
//! After a change that adds an edge on purpose, write the diagram anew:
//! `FASTGRNN_UPDATE=1 cargo test -p fastgrnn-testing --test architecture`

mod diagram;
mod graph;
mod source;

use graph::{Edges, Module, Workspace, between_children, knots, name};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn workspace() -> Workspace {
    let workspace = Workspace::read(&root().join("crates"));
    assert!(workspace.len() > 100, "only {} modules were found", workspace.len());
    workspace
}

/// The edges of every cycle: of files, and at each level of modules.
fn cycles(edges: &Edges) -> Vec<String> {
    let parents: BTreeSet<&[String]> =
        edges.keys().flat_map(|m| (1..m.len()).map(|depth| &m[..depth])).collect();
    let levels = parents.into_iter().map(|parent| between_children(edges, parent));
    let mut found = BTreeSet::new();
    for graph in std::iter::once(edges.clone()).chain(levels) {
        for knot in knots(&graph) {
            let inside = |from: &Module| graph[from].iter().filter(|to| knot.contains(*to)).cloned();
            let edges = knot.iter().flat_map(|from| inside(from).map(move |to| (from, to)));
            found.insert(
                edges.map(|(from, to)| format!("{} → {}", name(from), name(&to))).collect::<Vec<_>>(),
            );
        }
    }
    found.into_iter().map(|edges| edges.join("\n")).collect()
}

#[test]
fn no_module_uses_itself_by_way_of_others() {
    let found = cycles(&workspace().uses());
    assert!(found.is_empty(), "{} cycles:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn architecture_md_shows_every_edge() {
    let path = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = diagram::put_in(&text, &diagram::of(&workspace().uses()));
    if std::env::var_os("FASTGRNN_UPDATE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else if let Some((old, new)) = text.lines().zip(expected.lines()).find(|(old, new)| old != new) {
        panic!(
            "ARCHITECTURE.md is not what the sources say.\n  it has:   {old}\n  expected: {new}\nRun with FASTGRNN_UPDATE=1 to write it anew."
        );
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "ARCHITECTURE.md is not what the sources say");
}

#[test]
fn a_type_name_means_one_thing_in_a_crate() {
    let found = workspace().shared_type_names();
    assert!(found.is_empty(), "several types have one name:\n{}", found.join("\n"));
}

#[test]
fn a_type_name_with_two_meanings_is_found() {
    let mut workspace = Workspace::default();
    workspace.add("a", "mod b; mod c;");
    workspace.add("a::b", "struct Row; fn Row() {} #[cfg(test)] mod tests { struct Row; }");
    workspace.add("a::c", "impl Row { type Row = u8; }");
    workspace.add("other", "struct Row;");
    assert!(workspace.shared_type_names().is_empty());
    workspace.add("a::c", "enum Row { A }");
    assert_eq!(workspace.shared_type_names(), ["Row in a::b, a::c"]);
}

#[test]
fn a_cycle_of_files_is_found() {
    let mut workspace = Workspace::default();
    workspace.add("a", "mod b; mod c; pub use b::Item;");
    workspace.add("a::b", "use super::c::helper; pub struct Item;");
    workspace.add("a::c", "// use of b\n pub fn helper() { let _: crate::Item; }");
    assert_eq!(cycles(&workspace.uses()), ["a::b → a::c\na::c → a::b"]);
}

#[test]
fn a_cycle_of_folders_is_found_where_their_files_have_none() {
    let mut workspace = Workspace::default();
    workspace.add("a", "mod b; mod c;");
    workspace.add("a::b", "mod one; mod two;");
    workspace.add("a::b::one", "use crate::c::one::f;");
    workspace.add("a::b::two", "pub fn g() {}");
    workspace.add("a::c", "mod one; mod two;");
    workspace.add("a::c::one", "pub fn f() {}");
    workspace.add("a::c::two", "fn h() { crate::b::two::g() }");
    assert_eq!(cycles(&workspace.uses()), ["a::b → a::c\na::c → a::b"]);
}

#[test]
fn tests_comments_strings_and_reexports_are_no_uses() {
    let mut workspace = Workspace::default();
    workspace.add("a", "mod b; mod c; pub use b::f; pub fn root() {}");
    workspace.add("a::b", "pub fn f() { crate::root() } #[cfg(test)] mod tests { use crate::c::g; }");
    workspace.add("a::c", "use crate::f; // crate::b\n pub fn g() { let s = \"crate::root\"; }");
    let edges = workspace.uses();
    let of = |module: &str| -> Vec<String> {
        edges[&module.split("::").map(str::to_owned).collect::<Vec<_>>()].iter().map(|m| name(m)).collect()
    };
    assert_eq!((of("a"), of("a::b"), of("a::c")), (vec![], vec!["a".to_owned()], vec!["a::b".to_owned()]));
}

#[test]
fn an_edge_that_the_diagram_lacks_is_seen() {
    let mut workspace = Workspace::default();
    workspace.add("fastgrnn_core", "pub mod net; pub mod cells;");
    workspace.add("fastgrnn_core::net", "use crate::cells::Cell;");
    workspace.add("fastgrnn_core::cells", "pub struct Cell;");
    let with = diagram::of(&workspace.uses());
    workspace.add("fastgrnn_core::net", "");
    assert_ne!(with, diagram::of(&workspace.uses()));
    let page = diagram::put_in("before\n<!-- module graph -->\nold\n<!-- end -->\nafter\n", &with);
    assert!(
        page.starts_with("before\n") && page.ends_with("after\n") && page.contains("net → cells"),
        "{page}"
    );
}
