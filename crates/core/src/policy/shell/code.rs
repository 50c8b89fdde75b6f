//! Programs that are given code: shells, which are read on, and interpreters, which are not.

use super::harmless;
use super::heredoc::Text;
use super::language::{Brings, Language};
use super::options::{in_cluster, long};
use super::reader::{Input, Reader};
use super::{Blind, Origin};
use crate::policy::glob::is_known;
use crate::policy::path::name_of;

impl Reader<'_> {
    /// Takes `sh -c CODE`, `sh FILE`, and `sh` alone, which reads its input.
    pub(super) fn shell(&mut self, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        let name = program.to_ascii_lowercase();
        if FOREIGN.contains(&name.as_str()) {
            return self.foreign_shell(words, input);
        }
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
            let next = words.get(at + 1);
            if name == "fish" {
                // What it runs before anything else.
                let first =
                    in_cluster(word, next, 'C', "cdfp").or_else(|| long(word, next, "--init-command"));
                let whole = word.split_once('=').filter(|_| long(word, next, "--command").is_some());
                for text in first.and_then(|(text, _)| text).into_iter().chain(whole.map(|(_, text)| text)) {
                    self.shell_code(&program, Some(&text.to_owned()));
                }
                at += usize::from(first.is_some_and(|(_, apart)| apart));
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

    /// Takes a shell with a language of its own, which is not read.
    fn foreign_shell(&mut self, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        let is_file = |word: &String| word.eq_ignore_ascii_case("-file") || word.eq_ignore_ascii_case("-f");
        let file = words.iter().position(is_file).map_or(1, |at| at + 1);
        match words.get(file) {
            Some(word) if word.starts_with('-') => {
                if !matches!(word.as_str(), "--version" | "--help" | "-h" | "-v" | "-Version" | "-Help") {
                    self.world.blind(Blind::Inline(program));
                }
            }
            Some(_) => self.file(&words[file..], &program),
            None if matches!(input, Input::Text(texts) if texts.is_empty()) => {}
            None => self.world.blind(Blind::Input(program)),
        }
    }

    /// Takes a program of another language.
    pub(super) fn interpreter(&mut self, language: Language, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        if language == Language::Sqlite {
            return self.sqlite(words, input);
        }
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
                if matches!(program.as_str(), "ed" | "red" | "ex" | "gdb" | "lldb") {
                    // The file is what they work on, and what they do comes from their input.
                    return self.world.blind(Blind::Input(program));
                }
                self.scan_input(input);
                return self.file(words.get(at + skip..).unwrap_or_default(), &program);
            }
            if language.is_module(word) {
                return self.module(words, at);
            }
            if matches!(word.as_str(), "--version" | "-V" | "--help" | "-h" | "-v" | "-version") {
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

    /// Takes `python -m MODULE WORDS`.
    fn module(&mut self, words: &[String], at: usize) {
        let joined = words[at].strip_prefix("-m").filter(|joined| !joined.is_empty());
        let behind = if joined.is_some() { at + 1 } else { at + 2 };
        let name = joined.or_else(|| words.get(at + 1).map(String::as_str)).unwrap_or_default();
        let first = name.split('.').next().unwrap_or(name);
        if !is_known(name) || CODE_MODULES.contains(&first) {
            return self.world.blind(Blind::Inline(format!("{} -m {first}", name_of(&words[0]))));
        }
        let mut rest = vec![first.to_owned()];
        rest.extend_from_slice(words.get(behind..).unwrap_or_default());
        if let Err(why) = self.scan(&rest, &Input::Text(Vec::new())) {
            self.world.blind(why);
        }
    }

    /// Takes `sqlite3 FILE STATEMENTS`.
    fn sqlite(&mut self, words: &[String], input: &Input) {
        let program = name_of(&words[0]).to_owned();
        let mut plain = 0;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            let option = word.trim_start_matches('-');
            let statement = match option {
                _ if !word.starts_with('-') => {
                    plain += 1;
                    (plain > 1).then_some(word)
                }
                "cmd" => {
                    at += 1;
                    words.get(at - 1)
                }
                "init" => {
                    at += 1;
                    return self.file(words.get(at - 1..at).unwrap_or_default(), &program);
                }
                _ => {
                    let valued = [
                        "separator",
                        "nullvalue",
                        "newline",
                        "mmap",
                        "maxsize",
                        "vfs",
                        "lookaside",
                        "pagecache",
                    ];
                    at += usize::from(valued.contains(&option));
                    None
                }
            };
            if statement.is_some_and(|statement| !is_known(statement) || !harmless::sql(statement)) {
                return self.world.blind(Blind::Inline(program));
            }
        }
        match input {
            Input::Text(texts) if texts.iter().all(|text| is_known(text) && harmless::sql(text)) => {}
            // Without a statement it reads its input.
            _ if plain > 1 => {}
            Input::Here(at) => match self.pending.get_mut(*at) {
                Some(heredoc) => heredoc.text = Text::Sql,
                None => self.world.blind(Blind::Input(program)),
            },
            _ => self.world.blind(Blind::Input(program)),
        }
    }

    /// Takes `awk PROGRAM FILES`.
    pub(super) fn awk(&mut self, words: &[String]) {
        const VALUED: &str = "Fvfeilo";
        let program = name_of(&words[0]).to_owned();
        let mut given = false;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let next = words.get(at + 1);
            if !is_known(word) && word.starts_with('-') {
                return self.world.blind(Blind::Computed(program));
            }
            if word == "--" {
                at += 1;
                break;
            }
            if !word.starts_with('-') || word == "-" {
                break;
            }
            let of = |letter: char, option: &str| {
                in_cluster(word, next, letter, VALUED).or_else(|| long(word, next, option))
            };
            let mut apart = false;
            if let Some((code, own)) = of('e', "--source") {
                self.awk_program(&program, code.unwrap_or_default());
                (given, apart) = (true, own);
            } else if let Some((file, own)) = of('f', "--file").or_else(|| of('E', "--exec")) {
                // A file of code is as opaque as any script.
                self.file(file.map(str::to_owned).as_slice(), &program);
                (given, apart) = (true, own);
            } else if let Some((file, own)) = of('i', "--include").or_else(|| of('l', "--load")) {
                // What `inplace` writes is no secret of the line.
                self.file(file.filter(|file| *file != "inplace").map(str::to_owned).as_slice(), &program);
                apart = own;
            } else if let Some((_, own)) = of('F', "--field-separator").or_else(|| of('v', "--assign")) {
                apart = own;
            }
            at += 1 + usize::from(apart);
        }
        if !given && let Some(code) = words.get(at) {
            self.awk_program(&program, code);
        }
    }

    fn awk_program(&mut self, program: &str, code: &str) {
        if !is_known(code) || !harmless::awk(code) {
            self.world.blind(Blind::Inline(program.to_owned()));
        }
    }

    /// Takes `sed SCRIPT FILES`.
    pub(super) fn sed(&mut self, words: &[String]) {
        const VALUED: &str = "efli";
        let mut given = false;
        let mut plain = None;
        let mut harmless = true;
        let check = |script: &str| is_known(script) && harmless::sed(script);
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            if word == "--" {
                plain = plain.or(words.get(at));
                break;
            }
            if !word.starts_with('-') || word == "-" {
                // After `-i ''`, as some write it, the next one is the script.
                plain = plain.or(Some(word).filter(|word| !word.is_empty()));
                continue;
            }
            harmless &= is_known(word);
            let next = words.get(at);
            let of = |letter: char, option: &str| {
                in_cluster(word, next, letter, VALUED).or_else(|| long(word, next, option))
            };
            if let Some((script, apart)) = of('e', "--expression") {
                given = true;
                harmless &= script.is_none_or(check);
                at += usize::from(apart);
            } else if let Some((file, apart)) = of('f', "--file") {
                given = true;
                let input = file.is_some_and(|file| self.is_input(file));
                harmless &= !input;
                at += usize::from(apart);
            } else if let Some((_, apart)) = of('l', "--line-length") {
                at += usize::from(apart);
            }
        }
        harmless &= given || plain.is_none_or(|script| check(script));
        if !harmless {
            self.world.blind(Blind::Inline("sed".to_owned()));
        }
    }
}

/// Shells with a language of their own.
const FOREIGN: &[&str] = &["pwsh", "powershell", "nu", "xonsh", "elvish"];

/// Modules of Python that are given code.
const CODE_MODULES: &[&str] = &[
    "timeit", "pdb", "ipdb", "code", "codeop", "asyncio", "IPython", "ipython", "bdb", "idlelib", "sqlite3",
    "smtpd",
];
