//! What is known about commands: which evaluate their arguments, and which hand them to another interpreter.

/// How a command treats its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// As data, as far as the shell is concerned.
    Ordinary,
    /// A value chooses it.
    Chosen,
    /// A variable chooses it.
    Variable,
    /// A builtin that runs the command that its arguments spell, which may be another builtin.
    Wrapper,
    /// A program that runs the command that its arguments spell.
    Launcher,
    /// `command`: a wrapper, or with `-v` a question.
    Command,
    /// `let`
    Let,
    /// A builtin that takes names of variables, or evaluates its arguments otherwise.
    Names,
    /// `read` and its kin: names that receive data from outside.
    Read,
    /// `declare` and its kin.
    Declare,
    /// `printf`
    Printf,
    /// `test` and `[`
    Test,
    /// `set`
    Set,
    /// `alias`
    Alias,
    /// `eval`, `trap` and others that read arguments as code in this very shell.
    Eval(Code),
    /// An interpreter that reads arguments as code.
    Interpreter(Code),
}

/// Which arguments are code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// All of them.
    All,
    /// The first one that is no option, or the one after such an option.
    First {
        /// Options that take code.
        code: &'static [&'static str],
        /// Options that take data, and how many.
        data: &'static [(&'static str, usize)],
    },
    /// The one after such an option, whose letter may be joined with others.
    After(&'static str),
}

/// Returns how a command treats its arguments, by its name or path.
pub(super) fn program(word: &[u8]) -> Program {
    let base = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    let Ok(base) = std::str::from_utf8(base) else { return Program::Ordinary };
    match base {
        "builtin" | "exec" | "time" | "coproc" => Program::Wrapper,
        "env" | "sudo" | "doas" | "nohup" | "nice" | "ionice" | "setsid" | "timeout" | "stdbuf"
        | "chroot" | "flock" | "xargs" | "busybox" | "unshare" | "strace" => Program::Launcher,
        "command" => Program::Command,
        "let" => Program::Let,
        "unset" | "wait" | "enable" | "complete" | "compgen" | "compopt" | "bind" | "fc" | "hash"
        | "jobs" => Program::Names,
        "read" | "getopts" | "mapfile" | "readarray" => Program::Read,
        "declare" | "typeset" | "local" | "readonly" | "export" | "integer" => Program::Declare,
        "printf" => Program::Printf,
        "test" | "[" => Program::Test,
        "set" => Program::Set,
        "alias" => Program::Alias,
        "eval" => Program::Eval(Code::All),
        "trap" | "." | "source" => Program::Eval(Code::First { code: &[], data: &[] }),
        _ => interpreter(base).map_or(Program::Ordinary, Program::Interpreter),
    }
}

/// Returns which arguments of an interpreter are code, by its name.
pub(super) fn interpreter(base: &str) -> Option<Code> {
    let unversioned = base.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    Some(match unversioned {
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "fish" | "su" | "runuser" | "python"
        | "pypy" | "psql" | "script" => Code::After("c"),
        "perl" | "ruby" | "lua" | "luajit" | "Rscript" | "osascript" | "mysql" | "mariadb" => {
            Code::After("eE")
        }
        "node" | "nodejs" | "bun" | "deno" => Code::After("ep"),
        "php" => Code::After("rBRE"),
        "pwsh" | "powershell" | "cmd" | "ssh" | "watch" | "parallel" | "sqlite" => Code::All,
        "awk" | "gawk" | "mawk" | "nawk" => {
            Code::First { code: &["-e", "--source"], data: &[("-v", 1), ("-F", 1), ("-f", 1)] }
        }
        "sed" | "gsed" => Code::First { code: &["-e", "--expression"], data: &[("-f", 1), ("-l", 1)] },
        "jq" | "yq" => Code::First {
            code: &[],
            data: &[
                ("--arg", 2),
                ("--argjson", 2),
                ("--slurpfile", 2),
                ("--rawfile", 2),
                ("--indent", 1),
                ("-L", 1),
                ("-f", 1),
                ("--from-file", 1),
            ],
        },
        _ => return None,
    })
}

/// Returns whether an interpreter takes its code after other words that are no options, as `su user -c …`.
pub(super) fn takes_code_late(base: &[u8]) -> bool {
    matches!(base, b"su" | b"runuser" | b"psql" | b"mysql" | b"mariadb" | b"script")
}

/// Returns whether a shell evaluates what is assigned to a variable of this name.
///
/// `PS4` and its kin are expanded, commands included; the others are integers in bash, so that an assignment
/// is arithmetic.
pub(super) fn is_evaluated(name: &[u8]) -> bool {
    matches!(
        name,
        b"PS0"
            | b"PS1"
            | b"PS2"
            | b"PS3"
            | b"PS4"
            | b"PROMPT_COMMAND"
            | b"ENV"
            | b"BASH_ENV"
            | b"SHELLOPTS"
            | b"BASHOPTS"
            | b"RANDOM"
            | b"SRANDOM"
            | b"SECONDS"
            | b"LINENO"
            | b"HISTCMD"
            | b"OPTIND"
            | b"OPTERR"
            | b"BASHPID"
            | b"BASH_SUBSHELL"
            | b"EPOCHSECONDS"
            | b"EPOCHREALTIME"
            | b"UID"
            | b"EUID"
            | b"PPID"
            | b"MAILCHECK"
            | b"MAILPATH"
            | b"MAIL"
            | b"HISTSIZE"
            | b"HISTFILESIZE"
            | b"TMOUT"
            | b"GROUPS"
            | b"DIRSTACK"
            | b"FUNCNAME"
            | b"PIPESTATUS"
            | b"COMP_WORDS"
            | b"COMP_CWORD"
    ) || (name.starts_with(b"BASH_") && name != b"BASH_REMATCH")
}

/// Returns whether programs are known to run what is assigned to a variable of this name.
pub(super) fn is_run_by_programs(name: &[u8]) -> bool {
    matches!(
        name,
        b"PATH"
            | b"LD_PRELOAD"
            | b"LD_LIBRARY_PATH"
            | b"DYLD_INSERT_LIBRARIES"
            | b"EDITOR"
            | b"VISUAL"
            | b"PAGER"
            | b"LESSOPEN"
            | b"GIT_SSH"
            | b"GIT_SSH_COMMAND"
            | b"GIT_EDITOR"
            | b"GIT_PAGER"
            | b"GIT_ASKPASS"
            | b"GIT_EXTERNAL_DIFF"
            | b"NODE_OPTIONS"
            | b"PERL5OPT"
            | b"PERL5LIB"
            | b"RUBYOPT"
            | b"PYTHONSTARTUP"
            | b"PYTHONPATH"
            | b"JAVA_TOOL_OPTIONS"
            | b"RSYNC_RSH"
            | b"BROWSER"
            | b"SHELL"
    )
}
