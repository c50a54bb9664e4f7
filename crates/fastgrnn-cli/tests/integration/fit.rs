//! Which boards a model fits, and training that is held to one.

use crate::command::{fails, has_keys, json, run, text};

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn info_says_which_boards_a_model_fits_and_that_it_is_derived() {
    let folder = tempfile::tempdir().unwrap();
    let new = |hidden: &str, out: &str| {
        let args = format!("new --cell gru --input 9 --hidden {hidden} --classes 6 --steps 128 -o {out}");
        json(folder.path(), &words(&args));
        json(folder.path(), &["info", out])["boards"].as_array().unwrap().clone()
    };
    for (hidden, on_uno) in [("24", true), ("90", false)] {
        let boards = new(hidden, "m.safetensors");
        let ids: Vec<&str> = boards.iter().map(|b| b["board"].as_str().unwrap()).collect();
        assert_eq!(ids, ["uno", "m0plus", "m3", "m4", "riscv32", "aarch64"]);
        for board in &boards {
            has_keys(board, &["name", "fits", "short", "how", "form", "flash_bytes", "flash_left_bytes"]);
            has_keys(board, &["flash_data_bytes", "flash_code_bytes", "ram_bytes", "ram_left_bytes"]);
            has_keys(board, &["ram_static_bytes", "stack_bytes", "cycles_per_step", "cycles_per_inference"]);
            has_keys(board, &["ms_per_step", "ms_per_inference"]);
            assert_eq!(board["how"], "derived");
            let whole = |key: &str| board[key].as_u64().unwrap();
            assert_eq!(whole("flash_data_bytes") + whole("flash_code_bytes"), whole("flash_bytes"));
            assert_eq!(whole("ram_static_bytes") + whole("stack_bytes"), whole("ram_bytes"));
            assert_eq!(board["fits"], board["short"].as_array().unwrap().is_empty());
        }
        assert_eq!(boards[0]["fits"], on_uno, "{}", boards[0]);
        assert_eq!(boards[3]["fits"], true);
        assert!(boards[5]["ms_per_step"].is_null());
    }
    let people = text(folder.path(), &["info", "m.safetensors"]);
    // Notes are broken into lines.
    let people = people.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "no, short of",
        "bytes of flash",
        "derived from the shape",
        "Times are modelled. `fastgrnn board` measures both.",
        "ms a step",
    ] {
        assert!(people.contains(part), "{part} is not in\n{people}");
    }
}

#[test]
fn training_for_a_board_refuses_what_cannot_fit_and_says_what_would() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, code, parts: &[&str]| fails(folder.path(), &words(args), code, parts);
    let train =
        |more: &str, parts: &[&str]| f(&format!("train --dataset digits --epochs 1 {more}"), 2, parts);
    let numbers = ["bytes of flash, an Uno has 32,256 of which", "try --hidden 1", "or --rank-u"];
    train("--fit uno --hidden 300", &numbers);
    train("--max-ram 300 --board uno --hidden 300", &["bytes of RAM on an Uno", "max-ram allows 300"]);
    train("--max-ms 2 --board m0plus --hidden 64", &["ms for a sequence of 8 steps", "max-ms allows 2"]);
    train("--max-flash 10", &["max-flash allows 10", "no number of units"]);
    train("--max-ms 2", &["name it with board or fit"]);
    train("--fit uno --board m3", &["two boards"]);
    train("--board m3", &["nothing is limited"]);
    train("--fit uno --quantize=false", &["quantize = false", "integer model"]);
    f("train --dataset digits --fit mega", 2, &["mega", "m0plus"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
}

#[test]
fn units_that_nobody_chose_are_as_many_as_fit() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = "dataset = \"digits\"\nboard = \"uno\"\nmax-ram = 400\nmax-flash = 6000\nepochs = 1\n";
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let output = run(folder.path(), &words("train r.toml --out run --json"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.contains("instead of 64: the most units"), "{stderr}");
    let i = json(folder.path(), &["info", "run"]);
    assert_eq!(i["engine"], "integer");
    let uno = &i["boards"][0];
    let hidden = i["network"]["layers"][0]["hidden"].as_u64().unwrap();
    assert!(uno["flash_bytes"].as_u64().unwrap() <= 6_000 && uno["ram_bytes"].as_u64().unwrap() <= 400);
    assert!(hidden > 10, "{hidden}");
    assert!(i["recipe"].get("max-ram").is_none(), "limits change no result and are not in the model");
    let config = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("max-ram = 400") && config.contains("board = \"uno\""), "{config}");
}

#[test]
fn pareto_keeps_to_the_limits_and_nobody_believes_in_sizes_it_ignores() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, code, parts: &[&str]| fails(folder.path(), &words(args), code, parts);
    f(
        "pareto --dataset digits --budget-bytes 900 --hidden 8",
        2,
        &["--hidden would have no effect", "budgets"],
    );
    f("pareto --dataset digits --budget-bytes 900 --keep-u 0.5", 2, &["--keep-u", "--kept"]);
    f("pareto --dataset digits --budget-bytes 900 --cell gru --cells rnn", 2, &["--cells"]);
    f(
        "pareto --dataset digits --budget-bytes 900 --max-ram 90",
        2,
        &["no network fits", "keeps to the limits"],
    );
    f("pareto --dataset digits --budget-bytes 900 --max-ms 9", 2, &["name it with board"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    std::fs::write(folder.path().join("r.toml"), "dataset = \"digits\"\nhidden = 9\nepochs = 1\n").unwrap();
    let args = "pareto r.toml --budget-bytes 20000 --max-ram 330 --board uno --rank-shares 1 --kept 1 --out p --json";
    let output = run(folder.path(), &words(args));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.contains("hidden of the recipe is not used"), "{stderr}");
    let p: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = p["points"].as_array().unwrap();
    let ram = |model: &str| json(folder.path(), &["info", model])["boards"][0]["ram_bytes"].as_u64().unwrap();
    assert_eq!(points.len(), 1);
    let used = ram(points[0]["model"].as_str().unwrap());
    assert!((300..=330).contains(&used), "{used}");
}
