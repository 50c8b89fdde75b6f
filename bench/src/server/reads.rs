//! What is only looked at: a list that does not change, and a row of the store.

use super::{Each, Extent, Served, each, key, project, verdict};

/// How many times the CPU of the bare server a request may cost.
const MOST: f64 = 2.0;
const CONNECTIONS: usize = 16;

pub(super) fn run(extent: Extent) -> anyhow::Result<bool> {
    let (project, answers) = (project()?, tempfile::tempdir()?);
    let key = key(project.path())?;
    let abide = Served::abide(project.path())?;
    let body = r#"{"name": "Reviewer", "description": "Reviews changes", "system_prompt": "You review changes.", "capabilities": ["current_time"]}"#;
    let agent: serde_json::Value =
        serde_json::from_str(&abide.caller_with(&key).once("POST", "/v1/agents", body)?)?;
    let agent = format!("/v1/agents/{}", agent["id"].as_str().unwrap_or_default());
    let paths = [("capabilities", "/v1/capabilities".to_owned()), ("agent", agent)];
    for (name, path) in &paths {
        std::fs::write(answers.path().join(name), abide.caller().once("GET", path, "")?)?;
    }
    let bare = Served::bare(answers.path())?;
    let mut kept = true;
    println!("\n{:<22} {:>10} {:>12} {:>12}", "GET, 16 connections", "CPU, µs", "a second", "beside");
    for (name, path) in &paths {
        let (mut ours, mut least): (Option<Each>, Option<Each>) = (None, None);
        let ask = |_| ("GET", path.clone(), String::new());
        for _ in 0..extent.rounds {
            least = Some(Each::least(least, each(&bare, CONNECTIONS, extent.requests, &ask)?));
            ours = Some(Each::least(ours, each(&abide, CONNECTIONS, extent.requests, &ask)?));
        }
        let (Some(ours), Some(least)) = (ours, least) else { continue };
        for (side, cost) in [("abide", ours), ("bare axum", least)] {
            println!("{name:<14} {side:<9} {:>8.1} {:>12.0}", cost.micros, cost.a_second);
        }
        kept &= verdict(&format!("CPU of GET {name}"), ours.micros / least.micros, MOST);
    }
    Ok(kept)
}
