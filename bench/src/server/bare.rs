//! The bare side: an axum server that has its answers ready, and looks at nothing but the path.

use anyhow::Context;
use axum::Router;
use axum::extract::Path as Part;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::path::Path;
use std::process::ExitCode;

/// Serves the answers that lie in a folder, until it is ended.
pub(crate) fn serve(answers: &str) -> anyhow::Result<ExitCode> {
    let read = |name: &str| -> anyhow::Result<&'static str> {
        let text = std::fs::read_to_string(Path::new(answers).join(name)).with_context(|| name.to_owned())?;
        Ok(Box::leak(text.into_boxed_str()))
    };
    let (capabilities, agent) = (read("capabilities")?, read("agent")?);
    let json = |text: &'static str| ([(CONTENT_TYPE, "application/json")], text);
    let routes = Router::new()
        .route("/v1/capabilities", get(move || async move { json(capabilities) }))
        .route("/v1/agents/{id}", get(move |Part(_): Part<String>| async move { json(agent) }));
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        eprintln!("serving on http://{}", listener.local_addr()?);
        axum::serve(listener, routes).await?;
        Ok(ExitCode::SUCCESS)
    })
}
