//! The files of sessions, for whoever has the session: byte for byte, and never those of another one.

use super::excerpt::page;
use super::sessions::find;
use crate::ask::{Ask, bad, text, wrong};
use crate::bounds::LONG_FILE;
use crate::door::{Answered, Door};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{
    Condition, FileInfo, FilesError, NewFile, Quota, SessionId, ToolContext, ToolError, ToolOutput, Transfer,
};
use abide_engine::toolbox::Toolbox;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The longest path, in bytes.
const LONGEST_PATH: usize = 4_096;
/// How much the answer to a search may hold, in bytes.
const MOST_FOUND: usize = 1024 * 1024;

/// Finds the session that a path names; one that is not there has no files either.
async fn session<H: House>(house: &H, ask: &Ask) -> Result<SessionId, Problem> {
    let session = find(house, ask).await?;
    SessionId::parse(&session.id).ok_or_else(|| Problem::new(Code::Internal, "the session has no id"))
}

/// Returns the path that the address names.
fn path(ask: &Ask) -> Result<FilePath, Problem> {
    FilePath::parse(ask.query("path").unwrap_or("/")).map_err(|error| bad("path", &error.to_string()))
}

pub(super) async fn read<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let house = &*door.house;
    let (session, path) = (session(house, ask).await?, path(ask)?);
    let whole = match ask.query("format") {
        None | Some("bytes") => false,
        Some("json") => true,
        Some(_) => return Err(bad("format", "is bytes or json")),
    };
    let info = there(house, &session, &path).await?;
    if info.is_directory {
        let entries = house.files().list(&session, &path).await.map_err(failed)?;
        let entries: Vec<Value> = entries.iter().map(to_json).collect();
        let folder = json!({ "path": path.as_str(), "count": entries.len(), "entries": entries });
        return Ok(Reply::done(&page(folder, "entries", "path", ask)?));
    }
    // A long one is held until it is sent, so there are only so many at once.
    let room = if info.size_bytes > LONG_FILE { Some(door.rooms.download(&ask.who).await?) } else { None };
    let bytes = house.files().read(&session, &path).await.map_err(failed)?;
    let reply = if whole {
        let (content, encoding) = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => (text, "text"),
            Ok(text) => (BASE64_STANDARD.encode(text), "base64"),
            Err(error) => (BASE64_STANDARD.encode(error.as_bytes()), "base64"),
        };
        let mut shown = to_json(&info);
        shown["content"] = Value::from(content);
        shown["encoding"] = Value::from(encoding);
        Reply::done(&shown)
    } else {
        Reply::text(StatusCode::OK, "application/octet-stream", bytes)
    };
    Ok(tagged(reply.in_room(room), &info))
}

pub(super) async fn write<H: House>(house: &H, ask: &Ask) -> Answered {
    let (session, path) = (session(house, ask).await?, path(ask)?);
    let condition = condition(ask)?;
    let file = NewFile { path: path.clone(), bytes: ask.bytes().to_vec(), readonly: ask.flag("readonly")? };
    house.files().write_when(&session, file, Quota::OWNER, condition).await.map_err(failed)?;
    let info = there(house, &session, &path).await?;
    Ok(tagged(Reply::done(&to_json(&info)), &info))
}

pub(super) async fn delete<H: House>(house: &H, ask: &Ask) -> Answered {
    let (session, path) = (session(house, ask).await?, path(ask)?);
    let (recursive, condition) = (ask.flag("recursive")?, condition(ask)?);
    if condition == Condition::Missing {
        return Err(Problem::new(Code::BadRequest, "`If-None-Match` has no meaning here"));
    }
    let deleted = house.files().delete_when(&session, &path, recursive, condition).await.map_err(failed)?;
    Ok(Reply::done(&json!({ "path": path.as_str(), "deleted": deleted })))
}

pub(super) async fn stat<H: House>(house: &H, ask: &Ask) -> Answered {
    let (session, path) = (session(house, ask).await?, path(ask)?);
    let info = there(house, &session, &path).await?;
    Ok(tagged(Reply::done(&to_json(&info)), &info))
}

