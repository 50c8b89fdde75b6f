//! Which run is meant, by what a person types.

use super::{Remote, failure};
use crate::{Exit, Failure};
use abide_sdk::{RunFilter, RunHead, RunStatus};

/// How many runs are looked through for the beginning of an id.
const MOST: usize = 2_000;
/// How long an id is.
const ID: usize = 36;

impl Remote {
    /// Finds a run by its id, the beginning of it, or, without one, as the newest that `wanted` accepts.
    pub(super) async fn find(
        &self,
        text: Option<&str>,
        wanted: impl Fn(RunStatus) -> bool,
    ) -> Result<String, Failure> {
        if let Some(id) = text.filter(|text| text.len() == ID) {
            return Ok(id.to_owned());
        }
        let is_meant = |head: &RunHead| match text {
            Some(text) => head.run.starts_with(text),
            None => head.parent.is_none() && wanted(head.status),
        };
        let mut heads = self.abide.runs().list(&RunFilter::default());
        let (mut found, mut looked_at) = (Vec::new(), 0);
        while looked_at < MOST {
            let Some(head) = heads.next().await.map_err(|error| failure(&error))? else { break };
            looked_at += 1;
            if is_meant(&head) {
                found.push(head.run);
            }
            // Without a text the newest is meant.
            if text.is_none() && !found.is_empty() {
                break;
            }
        }
        let list = format!("`{} runs` lists them", self.typed);
        match (&found[..], text) {
            ([only], _) => Ok(only.clone()),
            ([], Some(text)) => {
                Err(Failure::new(Exit::NotFound, format!("there is no run {text}")).help(list))
            }
            ([], None) => Err(Failure::new(Exit::NotFound, "there is no such run there").help(list)),
            (many, _) => {
                let shown = many.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                Err(Failure::new(Exit::Usage, format!("{} runs begin like that: {shown}", many.len())))
            }
        }
    }
}

/// Returns whether a run can still be brought on.
pub(super) fn is_unfinished(status: RunStatus) -> bool {
    !status.is_over()
}
