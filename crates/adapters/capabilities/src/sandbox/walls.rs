//! How the walls are put up: by `bwrap`, with limits by `prlimit`.
#![expect(clippy::disallowed_methods, reason = "the code that runs is put into a file of its own")]

use super::filter;
use abide_engine::port::Spec;
use serde::Deserialize;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The user and group inside, and outside too where abide runs as root: limits on processes do not hold for root.
const NOBODY: u32 = 65_534;

/// Bytes of memory that one process may have, bytes in `/tmp` and in shared memory, and bytes in one file.
const MEMORY: u64 = 512 << 20;
const TMP: u64 = 64 << 20;
const SHARED: u64 = 16 << 20;
const FILE: u64 = 32 << 20;
/// Processes and threads, and open files of each.
const PROCESSES: u64 = 32;
const OPEN_FILES: u64 = 64;

/// Looks at the walls from inside. The first that is missing is named.
pub(super) const PROBE: &str = r#"
fail() { echo "$1"; exit 1; }
[ "$(id -u)" = 65534 ] || fail 'the code would run as another user'
grep -q '^CapEff:.*0000000000000000$' /proc/self/status || fail 'the code would have capabilities'
grep -q '^NoNewPrivs:.*1$' /proc/self/status || fail 'the code could get new privileges'
grep -q '^Seccomp:.*2$' /proc/self/status || fail 'system calls are not filtered'
[ "$(grep -c : /proc/net/dev)" -le 1 ] || fail 'the code would have a network'
[ ! -e /home ] && [ ! -e /root ] && [ ! -e /var ] || fail 'the code would see files of this machine'
for place in / /usr /dev /etc; do
    ! (: > "$place/probe") 2>/dev/null || fail "the code could write to $place"
done
[ -z "$(tr '\0' '\n' < /proc/1/environ | grep -vE '^(PATH|HOME|LANG|PWD)=')" ] || fail 'the code would see an environment'
[ "$(ulimit -n)" = 64 ] || fail 'the code would not be limited'
[ "$(cd /proc && echo [0-9]* | wc -w)" -lt 10 ] || fail 'the code would see other processes'
echo safe
"#;

/// A language that code can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Language {
    Python,
    Javascript,
    Shell,
}

impl Language {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Javascript => "javascript",
            Self::Shell => "shell",
        }
    }

    /// Only what lies in the system's folders can be seen from inside.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Python => "/usr/bin/python3",
            Self::Javascript => "/usr/bin/node",
            Self::Shell => "/bin/sh",
        }
    }

    pub(super) fn is_installed(self) -> bool {
        Path::new(self.program()).exists()
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            // Isolated: neither the folder nor the environment changes what is imported.
            Self::Python => &["-I"],
            Self::Javascript | Self::Shell => &[],
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Python => "main.py",
            Self::Javascript => "main.js",
            Self::Shell => "main.sh",
        }
    }

    /// The limit on memory: address space, or for Node, which reserves far more of that than it uses, what it can write.
    fn memory(self) -> String {
        match self {
            Self::Python | Self::Shell => format!("--as={MEMORY}:{MEMORY}"),
            Self::Javascript => format!("--data={MEMORY}:{MEMORY}"),
        }
    }
}

/// What is needed for the walls, where it was found.
pub(super) struct Walls {
    bwrap: PathBuf,
    prlimit: PathBuf,
    /// What gives up being root, where abide is root.
    setpriv: Option<PathBuf>,
    /// The folders of the root that lead to the system's programs, as arguments of `bwrap`.
    root: Vec<String>,
}

/// Code in a file, and the filters beside it; all go with this value.
pub(super) struct Placed {
    folder: TempDir,
}

impl Placed {
    /// Returns the file that holds the number of the first process, once there is one.
    pub(super) fn leader(&self) -> PathBuf {
        self.folder.path().join("leader")
    }
}

impl Walls {
    /// Finds the programs; the reason for one that is missing says what to install.
    pub(super) fn find() -> Result<Self, String> {
        let find = |name: &str, package: &str| {
            let found =
                ["/usr/bin", "/bin", "/usr/local/bin"].iter().map(|folder| Path::new(folder).join(name));
            found.into_iter().find(|path| path.exists()).ok_or_else(|| {
                format!("`{name}` is not installed: install {package} to run code in a sandbox")
            })
        };
        let setpriv =
            if rustix::process::geteuid().is_root() { Some(find("setpriv", "util-linux")?) } else { None };
        Ok(Self {
            bwrap: find("bwrap", "bubblewrap")?,
            prlimit: find("prlimit", "util-linux")?,
            setpriv,
            root: root(),
        })
    }

