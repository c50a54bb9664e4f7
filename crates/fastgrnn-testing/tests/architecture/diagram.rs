//! The diagram in ARCHITECTURE.md: which crates use which, and the modules inside each crate.

use crate::graph::{Edges, Module, between_children};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const BEGIN: &str = "<!-- module graph -->";
const END: &str = "<!-- end -->";

/// The page with `diagram` between its marks.
pub fn put_in(page: &str, diagram: &str) -> String {
    let begin = page.find(BEGIN).expect("the mark before the module graph") + BEGIN.len();
    let end = begin + page[begin..].find(END).expect("the mark after the module graph");
    format!("{}\n{diagram}{}", &page[..begin], &page[end..])
}

/// The graph as text.
pub fn of(edges: &Edges) -> String {
    let crates = crates(edges);
    let mut text = String::from("\n```\n");
    for name in &lowest_first(&crates) {
        let _ = writeln!(
            text,
            "{}",
            line(&name.replace('_', "-"), crates[name].iter().map(|c| c.replace('_', "-")))
        );
    }
    text.push_str("```\n");
    for name in lowest_first(&crates) {
        let modules = between_children(edges, std::slice::from_ref(&name));
        if modules.len() < 2 {
            continue;
        }
        let _ = write!(text, "\nModules of `{}`:\n\n```\n", name.replace('_', "-"));
        let last = |module: &Module| module[1].clone();
        let named: BTreeMap<String, BTreeSet<String>> =
            modules.iter().map(|(from, to)| (last(from), to.iter().map(last).collect())).collect();
        for module in lowest_first(&named) {
            let _ = writeln!(text, "{}", line(&module, named[&module].iter().cloned()));
        }
        text.push_str("```\n");
    }
    text.push('\n');
    text
}

fn line(name: &str, targets: impl Iterator<Item = String>) -> String {
    let targets: Vec<String> = targets.collect();
    if targets.is_empty() { name.to_owned() } else { format!("{name} → {}", targets.join(", ")) }
}

fn crates(edges: &Edges) -> BTreeMap<String, BTreeSet<String>> {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in edges {
        let used = targets.iter().map(|to| to[0].clone()).filter(|to| *to != from[0]);
        crates.entry(from[0].clone()).or_default().extend(used);
    }
    crates
}

/// Names in an order in which each stands after what it uses; where there are cycles, by name.
fn lowest_first(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::new();
    while ordered.len() < graph.len() {
        let left = || graph.iter().filter(|(name, _)| !ordered.contains(name));
        let ready =
            left().find(|(_, uses)| uses.iter().all(|u| ordered.contains(u) || !graph.contains_key(u)));
        let next = ready.or_else(|| left().next()).expect("names are left").0.clone();
        ordered.push(next);
    }
    ordered
}
