//! What kind of thing a tool does, by the names of each client.
//!
//! A name counts exactly as its client spells it; any other spelling, any tool of another MCP server and any
//! tool that is not listed is [`ToolKind::Other`], which is the most restricted.

/// Whose tool names are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// OpenCode.
    OpenCode,
    /// Codex.
    Codex,
    /// abide's own loop, and clients that only know our tools.
    Other,
}

impl Client {
    /// Every client.
    pub const ALL: &[Client] = &[Self::ClaudeCode, Self::OpenCode, Self::Codex, Self::Other];
}

/// What kind of thing a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKind {
    /// Reads files or results.
    Read,
    /// Looks for files, text or tools.
    Search,
    /// Changes files.
    Edit,
    /// Runs commands.
    Execute,
    /// Reads from the network.
    Network,
    /// Starts or tells another agent, or runs a skill.
    Agent,
    /// Asks the user.
    AskUser,
    /// Keeps a list of what to do.
    Plan,
    /// Makes several calls at once; each of them is judged.
    Batch,
    /// A tool of abide.
    Own(OwnTool),
    /// Anything else.
    Other,
}

impl ToolKind {
    /// Every kind, with the tools of abide one by one.
    pub const ALL: &[ToolKind] = &[
        Self::Read,
        Self::Search,
        Self::Edit,
        Self::Execute,
        Self::Network,
        Self::Agent,
        Self::AskUser,
        Self::Plan,
        Self::Batch,
        Self::Own(OwnTool::List),
        Self::Own(OwnTool::Run),
        Self::Own(OwnTool::Status),
        Self::Own(OwnTool::Submit),
        Self::Own(OwnTool::Cancel),
        Self::Own(OwnTool::Validate),
        Self::Own(OwnTool::Agent),
        Self::Other,
    ];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Search => "search",
            Self::Edit => "edit",
            Self::Execute => "execute",
            Self::Network => "network",
            Self::Agent => "agent",
            Self::AskUser => "ask",
            Self::Plan => "plan",
            Self::Batch => "batch",
            Self::Own(_) => "abide",
            Self::Other => "other",
        }
    }

    /// Returns whether such a tool only looks, so that `normal` lets it pass.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Read
            | Self::Search
            | Self::Network
            | Self::AskUser
            | Self::Plan
            | Self::Own(OwnTool::List | OwnTool::Status | OwnTool::Validate | OwnTool::Agent) => true,
            Self::Edit | Self::Execute | Self::Agent | Self::Batch | Self::Own(_) | Self::Other => false,
        }
    }

    /// Returns whether such a tool could write a file that its arguments name.
    pub fn can_write(self) -> bool {
        matches!(self, Self::Edit | Self::Execute | Self::Agent | Self::Batch | Self::Other)
    }
}

/// The tools of abide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnTool {
    /// `ability_list`
    List,
    /// `ability_run`
    Run,
    /// `ability_status`
    Status,
    /// `ability_submit`
    Submit,
    /// `ability_cancel`
    Cancel,
    /// `ability_validate`
    Validate,
    /// `ability_agent`
    Agent,
}

impl OwnTool {
    /// Every tool of abide.
    pub const ALL: &[OwnTool] =
        &[Self::List, Self::Run, Self::Status, Self::Submit, Self::Cancel, Self::Validate, Self::Agent];

    /// Returns its name without the prefix of a client.
    pub fn word(self) -> &'static str {
        match self {
            Self::List => "ability_list",
            Self::Run => "ability_run",
            Self::Status => "ability_status",
            Self::Submit => "ability_submit",
            Self::Cancel => "ability_cancel",
            Self::Validate => "ability_validate",
            Self::Agent => "ability_agent",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.word() == name)
    }
}

