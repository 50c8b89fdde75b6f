//! `abide key create|list|revoke`: who may use a server.

use crate::args::{DatabaseArguments, KeyArguments, KeyCommand, ScopeName};
use crate::house::Stores;
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::ui::moment::moment;
use crate::ui::table::Table;
use crate::{Exit, Failure};
use abide_core::event::Timestamp;
use abide_engine::audit::noting;
use abide_engine::keys::{ApiKey, Scope, mint};
use abide_engine::port::{Clock as _, Keys, KeysError, NewNote};
use serde_json::{Value, json};

/// How many keys are read at once.
const PAGE: usize = 1_000;

pub(crate) fn key(session: &mut Session<'_>, arguments: &KeyArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        KeyCommand::Create { name, scope, database } => {
            let scopes: Vec<Scope> = scope.iter().map(|scope| of(*scope)).collect();
            let by = runs::user(session);
            let minted = mint(name, &scopes, &by, SystemClock.now().0, abide_http::random())
                .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
            let note = note(
                &by,
                "createKey",
                &minted.key.id,
                &json!({ "name": name, "scopes": scopes_of(&scopes) }),
            );
            with_keys(session, database, Some(note), async |keys| keys.add(minted.key.clone()).await)?;
            if session.json {
                let mut made = to_json(&minted.key);
                made["key"] = Value::from(minted.text);
                session.print_json(&made)?;
            } else {
                session.print(&format!("{}\n", minted.text))?;
                session.say("keep it: it is shown this once; send it as `Authorization: Bearer …`\n")?;
            }
        }
        KeyCommand::List { database } => {
            let all = with_keys(session, database, None, async |keys| all(keys).await)?;
            if session.json {
                let all: Vec<Value> = all.iter().map(to_json).collect();
                session.print_json(&json!({ "keys": all }))?;
            } else if all.is_empty() {
                session.say("there are no keys yet: `abide key create NAME` makes one\n")?;
            } else {
                let text = table(&all).render(session.style, (session.surroundings.width)());
                session.print(&text)?;
            }
        }
        KeyCommand::Revoke { id, database } => {
            let at = SystemClock.now().0;
            let note = note(&runs::user(session), "revokeKey", id, &json!({}));
            let key = with_keys(session, database, Some(note), async |keys| keys.revoke(id, at).await)?;
            if session.json {
                session.print_json(&to_json(&key))?;
            } else {
                session.say(&format!("the key {id} of {} opens nothing any more\n", key.name))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Opens the keys and does something with them; a database belongs to the runtime that it is opened in.
fn with_keys<T>(
    session: &Session<'_>,
    database: &DatabaseArguments,
    note: Option<NewNote>,
    work: impl AsyncFnOnce(&dyn Keys) -> Result<T, KeysError>,
) -> Result<T, Failure> {
    runs::block_on(async {
        let (keys, audit) = Stores::keys(session, database.database.as_deref())?;
        let (done, left) = noting(note, work(&*keys)).await;
        let done = done.map_err(|error| failed(&error))?;
        if let Some(note) = left {
            audit.note(note).await.map_err(|error| {
                Failure::new(Exit::System, format!("it was done, and could not be noted: {error}"))
            })?;
        }
        Ok(done)
    })?
}

/// Says what a user of this machine does.
fn note(by: &str, action: &str, subject: &str, detail: &Value) -> NewNote {
    let (by, action, subject) = (by.to_owned(), action.to_owned(), subject.to_owned());
    NewNote { at: SystemClock.now().0, by, action, subject, request: None, detail: detail.to_string() }
}

fn scopes_of(scopes: &[Scope]) -> Vec<&'static str> {
    scopes.iter().map(|scope| scope.word()).collect()
}

async fn all(keys: &dyn Keys) -> Result<Vec<ApiKey>, KeysError> {
    let mut all: Vec<ApiKey> = Vec::new();
    loop {
        let page = keys.list(all.last().map(|key| key.id.as_str()), PAGE).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

fn of(scope: ScopeName) -> Scope {
    match scope {
        ScopeName::Read => Scope::Read,
        ScopeName::Run => Scope::Run,
        ScopeName::Approve => Scope::Approve,
        ScopeName::Admin => Scope::Admin,
    }
}

fn scopes(key: &ApiKey) -> Vec<&'static str> {
    scopes_of(&key.scopes)
}

fn table(keys: &[ApiKey]) -> Table<'static, 6> {
    let mut table = Table::new(["ID", "NAME", "SCOPES", "MADE", "BY", "REVOKED"]);
    for key in keys {
        table.row(
            None,
            [
                key.id.clone(),
                key.name.clone(),
                scopes(key).join(" "),
                moment(Timestamp(key.created_at)),
                key.created_by.clone(),
                key.revoked_at.map(|at| moment(Timestamp(at))).unwrap_or_default(),
            ],
        );
    }
    table
}

fn to_json(key: &ApiKey) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "scopes": scopes(key),
        "created_at": key.created_at,
        "created_by": key.created_by,
        "revoked_at": key.revoked_at,
    })
}

fn failed(error: &KeysError) -> Failure {
    let exit = match error {
        KeysError::Missing(_) => Exit::NotFound,
        KeysError::Full(_) => Exit::Refused,
        KeysError::Unreachable(_) => Exit::System,
    };
    Failure::new(exit, error.to_string())
}
