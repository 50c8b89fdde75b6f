//! Programs that are given code: shells, which are read on, and interpreters, which are not.

use super::harmless;
use super::language::{Brings, Language};
use super::reader::{Input, Reader};
use super::{Blind, Origin};
use crate::policy::glob::is_known;
use crate::policy::path::name_of;

impl Reader<'_> {
    /// Takes `sh -c CODE`, `sh FILE`, and `sh` alone, which reads its input.
    pub(super) fn shell(&mut self, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        let mut code = false;
        let mut from_input = false;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            if !is_known(word) {
                return self.world.blind(Blind::Computed(program));
            }
            if word == "--" {
                at += 1;
                break;
            }
            if word == "-" {
                at += 1;
                break;
            }
            if !word.starts_with(['-', '+']) {
                break;
            }
            match word.as_str() {
                "--version" | "--help" => return,
                "--rcfile" | "--init-file" => {
                    let file = words.get(at + 1).cloned().into_iter().collect::<Vec<_>>();
                    self.file(&file, &program);
                    at += 1;
                }
                "--command" => code = true,
                _ if word.starts_with("--") => {}
                _ => {
                    code |= word.starts_with('-') && word.contains('c');
                    from_input |= word.contains('s');
                    at += usize::from(word.ends_with(['o', 'O']));
                }
            }
            at += 1;
        }
        let rest = words.get(at..).unwrap_or_default();
        match rest.first() {
            Some(text) if code => self.shell_code(&program, Some(text)),
            Some(_) if !from_input => self.file(rest, &program),
            _ if code => {}
            _ => self.shell_input(&program, input),
        }
    }

    /// Takes a program of another language.
    pub(super) fn interpreter(&mut self, language: Language, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            if !is_known(word) && word.starts_with(['-', super::ANY, super::MANY]) {
                return self.world.blind(Blind::Computed(program));
            }
            if word == "-" {
                return self.world.blind(Blind::Input(program));
            }
            match language.code(word, words.get(at + 1)) {
                Brings::NoCode => {}
                Brings::Code(code) if harmless::inline(language, &code) => return,
                Brings::Code(_) | Brings::Nothing => return self.world.blind(Blind::Inline(program)),
            }
            if !word.starts_with('-') {
                if language.is_tool(word) {
                    // `bun install`, `deno fmt`: what follows is data, or a task.
                    return self.world.emit(words, Origin::Task.max(self.origin));
                }
                let skip = usize::from(language.runs_after(word));
                return self.file(words.get(at + skip..).unwrap_or_default(), &program);
            }
            if language.is_module(word)
                || matches!(word.as_str(), "--version" | "-V" | "--help" | "-h" | "-v" | "-version")
            {
                return;
            }
            at += 1 + usize::from(language.takes_value(word));
        }
        match input {
            // Only a scan of arguments says that there is no input.
            Input::Text(texts) if texts.is_empty() => {}
            _ => self.world.blind(Blind::Input(program)),
        }
    }

    /// Takes `awk PROGRAM FILES`.
    pub(super) fn awk(&mut self, words: &[String]) {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            match word.as_str() {
                "-F" | "-v" => at += 2,
                "-f" | "--file" | "-e" | "--source" | "-i" | "--include" | "-l" | "--load" | "-E"
                | "--exec" => {
                    // A file of code is as opaque as any script.
                    return match words.get(at + 1) {
                        Some(code) if matches!(word.as_str(), "-e" | "--source") => {
                            self.awk_program(words, &code.clone());
                        }
                        Some(file) => self.file(std::slice::from_ref(file), "awk"),
                        None => {}
                    };
                }
                _ if word.starts_with('-') && word.len() > 1 && is_known(word) => at += 1,
                _ => return self.awk_program(words, &word.clone()),
            }
        }
    }

    fn awk_program(&mut self, words: &[String], code: &str) {
        if !is_known(code) || !harmless::awk(code) {
            self.world.blind(Blind::Inline(name_of(&words[0]).to_owned()));
        }
    }

    /// Takes `sed SCRIPT FILES`.
    pub(super) fn sed(&mut self, words: &[String]) {
        let mut given = false;
        let mut at = 1;
        let mut harmless = true;
        while let Some(word) = words.get(at) {
            let script = match word.as_str() {
                "-e" | "--expression" => {
                    at += 1;
                    words.get(at).map(String::as_str)
                }
                "-f" | "--file" => {
                    at += 1;
                    given = true;
                    None
                }
                _ if word.starts_with("--expression=") => word.strip_prefix("--expression="),
                // `-ne SCRIPT`, `-eSCRIPT`
                _ if word.starts_with('-') && !word.starts_with("--") && word.contains('e') => {
                    let joined = word.split_once('e').map_or("", |(_, joined)| joined);
                    at += usize::from(joined.is_empty());
                    if joined.is_empty() { words.get(at).map(String::as_str) } else { Some(joined) }
                }
                _ if word.starts_with('-') && word.len() > 1 => None,
                _ if given => None,
                _ => Some(word.as_str()),
            };
            if let Some(script) = script {
                given = true;
                harmless &= is_known(script) && harmless::sed(script);
            }
            at += 1;
        }
        if !harmless {
            self.world.blind(Blind::Inline("sed".to_owned()));
        }
    }
}
