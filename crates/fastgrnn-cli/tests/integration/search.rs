//! `search` and `tune`: what they find, and that nothing is lost or done twice.

use crate::command::{command, fails, has_keys, json, run, text};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A search of two brackets, whose second one is proposed by the model.
const SEARCH: &str =
    "search --dataset digits --budget-bytes 1024 --trials 24 --proposer tpe --epochs 9 --threads 2 --quiet";

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

fn done(folder: &Path, args: &str) {
    let output = run(folder, &words(args));
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What has to be the same however a search was carried out.
fn result(folder: &Path) -> [Vec<u8>; 3] {
    ["trials.jsonl", "winner.toml", "model.safetensors"].map(|name| std::fs::read(folder.join(name)).unwrap())
}

#[test]
fn a_search_finds_a_network_within_its_budget_that_its_recipe_makes_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let answer = json(folder.path(), &words(&format!("{SEARCH} --out s")));
    has_keys(&answer, &["run", "dataset", "trials", "metric", "front", "importance", "winner", "report"]);
    assert_eq!(answer["trials"], 24);
    let winner = &answer["winner"];
    has_keys(
        winner,
        &[
            "recipe", "model", "bytes", "size", "cell", "hidden", "val", "val_sd", "test", "test_sd",
            "changes",
        ],
    );
    assert!(winner["bytes"].as_u64().unwrap() <= 1_024, "{winner}");
    let val = |point: &serde_json::Value| point["val"]["accuracy"].as_f64().unwrap();
    for point in answer["front"].as_array().unwrap() {
        has_keys(point, &["choices", "cell", "hidden", "bytes", "ram", "ms", "val", "is_final"]);
        assert!(point["bytes"].as_u64().unwrap() <= 1_024, "{point}");
    }
    assert!(val(winner) > 0.3 && val(winner) >= winner["baseline"]["accuracy"].as_f64().unwrap());
    // Proposals fit before they are trained, and trained networks are not larger than that.
    let store = std::fs::read_to_string(at("s/trials.jsonl")).unwrap();
    for line in store.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(trial) = line.get("trial") else { continue };
        let (known, trained) = (trial["size"]["bytes"].as_u64().unwrap(), trial["bytes"].as_u64().unwrap());
        assert!(trained <= known && known <= 1_024, "{trial}");
    }
    let page = std::fs::read_to_string(at("s/search.html")).unwrap();
    for part in ["Winner", "Course", "Front", "Space", "<svg", "fastgrnn search"] {
        assert!(page.contains(part), "{part}");
    }

    done(folder.path(), "train s/winner.toml --out t --quiet");
    let model = |run: &str| std::fs::read(at(run).join("model.safetensors")).unwrap();
    assert!(model("t") == model("s"), "the recipe of the winner makes its model again");

    // The same seed gives the same trials, whatever the number of threads.
    done(folder.path(), &format!("{SEARCH} --out one --threads 1").replace("--threads 2 ", ""));
    assert!(result(&at("one")) == result(&at("s")));
    // Another seed does not.
    done(folder.path(), &format!("{SEARCH} --out other --seed 1 --trials 2").replace("--trials 24 ", ""));
    let store = |run: &str| std::fs::read_to_string(at(run).join("trials.jsonl")).unwrap();
    assert_ne!(store("other").lines().nth(1), store("s").lines().nth(1));
}

#[test]
fn a_search_that_was_killed_goes_on_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SEARCH} --out whole"));
    let mut kills = 0;
    for wait in [5, 60, 130, 220, 340, 90, 180, 450, 30, 270] {
        let args = format!("{SEARCH} --out cut --resume");
        let mut child = command(folder.path(), &words(&args))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        kills += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(kills >= 3, "only {kills} searches were killed before they ended");
    done(folder.path(), &format!("{SEARCH} --out cut --resume"));
    assert!(result(&folder.path().join("cut")) == result(&folder.path().join("whole")));
    // Once more, nothing is left to do.
    let before = result(&folder.path().join("cut"));
    done(folder.path(), "search --out cut --resume --quiet");
    assert!(result(&folder.path().join("cut")) == before);
}

