//! A page of a list that lies on the disk or in a folder, for whoever asks for one; without being asked, all of it is told.

use crate::ask::{Ask, bad};
use crate::problem::Problem;
use serde_json::Value;

/// Leaves of a list in a document what the caller asks for: `limit` rows after the one that `after` names by its `key`, which no
/// other row has.
pub(super) fn page(mut document: Value, list: &str, key: &str, ask: &Ask) -> Result<Value, Problem> {
    if ask.query("limit").is_none() && ask.query("after").is_none() {
        return Ok(document);
    }
    let limit = ask.limit()?;
    let rows = document[list].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = match ask.query("after") {
        None => 0,
        Some(after) => {
            let place = rows.iter().position(|row| row[key] == after);
            place.ok_or_else(|| bad("after", "is not the `next` of a page, or what it names is gone"))? + 1
        }
    };
    let page: Vec<Value> = rows.iter().skip(first).take(limit).cloned().collect();
    let more = first + page.len() < rows.len();
    let next = page.last().filter(|_| more).map_or(Value::Null, |row| row[key].clone());
    document[list] = page.into();
    document["next"] = next;
    Ok(document)
}
