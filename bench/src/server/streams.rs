//! Clients that follow a run in which nothing happens: they cost what it takes to say now and then that the server is still there.

use super::{Extent, Served, project};
use anyhow::ensure;
use std::time::{Duration, Instant};

/// How much of one core a thousand of them may take.
const MOST: f64 = 0.02;
/// How long they are watched: longer than the time between two signs of life.
const WATCHED: Duration = Duration::from_secs(16);

pub(super) fn run(extent: Extent) -> anyhow::Result<bool> {
    let project = project()?;
    let folder = project.path().join(".abide/abilities");
    std::fs::create_dir_all(&folder)?;
    let ability = "description: Waits\nsteps:\n  - id: ask\n    type: approval\n    prompt: Go on?\n";
    std::fs::write(folder.join("ask.yaml"), ability)?;
    let served = Served::abide(project.path())?;
    let run = served.caller().once("POST", "/v1/runs", r#"{"ability": "ask"}"#)?;
    let run: serde_json::Value = serde_json::from_str(&run)?;
    let path = format!("/v1/runs/{}/events/stream", run["run"].as_str().unwrap_or_default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (clients, share) = runtime.block_on(async {
        let mut clients = Vec::new();
        for _ in 0..extent.clients {
            let mut connection = served.caller().connect().await?;
            connection.send("GET", &path, "").await?;
            ensure!(connection.more().await? > 0, "a stream that does not begin");
            clients.push(connection);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (before, began) = (served.cpu()?, Instant::now());
        tokio::time::sleep(WATCHED).await;
        let cpu = served.cpu()?.saturating_sub(before);
        Ok::<_, anyhow::Error>((clients.len(), cpu.as_secs_f64() / began.elapsed().as_secs_f64()))
    })?;
    let kept = share <= MOST;
    println!(
        "\n{}: {clients} clients that follow a run in which nothing happens take {:.2}% of a core, at most {:.0}%",
        if kept { "kept" } else { "BROKEN" },
        share * 100.0,
        MOST * 100.0
    );
    Ok(kept)
}
