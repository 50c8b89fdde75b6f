//! An agent's side of MCP: servers made with the official TypeScript SDK, as capabilities.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/sdk_server.mjs");

fn sdk() -> PathBuf {
    let clients = std::env::var("ABIDE_CLIENTS").expect("`./test tools` installs the clients and says where");
    Path::new(&clients).join("sdk")
}

/// Runs abide in a home whose configuration names one server.
fn abide(server: &str, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config/abide")).unwrap();
    let config = format!("secrets: {{ token: {{ env: TOKEN }} }}\ncapabilities:\n  sums: {server}\n");
    fs::write(home.path().join(".config/abide/config.yaml"), config).unwrap();
    Command::new("timeout")
        .args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_abide")])
        .args(arguments)
        .current_dir(home.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("TOKEN", "Bearer a-token")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn adds(server: &str) {
    let output = abide(server, &["capability", "test", "sums", "sums__add", r#"{"a": 2, "b": 40}"#]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n", "{said}");
    // The schema of the SDK is checked here, before anything is sent.
    let wrong = abide(server, &["capability", "test", "sums", "sums__add", r#"{"a": "2", "b": 40}"#]);
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
}

/// A server over HTTP, which ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

mod real_clients {
    use super::*;

    #[test]
    fn a_server_of_the_sdk_is_a_capability_over_pipes() {
        adds(&format!("{{ command: [node, {SCRIPT}, {}, stdio] }}", sdk().display()));
    }

    #[test]
    fn a_server_of_the_sdk_is_a_capability_over_http() {
        let mut child = Command::new("node")
            .args([SCRIPT, sdk().to_str().unwrap(), "http"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let _served = Served(child);
        let url = format!("http://127.0.0.1:{}/mcp", port.trim());
        adds(&format!("{{ url: '{url}', headers: {{ Authorization: {{ secret: token }} }} }}"));
        let refused = abide(&format!("{{ url: '{url}' }}"), &["capability", "list"]);
        let listed = String::from_utf8_lossy(&refused.stdout).into_owned();
        assert!(listed.contains("the server does not answer"), "{listed}");
    }
}
