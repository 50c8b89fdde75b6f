//! Serving the process that started this one, over standard input and output.

use crate::bounds::GRACE;
use crate::calls::wind_up;
use crate::desk::Desk;
use crate::lines::Lines;
use crate::server::{Server, Way};
use rmcp::service::serve_server_with_ct;
use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Why a server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The threads that read and write could not be started.
    #[error("could not start to serve: {0}")]
    Start(io::Error),
}

/// Serves the process that started this one, until it closes standard input or `stop` resolves.
///
/// Then the calls under way are told so and have a few seconds to end.
pub async fn serve_stdio<D: Desk>(
    desk: Arc<D>,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    serve(desk, io::stdin(), io::stdout(), stop).await
}

/// Serves whoever is at the other end of a pair of pipes.
pub async fn serve<D: Desk>(
    desk: Arc<D>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let (gone, tasks) = (CancellationToken::new(), TaskTracker::new());
    let lines = Lines::start(input, output, gone.clone()).map_err(ServeError::Start)?;
    let server = Server::new(desk, Way::Stdio, &gone, tasks.clone());
    let ended = CancellationToken::new();
    let serving = async {
        // One that could not begin has been told why, if it was there to be told.
        if let Ok(running) = serve_server_with_ct(server, lines, ended.clone()).await {
            let _ = running.waiting().await;
        }
    };
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = stop => {
            // First the calls, so that their answers still get out.
            gone.cancel();
            tasks.close();
            let _ = tokio::time::timeout(GRACE, tasks.wait()).await;
            ended.cancel();
            serving.await;
        }
    }
    gone.cancel();
    wind_up(&tasks).await;
    Ok(())
}
