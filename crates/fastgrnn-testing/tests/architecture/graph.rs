//! Which file uses which: imports and paths resolved to the file that defines the item.

use crate::source::{self, Import, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module: its crate, then the names down to it.
pub type Module = Vec<String>;

/// Edges between modules of any kind.
pub type Edges = BTreeMap<Module, BTreeSet<Module>>;

/// All modules of some crates.
#[derive(Default)]
pub struct Workspace {
    files: BTreeMap<Module, Source>,
}

impl Workspace {
    /// Reads every crate in `folder` that has a library or a program.
    pub fn read(folder: &Path) -> Self {
        let mut workspace = Self::default();
        let entries = std::fs::read_dir(folder).expect("the folder of crates");
        for entry in entries.map(|entry| entry.expect("a crate").path()) {
            let name = entry.file_name().expect("a name").to_string_lossy().replace('-', "_");
            for root in ["lib.rs", "main.rs"] {
                let root = entry.join("src").join(root);
                if root.exists() {
                    workspace.read_module(vec![name.clone()], &root, &entry.join("src"));
                    break;
                }
            }
        }
        workspace
    }

    /// Adds one module from its text, for tests of the graph itself.
    pub fn add(&mut self, module: &str, text: &str) {
        self.files.insert(module.split("::").map(str::to_owned).collect(), source::read(text));
    }

    fn read_module(&mut self, module: Module, file: &Path, folder: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let source = source::read(&text);
        for name in &source.modules {
            let child: Module = module.iter().cloned().chain([name.clone()]).collect();
            let (flat, nested) = (folder.join(format!("{name}.rs")), folder.join(name));
            let file = if flat.exists() { flat } else { nested.join("mod.rs") };
            self.read_module(child, &file, &nested);
        }
        self.files.insert(module, source);
    }

    /// Number of modules.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Names that several types of a crate have, with the modules that define them.
    pub fn shared_type_names(&self) -> Vec<String> {
        let mut definitions: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for (module, source) in &self.files {
            for item in &source.types {
                definitions.entry((&module[0], item)).or_default().push(name(module));
            }
        }
        let shared = definitions.into_iter().filter(|(_, modules)| modules.len() > 1);
        shared.map(|((_, item), modules)| format!("{item} in {}", modules.join(", "))).collect()
    }

    /// The files that each file uses. A `pub use` passes an item on; it is a use where the file also
    /// names the item itself.
    pub fn uses(&self) -> Edges {
        let mut edges = Edges::new();
        for (module, source) in &self.files {
            let imported = source.imports.iter().filter(|i| !i.is_reexport || source.names.contains(&i.name));
            let items = imported.filter_map(|import| self.defining(module, &import.path));
            let named = source.paths.iter().filter_map(|path| self.defining(module, path));
            let found = items.chain(named).filter(|target| target != module).collect();
            edges.insert(module.clone(), found);
        }
        edges
    }

    /// The module that defines what `path` names in `module`; none for other crates' items and for
    /// modules themselves, whose items count where they are named.
    fn defining(&self, module: &Module, path: &[String]) -> Option<Module> {
        match self.resolve(module, path, 0)? {
            Found::Item(module) => Some(module),
            Found::Module(_) => None,
        }
    }

    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Found::Module(vec![module[0].clone()]),
            "self" => Found::Module(module.clone()),
            "super" => Found::Module(module[..module.len() - 1].to_vec()),
            name if self.files.contains_key(&vec![name.to_owned()]) => Found::Module(vec![name.to_owned()]),
            _ => return self.lookup(module, path, depth),
        };
        match start {
            Found::Module(start) if rest.first().is_some_and(|name| name == "super") => {
                self.resolve(&start, rest, depth)
            }
            Found::Module(start) => self.lookup(&start, rest, depth),
            found => Some(found),
        }
    }

    /// Follows `path` from `module` on, whose names it may use.
    fn lookup(&self, module: &Module, path: &[String], depth: usize) -> Option<Found> {
        let Some((name, rest)) = path.split_first() else { return Some(Found::Module(module.clone())) };
        let source = self.files.get(module)?;
        let child: Module = module.iter().cloned().chain([name.clone()]).collect();
        // Modules first: items include methods, which may have the name of a module.
        if self.files.contains_key(&child) {
            return self.lookup(&child, rest, depth);
        }
        if source.items.contains(name) {
            return Some(Found::Item(module.clone()));
        }
        if depth > 8 {
            return None;
        }
        let mut imports = source.imports.iter().filter(|import| &import.name == name);
        if let Some(import) = imports.next() {
            return match self.resolve(module, &import.path, depth + 1)? {
                Found::Module(target) => self.lookup(&target, rest, depth + 1),
                item => Some(item),
            };
        }
        let globs = source.imports.iter().filter(|import| import.name == "*");
        let inside = |import: &Import| {
            let mut path = import.path.clone();
            *path.last_mut()? = name.clone();
            self.resolve(module, &path, depth + 1)
        };
        globs.filter_map(inside).next()
    }
}

enum Found {
    Module(Module),
    Item(Module),
}

/// The edges between the children of `parent`, with everything below a child counted as the child.
/// The file of `parent` itself does not count.
pub fn between_children(edges: &Edges, parent: &[String]) -> Edges {
    let depth = parent.len();
    let child = |module: &Module| -> Option<Module> {
        (module.len() > depth && module.starts_with(parent)).then(|| module[..=depth].to_vec())
    };
    let mut condensed = Edges::new();
    for (from, targets) in edges {
        let Some(from) = child(from) else { continue };
        let targets = targets.iter().filter_map(child).filter(|to| *to != from);
        condensed.entry(from.clone()).or_default().extend(targets);
    }
    condensed
}

/// Sets of modules that all use one another, directly or by way of others.
pub fn knots(edges: &Edges) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        edges.keys().map(|module| (module, reachable(edges, module))).collect();
    let mut knots: Vec<BTreeSet<Module>> = Vec::new();
    for (module, targets) in &reached {
        if !targets.contains(*module) || knots.iter().any(|knot| knot.contains(*module)) {
            continue;
        }
        let back = |other: &&Module| reached.get(*other).is_some_and(|r| r.contains(*module));
        knots.push(targets.iter().filter(back).cloned().collect());
    }
    knots
}

/// Everything that `module` uses, directly or by way of others.
fn reachable(edges: &Edges, module: &Module) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut open = vec![module];
    while let Some(next) = open.pop() {
        for target in edges.get(next).into_iter().flatten() {
            if found.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    found
}

/// `fastgrnn_core::net`
pub fn name(module: &[String]) -> String {
    module.join("::")
}
