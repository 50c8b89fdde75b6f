//! The tools that read, search and change files.
#![expect(clippy::disallowed_methods, reason = "the files of the project are read and written here")]

use super::Shared;
use super::place::{Walked, walk};
use crate::file_system::search::Search;
use crate::function::{About, fit, tool};
use abide_core::capability::{FilePath, Risk};
use abide_core::model::Image;
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Tool, ToolContext, ToolError, ToolOutput};
use globset::GlobBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The largest file that is read or written.
const LARGEST: u64 = 16 << 20;
/// How many lines are read unless more are asked for.
const LINES: usize = 2_000;
/// How many names are told.
const MOST_NAMES: usize = 1_000;

pub(super) fn tools(shared: &Arc<Shared>) -> Vec<Arc<dyn Tool>> {
    vec![read(shared), list(shared), glob(shared), grep(shared), write(shared), edit(shared)]
}

/// Does something on a thread where it holds nobody up.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ToolError::Internal(error.to_string()))?
}

fn text_schema(properties: &[(&str, &str)], required: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = properties
        .iter()
        .map(|(name, says)| ((*name).to_owned(), json!({ "type": "string", "description": says })))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn read_text(path: &Path, told: &str) -> Result<String, ToolError> {
    String::from_utf8(read_bytes(path, told)?).map_err(|_| no_text(told))
}

fn no_text(told: &str) -> ToolError {
    ToolError::Failed(format!("`{told}` is no text in UTF-8"))
}

fn read_bytes(path: &Path, told: &str) -> Result<Vec<u8>, ToolError> {
    let failed = |error: std::io::Error| ToolError::Failed(format!("`{told}`: {}", error.kind()));
    let file = std::fs::File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(ToolError::Failed(format!("`{told}` is no file")));
    }
    if metadata.len() > LARGEST {
        return Err(ToolError::Failed(format!(
            "`{told}` has {} bytes, and {LARGEST} are read",
            metadata.len()
        )));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[derive(Deserialize)]
struct ReadArguments {
    path: String,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

fn read(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "read",
        description: "Read a text file of the project, or look at a picture (PNG, JPEG, GIF, WebP). Lines are numbered; \
                      `offset` skips lines, `limit` says how many.",
        arguments: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file, relative to the project's root." },
                "offset": { "type": "integer", "minimum": 0, "description": "How many lines to skip." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100_000, "description": "How many lines to read; 2000 unless told." }
            },
            "required": ["path"],
            "additionalProperties": false
        }),
        kind: ToolKind::Read,
        risk: Risk::Medium,
        beside: Beside::Others,
        examples: vec![
            json!({ "path": "README.md" }),
            json!({ "path": "src/main.rs", "offset": 100, "limit": 50 }),
        ],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: ReadArguments, context: ToolContext| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let told = &arguments.path;
            let text = match String::from_utf8(read_bytes(&shared.to_read(told)?, told)?) {
                Ok(text) => text,
                Err(other) => return picture(other.into_bytes(), told),
            };
            let total = text.lines().count();
            let limit = arguments.limit.unwrap_or(LINES);
            let lines = text.lines().enumerate().skip(arguments.offset).take(limit);
            // Writing to a string cannot fail.
            let mut shown = lines.fold(String::new(), |mut shown, (number, line)| {
                let _ = writeln!(shown, "{}\t{line}", number + 1);
                shown
            });
            let cut = fit(&mut shown, &context);
            let rest = total.saturating_sub(arguments.offset.saturating_add(limit));
            if cut || rest > 0 {
                let _ = writeln!(shown, "[… the file has {total} lines; `offset` reads on]");
            }
            Ok(ToolOutput::Text(if shown.is_empty() { "(the file is empty)".to_owned() } else { shown }))
        })
    })
}

/// Shows a file that is no text, if it is a picture.
fn picture(bytes: Vec<u8>, told: &str) -> Result<ToolOutput, ToolError> {
    let image = Image::of(bytes).ok_or_else(|| no_text(told))?;
    let text = format!("`{told}` is a picture: {}, {} bytes", image.media.word(), image.bytes.len());
    Ok(ToolOutput::Shown { text, images: vec![image] })
}

#[derive(Deserialize)]
struct PathArguments {
    #[serde(default)]
    path: String,
}

