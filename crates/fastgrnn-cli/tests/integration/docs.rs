//! The documentation says what the code does: pages are compared with declarations.

use fastgrnn::data::FindingCode;
use fastgrnn::settings::clap::{self, Arg, Args};
use fastgrnn::train::{Choice, Recipe};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One table a heading of the help, one row a key.
fn keys() -> String {
    let command = Recipe::augment_args(clap::Command::new("recipe"));
    let mut text = String::new();
    let mut heading = String::new();
    for arg in command.get_arguments() {
        let own = arg.get_help_heading().unwrap_or_default();
        if own != heading {
            heading = own.to_owned();
            text.push_str(&format!(
                "\n### {heading}\n\n| key | value | what it does |\n| --- | --- | --- |\n"
            ));
        }
        text.push_str(&row(arg));
    }
    text
}

fn row(arg: &Arg) -> String {
    let choices: Vec<String> =
        arg.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
    let value = if choices.is_empty() {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" ")
    } else {
        choices.join(", ")
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    format!("| `{}` | {} | {} |\n", arg.get_long().unwrap_or_default(), cell(&value), cell(&help))
}

#[test]
fn the_page_of_recipe_keys_is_made_from_their_declaration() {
    let path = root().join("docs/recipes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- keys -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- /keys -->").unwrap();
    let fresh = format!("{before}<!-- keys -->\n{}\n<!-- /keys -->{after}", keys());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, fresh).unwrap();
        return;
    }
    assert!(
        page == fresh,
        "docs/recipes.md is stale: UPDATE_DOCS=1 cargo test -p fastgrnn-cli --test integration recipe_keys"
    );
}

#[test]
fn every_key_of_a_recipe_is_a_flag() {
    let command = Recipe::augment_args(clap::Command::new("recipe"));
    let flags: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    let keys = Recipe::keys();
    assert_eq!(flags, keys.iter().map(|key| key.name()).collect::<Vec<_>>());
}

#[test]
fn every_recipe_in_the_repository_is_a_recipe() {
    let folder = std::fs::read_dir(root().join("recipes")).unwrap();
    let mut count = 0;
    for file in folder.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "toml")) {
        count += 1;
        let recipe = Recipe::from_toml(&file).unwrap();
        assert!(recipe.source.dataset.is_some(), "{} names no data set", file.display());
    }
    assert!(count >= 11, "{count} recipes");
}

#[test]
fn the_demo_s_recipes_are_those_in_the_folder_of_recipes() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    for name in ["digits-sparse.toml", "digits-tiny.toml"] {
        let copy = format!("crates/fastgrnn-cli/src/recipes/{name}");
        assert!(read(&format!("recipes/{name}")) == read(&copy), "{copy}");
    }
}

#[test]
fn the_readme_s_library_example_is_the_one_that_is_compiled() {
    let block = |text: &str| text.split("```").find_map(|b| b.strip_prefix("rust\n")).map(str::to_owned);
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let library = std::fs::read_to_string(root().join("crates/fastgrnn/src/lib.rs")).unwrap();
    let doc: String = library
        .lines()
        .filter_map(|l| l.strip_prefix("//!").map(|l| l.strip_prefix(' ').unwrap_or(l)))
        .filter(|l| !l.starts_with("# "))
        .map(|l| format!("{l}\n"))
        .collect();
    let (shown, compiled) = (block(&readme).unwrap(), block(&doc).unwrap());
    assert_eq!(shown, compiled);
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    pages.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|f| f.unwrap().path()));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let file = page.parent().unwrap().join(target);
            assert!(file.exists(), "{} links to {target}, which is not there", page.display());
        }
    }
}

#[test]
fn every_finding_about_data_is_documented() {
    let page = std::fs::read_to_string(root().join("docs/data-formats.md")).unwrap();
    for code in FindingCode::all() {
        assert!(page.contains(&format!("| `{code}` |")), "{code} is not in docs/data-formats.md");
    }
}
