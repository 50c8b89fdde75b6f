//! What is known about programs: which run others, which take code, which only read.
//!
//! A program that is in no list may run its arguments, so these are looked at (`Origin::Mentioned`). The lists
//! of what is harmless hold only programs that cannot run their arguments.

use super::language::Language;

/// How a program treats its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// As data.
    Inert,
    /// It changes the folder.
    Folder,
    /// It assigns variables.
    Declare,
    /// It fills variables from elsewhere.
    Receive,
    /// `alias`
    Alias,
    /// `trap`
    Trap,
    /// `eval`
    Eval,
    /// `source` and `.`
    Source,
    /// A shell.
    Shell,
    /// Another language.
    Interpreter(Language),
    /// `awk`
    Awk,
    /// `sed`
    Sed,
    /// `git`
    Git,
    /// It runs the command in its arguments.
    Wrapper(&'static Wrapper),
    /// `find`
    Find,
    /// It runs tasks that are written down elsewhere.
    Tasks,
    /// `at` and `batch`: they run what they are told later.
    Later,
    /// `crontab`
    Crontab,
    /// Nobody knows.
    Unknown,
}

/// A program that runs the command in its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrapper {
    pub(crate) name: &'static str,
    /// Options that are followed by a value.
    pub(super) values: &'static [&'static str],
    /// How many words stand before the command.
    pub(super) before: usize,
    /// How it takes the command.
    pub(super) form: Form,
}

impl Wrapper {
    /// Returns the letters of the options that are followed by a value.
    pub(super) fn letters(&self) -> &'static str {
        match self.name {
            "su" => "sgGw",
            "runuser" => "sugGw",
            "script" => "EIOBTmo",
            "flock" => "wE",
            _ => "",
        }
    }
}

/// How a wrapper takes the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As words.
    Words,
    /// As words, after assignments.
    Environment,
    /// As words, to which more are added.
    More,
    /// As words that are joined to code.
    Code,
    /// As the value of `-c`, or else as words.
    Option,
    /// As words, unless `-v` or `-V` only asks.
    Query,
}

const fn wrapper(name: &'static str, values: &'static [&'static str], before: usize, form: Form) -> Wrapper {
    Wrapper { name, values, before, form }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", &[], 0, Form::Words),
    wrapper("exec", &["-a"], 0, Form::Words),
    wrapper("command", &[], 0, Form::Query),
    wrapper("nohup", &[], 0, Form::Words),
    wrapper("setsid", &[], 0, Form::Words),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0, Form::Words),
    wrapper("nice", &["-n", "--adjustment"], 0, Form::Words),
    wrapper("ionice", &["-c", "-n", "-p", "-P", "-u"], 0, Form::Words),
    wrapper("chrt", &["-p"], 1, Form::Words),
    wrapper("taskset", &["-p"], 1, Form::Words),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0, Form::Words),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1, Form::Words),
    wrapper("gtimeout", &["-k", "-s", "--kill-after", "--signal"], 1, Form::Words),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0, Form::Environment),
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-r", "-t", "-T", "-U", "--user", "--group", "--chdir",
            "--host",
        ],
        0,
        Form::Environment,
    ),
    wrapper("doas", &["-u", "-C"], 0, Form::Environment),
    wrapper(
        "xargs",
        &["-I", "-n", "-L", "-P", "-d", "-a", "-s", "-E", "--max-args", "--max-procs", "--delimiter"],
        0,
        Form::More,
    ),
    wrapper("gxargs", &["-I", "-n", "-L", "-P", "-d", "-a", "-s", "-E"], 0, Form::More),
    wrapper("parallel", &["-j", "--jobs", "-N", "-n", "-a", "--arg-file", "--colsep"], 0, Form::Code),
    wrapper("watch", &["-n", "--interval", "-d"], 0, Form::Code),
    wrapper(
        "ssh",
        &["-i", "-l", "-p", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m"],
        1,
        Form::Code,
    ),
    wrapper("su", &["-s", "--shell", "-g", "-G"], 1, Form::Option),
    wrapper("runuser", &["-s", "-u", "-g", "-G"], 1, Form::Option),
    wrapper("script", &["-E", "-I", "-O", "-B", "-T", "-m", "-o"], 0, Form::Option),
    wrapper("flock", &["-w", "-E", "--timeout", "--wait"], 1, Form::Option),
    wrapper("busybox", &[], 0, Form::Words),
    wrapper("toybox", &[], 0, Form::Words),
    wrapper("unshare", &[], 0, Form::Words),
    wrapper("nsenter", &["-t", "--target"], 0, Form::Words),
    wrapper("chroot", &[], 1, Form::Words),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u", "-E"], 0, Form::Words),
    wrapper("ltrace", &["-e", "-o", "-p", "-s"], 0, Form::Words),
    wrapper("unbuffer", &[], 0, Form::Words),
    wrapper("chronic", &[], 0, Form::Words),
    wrapper("caffeinate", &["-t", "-w"], 0, Form::Words),
    wrapper("setpriv", &[], 0, Form::Words),
    wrapper("systemd-run", &["-u", "-p", "--unit", "--property"], 0, Form::Words),
];

