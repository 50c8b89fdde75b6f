//! Ways to take rights away from the binary that the tester has: disks of its own, and root without its powers.

use crate::support::{Project, Said};
use std::process::{Command, Stdio};

/// Runs a script that may mount disks nobody else sees; `$ABIDE` is the binary, the folder the project.
///
/// Returns nothing, and says why, where the system does not let the tester do that.
pub(crate) fn with_own_mounts(project: &Project, script: &str) -> Option<Said> {
    let may = |flags: &str| {
        let tried = Command::new("unshare").args([flags, "sh", "-c", "mount -t tmpfs none /mnt"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(flags) = ["-m", "-rm"].into_iter().find(|flags| may(flags)) else {
        eprintln!("skipped: this system allows no mounts, not even in a namespace of one's own");
        return None;
    };
    let output = Command::new("unshare")
        .args([flags, "sh", "-eu", "-c", script])
        .current_dir(project.path(""))
        .env("ABIDE", env!("CARGO_BIN_EXE_abide"))
        .env("ABIDE_USER", "ada")
        .stdin(Stdio::null())
        .output();
    Some(Said::of(output.unwrap()))
}

/// Runs a command line of the binary as somebody for whom permissions count, which they do not for root.
pub(crate) fn without_powers(project: &Project, arguments: &[&str]) -> Said {
    let is_root = rustix::process::geteuid().is_root();
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-dac_override,-dac_read_search").arg(env!("CARGO_BIN_EXE_abide"));
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_abide"))
    };
    command.args(arguments).current_dir(project.path("")).env("ABIDE_USER", "ada").stdin(Stdio::null());
    Said::of(command.output().unwrap())
}