pub(super) async fn transfer<H: House>(house: &H, ask: &Ask, keep: bool) -> Answered {
    let session = session(house, ask).await?;
    // Whoever sends one counts on it.
    if condition(ask)? != Condition::Always {
        return Err(Problem::new(
            Code::BadRequest,
            "`If-Match` and `If-None-Match` have no meaning here: nothing is ever replaced",
        ));
    }
    let mut body = ask.object(&["from", "to"])?;
    let mut place = |name: &str| {
        let given = text(&mut body, name, LONGEST_PATH)?.ok_or_else(|| wrong(name, "is missing"))?;
        FilePath::parse(&given).map_err(|error| wrong(name, &error.to_string()))
    };
    let (from, to) = (place("from")?, place("to")?);
    let asked = Transfer { from, to: to.clone(), keep };
    house.files().transfer(&session, asked, Quota::OWNER).await.map_err(failed)?;
    let info = there(house, &session, &to).await?;
    Ok(tagged(Reply::done(&to_json(&info)), &info))
}

/// Searches as an agent does: with the tool of the capability.
pub(super) async fn grep<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = session(house, ask).await?;
    let pattern = ask.query("pattern").ok_or_else(|| bad("pattern", "is missing"))?;
    let mut arguments = json!({ "pattern": pattern });
    if let Some(fits) = ask.query("path_pattern") {
        arguments["path_pattern"] = Value::from(fits);
    }
    let missing = || Problem::new(Code::Internal, "there is nothing to search with");
    let capability = house.capabilities().get("session_file_system").ok_or_else(missing)?;
    let tools = Toolbox::new(capability.tools()).map_err(|_| missing())?;
    let tool = tools.find("grep_files").map_err(|_| missing())?;
    let context = ToolContext { output_bytes: MOST_FOUND, ..ToolContext::new(session) };
    match tool.call(arguments, context).await {
        Ok(ToolOutput::Json(found)) => Ok(Reply::done(&found)),
        Ok(ToolOutput::Text(_) | ToolOutput::Shown { .. }) | Err(ToolError::Internal(_)) => {
            Err(Problem::new(Code::Unavailable, "the files of the session cannot be searched"))
        }
        Err(error) => Err(Problem::new(Code::Invalid, error.for_model())),
    }
}

/// Returns what is at a path.
async fn there<H: House>(house: &H, session: &SessionId, path: &FilePath) -> Result<FileInfo, Problem> {
    let found = house.files().stat(session, path).await.map_err(failed)?;
    found.ok_or_else(|| failed(FilesError::Missing(path.clone())))
}

/// Returns what the caller expects to be there.
fn condition(ask: &Ask) -> Result<Condition, Problem> {
    let header = |name: HeaderName| match ask.headers.get(&name) {
        None => Ok(None),
        Some(value) => match value.to_str() {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(Problem::new(Code::BadRequest, format!("`{name}` is no text"))),
        },
    };
    match (header(header::IF_MATCH)?, header(header::IF_NONE_MATCH)?) {
        (None, None) => Ok(Condition::Always),
        (None, Some("*")) => Ok(Condition::Missing),
        (Some("*"), None) => Ok(Condition::Present),
        (Some(tag), None) => {
            let parts = tag.trim_matches('"').split_once('-').and_then(|(at, size)| {
                Some((i64::from_str_radix(at, 16).ok()?, u64::from_str_radix(size, 16).ok()?))
            });
            // A tag that none of these files ever had is one that none has now.
            let (at, size_bytes) = parts.unwrap_or((i64::MIN, 0));
            Ok(Condition::Unchanged { updated_at: Timestamp(at), size_bytes })
        }
        _ => Err(Problem::new(Code::BadRequest, "`If-None-Match` is `*`, and comes without `If-Match`")),
    }
}

fn tagged(reply: Reply, info: &FileInfo) -> Reply {
    let tag = format!("\"{:x}-{:x}\"", info.updated_at.0, info.size_bytes);
    match HeaderValue::from_str(&tag) {
        Ok(tag) => reply.header(header::ETAG, tag),
        Err(_) => reply,
    }
}

fn to_json(info: &FileInfo) -> Value {
    json!({
        "path": info.path.as_str(),
        "name": info.path.name(),
        "is_directory": info.is_directory,
        "is_readonly": info.is_readonly,
        "size_bytes": info.size_bytes,
        "created_at": info.created_at.0,
        "updated_at": info.updated_at.0,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn failed(error: FilesError) -> Problem {
    let code = match &error {
        FilesError::Missing(_) => Code::NotFound,
        FilesError::Changed(_) => Code::Changed,
        FilesError::IsDirectory(_)
        | FilesError::NotDirectory(_)
        | FilesError::NotEmpty(_)
        | FilesError::Readonly(_)
        | FilesError::Exists(_) => Code::Refused,
        FilesError::Root | FilesError::Full(_) => Code::Invalid,
        FilesError::Unreachable(_) => {
            return Problem::new(Code::Unavailable, "the files of the session cannot be reached");
        }
    };
    Problem::new(code, error.to_string())
}