#[test]
fn shards_that_are_merged_round_by_round_come_to_what_one_process_does() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SEARCH} --out whole"));
    let mut rounds = 0;
    loop {
        for shard in 1..=2 {
            let resume = if rounds > 0 { " --resume" } else { "" };
            let args = format!("{SEARCH} --shard {shard}/2 --out shard-{shard}{resume}");
            let answer = json(folder.path(), &words(&args));
            assert!(
                answer["winner"].is_null()
                    && answer["waiting"]["of"].as_u64() > answer["waiting"]["done"].as_u64()
            );
        }
        let merged = json(folder.path(), &words("search --merge shard-1 shard-2 --quiet"));
        rounds += 1;
        assert!(rounds < 20);
        if !merged["winner"].is_null() {
            break;
        }
        has_keys(&merged["waiting"], &["part", "bracket", "rung", "done", "of"]);
    }
    assert_eq!(rounds, 7, "two brackets of three rungs, and the finals");
    assert!(result(&folder.path().join("shard-1")) == result(&folder.path().join("whole")));
    let store = |name: &str| std::fs::read(folder.path().join(name).join("trials.jsonl")).unwrap();
    assert!(store("shard-2") == store("whole"));
}

#[test]
fn a_search_for_some_time_tries_what_one_for_some_trials_does() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SEARCH} --out trials"));
    let timed = SEARCH.replace("--trials 24", "--minutes 0.04");
    done(folder.path(), &format!("{timed} --out timed"));
    let lines = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.path().join(name).join("trials.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let (trials, timed) = (lines("trials"), lines("timed"));
    let searched = |lines: &[String]| lines.iter().take_while(|line| !line.contains("\"finals\"")).count();
    let common = searched(&trials).min(searched(&timed));
    assert!(common > 1 && trials[..common] == timed[..common]);
}

#[test]
fn tune_says_what_it_changed_and_does_not_read_the_test_part() {
    let folder = tempfile::tempdir().unwrap();
    let tune = "tune --dataset digits --epochs 3 --minutes 0.08";
    let answer = json(folder.path(), &words(&format!("{tune} --out t")));
    let winner = &answer["winner"];
    assert!(winner["test"].is_null() && winner["test_sd"].is_null() && !winner["val"].is_null());
    assert!(!winner["baseline"].is_null() && winner["baseline_bytes"].as_u64().unwrap() > 0);
    let shown = text(folder.path(), &words(&format!("{tune} --out shown --quiet")));
    for part in ["winner", "validation", "before", "changed", "try next", "fastgrnn eval"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("\n  test "), "{shown}");
    // More time continues it.
    done(folder.path(), "tune --resume --out t --minutes 0.02 --quiet");
}

#[test]
fn recipes_declare_what_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let recipe =
        "dataset = \"digits\"\ncell = \"gru\"\nepochs = 4\nhidden = 8\n[search]\nlr = [0.002, 0.02]\n";
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let answer = json(folder.path(), &words("search r.toml --trials 9 --seeds 1 --out s --quiet"));
    assert_eq!(answer["trials"], 3, "the recipe as it was given, and two values");
    assert_eq!((&answer["winner"]["cell"], &answer["winner"]["hidden"]), (&"gru".into(), &8.into()));
    // The table does not keep the file from being a recipe.
    done(folder.path(), "train r.toml --out t --quiet");
}

/// A CSV file with noisy sequences of two classes.
fn few_sequences(folder: &Path, count: usize) {
    let mut text = String::from("walk,activity,x,y\n");
    let mut state = 12_345_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f64 / (1 << 24) as f64 - 0.5
    };
    for walk in 0..count {
        let (class, sign) = if walk % 2 == 0 { ("up", 1.0) } else { ("down", -1.0) };
        for step in 0..12 {
            let x = sign * f64::from(step) / 12.0 + 2.0 * noise();
            text.push_str(&format!("{walk},{class},{x:.4},{:.4}\n", noise()));
        }
    }
    std::fs::write(folder.join("walks.csv"), text).unwrap();
}