fn list(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "list",
        description: "List the entries of a folder of the project; folders end with `/`.",
        arguments: text_schema(
            &[("path", "The folder, relative to the project's root, which it is unless told.")],
            &[],
        ),
        kind: ToolKind::Search,
        risk: Risk::Medium,
        beside: Beside::Others,
        examples: vec![json!({}), json!({ "path": "src" })],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: PathArguments, _| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let folder = shared.to_read(&arguments.path)?;
            let failed =
                |error: std::io::Error| ToolError::Failed(format!("`{}`: {}", arguments.path, error.kind()));
            let mut names: Vec<String> = std::fs::read_dir(&folder)
                .map_err(failed)?
                .flatten()
                .take(MOST_NAMES * 10)
                .map(|entry| {
                    let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
                    format!("{}{slash}", entry.file_name().to_string_lossy())
                })
                .collect();
            names.sort_unstable();
            Ok(ToolOutput::Text(told(names, Walked::All)))
        })
    })
}

fn told(mut names: Vec<String>, walked: Walked) -> String {
    let total = names.len();
    names.truncate(MOST_NAMES);
    let mut text = if names.is_empty() { "(nothing)".to_owned() } else { names.join("\n") };
    if total > MOST_NAMES || walked == Walked::Partly {
        text.push_str("\n[… there are more: be more precise]");
    }
    text
}

#[derive(Deserialize)]
struct GlobArguments {
    pattern: String,
    #[serde(default)]
    path: String,
}

fn glob(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "glob",
        description: "Find files of the project by a glob, such as `src/**/*.rs`; one without a slash means names anywhere.",
        arguments: text_schema(
            &[("pattern", "The glob."), ("path", "The folder to look in, relative to the project's root.")],
            &["pattern"],
        ),
        kind: ToolKind::Search,
        risk: Risk::Medium,
        beside: Beside::Others,
        examples: vec![json!({ "pattern": "**/*.md" }), json!({ "pattern": "*.rs", "path": "src" })],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: GlobArguments, context: ToolContext| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let folder = shared.to_read(&arguments.path)?;
            let glob = GlobBuilder::new(arguments.pattern.trim_start_matches("./"))
                .literal_separator(true)
                .build()
                .map_err(|error| ToolError::Failed(format!("the pattern is no glob: {error}")))?
                .compile_matcher();
            let by_name = !arguments.pattern.contains('/');
            let mut names = Vec::new();
            let walked = walk(&folder, |path| {
                let inner = path.strip_prefix(&folder).unwrap_or(path);
                let name = inner.file_name().map_or(inner, Path::new);
                if glob.is_match(if by_name { name } else { inner }) {
                    names.push(shared.root.told(path));
                }
                names.len() < MOST_NAMES && !context.stop.happened()
            });
            Ok(ToolOutput::Text(told(names, walked)))
        })
    })
}

#[derive(Deserialize)]
struct GrepArguments {
    pattern: String,
    #[serde(default)]
    path: String,
    include: Option<String>,
}

fn grep(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "grep",
        description: "Search the files of the project for lines that match a regular expression.",
        arguments: text_schema(
            &[
                ("pattern", "The regular expression."),
                ("path", "The folder or file to search, relative to the project's root."),
                ("include", "Only files that fit this glob, such as `*.rs`."),
            ],
            &["pattern"],
        ),
        kind: ToolKind::Search,
        risk: Risk::Medium,
        beside: Beside::Others,
        examples: vec![json!({ "pattern": "fn main" }), json!({ "pattern": "TODO", "include": "*.rs" })],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: GrepArguments, context: ToolContext| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let from = shared.to_read(&arguments.path)?;
            let inside = from.starts_with(shared.root.path());
            let mut search =
                Search::new(&arguments.pattern, arguments.include.as_deref()).map_err(ToolError::Failed)?;
            let mut take = |path: &Path| {
                let told = shared.root.told(path);
                // A name that cannot be told is none that could be read afterwards.
                if let Ok(name) = FilePath::parse(&format!("/{}", told.trim_start_matches('/')))
                    && search.wants(&name)
                    && std::fs::metadata(path).is_ok_and(|metadata| metadata.len() <= LARGEST)
                    && let Ok(bytes) = std::fs::read(path)
                {
                    search.search(&name, &bytes, &context.stop);
                }
                !search.is_over() && !context.stop.happened()
            };
            let walked = if from.is_file() {
                take(&from);
                Walked::All
            } else {
                walk(&from, take)
            };
            let lines = search.found.iter().map(|found| {
                // As the agent knows it: relative to the project, and whole outside of it.
                let path = found.path.as_str();
                let path = if inside { path.trim_start_matches('/') } else { path };
                format!("{path}:{}: {}", found.line_number, found.line)
            });
            let mut text = lines.collect::<Vec<_>>().join("\n");
            let cut = fit(&mut text, &context);
            if text.is_empty() {
                text.push_str("(nothing)");
            }
            if cut || walked == Walked::Partly {
                text.push_str("\n[… there is more: be more precise]");
            }
            Ok(ToolOutput::Text(text))
        })
    })
}

