//! Graphs that look like real abilities, and what holds for every graph in all four forms.

mod outlines;
mod pictures;

use super::*;
use crate::definition::StepType;
use proptest::prelude::*;

fn node(id: &str, kind: StepType, title: &str, detail: &[&str]) -> Node {
    let detail = detail.iter().map(ToString::to_string).collect();
    Node { id: id.to_owned(), kind, title: title.to_owned(), detail, conditional: false }
}

/// Builds a graph of script steps out of lines like `deploy: build test`.
fn graph(title: &str, lines: &[&str]) -> Graph {
    let split = |line: &&str| {
        let (id, needs) = line.split_once(':').unwrap();
        (id.to_owned(), needs.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    let steps: Vec<(String, Vec<String>)> = lines.iter().map(split).collect();
    let index = |id: &String| steps.iter().position(|(other, _)| other == id).unwrap();
    let edges = steps.iter().enumerate().flat_map(|(to, (_, needs))| {
        needs.iter().map(move |id| (id, to)).map(|(id, to)| Edge {
            from: index(id),
            to,
            kind: EdgeKind::Needs,
        })
    });
    Graph {
        title: title.to_owned(),
        subtitle: None,
        edges: edges.collect(),
        nodes: steps.iter().map(|(id, _)| node(id, StepType::Script, id, &[])).collect(),
    }
}

/// The production pipeline of the first seed.
fn deploy() -> Graph {
    let mut graph = graph(
        "deploy/production",
        &[
            "test:",
            "build: test",
            "security-scan: build",
            "deploy-staging: build security-scan",
            "smoke-test: deploy-staging",
            "approve: smoke-test",
            "deploy-prod: approve",
        ],
    );
    graph.subtitle = Some("Deploy with safety checks".to_owned());
    let mut set = |index: usize, kind, title: &str, detail: &[&str]| {
        let node = &mut graph.nodes[index];
        node.kind = kind;
        node.title = title.to_owned();
        node.detail = detail.iter().map(ToString::to_string).collect();
    };
    set(0, StepType::Script, "Run test suite", &["npm test"]);
    set(
        1,
        StepType::Script,
        "Build for target environment",
        &["npm run build -- --env={{inputs.environment}}"],
    );
    set(2, StepType::Agent, "Security review", &["agent reviewer"]);
    set(3, StepType::Script, "Deploy to staging", &["./scripts/deploy.sh staging {{inputs.version}}"]);
    set(4, StepType::Agent, "Smoke test", &["agent tester", "tools Bash, Read"]);
    set(5, StepType::Approval, "Production approval", &["when inputs.environment == \"production\""]);
    set(6, StepType::Script, "Deploy to production", &["./scripts/deploy.sh production {{inputs.version}}"]);
    graph.nodes[5].conditional = true;
    graph
}

fn fan_out(count: usize) -> Graph {
    let regions: Vec<String> = (1..=count).map(|region| format!("region-{region}")).collect();
    let mut lines = vec!["plan:".to_owned()];
    lines.extend(regions.iter().map(|region| format!("{region}: plan")));
    lines.push(format!("verify: {}", regions.join(" ")));
    graph("deploy/every-region", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Builds a graph of `count` steps out of an arithmetic of edges, for sizes that matter.
fn large(count: usize, before: impl Fn(usize) -> Vec<usize>) -> Graph {
    let edges = (0..count)
        .flat_map(|to| before(to).into_iter().map(move |from| Edge { from, to, kind: EdgeKind::Needs }));
    let step = |index: usize| node(&format!("s{index}"), StepType::Script, "", &["make"]);
    Graph {
        title: "large".to_owned(),
        subtitle: None,
        edges: edges.collect(),
        nodes: (0..count).map(step).collect(),
    }
}

fn all_forms(graph: &Graph) -> [String; 4] {
    [graph.to_text(), graph.to_mermaid(), graph.to_dot(), graph.to_svg()]
}

fn every_kind() -> Graph {
    let mut graph =
        graph("every \"kind\"", &["build:", "review: build", "changelog: build", "ok: review", "ship: ok"]);
    for (node, kind) in graph.nodes.iter_mut().zip(StepType::ALL) {
        node.kind = *kind;
    }
    graph.nodes[3].conditional = true;
    graph.nodes[0].detail = vec!["make && echo \"<b>done</b>\" # ok".to_owned()];
    graph.edges.push(Edge { from: 2, to: 4, kind: EdgeKind::Data });
    graph
}

#[test]
fn depth_costs_no_stack_and_size_little_time() {
    let chain = large(50_000, |step| step.checked_sub(1).into_iter().collect());
    let comb = large(5_000, |step| step.checked_sub(2 - step % 2).into_iter().collect());
    let star = large(10_000, |step| if step == 0 { vec![] } else { vec![0] });
    let skips = large(3_000, |step| (0..step).step_by(97).collect());
    let loose = large(10_000, |_| Vec::new());
    let circle = large(5_000, |step| vec![(step + 4_999) % 5_000, (step * 7) % 5_000]);
    let dense = large(600, |step| (0..step).collect());
    for graph in [chain, comb, star, skips, loose, circle, dense] {
        let forms = all_forms(&graph);
        assert_eq!(forms[0].matches("❯ ").count(), graph.nodes.len());
        assert!(
            forms
                .iter()
                .all(|form| form.len() < 1_000_000 + 1_000 * graph.nodes.len() + 100 * graph.edges.len())
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_label_breaks_out_of_its_place(
        id in ".{0,40}",
        title in any::<String>(),
        detail in "[\"'<>&#\\\\\\[\\]{}`%;\n\r\u{0}-\u{1f}a-z]{0,60}",
    ) {
        let mut graph = every_kind();
        graph.title = title.clone();
        graph.subtitle = Some(detail.clone());
        graph.nodes[1] = node(&id, StepType::Agent, &title, &[&detail, &id]);
        let [text, mermaid, dot, svg] = all_forms(&graph);

        roxmltree::Document::parse(&svg).unwrap();
        let steers = |character: char| character.is_control() && character != '\n';
        prop_assert!(![text, mermaid.clone(), dot.clone(), svg].concat().contains(steers));
        // Quotes are what a label could break out of: each line still has as many as we wrote.
        let plain = every_kind();
        for line in mermaid.lines().filter(|line| line.starts_with("  n") && line.contains('"')) {
            prop_assert_eq!(line.matches('"').count(), 2, "{}", line);
        }
        prop_assert_eq!(mermaid.lines().count(), plain.to_mermaid().lines().count());
        prop_assert_eq!(dot.lines().count(), plain.to_dot().lines().count());
        for line in dot.lines() {
            let bare = line.replace("\\\\", "").replace("\\\"", "");
            prop_assert_eq!(bare.matches('"').count() % 2, 0, "{}", line);
        }
    }

    #[test]
    fn any_edges_at_all_are_survived(
        nodes in 0_usize..30,
        pairs in proptest::collection::vec((0_usize..32, 0_usize..32), 0..90),
    ) {
        let mut graph = large(nodes, |_| Vec::new());
        graph.edges = pairs.into_iter().map(|(from, to)| Edge { from, to, kind: EdgeKind::Needs }).collect();
        let [text, .., svg] = all_forms(&graph);
        prop_assert_eq!(text.matches("❯ ").count(), nodes);
        prop_assert_eq!(svg.matches("class=\"card\"").count(), nodes);
        prop_assert_eq!(&graph.to_svg(), &svg);
    }
}