/// Returns how a program treats its arguments, by the last part of its path.
pub(crate) fn program(name: &str) -> Program {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    match name {
        "cd" | "chdir" | "pushd" | "popd" => Program::Folder,
        "export" | "declare" | "typeset" | "local" | "readonly" | "integer" | "setenv" => Program::Declare,
        "read" | "mapfile" | "readarray" | "getopts" | "printf" | "unset" | "let" => Program::Receive,
        "alias" => Program::Alias,
        "trap" => Program::Trap,
        "eval" => Program::Eval,
        "source" | "." => Program::Source,
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "rbash" | "fish" | "csh" | "tcsh"
        | "pwsh" | "powershell" | "nu" | "xonsh" | "elvish" | "yash" => Program::Shell,
        "awk" | "gawk" | "mawk" | "nawk" => Program::Awk,
        "sed" | "gsed" => Program::Sed,
        "git" => Program::Git,
        "at" | "batch" => Program::Later,
        "crontab" => Program::Crontab,
        "find" | "gfind" | "fd" | "fdfind" => Program::Find,
        "make" | "gmake" | "bmake" | "ninja" | "just" | "task" | "rake" | "npm" | "pnpm" | "yarn"
        | "gradle" | "gradlew" | "mvn" | "ant" | "nox" | "tox" | "invoke" | "inv" | "poe" | "hatch"
        | "composer" | "turbo" | "nx" | "lerna" | "moon" | "mise" | "scons" | "bazel" | "grunt" | "gulp"
        | "fab" | "cap" | "earthly" | "dagger" | "act" => Program::Tasks,
        _ if is_inert(name) => Program::Inert,
        _ => {
            if let Some(language) = Language::of(name) {
                return Program::Interpreter(language);
            }
            WRAPPERS.iter().find(|wrapper| wrapper.name == name).map_or(Program::Unknown, Program::Wrapper)
        }
    }
}

/// Programs that print or look, and can neither run their arguments nor write what these name.
const READERS: &[&str] = &[
    "[",
    "test",
    "true",
    "false",
    ":",
    "echo",
    "printf",
    "cat",
    "head",
    "tail",
    "wc",
    "ls",
    "pwd",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "diff",
    "cmp",
    "comm",
    "cut",
    "tr",
    "nl",
    "od",
    "hexdump",
    "stat",
    "file",
    "du",
    "df",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "type",
    "whereis",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "b2sum",
    "jq",
    "id",
    "whoami",
    "uname",
    "printenv",
    "ps",
    "pgrep",
    "seq",
    "sleep",
    "column",
    "fold",
    "fmt",
    "paste",
    "join",
    "tac",
    "rev",
    "strings",
    "bat",
    "eza",
    "exa",
    "nproc",
    "free",
    "uptime",
    "wait",
    "jobs",
    "return",
    "exit",
    "break",
    "continue",
    "set",
    "shopt",
    "umask",
    "ulimit",
    "hash",
    "help",
    "expr",
    "bc",
    "yes",
    "lsof",
    "groups",
    "tty",
    "locale",
    "arch",
    "shift",
    "times",
    "dirs",
    "zcat",
    "xzcat",
];