/// Returns the tool of abide that a name stands for: only under abide's own server, only as it is spelled.
fn own(client: Client, name: &str) -> Option<OwnTool> {
    let bare = match client {
        // The second is what a server of a plugin is called.
        Client::ClaudeCode => {
            name.strip_prefix("mcp__abide__").or_else(|| name.strip_prefix("mcp__plugin_abide_abide__"))?
        }
        Client::Codex => name.strip_prefix("mcp__abide__")?,
        Client::OpenCode => name.strip_prefix("abide_")?,
        Client::Other => {
            // Clients that allow dots know the same tools by the names of the first plugin.
            if let Some(dotted) = name.strip_prefix("ability.") {
                return OwnTool::parse(&format!("ability_{dotted}"));
            }
            name
        }
    };
    OwnTool::parse(bare)
}

/// Returns what kind of thing a tool does.
pub fn kind(client: Client, name: &str) -> ToolKind {
    if let Some(own) = own(client, name) {
        return ToolKind::Own(own);
    }
    let found = table(client).iter().find(|(_, names)| names.contains(&name));
    found.map_or(ToolKind::Other, |(kind, _)| *kind)
}

fn table(client: Client) -> Names {
    match client {
        Client::ClaudeCode => CLAUDE_CODE,
        Client::OpenCode => OPENCODE,
        Client::Codex => CODEX,
        Client::Other => OUR_LOOP,
    }
}

/// Returns the names of all tools of a client that are known.
pub(super) fn names(client: Client) -> impl Iterator<Item = &'static str> {
    table(client).iter().flat_map(|(_, names)| names.iter().copied())
}

