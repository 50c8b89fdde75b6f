//! A program that is started without its shell ends, writes and sees what it would with it.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write programs")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use abide_engine::port::{Ending, Spec, Variable};
use abide_process::LocalProcess;
use support::{run, script};

/// Writes a program into the folder.
fn program(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The script with `sh`, which may be left out, or with `/bin/sh`, which is what was asked for.
fn spec(folder: &Path, text: &str, shell: &str) -> Spec {
    Spec { program: shell.to_owned(), folder: folder.to_path_buf(), ..script(text) }
}

/// A folder of programs that the test starts.
fn programs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    program(at, "parent", "#!/bin/sh\necho $PPID\n");
    program(at, "code", "#!/bin/sh\nexit $1\n");
    program(at, "dies", "#!/bin/sh\nkill -$1 $$\n");
    program(at, "says", "#!/bin/sh\nfor word; do echo \"<$word>\"; done\necho talk >&2\n");
    program(
        at,
        "sees",
        "#!/bin/sh\necho \"$PWD\"; env | grep -v -e '^_=' -e '^ABIDE_MARK=' -e '^SHLVL=' | sort\n",
    );
    program(at, "bare", "echo no interpreter $1\n");
    program(at, "lost", "#!/no/such/interpreter\n");
    fs::write(at.join("text"), "not a program\n").unwrap();
    fs::create_dir(at.join("folder")).unwrap();
    folder
}

#[tokio::test]
async fn no_shell_stands_between() {
    let folder = programs();
    for (shell, ours) in [("sh", true), ("/bin/sh", false)] {
        // dash stays as the parent of its program, bash becomes it; a shell that has something to do always stays.
        let text = if ours { "./parent" } else { "./parent; :" };
        let (_, seen) = run(&LocalProcess::new(), spec(folder.path(), text, shell)).await;
        assert_eq!(
            seen.stdout().trim() == std::process::id().to_string(),
            ours,
            "{shell}: {}",
            seen.stdout()
        );
    }
}

#[tokio::test]
async fn nobody_can_tell_the_difference() {
    let folder = programs();
    for text in [
        "./code 0",
        "./code 7",
        "  ./code\t255 \n",
        "./says one two=2 -x --long=a,b @c %d +e :f . ..",
        "./sees",
        "./bare word",
        "./lost",
        "./text",
        "./folder",
        "./nowhere",
        "no-such-program-anywhere --help",
        "uname -s",
        "env -u ABIDE_MARK printenv LC_ALL",
        "sh -c exit",
    ] {
        let [straight, shell] = ["sh", "/bin/sh"].map(|shell| spec(folder.path(), text, shell));
        let (ended, seen) = run(&LocalProcess::new(), straight).await;
        let (expected_ending, expected) = run(&LocalProcess::new(), shell).await;
        assert_eq!(ended, expected_ending, "{text}");
        assert_eq!(seen.stdout(), expected.stdout(), "{text}");
        // A shell names itself in what it says.
        assert_eq!(seen.stderr(), expected.stderr().replace("/bin/sh:", "sh:"), "{text}");
    }
}

#[tokio::test]
async fn a_signal_is_told_as_a_shell_tells_it() {
    let folder = programs();
    for signal in [9, 11, 15] {
        let text = format!("./dies {signal}");
        let (ended, _) = run(&LocalProcess::new(), spec(folder.path(), &text, "sh")).await;
        assert_eq!(ended, Ok(Ending::Exited(128 + signal)));
    }
}

#[tokio::test]
async fn the_path_of_the_step_is_searched() {
    let folder = programs();
    let path = Variable {
        name: "PATH".to_owned(),
        value: format!("{}:/usr/bin:/bin", folder.path().display()),
        secret: false,
    };
    let asked = Spec { variables: vec![path], ..spec(folder.path(), "says found", "sh") };
    let (ended, seen) = run(&LocalProcess::new(), asked).await;
    assert_eq!((ended, seen.stdout().as_str()), (Ok(Ending::Exited(0)), "<found>\n"));
}

#[tokio::test]
async fn a_function_in_the_environment_is_left_to_the_shell() {
    let folder = programs();
    let function = Variable {
        name: "BASH_FUNC_parent%%".to_owned(),
        value: "() { echo function; }".to_owned(),
        secret: false,
    };
    let asked = Spec { variables: vec![function], ..spec(folder.path(), "./parent", "sh") };
    let (_, seen) = run(&LocalProcess::new(), asked).await;
    assert_ne!(seen.stdout().trim(), std::process::id().to_string());
}
