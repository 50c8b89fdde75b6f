//! Files that a line writes and then runs: what it puts into them is code of the line.

use super::heredoc::Text;
use super::reader::{Input, Reader};
use super::{Blind, Folders, Origin, World};
use crate::policy::glob::{ANY, can_be, is_known};
use crate::policy::path::{absolute, name_of, normal};

/// A file that a line fills.
#[derive(Debug, Clone)]
pub(super) struct Made {
    file: String,
    folders: Folders,
    /// Whether the line says in plain words what it writes.
    literal: bool,
}

impl Reader<'_> {
    /// Notes the files that the redirections of a command fill, from the one at `from` on.
    pub(super) fn made(&mut self, from: usize, words: &[String], input: &Input) {
        let name = words.first().map_or("", |word| name_of(word));
        let texts = match (name, input) {
            ("echo", _) => Some(vec![words[1..].join(" ")]),
            // What is escaped is not what is written.
            ("printf", _) if !words[1..].iter().any(|word| word.contains('\\')) => {
                Some(vec![words[1..].join(" ")])
            }
            ("cat" | "tee", Input::Text(texts)) if words.len() == 1 || name == "tee" => Some(texts.clone()),
            ("cat" | "tee", Input::Here(at)) if words.len() == 1 || name == "tee" => {
                if let Some(heredoc) = self.pending.get_mut(*at) {
                    heredoc.text = Text::Written;
                }
                Some(Vec::new())
            }
            (":" | "true" | "", Input::Open) => Some(Vec::new()),
            _ => None,
        };
        let literal = texts.as_ref().is_some_and(|texts| texts.iter().all(|text| is_known(text)));
        let folders = self.world.folders.clone();
        let redirected = self.world.line.writes[from.min(self.world.line.writes.len())..].iter();
        let mut files: Vec<String> = redirected.map(|(file, _)| file.clone()).collect();
        match name {
            "tee" => files.extend(words[1..].iter().filter(|word| !word.starts_with('-')).cloned()),
            "dd" => files.extend(words.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned)),
            _ => {}
        }
        self.world.texts.extend(texts.unwrap_or_default());
        let made = files.into_iter().filter(|file| file != "/dev/null");
        self.world.made.extend(made.map(|file| Made { file, folders: folders.clone(), literal }));
    }
}

impl World {
    /// Returns whether one of the commands from `from` on runs one of some files.
    pub(super) fn runs_one_of(&self, made: &[Made], from: usize) -> bool {
        let runs = |made: &Made| {
            let mut commands = self.line.commands[from.min(self.line.commands.len())..].iter();
            commands
                .any(|command| command.words[0].contains('/') && made.is(&command.words[0], &command.folders))
        };
        made.iter().any(runs)
    }

    /// Reads what the line writes into files that it runs; what it does not say in plain words cannot be read.
    pub(super) fn runs_what_it_made(&mut self) {
        let made = std::mem::take(&mut self.made);
        let texts = std::mem::take(&mut self.texts);
        let run: Vec<(String, Folders)> = self
            .line
            .commands
            .iter()
            .filter(|command| command.origin != Origin::Mentioned)
            .filter(|command| command.origin == Origin::File || command.words[0].contains('/'))
            .map(|command| (command.words[0].clone(), command.folders.clone()))
            .collect();
        let mut hit =
            made.iter().filter(|made| run.iter().any(|(file, folders)| made.is(file, folders))).peekable();
        if hit.peek().is_none() {
            return;
        }
        if let Some(unknown) = hit.find(|made| !made.literal) {
            let shown = if is_known(&unknown.file) { unknown.file.clone() } else { "a file".to_owned() };
            return self.blind(Blind::Computed(shown));
        }
        for text in texts {
            Reader::new("", self, Origin::Mentioned).written(&text);
        }
    }
}

impl Reader<'_> {
    fn written(&mut self, text: &str) {
        self.value(text);
    }
}

impl Made {
    /// Returns whether a file that is run could be this one.
    fn is(&self, file: &str, folders: &Folders) -> bool {
        let paths = |file: &str, folders: &Folders| -> Vec<String> {
            let inner = folders.iter().flatten().map(|folder| normal(&absolute(file, folder, None), folder));
            inner.collect()
        };
        if !is_known(file) || !is_known(&self.file) {
            let name = |file: &str| format!("{ANY}/{}", name_of(file));
            return can_be(&name(file), &name(&self.file));
        }
        let unknown = folders.contains(&None) || self.folders.contains(&None);
        let (own, other) = (paths(&self.file, &self.folders), paths(file, folders));
        own.iter().any(|path| other.contains(path)) || unknown && name_of(file) == name_of(&self.file)
    }
}
