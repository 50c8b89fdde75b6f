//! Finds what a Markdown document asks to have done: its fenced blocks, by their info strings.

use anyhow::{Context, bail};

/// A fenced block that has a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// The line of the opening fence, from 1.
    pub(super) line: usize,
    pub(super) task: Task<'a>,
    pub(super) text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task<'a> {
    Skip,
    Script { exit: i32 },
    Session { exit: i32 },
    Save { path: &'a str },
}

/// A command of a `console` block and what the document says it prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) command: String,
    pub(super) output: String,
}

/// Returns the blocks of a document that have a task, in order.
pub(super) fn blocks(document: &str) -> anyhow::Result<Vec<Block<'_>>> {
    let mut found = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(fence) = Fence::opened_by(line) else { continue };
        let mut text = String::new();
        loop {
            let Some((_, line)) = lines.next() else {
                bail!("line {}: the block is never closed", index + 1)
            };
            if fence.is_closed_by(line) {
                break;
            }
            text.push_str(fence.without_indent(line));
            text.push('\n');
        }
        if let Some(task) = task(fence.info).with_context(|| format!("line {}", index + 1))? {
            found.push(Block { line: index + 1, task, text });
        }
    }
    Ok(found)
}

fn task(info: &str) -> anyhow::Result<Option<Task<'_>>> {
    let mut words = info.split_whitespace();
    let language = words.next().unwrap_or_default();
    if matches!(language, "bash" | "shell" | "zsh" | "shell-session") {
        bail!("write `sh` or `console` for `{language}`");
    }
    if !matches!(language, "sh" | "console") {
        return Ok(words.find_map(|word| word.strip_prefix("file=")).map(|path| Task::Save { path }));
    }
    let mut exit = 0;
    for word in words {
        if word == "no-run" {
            return Ok(Some(Task::Skip));
        } else if let Some(status) = word.strip_prefix("exit=") {
            exit = status.parse().with_context(|| format!("`{word}` is not an exit status"))?;
        } else {
            bail!("`{word}` is not known after `{language}`");
        }
    }
    Ok(Some(if language == "sh" { Task::Script { exit } } else { Task::Session { exit } }))
}

/// Splits a `console` block at its `$ ` lines; a command whose line ends with `\` goes on in the next.
pub(super) fn exchanges(text: &str) -> anyhow::Result<Vec<Exchange>> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Exchange { command: command.to_owned(), output: String::new() });
            goes_on = command.ends_with('\\');
            continue;
        }
        let Some(last) = found.last_mut() else { bail!("a console block starts with a `$ ` line") };
        if goes_on {
            last.command.push('\n');
            last.command.push_str(line.strip_prefix("> ").unwrap_or(line));
            goes_on = line.ends_with('\\');
        } else {
            last.output.push_str(line);
            last.output.push('\n');
        }
    }
    if found.is_empty() {
        bail!("a console block has at least one `$ ` line");
    }
    Ok(found)
}

struct Fence<'a> {
    indent: usize,
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Self> {
        let rest = line.trim_start_matches(' ');
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        // "```x```" on one line is a code span, not a fence.
        (length >= 3 && !(mark == '`' && info.contains('`'))).then(|| Self {
            indent: line.len() - rest.len(),
            mark,
            length,
            info: info.trim(),
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|each| each == self.mark)
    }

    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        &line[spaces.min(self.indent)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_with_a_task_are_found_with_their_lines() {
        let document = "\
# title
```sh
one
```
- in a list
  ```console exit=2
  $ two
    kept
  ```
````md
```sh
not a block of this document
```
````
```yaml
a: 1
```
```yaml file=a.yaml
b: 2
```
~~~sh no-run
three
~~~
";
        let found = blocks(document).unwrap();
        assert_eq!(
            found,
            [
                Block { line: 2, task: Task::Script { exit: 0 }, text: "one\n".into() },
                Block { line: 6, task: Task::Session { exit: 2 }, text: "$ two\n  kept\n".into() },
                Block { line: 18, task: Task::Save { path: "a.yaml" }, text: "b: 2\n".into() },
                Block { line: 21, task: Task::Skip, text: "three\n".into() },
            ]
        );
    }

    #[test]
    fn what_would_silently_not_run_is_refused() {
        for (document, expected) in [
            ("```bash\nx\n```", "line 1: write `sh` or `console` for `bash`"),
            ("```sh norun\nx\n```", "line 1: `norun` is not known after `sh`"),
            ("\n```sh\nx\n", "line 2: the block is never closed"),
        ] {
            assert_eq!(format!("{:#}", blocks(document).unwrap_err()), expected);
        }
    }

    #[test]
    fn a_session_is_commands_with_their_output() {
        assert_eq!(
            exchanges("$ a \\\n>   b\nout\n\nmore\n$ c\n").unwrap(),
            [
                Exchange { command: "a \\\n  b".into(), output: "out\n\nmore\n".into() },
                Exchange { command: "c".into(), output: String::new() },
            ]
        );
        assert!(exchanges("out\n$ a\n").is_err());
    }
}