/// Programs that take their arguments as data, and may write.
const WRITERS: &[&str] = &[
    "rm", "rmdir", "mv", "cp", "ln", "link", "unlink", "mkdir", "touch", "chmod", "chown", "chgrp",
    "install", "shred", "truncate", "tee", "dd", "sort", "gh", "glab", "curl", "wget", "kill", "pkill",
    "killall", "mktemp", "tree", "xxd", "uniq", "less", "more", "man", "history", "base64", "hostname",
    "date", "sync", "patch", "split", "csplit", "gzip", "gunzip", "bzip2", "xz", "zstd", "unzip", "zip",
    "rsync", "tar", "setfacl", "chattr", "mkfifo", "abide",
];

fn is_inert(name: &str) -> bool {
    READERS.contains(&name) || WRITERS.contains(&name)
}

/// Options with which programs of these lists run others.
pub(crate) const EXECUTING_OPTIONS: &[&str] = &[
    "--pre",
    "--pager",
    "--compress-program",
    "--use-compress-program",
    "-I",
    "--to-command",
    "--checkpoint-action",
    "--rsh",
    "--rsync-path",
    "-P",
    "-TT",
    "--unzip-command",
    "--filter",
    "--info-script",
    "--new-volume-script",
];

/// How a program that takes data runs others.
pub(super) struct Runs {
    name: &'static str,
    /// The letters of options whose value is run.
    pub(super) short: &'static str,
    /// The same options in long.
    pub(super) long: &'static [&'static str],
    /// Commands of it that keep what is run later.
    pub(super) commands: &'static [&'static str],
}

const fn option(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    commands: &'static [&'static str],
) -> Runs {
    Runs { name, short, long, commands }
}

const RUNS: &[Runs] = &[
    option(
        "tar",
        "IF",
        &[
            "--use-compress-program",
            "--to-command",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            "--rsh-command",
        ],
        &[],
    ),
    option("rsync", "e", &["--rsh", "--rsync-path"], &[]),
    option("sort", "", &["--compress-program"], &[]),
    option("split", "", &["--filter"], &[]),
    option("zip", "T", &["--unzip-command"], &[]),
    option("wget", "e", &["--use-askpass", "--execute"], &[]),
    option("install", "", &["--strip-program"], &[]),
    option("man", "PH", &["--pager", "--html"], &[]),
    option("less", "", &[], &[]),
    option("more", "", &[], &[]),
    option("gh", "", &[], &["alias", "config", "extension", "ext"]),
    option("glab", "", &[], &["alias", "config"]),
];

/// Returns how a program that takes data runs others, if it can.
pub(super) fn runs(name: &str) -> Option<&'static Runs> {
    RUNS.iter().find(|runs| runs.name == name)
}

/// Returns whether a program only reads what its arguments name; `git` and `find` are not asked here.
pub(crate) fn only_reads(name: &str) -> bool {
    READERS.contains(&name) || name == "cd"
}

/// Returns whether a program puts folders elsewhere, or shows them under other paths.
pub(super) fn moves_trees(name: &str) -> bool {
    let names = [
        "cp",
        "mv",
        "ln",
        "rsync",
        "scp",
        "tar",
        "bsdtar",
        "gtar",
        "cpio",
        "pax",
        "unzip",
        "7z",
        "mount",
        "docker",
        "podman",
        "nerdctl",
        "bwrap",
        "firejail",
        "proot",
        "fakechroot",
        "systemd-nspawn",
        "hg",
        "jj",
    ];
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns whether a program changes whole folders that it is given.
pub(crate) fn takes_trees(name: &str) -> bool {
    matches!(
        name,
        "rm" | "rmdir"
            | "mv"
            | "chmod"
            | "chown"
            | "chgrp"
            | "shred"
            | "rsync"
            | "find"
            | "fd"
            | "unlink"
            | "setfacl"
            | "chattr"
            | "mount"
            | "umount"
            | "ln"
    )
}
