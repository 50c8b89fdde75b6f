//! One run of a client: what it is given, how it is bounded, and what came of it.

use super::VARIABLE;
use crate::model::ModelServer;
use abide_engine::port::{Ending, Line, Process as _, ProcessError, Signal, Spec, Stream, Variable};
use abide_process::LocalProcess;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most that is kept of each output of a client.
const OUTPUT: usize = 32 << 20;
/// How many were started: it tells their marks apart.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// What a client is started with.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    pub(super) project: &'a Path,
    pub(super) prompt: &'a str,
    pub(super) model: String,
    pub(super) variables: Vec<(String, String)>,
    pub(super) arguments: Vec<String>,
    pub(super) session: Option<String>,
    pub(super) longest: Duration,
}

impl<'a> Launch<'a> {
    /// Gives a prompt to a client in a project, with a scripted model behind it. It may take two minutes.
    pub fn new(project: &'a Path, prompt: &'a str, model: &ModelServer) -> Self {
        Self {
            project,
            prompt,
            model: model.url(),
            variables: Vec::new(),
            arguments: Vec::new(),
            session: None,
            longest: Duration::from_mins(2),
        }
    }

    /// Adds a variable to the environment, which is otherwise nearly empty; `PATH` is ours unless it is given.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds an argument, before the prompt.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Goes on with a session of an earlier run of the same launcher.
    #[must_use]
    pub fn resuming(mut self, session: &str) -> Self {
        self.session = Some(session.to_owned());
        self
    }

    /// Sets how long it may take.
    #[must_use]
    pub fn longest(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// Runs a program with the client's own arguments and variables beside these. A session follows the word `resume`.
    pub(super) async fn run(
        self,
        program: String,
        home: &Path,
        arguments: &[&str],
        resume: &str,
        variables: &[(&str, &str)],
    ) -> Result<Ran, ClientError> {
        let project = self.project.canonicalize().map_err(|error| ClientError::file(self.project, error))?;
        let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| ClientError::name(path));
        let mut all = vec![
            ("PATH".to_owned(), ours("PATH")),
            ("HOME".to_owned(), text(home)?),
            // OpenCode goes by this rather than by the folder that it is started in.
            ("PWD".to_owned(), text(&project)?),
            ("TMPDIR".to_owned(), text(&home.join("tmp"))?),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            // Whatever goes to npm at run time shall fail at once and not reach the network.
            ("npm_config_registry".to_owned(), "http://127.0.0.1:9".to_owned()),
            ("npm_config_fetch_retries".to_owned(), "0".to_owned()),
        ];
        let own = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        all.extend(own.chain(self.variables));
        let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        arguments.extend(self.arguments);
        arguments.extend(self.session.into_iter().flat_map(|session| [resume.to_owned(), session]));
        arguments.push(self.prompt.to_owned());
        let spec = Spec {
            program,
            arguments,
            folder: project,
            variables: all.into_iter().map(|(name, value)| Variable { name, value, secret: false }).collect(),
            without: std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
            longest: Some(u64::try_from(self.longest.as_millis()).unwrap_or(u64::MAX)),
            mark: format!("client-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed)),
        };
        let kept: Arc<Mutex<(Vec<u8>, Vec<u8>)>> = Arc::default();
        let sink = {
            let kept = Arc::clone(&kept);
            move |line: Line| {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = match line.stream {
                    Stream::Stdout => &mut kept.0,
                    Stream::Stderr => &mut kept.1,
                };
                let room = OUTPUT - bytes.len();
                bytes.extend(line.bytes.into_iter().take(room));
                std::future::ready(())
            }
        };
        let ending = LocalProcess::new().run(spec, std::future::pending::<Signal>, sink).await?;
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let stdout = String::from_utf8_lossy(&kept.0).into_owned();
        let stderr = String::from_utf8_lossy(&kept.1).into_owned();
        let events = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Ran { ending, events, stdout, stderr })
    }
}

#[expect(clippy::disallowed_methods, reason = "clients find their tools where the test does")]
pub(super) fn ours(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// What a process left, before its client's events are understood.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) ending: Ending,
    pub(super) events: Vec<Value>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// Adds what the events say.
    pub(super) fn outcome(self, answer: Option<String>, session: Option<String>) -> Outcome {
        let Self { ending, events, stdout, stderr } = self;
        Outcome { ending, events, stdout, stderr, answer, session }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How the process ended.
    pub ending: Ending,
    /// Its events: the lines of its output that are JSON.
    pub events: Vec<Value>,
    /// Its output as it was.
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
    /// Its last words to the user.
    pub answer: Option<String>,
    /// The session, to be gone on with.
    pub session: Option<String>,
}

impl Outcome {
    /// Tells whether it ended by itself and well.
    pub fn succeeded(&self) -> bool {
        self.ending == Ending::Exited(0)
    }
}

/// Why a client could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody says where the clients are.
    #[error(
        "{VARIABLE} does not say where the clients are: install them with `./test tools`, then set it to the \
         folder that this prints"
    )]
    Unknown,
    /// A client is not there.
    #[error("{} does not exist: `./test tools` installs the clients", .0.display())]
    Absent(PathBuf),
    /// A file of its home or project cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// It could not be started, or was lost.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl ClientError {
    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }

    fn name(path: &Path) -> Self {
        Self::file(path, io::Error::new(io::ErrorKind::InvalidFilename, "the path is not UTF-8"))
    }
}
