//! The files of sessions: byte for byte, and changed only as they were seen.

use crate::agents::{Seen, etag, matching};
use crate::error::Error;
use crate::types::{Deleted, File, Folder, Matches};
use crate::wire::Wire;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

/// When a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect<'a> {
    /// Whatever is there.
    #[default]
    Anything,
    /// Only if nothing is there, else the code is `changed`.
    Nothing,
    /// Only if nobody else has changed it since somebody saw this `etag`, else the code is `changed`.
    Seen(&'a str),
}

/// The files of sessions.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a>(pub(crate) &'a Wire);

impl Files<'_> {
    /// Reads a file, byte for byte.
    pub async fn read(&self, session: &str, path: &str) -> Result<Seen<Vec<u8>>, Error> {
        let sent = self.0.ask(Method::GET, "/v1/sessions/{}/fs", &[session], &at(path))?;
        let (value, headers) = self.0.bytes(&sent).await?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("application/octet-stream") {
            return Err(Error::Unsendable(format!("`{path}` is a folder")));
        }
        Ok(Seen { value, etag: etag(&headers) })
    }

    /// Writes a file and the folders above it. It is sent once: when no answer comes, look at the file.
    pub async fn write(
        &self,
        session: &str,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        expect: Expect<'_>,
    ) -> Result<Seen<File>, Error> {
        let sent = self.0.put("/v1/sessions/{}/fs", &[session], &at(path), bytes.into())?;
        let sent = match expect {
            Expect::Anything => sent,
            Expect::Nothing => sent.header("if-none-match", "*")?,
            Expect::Seen(etag) => matching(sent, Some(etag))?,
        };
        Seen::read(self.0, &sent).await
    }

    /// Lists what is in a folder, such as `/`.
    pub async fn list(&self, session: &str, path: &str) -> Result<Folder, Error> {
        let query = [("path", path.to_owned()), ("format", "json".to_owned())];
        let sent = self.0.ask(Method::GET, "/v1/sessions/{}/fs", &[session], &query)?;
        let shown: Value = self.0.call(&sent).await?.0;
        if shown["entries"].is_null() {
            return Err(Error::Unsendable(format!("`{path}` is a file")));
        }
        serde_json::from_value(shown).map_err(|error| self.0.foreign(format!("its answer: {error}")))
    }

    /// Says what is known about a file or a folder.
    pub async fn stat(&self, session: &str, path: &str) -> Result<Seen<File>, Error> {
        Seen::read(self.0, &self.0.ask(Method::GET, "/v1/sessions/{}/fs/stat", &[session], &at(path))?).await
    }

    /// Moves a file, or a folder with all that is in it, to where nothing is. It is sent once.
    pub async fn r#move(&self, session: &str, from: &str, to: &str) -> Result<Seen<File>, Error> {
        let sent = self.0.post("/v1/sessions/{}/fs/move", &[session], json!({ "from": from, "to": to }))?;
        Seen::read(self.0, &sent).await
    }

    /// Copies a file, or a folder with all that is in it, to where nothing is. It is sent once.
    pub async fn copy(&self, session: &str, from: &str, to: &str) -> Result<Seen<File>, Error> {
        let sent = self.0.post("/v1/sessions/{}/fs/copy", &[session], json!({ "from": from, "to": to }))?;
        Seen::read(self.0, &sent).await
    }

    /// Searches files for a regular expression; `only` such as `*.txt` says which.
    pub async fn grep(&self, session: &str, pattern: &str, only: Option<&str>) -> Result<Matches, Error> {
        let mut query = vec![("pattern", pattern.to_owned())];
        query.extend(only.map(|only| ("path_pattern", only.to_owned())));
        let sent = self.0.ask(Method::GET, "/v1/sessions/{}/fs/grep", &[session], &query)?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Deletes a file, or a folder: with `recursive`, all that is in it. With the `etag` of a file, only if nobody else has changed it
    /// since, else the code is `changed`. It is sent once.
    pub async fn delete(
        &self,
        session: &str,
        path: &str,
        recursive: bool,
        etag: Option<&str>,
    ) -> Result<Deleted, Error> {
        let query = [("path", path.to_owned()), ("recursive", recursive.to_string())];
        let sent = matching(self.0.ask(Method::DELETE, "/v1/sessions/{}/fs", &[session], &query)?, etag)?;
        Ok(self.0.call(&sent).await?.0)
    }
}

fn at(path: &str) -> [(&'static str, String); 1] {
    [("path", path.to_owned())]
}
