//! Which clients there are, and where each keeps its files.

use crate::Error;
use std::path::PathBuf;

/// A program in which an agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// OpenCode.
    OpenCode,
    /// Codex.
    Codex,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 3] = [Self::Claude, Self::OpenCode, Self::Codex];

    /// Returns the word of the command line, which is also the name of the program.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
        }
    }

    /// Returns the name that people know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::OpenCode => "OpenCode",
            Self::Codex => "Codex",
        }
    }
}

/// For whom abide is put into a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everybody who works in this project.
    Project,
    /// This user, in every project.
    User,
}

impl Scope {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Project, Self::User];

    /// Returns the word of the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The folders that matter, as absolute paths.
#[derive(Debug, Clone)]
pub struct Places {
    /// The project's root.
    pub root: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's configuration (`$XDG_CONFIG_HOME`, else `~/.config`).
    pub config_home: Option<PathBuf>,
    /// Where programs keep what they must remember (`$XDG_STATE_HOME`, else `~/.local/state`).
    pub state_home: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`, where Claude Code keeps everything if it is set.
    pub claude_home: Option<PathBuf>,
    /// `$CODEX_HOME`, where Codex keeps everything if it is set.
    pub codex_home: Option<PathBuf>,
}

impl Places {
    fn home(&self) -> Result<&PathBuf, Error> {
        self.home.as_ref().ok_or(Error::NoHome)
    }

    /// Returns the folder with Claude Code's settings.
    pub fn claude(&self, scope: Scope) -> Result<PathBuf, Error> {
        match (scope, &self.claude_home) {
            (Scope::Project, _) => Ok(self.root.join(".claude")),
            (Scope::User, Some(folder)) => Ok(folder.clone()),
            (Scope::User, None) => Ok(self.home()?.join(".claude")),
        }
    }

    /// Returns the file in which Claude Code looks for MCP servers.
    pub fn claude_servers(&self, scope: Scope) -> Result<PathBuf, Error> {
        match (scope, &self.claude_home) {
            (Scope::Project, _) => Ok(self.root.join(".mcp.json")),
            (Scope::User, Some(folder)) => Ok(folder.join(".claude.json")),
            (Scope::User, None) => Ok(self.home()?.join(".claude.json")),
        }
    }

    /// Returns the folder with Codex's configuration.
    pub fn codex(&self, scope: Scope) -> Result<PathBuf, Error> {
        match (scope, &self.codex_home) {
            (Scope::Project, _) => Ok(self.root.join(".codex")),
            (Scope::User, Some(folder)) => Ok(folder.clone()),
            (Scope::User, None) => Ok(self.home()?.join(".codex")),
        }
    }

    /// Returns the folder with OpenCode's plugins.
    pub fn opencode(&self, scope: Scope) -> Result<PathBuf, Error> {
        match scope {
            Scope::Project => Ok(self.root.join(".opencode")),
            Scope::User => Ok(self.config_home.as_ref().ok_or(Error::NoHome)?.join("opencode")),
        }
    }

    /// Returns the file with OpenCode's settings; the one with comments in its name is taken if it is the only one.
    pub fn opencode_settings(&self, scope: Scope) -> Result<PathBuf, Error> {
        let folder = match scope {
            Scope::Project => self.root.clone(),
            Scope::User => self.opencode(scope)?,
        };
        let (plain, commented) = (folder.join("opencode.json"), folder.join("opencode.jsonc"));
        Ok(if !plain.exists() && commented.exists() { commented } else { plain })
    }
}
