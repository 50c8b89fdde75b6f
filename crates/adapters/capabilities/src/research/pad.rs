//! The scratchpad as files of the session: one for each note, two for each source.

use super::parse;
use crate::Now;
use crate::file_system::told;
use abide_core::capability::FilePath;
use abide_engine::port::{FilesError, NewFile, Quota, SessionFiles, SessionId, ToolError};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::Arc;

/// Where everything lies.
const FOLDER: &str = "/research";
/// How much of one source is kept, in bytes.
const LONGEST: usize = 4 << 20;
/// How many sources and notes there may be.
const MOST: usize = 1_000;

/// Keeps notes and sources.
pub(super) struct Pad {
    files: Arc<dyn SessionFiles>,
    now: Now,
}

/// A source, without its text.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) id: String,
    pub(super) title: String,
    /// The address or the path that it was taken from.
    pub(super) place: String,
    pub(super) bytes: usize,
    /// When, in milliseconds since 1970.
    pub(super) taken_at: i64,
}

/// A note.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) sources: Vec<String>,
    /// Words that stand in the first of the sources.
    pub(super) quote: Option<String>,
}

/// What becomes a source.
pub(super) struct NewSource<'a> {
    pub(super) title: String,
    pub(super) place: String,
    pub(super) text: &'a str,
}

impl Pad {
    pub(super) fn new(files: Arc<dyn SessionFiles>, now: Now) -> Self {
        Self { files, now }
    }

    pub(super) async fn add_source(
        &self,
        session: &SessionId,
        new: NewSource<'_>,
    ) -> Result<Source, ToolError> {
        let number = self.sources(session).await?.len() + 1;
        if number > MOST {
            return Err(ToolError::Refused(format!("there are {MOST} sources already")));
        }
        let text = &new.text[..new.text.floor_char_boundary(LONGEST)];
        let source = Source {
            id: format!("S{number}"),
            title: new.title.trim().to_owned(),
            place: new.place,
            bytes: text.len(),
            taken_at: (self.now)().0,
        };
        // The text first: a source that is listed has one, whatever happens in between.
        self.write(session, &format!("sources/{}.md", source.id), text.as_bytes().to_vec()).await?;
        self.write_json(session, &format!("sources/{}.json", source.id), &source).await?;
        Ok(source)
    }

    pub(super) async fn add_note(
        &self,
        session: &SessionId,
        text: &str,
        cited: &[String],
        quote: Option<&str>,
    ) -> Result<String, ToolError> {
        let known = self.sources(session).await?;
        if let Some(missing) = cited.iter().find(|id| !known.iter().any(|source| source.id == **id)) {
            return Err(ToolError::Failed(format!(
                "there is no source `{missing}`; add it with research_add_source first"
            )));
        }
        let mut sources = cited.to_vec();
        if let Some(quote) = quote {
            let mut says = None;
            for id in cited {
                if self.says(session, id, quote).await? {
                    says = Some(id.clone());
                    break;
                }
            }
            let Some(says) = says else {
                return Err(ToolError::Refused(if cited.is_empty() {
                    "a quotation needs the source that it is from".to_owned()
                } else {
                    format!(
                        "none of {} says that; quote it exactly, or leave the quotation out",
                        cited.join(", ")
                    )
                }));
            };
            // The one that was quoted stands first.
            sources.retain(|id| *id != says);
            sources.insert(0, says);
        }
        let number = self.notes(session).await?.len() + 1;
        if number > MOST {
            return Err(ToolError::Refused(format!("there are {MOST} notes already")));
        }
        let note = Note {
            id: format!("N{number}"),
            text: text.to_owned(),
            sources,
            quote: quote.map(str::to_owned),
        };
        self.write_json(session, &format!("notes/{}.json", note.id), &note).await?;
        Ok(note.id)
    }

    /// Tells whether a source contains these words; how they are spaced and broken into lines does not count.
    async fn says(&self, session: &SessionId, id: &str, quote: &str) -> Result<bool, ToolError> {
        let path = parse(&format!("{FOLDER}/sources/{id}.md"))?;
        let Some(bytes) = self.bytes(session, &path).await? else { return Ok(false) };
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = plain(quote);
        Ok(!wanted.is_empty() && plain(&String::from_utf8_lossy(&bytes)).contains(&wanted))
    }

    /// Finds a source by where it was taken from.
    pub(super) async fn source_at(
        &self,
        session: &SessionId,
        place: &str,
    ) -> Result<Option<Source>, ToolError> {
        Ok(self.sources(session).await?.into_iter().find(|source| source.place == place))
    }

