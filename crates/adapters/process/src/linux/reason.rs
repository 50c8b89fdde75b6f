//! Why a process could not be started, said so that a reader knows what to change.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use abide_engine::port::Spec;
use rustix::io::Errno;

const NOWHERE: &str = "there is no such program in PATH";

/// Returns the reason for an error of the system, which has one word for the folder, the program and its interpreter.
pub(super) fn of(error: &io::Error, spec: &Spec) -> String {
    if error.kind() == io::ErrorKind::InvalidInput {
        return "an argument or a variable holds a NUL byte, which no program can be given".to_owned();
    }
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) => missing(spec),
        Some(Errno::ACCESS) => forbidden(spec),
        Some(Errno::NOEXEC) => "the file is neither a program nor a script that starts with `#!`".to_owned(),
        Some(Errno::TOOBIG) => too_big(spec),
        Some(Errno::AGAIN | Errno::NOMEM) => format!("the system has no room for another process ({error})"),
        Some(Errno::MFILE | Errno::NFILE) => format!("too many files are open ({error})"),
        _ => error.to_string(),
    }
}

fn missing(spec: &Spec) -> String {
    match fs::metadata(&spec.folder) {
        Err(_) => return "the folder does not exist".to_owned(),
        Ok(found) if !found.is_dir() => return "the folder is not a folder".to_owned(),
        Ok(_) => {}
    }
    match program(spec) {
        None => NOWHERE.to_owned(),
        Some(path) if !path.exists() => "the program does not exist".to_owned(),
        Some(path) => match interpreter(&path) {
            Some(interpreter) => format!("its interpreter `{interpreter}` does not exist"),
            None => "a part of the system that the program needs does not exist".to_owned(),
        },
    }
}

fn forbidden(spec: &Spec) -> String {
    // A folder that can be looked into from inside can be entered; `.` makes the system check just that.
    if fs::metadata(spec.folder.join(".")).is_err() {
        return "the folder may not be entered".to_owned();
    }
    match program(spec).map(|path| (fs::metadata(&path), path)) {
        // A folder of PATH that may not be searched makes the system say this of a program that is nowhere.
        None => NOWHERE.to_owned(),
        Some((Ok(found), _)) if found.is_dir() => "the program is a folder".to_owned(),
        Some((Ok(found), path)) if found.permissions().mode() & 0o111 == 0 => {
            format!("the file is not executable; `chmod +x {}` makes it so", path.display())
        }
        _ => "the program may not be executed".to_owned(),
    }
}

fn too_big(spec: &Spec) -> String {
    let arguments: usize = spec.arguments.iter().map(|argument| argument.len() + 1).sum();
    let variables: usize =
        spec.variables.iter().map(|variable| variable.name.len() + variable.value.len() + 2).sum();
    let largest = spec
        .variables
        .iter()
        .map(|variable| (variable.value.len(), format!("the variable `{}`", variable.name)))
        .chain(spec.arguments.iter().map(|argument| (argument.len(), "an argument".to_owned())))
        .max();
    let largest = largest.map(|(length, what)| format!("; the largest is {what} with {length} bytes"));
    format!(
        "its arguments ({arguments} bytes) and variables ({variables} bytes) are more than the system can hand over{}",
        largest.unwrap_or_default()
    )
}

/// Returns where the program is: what its path says, or the first of that name in `PATH`.
fn program(spec: &Spec) -> Option<PathBuf> {
    if spec.program.contains('/') {
        return Some(spec.folder.join(&spec.program));
    }
    let own = || std::env::var_os("PATH").unwrap_or_default();
    let path = spec.variables.iter().rfind(|variable| variable.name == "PATH");
    let path = path.map_or_else(own, |variable| variable.value.clone().into());
    std::env::split_paths(&path).map(|folder| folder.join(&spec.program)).find(|path| path.is_file())
}

fn interpreter(path: &Path) -> Option<String> {
    let mut start = [0; 256];
    let count = fs::File::open(path).ok()?.read(&mut start).ok()?;
    let line = start[..count].split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    line.split_ascii_whitespace().next().map(str::to_owned)
}
