//! Long lists: read page by page, given one by one.

use crate::error::Error;
use crate::wire::Wire;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;

/// One page of a list.
#[derive(Debug, Clone, Deserialize)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins; nothing at the end.
    pub next: Option<String>,
}

/// A list that is read while somebody goes through it.
#[derive(Debug)]
pub struct Pages<'a, T> {
    wire: &'a Wire,
    path: &'static str,
    parts: Vec<String>,
    query: Vec<(&'static str, String)>,
    read: VecDeque<T>,
    after: Option<String>,
    over: bool,
}

impl<'a, T: DeserializeOwned> Pages<'a, T> {
    pub(crate) fn new(wire: &'a Wire, path: &'static str, parts: &[&str]) -> Self {
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        Self { wire, path, parts, query: Vec::new(), read: VecDeque::new(), after: None, over: false }
    }

    /// Adds what stands behind the `?`.
    pub(crate) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// Says how many rows a page may have.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        self.with("limit", Some(limit))
    }

    /// Begins where a page ended.
    #[must_use]
    pub fn after(mut self, after: impl Into<String>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// Reads the page that comes next.
    pub async fn page(&mut self) -> Result<Page<T>, Error> {
        let mut query = self.query.clone();
        query.extend(self.after.clone().map(|after| ("after", after)));
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        let sent = self.wire.ask(Method::GET, self.path, &parts, &query)?;
        let page: Page<T> = self.wire.call(&sent).await?.0;
        // One that leads back to itself has none.
        self.over = page.next.is_none() || page.next == self.after;
        self.after.clone_from(&page.next);
        Ok(page)
    }

    /// Returns the next row; a page may be empty and still have a next one.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        loop {
            if let Some(row) = self.read.pop_front() {
                return Ok(Some(row));
            }
            if self.over {
                return Ok(None);
            }
            self.read = self.page().await?.items.into();
        }
    }

    /// Collects the rows, and no more than so many.
    pub async fn all(mut self, most: usize) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        while found.len() < most {
            let Some(row) = self.next().await? else { break };
            found.push(row);
        }
        Ok(found)
    }
}
