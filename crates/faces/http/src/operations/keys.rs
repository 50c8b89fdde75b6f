//! Keys: listed, made and revoked by whoever has the scope `admin`.

use crate::ask::{Ask, bad, text, texts, wrong};
use crate::door::Answered;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_engine::keys::{ApiKey, LONGEST_NAME, Scope, mint};
use abide_engine::port::KeysError;
use http::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let limit = ask.limit()?;
    let after = ask.query("after");
    if let Some(after) = after
        && house.keys().find(after).await.map_err(|error| failed(&error))?.is_none()
    {
        return Err(bad("after", "is not the `next` of a page"));
    }
    let mut page = house.keys().list(after, limit + 1).await.map_err(|error| failed(&error))?;
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|last| last.id.clone());
    let items: Vec<Value> = page.iter().map(to_json).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

pub(super) async fn create<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["name", "scopes"])?;
    let name = text(&mut body, "name", LONGEST_NAME)?.ok_or_else(|| wrong("name", "is missing"))?;
    let words =
        texts(&mut body, "scopes", Scope::ALL.len(), 16)?.ok_or_else(|| wrong("scopes", "is missing"))?;
    let scope = |word: &String| {
        Scope::parse(word).ok_or_else(|| {
            wrong("scopes", &format!("has `{word}`, which is no scope: read, run, approve, admin"))
        })
    };
    let scopes = words.iter().map(scope).collect::<Result<Vec<_>, _>>()?;
    let minted = mint(&name, &scopes, ask.who.name(), house.now(), random())
        .map_err(|error| Problem::new(Code::Invalid, error.to_string()))?;
    abide_engine::audit::about(&minted.key.id);
    house.keys().add(minted.key.clone()).await.map_err(|error| failed(&error))?;
    let mut made = to_json(&minted.key);
    made["key"] = Value::from(minted.text);
    Ok(Reply::json(StatusCode::CREATED, &made))
}

pub(super) async fn revoke<H: House>(house: &H, ask: &Ask) -> Answered {
    let key = house.keys().revoke(ask.part(0), house.now()).await.map_err(|error| failed(&error))?;
    Ok(Reply::done(&to_json(&key)))
}

/// Returns what a key is made of: bytes for its id, and for a secret that nobody could guess.
pub fn random() -> ([u8; 8], [u8; 32]) {
    let (mut id, mut secret) = ([0; 8], [0; 32]);
    // Of a random UUID six bits are fixed; three of them have more than 256 random ones.
    let digest = <sha2::Sha256 as sha2::Digest>::digest(
        [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(|id| *id.as_bytes()).concat(),
    );
    secret.copy_from_slice(&digest);
    id.copy_from_slice(&Uuid::new_v4().as_bytes()[8..]);
    // The two fixed bits of this half; an id only has to be new.
    id[0] ^= Uuid::new_v4().as_bytes()[0];
    (id, secret)
}

fn to_json(key: &ApiKey) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>(),
        "created_at": key.created_at,
        "created_by": key.created_by,
        "revoked_at": key.revoked_at,
    })
}

fn failed(error: &KeysError) -> Problem {
    let code = match error {
        KeysError::Missing(_) => Code::NotFound,
        KeysError::Full(_) => Code::Invalid,
        KeysError::Unreachable(_) => Code::Unavailable,
    };
    Problem::new(code, error.to_string())
}
