//! The WebAssembly package in node and in a browser, bit for bit.

use crate::compilers::{has, said, skipped};
use crate::models::{awkward, variety};
use crate::written::{packed, packed_float, written};
use fastgrnn_export::Target;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

fn can_build() -> bool {
    let can = has("clang") && has("wasm-ld");
    if !can {
        skipped("WebAssembly was NOT tested: clang or wasm-ld is missing");
    }
    can
}

#[test]
fn node_computes_the_host_s_scores_for_every_cell() {
    if !can_build() {
        return;
    }
    if !has("node") {
        return skipped("WebAssembly was NOT run: node is missing");
    }
    let mut models = variety();
    models.push(("awkward".into(), awkward()));
    for (name, model) in models {
        let package = packed(&model, Target::Wasm);
        let folder = written(&package);
        let output =
            Command::new("node").current_dir(folder.path().join("out")).arg("test.mjs").output().unwrap();
        let text = said(&output);
        assert!(output.status.success() && text.ends_with("PASS\n"), "{name}:\n{text}");
        assert!(text.contains(&package.info.golden.hash), "{name}:\n{text}");
    }
}

#[test]
fn node_finds_a_wrong_score() {
    if !can_build() || !has("node") {
        return;
    }
    let package = packed(&awkward(), Target::Wasm);
    let folder = written(&package);
    let out = folder.path().join("out");
    let golden = std::fs::read_to_string(out.join("model_golden.json")).unwrap();
    let mut golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let score = &mut golden["windows"][1]["scores"][0];
    *score = serde_json::json!(score.as_i64().unwrap() + 1);
    std::fs::write(out.join("model_golden.json"), golden.to_string()).unwrap();
    let output = Command::new("node").current_dir(&out).arg("test.mjs").output().unwrap();
    assert!(!output.status.success() && said(&output).contains("FAIL"), "{}", said(&output));
}

#[test]
fn the_float_version_runs_as_well() {
    if !can_build() || !has("node") {
        return;
    }
    let folder = written(&packed_float(&awkward(), Target::Wasm));
    let output =
        Command::new("node").current_dir(folder.path().join("out")).arg("test.mjs").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn the_module_imports_nothing_and_refuses_frames_that_are_none() {
    if !can_build() || !has("node") {
        return;
    }
    let folder = written(&packed(&awkward(), Target::Wasm));
    let out = folder.path().join("out");
    let script = "
        import { load, about } from './model.js';
        import { readFileSync } from 'node:fs';
        const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync('model.wasm')));
        const model = await load();
        const refused = [[1], [1, 2, 3], [1.5, 0], [40000, 0], ['a', 0]].map((frame) => {
          try { model.step(frame); return false; } catch (error) { return error instanceof RangeError; }
        });
        console.log(JSON.stringify({ imports, refused, labels: about.labels, features: about.features }));
    ";
    std::fs::write(out.join("check.mjs"), script).unwrap();
    let output = Command::new("node").current_dir(&out).arg("check.mjs").output().unwrap();
    let found: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&output)));
    assert_eq!(found["imports"], serde_json::json!([]));
    assert_eq!(found["refused"], serde_json::json!([true, true, true, true, true]));
    assert_eq!(found["labels"][1], "@name@ | <b>");
    assert_eq!(found["features"][0]["name"], "acc */ x");
}

/// Answers requests for files of `folder` until the test ends; its address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &folder);
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut request = vec![0; 8192];
    let n = stream.read(&mut request)?;
    let text = String::from_utf8_lossy(&request[..n]);
    let path = text.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    let (status, body) = match std::fs::read(folder.join(path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not FolderState", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

#[test]
fn a_browser_computes_the_host_s_scores() {
    if !can_build() {
        return;
    }
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|b| has(b)) else {
        skipped("WebAssembly was NOT run in a browser: no chromium is installed");
        return;
    };
    let package = packed(&awkward(), Target::Wasm);
    let folder = written(&package);
    let address = serve(folder.path().join("out"));
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("{address}/index.html"))
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("<span id=\"verdict\">PASS</span>"), "{}", said(&output));
    assert!(page.contains(&package.info.golden.hash), "{page}");
}