#[derive(Deserialize)]
struct WriteArguments {
    path: String,
    content: String,
}

fn write(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "write",
        description: "Write a whole text file of the project; it and its folders are made if they are not there.",
        arguments: text_schema(
            &[("path", "The file, relative to the project's root."), ("content", "All of its text.")],
            &["path", "content"],
        ),
        kind: ToolKind::Edit,
        risk: Risk::High,
        beside: Beside::Nothing,
        examples: vec![json!({ "path": "notes/today.md", "content": "# Today\n" })],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: WriteArguments, _| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let path = shared.root.resolve(&arguments.path)?;
            put(&path, &arguments.path, &arguments.content)?;
            Ok(ToolOutput::Text(format!(
                "wrote {} bytes to {}",
                arguments.content.len(),
                shared.root.told(&path)
            )))
        })
    })
}

#[derive(Deserialize)]
struct EditArguments {
    path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    all: bool,
}

fn edit(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "edit",
        description: "Replace a text in a file of the project. `old_text` must be there exactly once, unless `all` is set.",
        arguments: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file, relative to the project's root." },
                "old_text": { "type": "string", "minLength": 1, "description": "What is there, exactly, with its line ends." },
                "new_text": { "type": "string", "description": "What is to be there instead." },
                "all": { "type": "boolean", "description": "Whether every occurrence is replaced." }
            },
            "required": ["path", "old_text", "new_text"],
            "additionalProperties": false
        }),
        kind: ToolKind::Edit,
        risk: Risk::High,
        beside: Beside::Nothing,
        examples: vec![json!({ "path": "src/main.rs", "old_text": "1.0", "new_text": "1.1" })],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: EditArguments, _| {
        let shared = Arc::clone(&shared);
        aside(move || {
            let path = shared.root.resolve(&arguments.path)?;
            let text = read_text(&path, &arguments.path)?;
            let times = text.matches(&arguments.old_text).count();
            let changed = match times {
                0 => return Err(ToolError::Failed(format!("`old_text` is not in `{}`", arguments.path))),
                1 => text.replacen(&arguments.old_text, &arguments.new_text, 1),
                _ if arguments.all => text.replace(&arguments.old_text, &arguments.new_text),
                _ => {
                    let why = format!(
                        "`old_text` is {times} times in `{}`: give more of what is around it, or set `all`",
                        arguments.path
                    );
                    return Err(ToolError::Failed(why));
                }
            };
            put(&path, &arguments.path, &changed)?;
            Ok(ToolOutput::Text(format!("replaced {times} in {}", shared.root.told(&path))))
        })
    })
}

/// Writes a file whole or not at all, with the rights of the one that it replaces.
fn put(path: &Path, told: &str, text: &str) -> Result<(), ToolError> {
    let failed = |error: std::io::Error| ToolError::Failed(format!("`{told}`: {}", error.kind()));
    if text.len() as u64 > LARGEST {
        return Err(ToolError::Refused(format!(
            "`{told}` would have {} bytes, and {LARGEST} are written",
            text.len()
        )));
    }
    let folder = path.parent().ok_or_else(|| ToolError::Refused(format!("`{told}` is no file")))?;
    if path.is_dir() {
        return Err(ToolError::Failed(format!("`{told}` is a folder")));
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut made = tempfile::Builder::new().prefix(".abide-").tempfile_in(folder).map_err(failed)?;
    std::io::Write::write_all(&mut made, text.as_bytes()).map_err(failed)?;
    let permissions = match std::fs::metadata(path) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    made.as_file().set_permissions(permissions).map_err(failed)?;
    made.as_file().sync_all().map_err(failed)?;
    made.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