    /// Reads a text file of the session.
    pub(super) async fn file(&self, session: &SessionId, path: &str) -> Result<String, ToolError> {
        let bytes = self.files.read(session, &parse(path)?).await.map_err(told)?;
        String::from_utf8(bytes).map_err(|_| ToolError::Failed(format!("`{path}` is no text")))
    }

    /// Returns the bytes of a file, or nothing if it is gone.
    pub(super) async fn bytes(
        &self,
        session: &SessionId,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, ToolError> {
        match self.files.read(session, path).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FilesError::Missing(_)) => Ok(None),
            Err(error) => Err(told(error)),
        }
    }

    /// Returns everything that can be searched: sources, notes, and the other files of the session.
    pub(super) async fn texts(&self, session: &SessionId) -> Result<Vec<FilePath>, ToolError> {
        let files = self.files.files(session).await.map_err(told)?;
        let about = format!("{FOLDER}/sources/");
        let is_about = |path: &FilePath| path.as_str().starts_with(&about) && is_record(path);
        Ok(files.into_iter().map(|info| info.path).filter(|path| !is_about(path)).collect())
    }

    pub(super) async fn all(&self, session: &SessionId) -> Result<(Vec<Note>, Vec<Source>), ToolError> {
        Ok((self.notes(session).await?, self.sources(session).await?))
    }

    async fn notes(&self, session: &SessionId) -> Result<Vec<Note>, ToolError> {
        let mut notes: Vec<Note> = self.read_all(session, "notes").await?;
        notes.sort_by_key(|note| number(&note.id));
        Ok(notes)
    }

    async fn sources(&self, session: &SessionId) -> Result<Vec<Source>, ToolError> {
        let mut sources: Vec<Source> = self.read_all(session, "sources").await?;
        sources.sort_by_key(|source| number(&source.id));
        Ok(sources)
    }

    async fn read_all<T: for<'d> Deserialize<'d>>(
        &self,
        session: &SessionId,
        kind: &str,
    ) -> Result<Vec<T>, ToolError> {
        let folder = parse(&format!("{FOLDER}/{kind}"))?;
        let listed = match self.files.list(session, &folder).await {
            Ok(listed) => listed,
            Err(FilesError::Missing(_)) => return Ok(Vec::new()),
            Err(error) => return Err(told(error)),
        };
        let mut found = Vec::new();
        for info in listed.iter().filter(|info| is_record(&info.path)) {
            let Some(bytes) = self.bytes(session, &info.path).await? else { continue };
            let read = serde_json::from_slice(&bytes);
            found.push(read.map_err(|error| ToolError::Internal(format!("{}: {error}", info.path)))?);
        }
        Ok(found)
    }

    async fn write_json(
        &self,
        session: &SessionId,
        name: &str,
        value: &impl Serialize,
    ) -> Result<(), ToolError> {
        let bytes =
            serde_json::to_vec_pretty(value).map_err(|error| ToolError::Internal(error.to_string()))?;
        self.write(session, name, bytes).await
    }

    /// Writes a file that tools may not change: a source says what it said.
    async fn write(&self, session: &SessionId, name: &str, bytes: Vec<u8>) -> Result<(), ToolError> {
        let file = NewFile { path: parse(&format!("{FOLDER}/{name}"))?, bytes, readonly: true };
        self.files.write(session, file, Quota::default()).await.map(|_| ()).map_err(told)
    }
}

/// Tells the record of a source or a note from the text of a source.
fn is_record(path: &FilePath) -> bool {
    path.as_str().strip_suffix(".json").is_some()
}

fn number(id: &str) -> usize {
    id[1..].parse().unwrap_or(usize::MAX)
}

/// Returns the id of the source that a file is the text of.
pub(super) fn source_of(path: &FilePath) -> Option<&str> {
    path.as_str().strip_prefix(FOLDER)?.strip_prefix("/sources/")?.strip_suffix(".md")
}

/// Returns the scratchpad as a text with its citations.
pub(super) fn markdown(notes: &[Note], sources: &[Source]) -> String {
    let mut text = String::from("# Notes\n");
    // Writing to a string cannot fail.
    for note in notes {
        let cited: Vec<String> = note.sources.iter().map(|id| format!("[{id}]")).collect();
        let _ = write!(text, "\n- **{}** {} {}\n", note.id, note.text, cited.join(""));
        if let (Some(quote), Some(first)) = (&note.quote, note.sources.first()) {
            let _ =
                writeln!(text, "  > {} — [{first}]", quote.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    text.push_str("\n# Sources\n\n");
    for source in sources {
        let at =
            jiff::Timestamp::from_millisecond(source.taken_at).map(|at| at.to_string()).unwrap_or_default();
        let _ = writeln!(text, "- [{}] {}, {} (taken {at})", source.id, source.title, source.place);
    }
    text
}
