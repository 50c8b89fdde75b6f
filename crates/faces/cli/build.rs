//! How `abide` is linked on Linux: so that it starts as quickly when it is large as when it is small.
//!
//! A hook is a process for every tool call of an agent. What a process of this size spends before its first line is
//! nearly all in the loader: a position-independent executable has a relocation for each pointer in its tables, and each
//! page that holds one is read, changed and kept apart; and every library is found, mapped, relocated and bound. Linked to
//! a fixed address and with the C library in it there is nothing to do, and only the pages that a command uses are
//! touched. The price is that this executable is always at the same address; its heap and its stacks are not.
//!
//! The C library is linked in where the compiler has it as an archive, as on Debian; elsewhere `abide` is linked as usual.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads its environment, asks the C compiler and tells cargo by printing"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shared libraries that rustc names, and the archives of the C compiler that stand in for each.
const STAND_INS: [(&str, &[&str]); 3] =
    [("libgcc_s.so", &["libgcc_eh.a", "libgcc.a"]), ("libc.so", &["libc.a"]), ("libm.so", &["libm.a"])];

/// What the standard library uses only where it finds it, and does not take out of an archive by itself: without these, each
/// process is started by a copy of this one, `fork`, instead of `posix_spawn`.
const ASKED_FOR: [&str; 2] = ["gnu_get_libc_version", "posix_spawn_file_actions_addchdir_np"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    let about = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let known = matches!(about("ARCH").as_str(), "x86_64" | "aarch64");
    let is_static = about("FEATURE").split(',').any(|feature| feature == "crt-static");
    if !known || about("OS") != "linux" || about("ENV") != "gnu" || is_static {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if env::var("HOST") == env::var("TARGET")
        && let Some(folder) = stand_ins()
    {
        println!("cargo::rustc-link-arg-bins=-static");
        println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
        for symbol in ASKED_FOR {
            println!("cargo::rustc-link-arg-bins=-Wl,--undefined={symbol}");
        }
    }
}

/// Writes what the linker takes for the shared libraries: a line that names the archives. Nothing where one is missing.
fn stand_ins() -> Option<PathBuf> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let folder = Path::new(&env::var_os("OUT_DIR")?).join("archives");
    fs::create_dir_all(&folder).ok()?;
    for (library, archives) in STAND_INS {
        let archives: Option<Vec<String>> = archives.iter().map(|name| archive(&compiler, name)).collect();
        fs::write(folder.join(library), format!("GROUP({})\n", archives?.join(" "))).ok()?;
    }
    Some(folder)
}

/// Returns the path of an archive of the C compiler.
fn archive(compiler: &str, name: &str) -> Option<String> {
    let asked = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let found = String::from_utf8(asked.stdout).ok()?;
    let found = found.trim();
    // A name that is not found is given back as it is.
    let is_usable =
        Path::new(found).is_absolute() && Path::new(found).is_file() && !found.contains(char::is_whitespace);
    is_usable.then(|| found.to_owned())
}
