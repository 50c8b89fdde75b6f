//! How `abide` is linked on Linux: so that it starts as quickly when it is large as when it is small.
//!
//! A hook is a process for every tool call of an agent. What a process of this size spends before its first line is
//! nearly all in the loader: a position-independent executable has a relocation for each pointer in its tables, and each
//! page that holds one is read, changed and kept apart. Linked to a fixed address there are none, and only the pages that
//! a command uses are touched. The price is that this executable is always at the same address; its libraries, its
//! heap and its stacks are not. The unwinder comes with the executable where the C compiler has it to link: one
//! library less to find, map and relocate.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads its environment, asks the C compiler and tells cargo by printing"
)]

use std::env;
use std::path::Path;
use std::process::Command;

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
    if env::var("HOST") == env::var("TARGET") && has_unwinder() {
        println!("cargo::rustc-link-lib=static:+whole-archive,-bundle=gcc_eh");
    }
}

/// Tells whether the C compiler that links has its unwinder as a static library.
fn has_unwinder() -> bool {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let Ok(asked) = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output() else { return false };
    // A name that is not found is given back as it is.
    let found = String::from_utf8_lossy(&asked.stdout);
    let found = Path::new(found.trim());
    found.is_absolute() && found.is_file()
}
