//! What goes wrong with a client, as one sentence that says what to do.

use crate::Client;
use std::borrow::Cow;

/// How much of what a client writes to standard error is kept.
const KEPT: usize = 8 * 1024;

/// The end of what a client wrote to standard error, for the reason of a failure.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Vec<u8>);

impl Complaints {
    /// Takes more of it, and lets go of what is too long ago.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) {
        self.0.extend(bytes);
        let over = self.0.len().saturating_sub(KEPT);
        self.0.drain(..over);
    }

    /// Returns it as text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

/// Returns what is said when a client is not there.
pub(crate) fn not_installed(client: Client) -> String {
    format!(
        "{} is not installed: there is no `{}` on the PATH; install it with `npm install -g {}`, or let another `runner` do the step",
        client.title(),
        client.word(),
        client.package()
    )
}

/// Returns why a client failed: in words that help where the reason is known, else in its own.
pub(crate) fn explained(client: Client, failure: Option<&str>, stderr: &str, code: Option<i32>) -> String {
    let title = client.title();
    let said = failure.unwrap_or_default();
    let all = format!("{said}\n{stderr}").to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| all.contains(word));
    let log_in = match client {
        Client::Claude => "start `claude` and log in, or set ANTHROPIC_API_KEY",
        Client::Codex => "run `codex login`, or set OPENAI_API_KEY",
        Client::Opencode => "run `opencode auth login`, or set the key of the provider",
    };
    if has(&["unknown option", "unexpected argument", "unknown argument", "unrecognized subcommand"]) {
        return format!(
            "this {title} does not know an option that abide needs ({}): update it with `npm install -g {}@latest`",
            first_line(stderr, said),
            client.package()
        );
    }
    if has(&[
        "not logged in",
        "please run /login",
        "invalid api key",
        "401 unauthorized",
        "authentication_error",
        "api key is missing",
        "incorrect api key",
    ]) {
        return format!("{title} cannot log in ({}): {log_in}", first_line(said, stderr));
    }
    if has(&["no conversation found", "session not found", "no rollout found"]) {
        return format!("{title} does not find its session again ({})", first_line(said, stderr));
    }
    if has(&["providermodelnotfounderror", "model not found", "no providers found", "no model"]) {
        return format!(
            "{title} has no model ({}): set one up in its own settings, or name one in the agent's profile",
            first_line(said, stderr)
        );
    }
    match (first_line(said, stderr), code) {
        ("", Some(code)) => format!("{title} ended with exit code {code} and without an answer"),
        ("", None) => format!("{title} ended without an answer"),
        (line, _) => format!("{title} failed: {line}"),
    }
}

/// Returns the first line that says something, of the first text that does.
fn first_line<'a>(first: &'a str, second: &'a str) -> &'a str {
    let line = |text: &'a str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        // What a client only notes in passing is not why it failed.
        let line =
            lines.clone().find(|line| !line.starts_with("WARNING")).or_else(|| lines.clone().next())?;
        Some(match line.char_indices().nth(300) {
            Some((end, _)) => &line[..end],
            None => line,
        })
    };
    line(first).or_else(|| line(second)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_says_what_to_do() {
        for (client, failure, stderr, words) in [
            (Client::Claude, Some("Invalid API key · Please run /login"), "", "set ANTHROPIC_API_KEY"),
            (Client::Codex, Some("unexpected status 401 Unauthorized: Missing bearer"), "", "codex login"),
            (Client::Claude, None, "error: unknown option '--json-schema'", "update it with"),
            (Client::Codex, None, "error: unexpected argument '--json' found", "update it with"),
            (Client::Opencode, Some("ProviderModelNotFoundError"), "", "has no model"),
            (Client::Claude, None, "", "exit code 3"),
            (Client::Codex, None, "WARNING: proceeding\nboom", "failed: boom"),
        ] {
            let sentence = explained(client, failure, stderr, Some(3));
            assert!(sentence.contains(words) && !sentence.contains('\n'), "{sentence}");
        }
        assert!(not_installed(Client::Claude).contains("npm install -g @anthropic-ai/claude-code"));
    }
}