const FEW: &str = "--dataset walks.csv --id-col walk --label-col activity --epochs 6 --threads 2 --quiet";

#[test]
fn few_sequences_are_cross_validated_in_every_round() {
    let folder = tempfile::tempdir().unwrap();
    few_sequences(folder.path(), 60);
    done(folder.path(), &format!("search {FEW} --trials 5 --finalists 1 --out s"));
    let store = std::fs::read_to_string(folder.path().join("s/trials.jsonl")).unwrap();
    let mut finals = 0;
    for line in store.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(trial) = line.get("trial") else { continue };
        assert_eq!(trial["val"]["n"], 60, "{trial}");
        finals += usize::from(trial["part"] == "finals");
    }
    assert_eq!(finals, 2);
    let trained = json(folder.path(), &words("train s/winner.toml --out t --quiet"));
    assert_eq!(trained["settings"]["cv"], 5, "{}", trained["settings"]);
}

#[test]
fn what_is_given_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let args = "search --dataset digits --budget-bytes 2048 --hidden 8 --trials 5 --rungs 1 --epochs 2 --seeds 1 --quiet --out s";
    done(folder.path(), args);
    let store = std::fs::read_to_string(folder.path().join("s/trials.jsonl")).unwrap();
    for line in store.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(trial) = line.get("trial") else { continue };
        assert_eq!(trial["hidden"], 8, "{trial}");
    }
}

#[test]
fn a_training_that_its_own_settings_make_fail_is_a_failed_trial() {
    let folder = tempfile::tempdir().unwrap();
    // A teacher that has learnt something else.
    few_sequences(folder.path(), 20);
    done(folder.path(), &format!("train {FEW} --cv off --out other"));
    let recipe = "dataset = \"digits\"\nepochs = 2\nhidden = 6\n\
                  [search]\nteacher = [\"other/model.safetensors\"]\nlr = [0.01, 0.02]\n";
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let answer = json(folder.path(), &words("search r.toml --trials 5 --rungs 1 --seeds 1 --quiet --out s"));
    assert_eq!(answer["winner"]["changes"], serde_json::json!([]));
    let store = std::fs::read_to_string(folder.path().join("s/trials.jsonl")).unwrap();
    assert_eq!(store.matches("\"failed\":\"").count(), 2, "{store}");
}

#[test]
fn a_recipe_that_does_not_fit_is_said_not_to() {
    let folder = tempfile::tempdir().unwrap();
    let args = "search --dataset digits --hidden 100 --budget-bytes 4000 --trials 4 --rungs 1 --epochs 1 --seeds 1 --out s --quiet";
    let shown = text(folder.path(), &words(args));
    assert!(shown.contains("does not fit"), "{shown}");
}

#[test]
fn a_language_model_is_as_wide_as_its_budget_allows() {
    let folder = tempfile::tempdir().unwrap();
    let verse = "the cat sat on the mat and the dog sat on the cat ".repeat(200);
    std::fs::write(folder.path().join("verse.txt"), verse).unwrap();
    let widest = |budget: usize| {
        let args = format!(
            "search --dataset verse.txt --task lm --tokens characters --epochs 1 --sequence-length 20 --batch 2 \
             --budget-bytes {budget} --trials 2 --rungs 1 --seeds 1 --finalists 1 --out s{budget} --quiet"
        );
        done(folder.path(), &args);
        let store = std::fs::read_to_string(folder.path().join(format!("s{budget}/trials.jsonl"))).unwrap();
        let hidden = store.lines().filter_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["trial"]["hidden"].as_u64()
        });
        hidden.max().unwrap()
    };
    let (narrow, wide) = (widest(1500), widest(4000));
    assert!(narrow > 8 && wide > narrow, "{narrow} and {wide} units");
}

