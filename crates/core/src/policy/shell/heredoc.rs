//! Here-documents: their bodies come a line later than the command that reads them.

use super::patches::Patcher;
use super::reader::Reader;
use super::words::Word;
use super::{Blind, Folders};
use crate::policy::glob::is_known;

/// A here-document whose body has not come yet.
pub(super) struct Heredoc {
    end: String,
    /// Whether its end was quoted, so that nothing in it is expanded.
    quoted: bool,
    /// Whether tabs at the beginning of its lines are dropped.
    tabs: bool,
    /// The shell that reads it as code, and where that runs.
    pub(super) code: Option<(String, Folders)>,
    /// What reads it as a patch, and where that runs.
    pub(super) patch: Option<(Patcher, Folders)>,
    /// What else it is.
    pub(super) text: Text,
}

/// What a here-document is that no shell reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// Data.
    Data,
    /// Statements of SQL.
    Sql,
    /// Something that may be run.
    Mentioned,
    /// What a file is filled with.
    Written,
}

impl Reader<'_> {
    /// Takes the word that ends the here-document.
    pub(super) fn heredoc(&mut self, tabs: bool) -> Result<(), Blind> {
        let start = self.at;
        let word = self.word()?;
        let written: String = self.text[start..self.at].iter().collect();
        if written.contains(['$', '`', '*', '?', '[', '{', '~']) || word.values.len() != 1 {
            return Err(Blind::Syntax("the end of a here-document"));
        }
        let end = match &word.assigns {
            Some(_) => return Err(Blind::Syntax("the end of a here-document")),
            None => word.values[0].clone(),
        };
        self.pending.push(Heredoc {
            end,
            quoted: !word.plain,
            tabs,
            code: None,
            patch: None,
            text: Text::Data,
        });
        Ok(())
    }

    /// Reads the bodies that begin here.
    pub(super) fn bodies(&mut self) -> Result<(), Blind> {
        for heredoc in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                if self.at >= self.text.len() {
                    break;
                }
                let line: String =
                    self.text[self.at..].iter().take_while(|character| **character != '\n').collect();
                self.at = (self.at + line.chars().count() + 1).min(self.text.len());
                let line = if heredoc.tabs { line.trim_start_matches('\t') } else { &line };
                if line == heredoc.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let body = if heredoc.quoted { body } else { self.expanded(&body)? };
            match heredoc.text {
                Text::Sql if !(is_known(&body) && super::harmless::sql(&body)) => {
                    self.world.blind(Blind::Input("sqlite3".to_owned()));
                }
                Text::Mentioned => self.value(&body),
                Text::Written => self.world.texts.push(body.clone()),
                Text::Data | Text::Sql => {}
            }
            if let Some((patcher, folders)) = heredoc.patch {
                self.world.patched(patcher, &body, &folders);
            }
            if let Some((program, folders)) = heredoc.code {
                if is_known(&body) {
                    let before = std::mem::replace(&mut self.world.folders, folders);
                    let origin = self.origin;
                    self.world.code(&body, origin);
                    self.world.folders = before;
                } else {
                    self.world.blind(Blind::Computed(program));
                }
            }
        }
        Ok(())
    }

    /// Expands a body as between double quotes.
    fn expanded(&mut self, body: &str) -> Result<String, Blind> {
        let origin = self.origin;
        let mut word = Word::new();
        let mut inner = Reader::new(body, self.world, origin);
        inner.double(&mut word, None)?;
        let mut values = word.values;
        Ok(if values.len() == 1 { values.swap_remove(0) } else { super::ANY.to_string() })
    }
}
