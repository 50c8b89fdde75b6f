//! `git`: its options before the subcommand, its aliases, and the subcommands that run commands.

use super::Blind;
use super::options::{in_cluster, long};
use super::reader::{Input, Reader};
use crate::policy::glob::is_known;

/// Options before the subcommand that are followed by a value.
const VALUES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--attr-source",
];

/// git's own subcommands, which no alias can replace, and its common companions.
const COMMANDS: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bugreport",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "citool",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "fmt-merge-msg",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "get-tar-commit-id",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "index-pack",
    "init",
    "instaweb",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "prune",
    "pull",
    "push",
    "quiltimport",
    "range-diff",
    "read-tree",
    "rebase",
    "receive-pack",
    "reflog",
    "remote",
    "repack",
    "replace",
    "replay",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "upload-archive",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "--version",
    "--help",
    "-v",
    "-h",
];

/// Subcommands that run nothing that their arguments name; many of them take texts.
const QUIET: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "commit-tree",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "merge-base",
    "mktag",
    "mv",
    "name-rev",
    "notes",
    "range-diff",
    "reflog",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "version",
    "whatchanged",
];

/// Options of subcommands that are followed by code.
const CODE: &[&str] = &[
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--extcmd",
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--env-filter",
    "--commit-filter",
    "--parent-filter",
    "--tag-name-filter",
    "--setup",
    "--open-files-in-pager",
];

/// Returns which of git's commands a program of its own is: `git-push` is `git push`.
pub(super) fn command_of(program: &str) -> Option<&str> {
    program.strip_prefix("git-").filter(|command| COMMANDS.contains(command))
}

impl Reader<'_> {
    pub(super) fn git(&mut self, words: &[String]) -> Result<(), Blind> {
        let mut aliases: Vec<(String, String)> = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            if matches!(word.as_str(), "--version" | "--help" | "-h" | "-v" | "--html-path" | "--man-path") {
                return Ok(());
            }
            let setting = match word.as_str() {
                "-c" => words.get(at + 1).cloned(),
                _ if word.starts_with("-c") => Some(word[2..].to_owned()),
                _ if word.starts_with("--config-env") => {
                    self.lost("--config-env");
                    return Ok(());
                }
                _ => None,
            };
            if let Some(setting) = setting {
                let (key, value) = setting.split_once('=').unwrap_or((&setting, "true"));
                match key.to_ascii_lowercase().strip_prefix("alias.") {
                    _ if !is_known(key) => {
                        self.lost("-c");
                        return Ok(());
                    }
                    Some(name) => aliases.push((name.to_owned(), value.to_owned())),
                    // `core.pager`, `core.sshCommand` and many others are commands.
                    None => {
                        self.value(value);
                        self.parts(value, &[]);
                    }
                }
            }
            at += 1 + usize::from(VALUES.contains(&word.as_str()));
        }
        let Some(subcommand) = words.get(at) else { return Ok(()) };
        let rest = &words[at + 1..];
        if !is_known(subcommand) {
            self.lost(subcommand);
            return Ok(());
        }
        if COMMANDS.contains(&subcommand.as_str()) {
            return self.subcommand(subcommand, rest);
        }
        match aliases.iter().find(|(name, _)| *name == subcommand.to_ascii_lowercase()) {
            Some((_, value)) => match value.strip_prefix('!') {
                Some(code) => {
                    let code = format!("{code} {}", rest.join(" "));
                    self.shell_code("git", Some(&code));
                    Ok(())
                }
                None => {
                    let mut words = vec!["git".to_owned()];
                    words.extend(value.split_whitespace().map(str::to_owned));
                    words.extend_from_slice(rest);
                    self.run(&words, &Input::Text(Vec::new()))
                }
            },
            None => {
                self.lost(subcommand);
                Ok(())
            }
        }
    }

    fn lost(&mut self, name: &str) {
        let shown = name.chars().filter(|character| is_known(character.encode_utf8(&mut [0; 4]))).collect();
        self.world.blind(Blind::Alias(shown));
    }

    fn subcommand(&mut self, name: &str, rest: &[String]) -> Result<(), Blind> {
        for (at, word) in rest.iter().enumerate() {
            let next = rest.get(at + 1);
            // `git clean -x` and `git cherry-pick -x` take no value.
            let short =
                in_cluster(word, next, 'x', "CXsSt").filter(|_| matches!(name, "rebase" | "difftool"));
            let code =
                CODE.iter().find_map(|option| long(word, next, option)).filter(|_| !QUIET.contains(&name));
            if let Some((Some(code), _)) = short.or(code) {
                self.shell_code("git", Some(&code.to_owned()));
                self.value(code);
            }
            if name == "grep" {
                let pager = word.strip_prefix("-O").or_else(|| word.strip_prefix("--open-files-in-pager="));
                let pager = pager.or_else(|| {
                    word.strip_prefix("--op").and_then(|rest| rest.split_once('=')).map(|(_, value)| value)
                });
                self.value(pager.unwrap_or_default());
            } else if !QUIET.contains(&name) {
                self.mentioned(&rest[at..]);
                self.value(word);
                self.parts(word, &rest[at + 1..]);
            }
        }
        match name {
            // A file under another name, as `mv` would do it.
            "mv" => {
                let mut words = vec!["mv".to_owned()];
                words.extend_from_slice(rest);
                self.mentioned(&words);
            }
            "clone" | "worktree" | "archive" | "checkout-index" | "bundle" => self.world.line.copies = true,
            _ => {}
        }
        let command = match (name, rest.first().map(String::as_str)) {
            ("bisect", Some("run")) => &rest[1..],
            ("submodule", Some(_)) => match rest.iter().position(|word| word == "foreach") {
                Some(at) => {
                    let code = rest[at + 1..]
                        .iter()
                        .filter(|word| !word.starts_with("--"))
                        .cloned()
                        .collect::<Vec<_>>();
                    self.shell_code("git", Some(&code.join(" ")));
                    return Ok(());
                }
                None => return Ok(()),
            },
            ("for-each-repo" | "hook", _) => {
                self.lost(name);
                return Ok(());
            }
            _ => return Ok(()),
        };
        if command.is_empty() {
            return Ok(());
        }
        self.run(command, &Input::Text(Vec::new()))
    }
}
