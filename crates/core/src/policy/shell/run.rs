//! What a simple command runs, by the program that it names.

use super::git;
use super::patches::patcher;
use super::programs::{self, Program};
use super::reader::{Input, Reader};
use super::{Blind, MANY, Origin};
use crate::policy::glob::{ANY, can_be, is_known, is_unknown};
use crate::policy::path::{absolute, name_of, normal};

/// How many words a command may have.
const MOST_WORDS: usize = 4_000;

impl Reader<'_> {
    /// Notes a command, and everything that it is known to run.
    pub(super) fn run(&mut self, words: &[String], input: &Input) -> Result<(), Blind> {
        self.world.step()?;
        let Some(first) = words.first() else { return Ok(()) };
        if words.len() > MOST_WORDS {
            return Err(Blind::TooMuch);
        }
        let program = if is_known(first) { programs::program(name_of(first)) } else { Program::Unknown };
        let origin = if program == Program::Tasks { Origin::Task } else { Origin::Runs };
        self.world.emit(words, origin.max(self.origin));
        if let Some(command) = git::command_of(name_of(first)) {
            let mut plain = vec!["git".to_owned(), command.to_owned()];
            plain.extend_from_slice(&words[1..]);
            return self.run(&plain, input);
        }
        self.world.line.copies |= programs::moves_trees(name_of(first));
        if let Some(patcher) = patcher(name_of(first), words) {
            self.patch(patcher, words, input);
        }
        match program {
            Program::Inert => self.inert(words),
            Program::Folder => self.folder(words),
            Program::Declare => self.declared(words),
            Program::Receive => self.received(words),
            Program::Alias => {
                for word in &words[1..] {
                    match word.split_once('=') {
                        _ if !is_known(word) => self.world.blind(Blind::Computed("alias".to_owned())),
                        Some((_, code)) => {
                            let origin = self.origin;
                            self.world.code_apart(code, origin);
                        }
                        None => {}
                    }
                }
            }
            Program::Trap => {
                self.world.repeats = true;
                let code = words[1..].iter().find(|word| !word.starts_with('-'));
                self.shell_code("trap", code);
            }
            Program::Eval => {
                let code = words[1..].join(" ");
                if is_known(&code) {
                    let origin = self.origin;
                    self.world.code(&code, origin);
                } else {
                    self.world.blind(Blind::Computed("eval".to_owned()));
                }
            }
            Program::Source => {
                let rest =
                    words[1..].iter().position(|word| word != "--").map_or(&[][..], |at| &words[1 + at..]);
                self.file(rest, "source");
            }
            Program::Shell => self.shell(words, input),
            Program::Interpreter(language) => self.interpreter(language, words, input),
            Program::Awk => self.awk(words),
            Program::Sed => self.sed(words),
            Program::Git => self.git(words)?,
            Program::Wrapper(wrapper) => {
                self.wrapper(wrapper, words, input)?;
            }
            Program::Find => self.find(words)?,
            Program::Later => self.later(words, input),
            Program::Crontab => self.crontab(words),
            Program::Tasks if tells_to_read(words) => {
                self.world.blind(Blind::Input(name_of(first).to_owned()));
            }
            Program::Tasks | Program::Unknown => self.scan(words, input)?,
        }
        Ok(())
    }

    /// Takes `cd` and its kin.
    fn folder(&mut self, words: &[String]) {
        let target = words[1..].iter().find(|word| !word.starts_with('-') || word.as_str() == "-");
        let places = match (words[0].as_str(), target) {
            ("cd" | "chdir", None) => vec![self.world.home.clone()],
            (_, Some(target)) if is_known(target) && target != "-" && !target.starts_with('+') => {
                let home = self.world.home.clone();
                let to = |folder: &Option<String>| match folder {
                    Some(folder) => Some(absolute(target, folder, home.as_deref())),
                    None if target.starts_with('/') => Some(target.clone()),
                    None => None,
                };
                self.world.folders.iter().map(to).collect()
            }
            _ => vec![None],
        };
        self.go_to(places);
    }

    /// Notes that a file is run as a script.
    pub(super) fn file(&mut self, words: &[String], program: &str) {
        let Some(first) = words.first() else { return };
        if self.is_input(first) {
            return self.world.blind(Blind::Input(program.to_owned()));
        }
        let mut words = words.to_vec();
        if is_known(first) && !first.contains('/') {
            words[0] = format!("./{first}");
        } else if is_unknown(first) {
            // What is run comes from a variable or another command.
            return self.world.blind(Blind::Computed(program.to_owned()));
        }
        self.world.emit(&words, Origin::File.max(self.origin));
    }

    /// Returns whether a file is something that is read from a descriptor, in any spelling.
    pub(super) fn is_input(&self, file: &str) -> bool {
        let is = |folder: &Option<String>| {
            let raw = absolute(file, folder.as_deref().unwrap_or("/"), None);
            // `/proc/$$/fd/0`, and `$X/fd/0`: only the end of it is known.
            let numbered = name_of(file).chars().all(|digit| digit.is_ascii_digit());
            let could = !is_known(file) && numbered && can_be(&raw, &format!("/proc/{ANY}/fd/{ANY}"));
            could || is_descriptor(&normal(&raw, "/"))
        };
        file == "-" || self.world.folders.iter().any(is)
    }

    /// Takes code that another shell runs.
    pub(super) fn shell_code(&mut self, program: &str, code: Option<&String>) {
        match code {
            Some(code) if is_known(code) => {
                let origin = self.origin;
                self.world.code_apart(code, origin);
            }
            Some(_) => self.world.blind(Blind::Computed(program.to_owned())),
            None => {}
        }
    }

    /// Takes what a shell reads from its input as code.
    pub(super) fn shell_input(&mut self, program: &str, input: &Input) {
        match input {
            Input::Open => self.world.blind(Blind::Input(program.to_owned())),
            Input::Text(texts) => {
                for text in texts {
                    self.shell_code(program, Some(text));
                }
            }
            Input::File(files) => {
                for file in files {
                    self.file(std::slice::from_ref(file), program);
                }
            }
            Input::Here(at) => {
                let folders = self.world.folders.clone();
                match self.pending.get_mut(*at) {
                    Some(heredoc) => heredoc.code = Some((program.to_owned(), folders)),
                    None => self.world.blind(Blind::Input(program.to_owned())),
                }
            }
        }
    }

    /// Runs a command that another one has as its arguments, in a folder that is not known.
    pub(super) fn run_elsewhere(&mut self, words: &[String], input: &Input) -> Result<(), Blind> {
        let folders = std::mem::replace(&mut self.world.folders, vec![None]);
        let result = self.run(words, input);
        self.world.folders = folders;
        result
    }
}

/// Returns whether a normal path is that of a descriptor.
fn is_descriptor(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        ["dev", "stdin" | "tty" | "console"] | ["dev", "fd" | "pts", ..] => true,
        ["proc", _, rest @ ..] => rest.contains(&"fd"),
        _ => false,
    }
}

/// Returns whether a program that runs tasks is told to read them from its input: `make -f -`.
fn tells_to_read(words: &[String]) -> bool {
    words[1..].iter().any(|word| {
        let file = word.rsplit('=').next().unwrap_or(word);
        let file = file.find('/').map_or(file, |at| &file[at..]);
        let short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('-');
        word == "-" || short || word.ends_with("=-") || is_descriptor(&normal(file, "/"))
    })
}

/// Returns the words with a placeholder replaced by what is not known.
pub(super) fn replaced(words: &[String], placeholder: &str) -> Vec<String> {
    words.iter().map(|word| word.replace(placeholder, &MANY.to_string())).collect()
}