    /// Puts code where the sandbox can be shown it, and nobody else sees it.
    pub(super) fn place(&self, language: Language, code: &str) -> io::Result<Placed> {
        let folder = tempfile::Builder::new().prefix("abide-sandbox-").tempdir()?;
        let [refused, missing, second] = filter::programs().map_err(io::Error::other)?;
        let files = [
            (folder.path().join(language.file()), code.as_bytes()),
            (folder.path().join("refused"), &refused[..]),
            (folder.path().join("missing"), &missing[..]),
            (folder.path().join("second"), &second[..]),
        ];
        for (path, bytes) in &files {
            fs::write(path, bytes)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o400))?;
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        if self.setpriv.is_some() {
            for path in files.iter().map(|(path, _)| path.as_path()).chain([folder.path()]) {
                chown(path, Some(NOBODY), Some(NOBODY))?;
            }
        }
        Ok(Placed { folder })
    }

    /// Returns the process that runs placed code behind the walls.
    pub(super) fn spec(&self, language: Language, placed: &Placed, time: Duration) -> Spec {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = placed.folder.path();
        let text = |path: &Path| path.display().to_string();
        // A shell opens the filters for `bwrap`, which takes them as open files. The environment, which may hold keys, is
        // gone before: a process can be asked for the one that it was started with. Its number is what the whole family
        // is found by.
        let mut arguments: Vec<String> = [
            "-c",
            "echo $$ >\"$4\"; exec 7<\"$1\" 8<\"$2\" 9<\"$3\"; shift 4; exec env -i \"ABIDE_MARK=$ABIDE_MARK\" \"$@\"",
            "sh",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.extend(["refused", "missing", "second"].map(|filter| text(&folder.join(filter))));
        arguments.push(text(&placed.leader()));
        if let Some(setpriv) = &self.setpriv {
            arguments.push(text(setpriv));
            let user = format!("--reuid={NOBODY}");
            let group = format!("--regid={NOBODY}");
            arguments.extend([user, group, "--clear-groups".to_owned(), "--".to_owned()]);
        }
        arguments.push(text(&self.bwrap));
        arguments.extend(
            "--unshare-all --die-with-parent --as-pid-1 --new-session --cap-drop ALL --clearenv --setenv PATH /usr/bin:/bin \
             --setenv HOME /tmp --setenv LANG C.UTF-8 --hostname sandbox --uid 65534 --gid 65534 \
             --add-seccomp-fd 7 --add-seccomp-fd 8 --add-seccomp-fd 9"
                .split_whitespace()
                .map(str::to_owned),
        );
        arguments.extend(self.root.iter().cloned());
        let code = folder.join(language.file());
        let inside = format!("/code/{}", language.file());
        for part in [
            // Whatever could be written to is small or read-only: memory is behind all of it.
            &["--proc", "/proc", "--dev", "/dev"][..],
            &["--size", &SHARED.to_string(), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
            &["--size", &TMP.to_string(), "--tmpfs", "/tmp"],
            &["--ro-bind", &text(&code), &inside],
            &["--remount-ro", "/", "--chdir", "/tmp", "--"],
            &[&text(&self.prlimit), &language.memory()],
            &[&format!("--nproc={PROCESSES}:{PROCESSES}"), &format!("--nofile={OPEN_FILES}:{OPEN_FILES}")],
            &[&format!("--fsize={FILE}:{FILE}"), "--core=0:0"],
            &[&format!("--cpu={0}:{0}", time.as_secs() + 1), "--", language.program()],
            language.arguments(),
            &[&inside],
        ] {
            arguments.extend(part.iter().map(|argument| (*argument).to_owned()));
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Spec {
            program: "/bin/sh".to_owned(),
            arguments,
            folder: PathBuf::from("/"),
            variables: Vec::new(),
            without: Vec::new(),
            longest: Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            mark: format!("sandbox-{}-{number}", std::process::id()),
        }
    }
}

/// Returns how the root looks inside: `/usr`, and what leads to it. Nothing of a user, a project or a secret.
fn root() -> Vec<String> {
    let mut arguments: Vec<String> = ["--ro-bind", "/usr", "/usr"].map(str::to_owned).to_vec();
    for name in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
        let path = Path::new(name);
        match path.read_link() {
            Ok(target) => {
                arguments.extend(["--symlink".to_owned(), target.display().to_string(), name.to_owned()]);
            }
            Err(_) if path.is_dir() => arguments.extend(["--ro-bind", name, name].map(str::to_owned)),
            Err(_) => {}
        }
    }
    for name in ["/etc/ld.so.cache", "/etc/alternatives"] {
        arguments.extend(["--ro-bind-try", name, name].map(str::to_owned));
    }
    arguments
}
