//! Variables that get a value, and the few whose value is run.

use super::options::in_cluster;
use super::reader::Reader;
use super::words::is_name;
use super::{Blind, MANY, Origin};
use crate::policy::glob::is_known;

impl Reader<'_> {
    /// Notes a value that a variable gets, and reads it where it is code.
    pub(super) fn assigned(&mut self, name: &str, value: &str) {
        match name {
            // A shell runs these at its start or before each prompt.
            "BASH_ENV" | "ENV" | "PROMPT_COMMAND" | "PS0" | "PS1" | "PS2" | "PS4" => {
                if is_known(value) {
                    self.world.code_apart(value, Origin::Mentioned);
                    self.world.emit(&[value.to_owned()], Origin::File);
                } else {
                    self.world.blind(Blind::Computed(name.to_owned()));
                }
            }
            // Words are split otherwise, so that no value is what it seems.
            "IFS" | "CDPATH" | "BASH_ALIASES" | "BASH_CMDS" => {
                self.world.blind(Blind::Computed(name.to_owned()));
            }
            // Programs run what these say.
            "LD_PRELOAD"
            | "EDITOR"
            | "VISUAL"
            | "PAGER"
            | "LESSOPEN"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_PAGER"
            | "GIT_ASKPASS"
            | "SSH_ASKPASS"
            | "SUDO_ASKPASS"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_PROXY_COMMAND"
            | "RSYNC_RSH"
            | "BROWSER"
            | "SHELL"
            | "MANPAGER"
            | "MAKEFLAGS"
            | "NODE_OPTIONS"
            | "PERL5OPT"
            | "RUBYOPT"
            | "PYTHONSTARTUP" => {
                self.value(value);
            }
            _ if name.starts_with("GIT_CONFIG") => self.value(value),
            // Arithmetic evaluates what a variable holds, substitutions included.
            _ if value.contains("$(") || value.contains('`') => self.mention(value),
            _ => {}
        }
        self.world.assign(name, value);
    }

    /// Notes a value that a variable gets for a program: one of the thousands whose value some program runs, for all that is known.
    pub(super) fn exported(&mut self, name: &str, value: &str) {
        self.value(value);
        self.assigned(name, value);
    }

    /// Takes the arguments of `export`, `declare` and their kin.
    pub(super) fn declared(&mut self, words: &[String]) {
        let short = |word: &String| word.starts_with('-') && word.contains('x');
        self.world.exports.found |=
            matches!(words[0].as_str(), "export" | "setenv") || words.iter().any(short);
        for word in &words[1..] {
            match word.split_once('=') {
                Some((name, value)) if is_name(name) => self.exported(name, value),
                Some((name, _)) if is_name(name.trim_end_matches('+')) => {
                    self.assigned(name.trim_end_matches('+'), &MANY.to_string());
                }
                _ if is_known(word) => self.subscripts(&[words[0].clone(), word.clone()], &[]),
                // `export $X` assigns what X holds, to a name that is not known.
                _ => self.world.blind(Blind::Computed(words[0].clone())),
            }
        }
    }

    /// Takes names that get values from elsewhere.
    pub(super) fn received(&mut self, words: &[String]) {
        match words[0].as_str() {
            "printf" => self.subscripts(words, &["-v"]),
            _ => self.subscripts(words, &[]),
        }
        if matches!(words[0].as_str(), "mapfile" | "readarray") {
            for (at, word) in words.iter().enumerate().skip(1) {
                match in_cluster(word, words.get(at + 1), 'C', "dnOsuc") {
                    Some((Some(code), _)) if is_known(code) => self.value(code),
                    Some(_) => self.world.blind(Blind::Computed(words[0].clone())),
                    None => {}
                }
            }
        }
        for word in &words[1..] {
            if is_name(word) {
                self.world.assign(word, &MANY.to_string());
            }
        }
    }
}
