//! What only Codex has: a model that writes code which calls tools, and commands that are typed into.

use crate::attempt::Attempt;
use crate::stage::{ABILITY, Stage};
use abide_testkit::client::Codex;
use abide_testkit::model::ToolCall;
use serde_json::{Value, json};

/// A model whose tools are called from code, as those that Codex has by default.
const CODE_MODE: &str = "gpt-6-sol";

const RESERVED: &[&str] = &["reserved for runs of the ability `deploy`"];

fn code(text: &str) -> ToolCall {
    ToolCall::new("exec", Value::from(text))
}

mod real_clients {
    use super::*;

    #[tokio::test]
    async fn codex_is_asked_about_every_tool_that_code_calls() {
        let stage: Stage<Codex> = Stage::new(crate::codex().model(CODE_MODE));
        let patch = format!("*** Begin Patch\\n*** Add File: {ABILITY}\\n+x\\n*** End Patch");
        let attempts = [
            Attempt::new("harmless", code("text(await tools.exec_command({cmd: 'echo I ran'}))"), &["I ran"]),
            Attempt::new(
                "protected",
                code("text(await tools.exec_command({cmd: './deploy.sh now'}))"),
                RESERVED,
            ),
            Attempt::new(
                "caught and tried again",
                code(
                    "for (const cmd of ['./deploy.sh now', 'sh deploy.sh now']) {\n\
                     try { text(await tools.exec_command({cmd})) } catch (error) { text(String(error)) } }",
                ),
                RESERVED,
            ),
            Attempt::new(
                "at once",
                code(
                    "const all = ['./deploy.sh a', 'echo x; ./deploy.sh b'].map(cmd => tools.exec_command({cmd}));\n\
                     text((await Promise.allSettled(all)).map(one => String(one.reason)))",
                ),
                RESERVED,
            ),
            Attempt::new(
                "another folder",
                code("text(await tools.exec_command({cmd: '../deploy.sh now', workdir: 'src'}))"),
                RESERVED,
            ),
            Attempt::new(
                "patch the ability",
                code(&format!("text(await tools.apply_patch('{patch}'))")),
                &["which is the definition of an ability that protects something"],
            ),
        ];
        stage.tries(&attempts).await;
        assert_eq!(stage.deployed(), [""; 0]);
        assert!(stage.read(ABILITY).unwrap().starts_with("description"));
    }

    #[tokio::test]
    async fn codex_types_nothing_into_a_command_that_runs() {
        let stage: Stage<Codex> = Stage::new(crate::codex());
        let open = |tty: bool| {
            ToolCall::new("exec_command", json!({"cmd": "cat > typed", "tty": tty, "yield_time_ms": 500}))
        };
        let refused = &["TTY execution is disabled by config"];
        let over = &["Process exited with code 0"];
        let attempts = [
            Attempt::new("a terminal", open(true), refused),
            Attempt::new("an open input", open(false), over),
            Attempt::new(
                "typing",
                ToolCall::new("write_stdin", json!({"session_id": 1, "chars": "./deploy.sh now\n"})),
                &["Unknown process id"],
            ),
        ];
        stage.tries(&attempts).await;
        assert_eq!(stage.read("typed").as_deref(), Some(""), "it began, and its input was at its end");
        assert_eq!(stage.deployed(), [""; 0]);
    }
}
