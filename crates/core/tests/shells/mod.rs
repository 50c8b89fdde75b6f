//! What the tests against real shells share: hostile values, random scripts, and a driver that runs many.

mod scripts;

pub(crate) use scripts::Scripts;

use abide_core::value::shell::{Dialect, Piece};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The shells under test: `sh` may be either of the last two.
pub(crate) const SHELLS: &[(&str, &[&str], Dialect)] =
    &[("bash", &[], Dialect::Bash), ("dash", &[], Dialect::Sh), ("bash", &["--posix"], Dialect::Sh)];

/// Returns the pieces of a script in which `@` stands for a placeholder.
pub(crate) fn pieces_of(script: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for (index, text) in script.split('@').enumerate() {
        if index > 0 {
            pieces.push(Piece::Placeholder { raw: false });
        }
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Returns values that create `marker` wherever a shell takes them, or a part of them, for code.
pub(crate) fn hostile_values(marker: &str) -> Vec<String> {
    [
        "a[$(>M)]",
        "$(>M)",
        "`>M`",
        "'; >M; '",
        "\"; >M; \"",
        "; >M #",
        "\n>M\n",
        "-va[$(>M)]",
        "-v a[$(>M)]",
        "-v",
        "-eq",
        "%n",
        "([$(>M)]=1)",
        "($(>M))",
        "x=a[$(>M)]",
        "a[$(>M)]=1",
        "EOF\n>M\nEOF\n",
        "A\n>M\n",
        ")) ; >M ; ((",
        ") >M",
        "]] ; >M #",
        "] ; >M #",
        ";; esac; >M",
        "-pa[$(>M)]",
        "eval",
        "1+a[$(>M)]",
        "}\";>M;\"${x",
        "'$(>M)'",
        "\\$(>M)",
        "touch M",
        "X",
        "a\\\n",
        "*",
    ]
    .iter()
    .map(|value| value.replace('M', marker))
    .collect()
}

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Runs scripts one after the other, each in a subshell, with hostile values in `V0` to `V7`; panics with the
/// scripts that let a value run.
///
/// The scripts are random, so they must not reach anything: the environment is empty (`: > $_` would empty
/// the program that an inherited `_` names), no file is overwritten (`set -C`), and the grammar redirects only to
/// `./…`, removes nothing and sends no signals. Keep it so.
pub(crate) fn run_all(shell: &str, arguments: &[&str], scripts: &[(String, String)]) {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("abide-shell-{}-{number}", std::process::id()));
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    let marker = folder.join("pwned").to_str().unwrap().to_owned();
    for (index, (_, rendered)) in scripts.iter().enumerate() {
        fs::write(folder.join(index.to_string()), rendered).unwrap();
    }
    let driver = format!(
        "set -C; i=0; while [ $i -lt {} ]; do ( trap - EXIT; set --; cd work; . ../$i ) </dev/null >/dev/null 2>&1; \
         if [ -e pwned ]; then echo $i; rm -f pwned; fi; i=$((i + 1)); done",
        scripts.len()
    );
    let values = hostile_values(&marker);
    let mut found = Vec::new();
    // First what bash evaluates in most places, then everything in changing company.
    for round in 0..2 {
        let mut command = Command::new(shell);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &work).env("LC_ALL", "C");
        command
            .args(arguments)
            .args(["-c", &driver])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        for variable in 0..8 {
            let value = if round == 0 {
                variable % 2 * 7
            } else {
                (variable * 5 + number * 3 + scripts.len()) % values.len()
            };
            command.env(format!("V{variable}"), &values[value]);
        }
        let output = command.output().unwrap();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            found.push(line.parse::<usize>().unwrap());
        }
    }
    fs::remove_dir_all::<&PathBuf>(&folder).unwrap();
    found.sort_unstable();
    found.dedup();
    // What a script left running in the background may have been noticed a little later.
    let listed: Vec<&[(String, String)]> =
        found.iter().take(8).map(|index| &scripts[index.saturating_sub(4)..=*index]).collect();
    assert!(found.is_empty(), "{shell} {arguments:?}: {} scripts let a value run: {listed:#?}", found.len());
}
