//! A step that writes far more than fits: abide holds little of it at any time, and all of it is there afterwards.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests start the binary and look at its files")]

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MOST_KILOBYTES: u64 = 80 * 1024;
const GIGABYTE: usize = 1 << 30;

fn project(steps: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let abilities = folder.path().join(".abide/abilities");
    std::fs::create_dir_all(&abilities).unwrap();
    std::fs::write(abilities.join("flood.yaml"), format!("description: Writes much\nsteps:\n{steps}"))
        .unwrap();
    folder
}

fn abide(project: &tempfile::TempDir, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command.args(arguments).current_dir(project.path()).env("ABIDE_USER", "ada");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Reads what a process writes until it ends; returns how much that was, its beginning, and the most memory it held.
fn watch(mut child: Child) -> (usize, Vec<u8>, u64) {
    let status = format!("/proc/{}/status", child.id());
    let (mut count, mut start, mut peak) = (0, Vec::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    let mut out = child.stdout.take().unwrap();
    let mut looked = Instant::now();
    loop {
        let read = out.read(&mut buffer).unwrap();
        // The peak stays until the process is gone; while it has a pipe to write to, it is not.
        if read > 0 && (start.is_empty() || looked.elapsed() > Duration::from_millis(20)) {
            looked = Instant::now();
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let line = status.lines().find(|line| line.starts_with("VmHWM:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            peak = peak.max(kilobytes.unwrap_or(0));
        }
        if read == 0 {
            break;
        }
        count += read;
        if start.len() < 4096 {
            start.extend_from_slice(&buffer[..read.min(4096)]);
        }
    }
    assert!(child.wait().unwrap().success());
    (count, start, peak)
}

#[test]
fn a_gigabyte_is_kept_whole_in_little_memory() {
    // The second step ends only when it is told to, so that the process can be looked at after the first.
    let project = project(
        "  - { id: flood, timeout: 10m, run: 'head -c 1073741824 /dev/zero' }\n  - { id: look, needs: [flood], run: 'while ! test -e looked; do sleep 0.05; done' }\n",
    );
    let mut child = abide(&project, &["run", "flood", "--json"]);
    let mut events = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"step\":\"look\"") && !line.contains("look") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut events, &mut line).unwrap(), 0, "the run ended");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let peak: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < MOST_KILOBYTES, "{peak} KB");
    std::fs::write(project.path().join("looked"), "").unwrap();
    std::io::copy(&mut events, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
    let (count, _, peak) = watch(abide(&project, &["logs"]));
    assert_eq!(count, GIGABYTE);
    assert!((1..MOST_KILOBYTES).contains(&peak), "{peak} KB");
}

#[test]
fn a_flood_of_short_lines_is_shown_as_it_comes() {
    let project = project("  - { id: flood, run: 'yes | head -c 16777216' }\n");
    let (count, start, peak) = watch(abide(&project, &["run", "flood"]));
    assert!(start.starts_with("▸ flood\n  flood │ y\n  flood │ y\n".as_bytes()));
    assert!(count > 16_777_216 / 2 * "  flood │ y\n".len(), "{count}");
    assert!((1..MOST_KILOBYTES).contains(&peak), "{peak} KB");
}
