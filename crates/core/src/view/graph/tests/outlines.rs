//! How the drawing for a terminal looks.

use super::*;
use insta::assert_snapshot;

#[test]
fn the_deploy_example_reads_from_top_to_bottom() {
    assert_snapshot!(deploy().to_text(), @r#"
    deploy/production · 7 steps
    Deploy with safety checks
    │
    ❯ test · script · Run test suite
    │   npm test
    │
    ❯ build · script · Build for target environment
    │   npm run build -- --env={{inputs.environment}}
    │
    ✦ security-scan · agent · Security review
    │   agent reviewer
    │
    ❯ deploy-staging · script · Deploy to staging  ← needs build, security-scan
    │   ./scripts/deploy.sh staging {{inputs.version}}
    │
    ✦ smoke-test · agent · Smoke test
    │   agent tester
    │   tools Bash, Read
    │
    ◆ approve · approval (conditional) · Production approval
    │   when inputs.environment == "production"
    │
    ❯ deploy-prod · script · Deploy to production
        ./scripts/deploy.sh production {{inputs.version}}
    "#);
}

#[test]
fn a_single_step_needs_no_more_than_its_line() {
    assert_snapshot!(graph("hello", &["greet:"]).to_text(), @"
    hello · 1 step
    │
    ❯ greet · script
    ");
}

#[test]
fn no_steps_are_said_to_be_none() {
    let empty = Graph { title: "todo".to_owned(), ..Graph::default() };
    assert_eq!(empty.to_text(), "todo · no steps\n");
    for form in all_forms(&empty) {
        assert!(form.contains("todo"));
    }
}

#[test]
fn branches_are_indented_once_and_go_on_where_they_meet() {
    let diamond = graph(
        "release",
        &["test:", "linux: test", "macos: test", "sign: macos", "publish: linux sign", "tell: publish"],
    );
    assert_snapshot!(diamond.to_text(), @"
    release · 6 steps
    │
    ❯ test · script
    │
    ├─ ❯ linux · script
    ├─ ❯ macos · script
    │  │
    │  ❯ sign · script
    │
    ❯ publish · script  ← needs linux, sign
    │
    ❯ tell · script
    ");
}

#[test]
fn a_wide_join_names_the_first_few() {
    assert_snapshot!(fan_out(12).to_text(), @"
    deploy/every-region · 14 steps
    │
    ❯ plan · script
    │
    ├─ ❯ region-1 · script
    ├─ ❯ region-2 · script
    ├─ ❯ region-3 · script
    ├─ ❯ region-4 · script
    ├─ ❯ region-5 · script
    ├─ ❯ region-6 · script
    ├─ ❯ region-7 · script
    ├─ ❯ region-8 · script
    ├─ ❯ region-9 · script
    ├─ ❯ region-10 · script
    ├─ ❯ region-11 · script
    ├─ ❯ region-12 · script
    │
    ❯ verify · script  ← needs region-1, region-2, region-3, region-4, region-5, region-6, region-7, region-8 and 4 more
    ");
}

#[test]
fn separate_parts_hang_on_the_title() {
    assert_snapshot!(graph("both", &["a:", "b: a", "c:", "d: c"]).to_text(), @"
    both · 4 steps
    │
    ├─ ❯ a · script
    │  │
    │  ❯ b · script
    └─ ❯ c · script
       │
       ❯ d · script
    ");
}

#[test]
fn several_starts_may_meet() {
    assert_snapshot!(graph("check", &["lint:", "test:", "docs:", "merge: lint test docs"]).to_text(), @"
    check · 4 steps
    │
    ├─ ❯ lint · script
    ├─ ❯ test · script
    ├─ ❯ docs · script
    │
    ❯ merge · script  ← needs lint, test, docs
    ");
}

#[test]
fn partial_joins_stand_beside_what_they_join() {
    let graph = graph("partial", &["a:", "b: a", "c: a", "d: a", "bc: b c", "cd: c d", "end: bc cd"]);
    assert_snapshot!(graph.to_text(), @"
    partial · 7 steps
    │
    ❯ a · script
    │
    ├─ ❯ b · script
    ├─ ❯ c · script
    ├─ ❯ d · script
    ├─ ❯ bc · script  ← needs b, c
    ├─ ❯ cd · script  ← needs c, d
    │
    ❯ end · script  ← needs bc, cd
    ");
}

#[test]
fn order_and_data_are_told_apart_from_needs() {
    let mut graph = graph("words", &["a:", "b:", "c: b"]);
    graph.edges.push(Edge { from: 0, to: 1, kind: EdgeKind::Order });
    graph.edges.push(Edge { from: 0, to: 2, kind: EdgeKind::Data });
    graph.nodes[2].conditional = true;
    assert_snapshot!(graph.to_text(), @"
    words · 3 steps
    │
    ❯ a · script
    │
    ❯ b · script
    │
    ❯ c · script (conditional)  ← uses a
    ");
}
