//! Interpreters of other languages: which of their arguments are code, and which a file of code.

/// What a word of an interpreter brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Brings {
    /// No code.
    NoCode,
    /// This code.
    Code(String),
    /// Code that is missing.
    Nothing,
}

/// A language whose programs are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Node,
    Perl,
    Ruby,
    Php,
    Lua,
    Sqlite,
    Other,
}

impl Language {
    pub(super) fn of(name: &str) -> Option<Self> {
        let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
        Some(match plain {
            "python" | "pypy" | "ipython" => Self::Python,
            "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Self::Node,
            "perl" => Self::Perl,
            "ruby" | "irb" => Self::Ruby,
            "php" => Self::Php,
            "lua" | "luajit" => Self::Lua,
            "sqlite" => Self::Sqlite,
            "rscript" | "r" | "gnuplot" | "m" | "dc" | "maxima" | "gp" | "clj" | "clojure" | "bb"
            | "osascript" | "tclsh" | "expect" | "guile" | "racket" | "elixir" | "scala" | "groovy"
            | "julia" | "octave" | "ghci" | "ocaml" | "swift" | "jshell" | "emacs" | "vim" | "vi"
            | "nvim" | "ex" | "ed" | "gdb" | "lldb" | "psql" | "mysql" | "mariadb" => Self::Other,
            _ => return None,
        })
    }

    /// Returns the code that a word brings, in itself or in the next word.
    pub(super) fn code(self, word: &str, next: Option<&String>) -> Brings {
        let letters = match self {
            Self::Python => "c",
            Self::Node => "ep",
            Self::Perl | Self::Ruby | Self::Lua => "eE",
            Self::Php => "rBRE",
            Self::Sqlite | Self::Other => "ecE",
        };
        let brings = |joined: Option<&str>| match joined.map(str::to_owned).or_else(|| next.cloned()) {
            Some(code) => Brings::Code(code),
            None => Brings::Nothing,
        };
        if self == Self::Node && word == "eval" {
            return brings(None);
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, joined) =
                long.split_once('=').map_or((long, None), |(name, joined)| (name, Some(joined)));
            return match name {
                "eval" | "print" | "command" | "execute" | "run" | "cmd" => brings(joined),
                _ => Brings::NoCode,
            };
        }
        if self == Self::Other
            && let Some(typed) = word.strip_prefix('+')
        {
            // An editor runs it, unless it is the number of a line.
            let number = typed.chars().all(|digit| digit.is_ascii_digit());
            return if number { Brings::NoCode } else { Brings::Code(typed.to_owned()) };
        }
        let Some(cluster) = word.strip_prefix(['-', '+']) else { return Brings::NoCode };
        let Some(at) = cluster.find(|letter| letters.contains(letter)) else { return Brings::NoCode };
        // `-Wignore`, `-mmodule`: what follows such a letter is its value.
        if self == Self::Python && cluster[..at].contains(['m', 'W', 'X']) {
            return Brings::NoCode;
        }
        brings(Some(&cluster[at + 1..]).filter(|joined| !joined.is_empty()))
    }

    pub(super) fn is_module(self, word: &str) -> bool {
        self == Self::Python && word.starts_with("-m")
    }

    pub(super) fn takes_value(self, word: &str) -> bool {
        match self {
            Self::Python => matches!(word, "-W" | "-X"),
            Self::Node => matches!(word, "-r" | "--require" | "--import" | "--loader" | "-C" | "--env-file"),
            Self::Perl | Self::Ruby => matches!(word, "-I" | "-M" | "-r"),
            Self::Php => matches!(word, "-d" | "-c" | "-f"),
            Self::Lua | Self::Sqlite | Self::Other => false,
        }
    }

    /// Returns whether a word is a subcommand after which a file comes.
    pub(super) fn runs_after(self, word: &str) -> bool {
        self == Self::Node && matches!(word, "run" | "watch")
    }

    /// Returns whether a word is a subcommand that runs no file.
    pub(super) fn is_tool(self, word: &str) -> bool {
        self == Self::Node
            && matches!(
                word,
                "install"
                    | "add"
                    | "remove"
                    | "test"
                    | "build"
                    | "fmt"
                    | "lint"
                    | "check"
                    | "task"
                    | "x"
                    | "pm"
                    | "update"
                    | "upgrade"
                    | "create"
                    | "init"
                    | "cache"
                    | "info"
                    | "outdated"
                    | "link"
            )
    }
}