#[test]
fn a_search_can_be_continued_with_more_trials_while_its_finals_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let search = SEARCH.replace("--trials 24", "--trials 12");
    done(folder.path(), &format!("{search} --out s"));
    let path = folder.path().join("s/trials.jsonl");
    let store = std::fs::read_to_string(&path).unwrap();
    let without_last: Vec<&str> = store.lines().take(store.lines().count() - 1).collect();
    std::fs::write(&path, without_last.join("\n") + "\n").unwrap();
    let answer = json(folder.path(), &words(&format!("{SEARCH} --out s --resume")));
    assert_eq!(answer["trials"], 24);
}

#[test]
fn what_a_search_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, code, parts: &[&str]| fails(folder.path(), &words(args), code, parts);
    f("search --budget-bytes 1000", 2, &["nothing to search with", "--dataset"]);
    f("search --dataset digits --trials 0", 2, &["--trials", "0"]);
    f("search --dataset digits --minutes 0", 2, &["minutes"]);
    f("search --dataset digits --trials 3 --minutes 3", 2, &["cannot be used with"]);
    f("search --dataset digits --budget-bytes 60 --trials 2", 2, &["no network"]);
    f("search --dataset digits --val-split 0", 2, &["val-split", "above 0"]);
    f("search --dataset digits --shard 3/2 --out s", 2, &["3/2", "2/3"]);
    f("search --dataset digits --shard 1/2", 2, &["--out"]);
    f("search --dataset digits --shard 1/2 --out s --minutes 3", 2, &["cannot be used with"]);
    f("search --merge nowhere nowhere", 2, &["nowhere is named twice"]);
    f("search --dataset digits --resume", 2, &["no search run of digits"]);
    f("search --merge nowhere", 2, &["nowhere holds no search"]);
    f("search --merge nowhere --trials 3", 2, &["cannot be used with"]);
    f("search --merge nowhere --lr 3", 2, &["--merge takes all settings from the folders"]);
    f("search --dataset digits --device cuda:x", 2, &["cuda:N"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");

    let r = |text: &str, parts: &[&str]| {
        std::fs::write(folder.path().join("r.toml"), format!("dataset = \"digits\"\n{text}")).unwrap();
        f("search r.toml", 2, parts);
    };
    r("[search]\nhiden = [4, 8]\n", &["r.toml, line 3", "hidden"]);
    r("[search]\nhidden = 8\n", &["r.toml, line 3", "a list of values"]);
    r("[search]\nseeds = [1, 2]\n", &["r.toml, line 3", "how networks are compared"]);
    r("[search]\nbudget-share = [0.5, 1.0]\n", &["budget-share", "without a budget of bytes"]);
    r("[search]\nrank-share-u = [0.5, 1.0]\n", &["rank-share-u", "has no effect without a budget"]);
    r("cell = \"gru\"\n[search]\ncell = [\"gru\", \"gru\"]\n", &["make no difference"]);
    r("[search]\n", &["r.toml, line 2", "no setting"]);

    done(
        folder.path(),
        "search --dataset digits --epochs 2 --trials 2 --seeds 1 --finalists 1 --out s --quiet",
    );
    f("search --dataset digits --epochs 2 --out s", 2, &["already holds a run", "--resume"]);
    f(
        "search --dataset digits --epochs 3 --out s --resume",
        2,
        &["another search", "epochs was 2, is now 3"],
    );
    f(
        "search --out s --resume --budget-bytes 900",
        2,
        &["another search", "budget-bytes was unset, is now 900"],
    );
    f("search --out s --resume --cohort 5", 2, &["another search", "cohort was 12, is now 5"]);
    let path = folder.path().join("s/trials.jsonl");
    let store = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, store.replacen("{\"trial\"", "{\"tria\"", 1)).unwrap();
    f("search --out s --resume", 1, &["trials.jsonl, line 2", "tria", "restore the file"]);
    std::fs::write(&path, store).unwrap();
    std::fs::write(folder.path().join("s/search.toml"), "seed = \"x\"\n").unwrap();
    f("search --out s --resume", 1, &["search.toml, line 1"]);
}
