//! Programs that run other programs: what they run is read as if it stood there alone.

use super::options::{in_cluster, long};
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
                match wrapper.form {
                    Form::Environment if wrapper.name == "env" => {
                        let text =
                            in_cluster(word, next, 'S', "uC").or_else(|| long(word, next, "--split-string"));
                        if let Some((text, apart)) = text {
                            if text.is_some_and(|text| text.contains('\\')) {
                                // It has escapes of its own: `\_` is a blank.
                                return Err(Blind::Computed(wrapper.name.to_owned()));
                            }
                            // What follows is added to it.
                            let behind = words.get(at + 1 + usize::from(apart)..).unwrap_or_default();
                            let code = format!("{} {}", text.unwrap_or_default(), behind.join(" "));
                            self.shell_code(wrapper.name, Some(&code));
                            self.shell_code(wrapper.name, text.map(str::to_owned).as_ref());
                            self.text(text.unwrap_or_default());
                        }
                    }
                    Form::Option => {
                        let code = in_cluster(word, next, 'c', wrapper.letters());
                        if let Some((code, _)) = code.or_else(|| long(word, next, "--command")) {
                            self.shell_code(wrapper.name, code.map(str::to_owned).as_ref());
                            return Ok(());
                        }
                    }
                    Form::More => {
                        let found =
                            in_cluster(word, next, 'I', "nLPdasE").or_else(|| long(word, next, "--replace"));
                        // The placeholder of `-i` and `--replace` may be missing, and is never the next word.
                        let short = in_cluster(word, None, 'i', "nLPdasEI");
                        if let Some((text, apart)) = found {
                            let missing = apart && !word.starts_with("--");
                            let text = text.filter(|_| missing || !apart).unwrap_or("{}");
                            placeholder = Some(text.to_owned());
                            at += usize::from(missing && word.len() > 2);
                        } else if let Some((text, _)) = short {
                            placeholder = Some(text.unwrap_or("{}").to_owned());
                        }
                    }
                    _ => {}
                }
                match (wrapper.form, word.as_str()) {
                    (Form::Query, "-v" | "-V" | "-pv" | "-pV") => return Ok(()),
                    (Form::Environment, "-s" | "-i" | "--shell" | "--login")
                        if wrapper.name != "env" && words.len() == at + 1 =>
                    {
                        // `sudo -s` is a shell that reads its input, unless a command follows.
                        self.shell_input(wrapper.name, input);
                    }
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
                self.exported(name, value);
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
        self.world.line.copies |= matches!(wrapper.name, "chroot" | "unshare" | "nsenter" | "systemd-run");
        let inner = words.get(at..).unwrap_or_default();
        match wrapper.form {
            Form::Code => self.joined(wrapper, inner, input),
            Form::Option => {
                // Options may stand behind the name of a file or user, too; then come words that are a command for `flock` alone.
                let words = if wrapper.name == "flock" { &inner[..inner.len().min(1)] } else { inner };
                for (at, word) in words.iter().enumerate() {
                    let next = inner.get(at + 1);
                    let code = in_cluster(word, next, 'c', wrapper.letters());
                    if let Some((code, _)) = code.or_else(|| long(word, next, "--command")) {
                        self.shell_code(wrapper.name, code.map(str::to_owned).as_ref());
                        return Ok(());
                    }
                }
                if wrapper.name == "flock" {
                    return self.run(inner, input);
                }
                self.suffixes(inner, inner.len())?;
                self.mentioned(inner);
                // `su` alone is a shell that reads its input; `script` without a command too.
                self.shell_input(wrapper.name, input);
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
            Form::Words | Form::Environment | Form::Query => {
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
        let fd = words[0].contains("fd");
        while let Some(word) = words.get(at) {
            at += 1;
            let elsewhere = match word.as_str() {
                "-exec" | "-ok" => false,
                "-execdir" | "-okdir" => true,
                "-x" | "-X" | "--exec" | "--exec-batch" if fd => false,
                // `-Hx git push`, `-xgit push`, `--exec=git push`
                _ if fd => {
                    let next = words.get(at);
                    let valued = "dtegESjcoMm";
                    let given = in_cluster(word, next, 'x', valued)
                        .or_else(|| in_cluster(word, next, 'X', valued))
                        .or_else(|| long(word, next, "--exec-batch"));
                    if let Some((Some(code), apart)) = given {
                        let mut inner: Vec<String> = code.split_whitespace().map(str::to_owned).collect();
                        inner.extend_from_slice(words.get(at + usize::from(apart)..).unwrap_or_default());
                        inner.push(MANY.to_string());
                        self.run(&replaced(&inner, "{}"), &Input::Text(Vec::new()))?;
                    }
                    continue;
                }
                _ => continue,
            };
            let rest = &words[at..];
            let end = rest.iter().position(|word| matches!(word.as_str(), ";" | "+")).unwrap_or(rest.len());
            let mut inner = replaced(&rest[..end], "{}");
            at += end;
            if inner.is_empty() {
                continue;
            }
            if fd {
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
