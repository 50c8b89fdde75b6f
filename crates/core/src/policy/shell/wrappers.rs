//! Programs that run other programs: what they run is read as if it stood there alone.

use super::programs::{Form, Wrapper};
use super::reader::{Input, Reader};
use super::run::replaced;
use super::words::is_name;
use super::{Blind, MANY};
use crate::policy::glob::is_known;

impl Reader<'_> {
    /// Runs what a wrapper runs.
    pub(super) fn wrapper(
        &mut self,
        wrapper: &Wrapper,
        words: &[String],
        input: &Input,
    ) -> Result<(), Blind> {
        let mut at = 1;
        let mut before = wrapper.before;
        let mut placeholder = None;
        let mut elsewhere = false;
        while let Some(word) = words.get(at) {
            if word == "--" {
                at += 1;
                break;
            }
            if word.starts_with('-') && word.len() > 1 {
                let next = words.get(at + 1);
                match (wrapper.form, word.as_str()) {
                    (Form::Query, "-v" | "-V" | "-pv" | "-pV") => return Ok(()),
                    (Form::Environment, "-S" | "--split-string") => {
                        self.shell_code(wrapper.name, next);
                    }
                    (Form::Environment, _)
                        if word.starts_with("-S") || word.starts_with("--split-string=") =>
                    {
                        let code = word.trim_start_matches("--split-string=").trim_start_matches("-S");
                        self.shell_code(wrapper.name, Some(&code.to_owned()));
                    }
                    (Form::Environment, "-s" | "-i" | "--shell" | "--login")
                        if wrapper.name != "env" && words.len() == at + 1 =>
                    {
                        // `sudo -s` is a shell that reads its input, unless a command follows.
                        self.shell_input(wrapper.name, input);
                    }
                    (Form::Option, "-c" | "--command") => {
                        self.shell_code(wrapper.name, next);
                        return Ok(());
                    }
                    (Form::More, "-I" | "--replace") => placeholder = next.cloned(),
                    (Form::More, _) if word.starts_with("-I") => placeholder = Some(word[2..].to_owned()),
                    (Form::More, _) if word.starts_with("--replace=") => {
                        placeholder = Some(word[10..].to_owned());
                    }
                    (Form::More, "-i") => placeholder = Some("{}".to_owned()),
                    _ => {}
                }
                elsewhere |= ["-C", "-D", "--chdir"].iter().any(|option| word.starts_with(option));
                at += 1 + usize::from(wrapper.values.contains(&word.as_str()));
                continue;
            }
            if wrapper.form == Form::Environment
                && let Some((name, value)) = word.split_once('=')
                && is_name(name)
            {
                self.assigned(name, value);
                at += 1;
                continue;
            }
            if before > 0 {
                before -= 1;
                at += 1;
                continue;
            }
            break;
        }
        self.suffixes(words, at)?;
        let inner = words.get(at..).unwrap_or_default();
        match wrapper.form {
            Form::Code => self.joined(wrapper, inner, input),
            Form::Option if matches!(inner.first().map(String::as_str), Some("-c" | "--command")) => {
                self.shell_code(wrapper.name, inner.get(1));
                Ok(())
            }
            Form::Option if wrapper.name != "flock" => {
                // `su` alone is a shell that reads its input; `script` without a command too.
                match inner.iter().position(|word| matches!(word.as_str(), "-c" | "--command")) {
                    Some(at) => self.shell_code(wrapper.name, inner.get(at + 1)),
                    None => self.shell_input(wrapper.name, input),
                }
                Ok(())
            }
            Form::More => {
                let mut inner = match &placeholder {
                    Some(placeholder) if !placeholder.is_empty() => replaced(inner, placeholder),
                    _ => inner.to_vec(),
                };
                if inner.is_empty() {
                    return Ok(());
                }
                inner.push(MANY.to_string());
                self.run(&inner, &Input::Text(Vec::new()))
            }
            Form::Words | Form::Environment | Form::Option | Form::Query => {
                if elsewhere {
                    self.run_elsewhere(inner, input)
                } else {
                    self.run(inner, input)
                }
            }
        }
    }

    /// Takes words that are joined to code: `watch`, `ssh`, `parallel`.
    fn joined(&mut self, wrapper: &Wrapper, inner: &[String], input: &Input) -> Result<(), Blind> {
        let end = inner.iter().position(|word| word.starts_with(":::")).unwrap_or(inner.len());
        let inner = if wrapper.name == "parallel" { replaced(&inner[..end], "{}") } else { inner.to_vec() };
        if inner.is_empty() {
            match wrapper.name {
                // Without a command its items are commands.
                "parallel" => self.world.blind(Blind::Input(wrapper.name.to_owned())),
                "ssh" => self.shell_input(wrapper.name, input),
                _ => {}
            }
            return Ok(());
        }
        let code = inner.join(" ");
        if is_known(&code) && wrapper.name != "parallel" {
            let folders = self.world.folders.clone();
            if wrapper.name == "ssh" {
                self.world.folders = vec![None];
            }
            self.shell_code(wrapper.name, Some(&code));
            self.world.folders = folders;
            return Ok(());
        }
        if wrapper.name == "parallel"
            && inner.iter().all(|word| !word.contains([';', '|', '&', '$', '`', '(']))
        {
            let mut words: Vec<String> =
                inner.iter().flat_map(|word| word.split_whitespace()).map(str::to_owned).collect();
            words.push(MANY.to_string());
            return self.run(&words, &Input::Text(Vec::new()));
        }
        // The unknown part may end one command and begin another.
        self.world.blind(Blind::Computed(wrapper.name.to_owned()));
        Ok(())
    }

    /// Runs what `find -exec` and `fd -x` run.
    pub(super) fn find(&mut self, words: &[String]) -> Result<(), Blind> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            let elsewhere = match word.as_str() {
                "-exec" | "-ok" => false,
                "-execdir" | "-okdir" => true,
                "-x" | "-X" | "--exec" | "--exec-batch" if words[0].contains("fd") => false,
                _ => continue,
            };
            let rest = &words[at..];
            let end = rest.iter().position(|word| matches!(word.as_str(), ";" | "+")).unwrap_or(rest.len());
            let mut inner = replaced(&rest[..end], "{}");
            at += end;
            if inner.is_empty() {
                continue;
            }
            if words[0].contains("fd") {
                inner.push(MANY.to_string());
            }
            let input = Input::Text(Vec::new());
            if elsewhere {
                self.run_elsewhere(&inner, &input)?;
            } else {
                self.run(&inner, &input)?;
            }
        }
        Ok(())
    }
}