/// Returns the kind that a tool name in a definition means, whoever's name it is and however it is capitalised.
///
/// Only patterns that *reserve* calls are read so generously: there, matching more is the safe side.
pub(super) fn meant_kind(name: &str) -> Option<ToolKind> {
    [CLAUDE_CODE, OPENCODE, CODEX, OUR_LOOP]
        .iter()
        .flat_map(|listed| listed.iter())
        .find_map(|(kind, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(*kind))
}

type Names = &'static [(ToolKind, &'static [&'static str])];

const CLAUDE_CODE: Names = &[
    (ToolKind::Read, &["Read", "NotebookRead", "BashOutput", "TaskOutput", "ReadMcpResourceTool"]),
    (ToolKind::Search, &["Glob", "Grep", "LS", "LSP", "ToolSearch", "ListMcpResourcesTool"]),
    (ToolKind::Edit, &["Write", "Edit", "MultiEdit", "NotebookEdit"]),
    (ToolKind::Execute, &["Bash", "PowerShell", "Monitor", "REPL"]),
    (ToolKind::Network, &["WebFetch", "WebSearch"]),
    (ToolKind::Agent, &["Task", "Agent", "Skill", "SlashCommand", "SendMessage", "Workflow"]),
    // The same of our server, which hands out the skills of every client.
    (ToolKind::Agent, &["mcp__abide__skill", "mcp__plugin_abide_abide__skill"]),
    (ToolKind::AskUser, &["AskUserQuestion"]),
    (
        ToolKind::Plan,
        &["TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterPlanMode"],
    ),
];

const OPENCODE: Names = &[
    (ToolKind::Read, &["read"]),
    (ToolKind::Search, &["glob", "grep", "list", "lsp", "codesearch"]),
    (ToolKind::Edit, &["write", "edit", "multiedit", "patch", "apply_patch"]),
    (ToolKind::Execute, &["bash", "shell"]),
    (ToolKind::Network, &["webfetch", "websearch"]),
    (ToolKind::Agent, &["task", "skill", "abide_skill"]),
    (ToolKind::AskUser, &["question"]),
    (ToolKind::Plan, &["todowrite", "todoread", "plan_enter"]),
    (ToolKind::Batch, &["batch"]),
];

const CODEX: Names = &[
    (ToolKind::Read, &["read_file", "view_image", "read_mcp_resource", "list_mcp_resources"]),
    (ToolKind::Search, &["list_dir", "grep_files", "tool_search"]),
    (ToolKind::Edit, &["apply_patch"]),
    // What is typed into a shell runs there as a command does.
    (
        ToolKind::Execute,
        &["Bash", "shell", "shell_command", "local_shell", "exec_command", "write_stdin", "js_repl"],
    ),
    (ToolKind::Network, &["web_search"]),
    (ToolKind::Agent, &["spawn_agent", "send_input", "resume_agent"]),
    (ToolKind::AskUser, &["request_user_input"]),
    (ToolKind::Plan, &["update_plan"]),
    (ToolKind::Batch, &["multi_tool_use.parallel", "parallel"]),
];

const OUR_LOOP: Names = &[
    (ToolKind::Read, &["read", "read_file", "stat_file", "get_current_time", "research_read"]),
    (ToolKind::Search, &["glob", "grep", "list", "list_directory", "grep_files", "research_search"]),
    (ToolKind::Edit, &["write", "edit", "write_file", "delete_file", "apply_patch"]),
    (ToolKind::Execute, &["bash", "execute_code"]),
    (ToolKind::Network, &["web_fetch", "research_add_source", "research_web_search"]),
    (ToolKind::Agent, &["task", "skill"]),
    (ToolKind::AskUser, &["ask_user"]),
    (ToolKind::Plan, &["write_todos", "update_plan", "research_add_note"]),
    (ToolKind::Batch, &["batch"]),
];

/// Returns whether what such a tool is given is not a command line but something typed or interpreted.
pub(super) fn takes_other_code(name: &str) -> bool {
    matches!(name, "write_stdin" | "js_repl" | "REPL" | "PowerShell" | "execute_code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_exactly_as_their_client_spells_them() {
        for (client, name, expected) in [
            (Client::ClaudeCode, "Read", ToolKind::Read),
            (Client::ClaudeCode, "read", ToolKind::Other),
            (Client::ClaudeCode, "BASH", ToolKind::Other),
            (Client::ClaudeCode, "Bash ", ToolKind::Other),
            (Client::ClaudeCode, "mcp__files__Read", ToolKind::Other),
            (Client::ClaudeCode, "MultiEdit", ToolKind::Edit),
            (Client::OpenCode, "bash", ToolKind::Execute),
            (Client::OpenCode, "Bash", ToolKind::Other),
            (Client::OpenCode, "invalid", ToolKind::Other),
            (Client::OpenCode, "batch", ToolKind::Batch),
            (Client::Codex, "Bash", ToolKind::Execute),
            (Client::Codex, "apply_patch", ToolKind::Edit),
            (Client::Codex, "write_stdin", ToolKind::Execute),
            (Client::Other, "web_fetch", ToolKind::Network),
            (Client::Other, "", ToolKind::Other),
        ] {
            assert_eq!(kind(client, name), expected, "{client:?} {name}");
        }
    }

    #[test]
    fn abides_tools_count_only_under_abides_server() {
        let status = ToolKind::Own(OwnTool::Status);
        for (client, name, expected) in [
            (Client::ClaudeCode, "mcp__abide__ability_status", status),
            (Client::ClaudeCode, "mcp__plugin_abide_abide__ability_status", status),
            (Client::ClaudeCode, "mcp__evil__ability_status", ToolKind::Other),
            (Client::ClaudeCode, "mcp__plugin_evil_abide__ability_status", ToolKind::Other),
            (Client::ClaudeCode, "mcp__abide__Ability_status", ToolKind::Other),
            (Client::ClaudeCode, "ability_status", ToolKind::Other),
            (Client::ClaudeCode, "mcp__abide__evil", ToolKind::Other),
            (Client::OpenCode, "abide_ability_status", status),
            (Client::OpenCode, "ability_status", ToolKind::Other),
            (Client::OpenCode, "evil_ability_status", ToolKind::Other),
            (Client::Codex, "mcp__abide__ability_status", status),
            (Client::Codex, "abide_ability_status", ToolKind::Other),
            (Client::Other, "ability_status", status),
            (Client::Other, "ability.status", status),
            (Client::Other, "ability.evil", ToolKind::Other),
        ] {
            assert_eq!(kind(client, name), expected, "{client:?} {name}");
        }
    }
}
