//! How Mermaid, DOT and SVG are written.

use super::*;
use insta::assert_snapshot;

#[test]
fn mermaid_has_shapes_and_dotted_lines() {
    assert_snapshot!(every_kind().to_mermaid(), @r#"
    ---
    title: "every \"kind\""
    ---
    flowchart TD
      n0["<b>build</b><br/><small>make #38;#38; echo #34;#60;b#62;done#60;/b#62;#34; #35; ok</small>"]
      n1(["<b>review</b>"])
      n2[/"<b>changelog</b>"/]
      n3{{"<b>ok</b>"}}
      n4[["<b>ship</b>"]]
      n0 --> n1
      n0 --> n2
      n1 -.-> n3
      n2 -.-> n4
      n3 --> n4
      classDef script fill:#dbeafe,stroke:#2563eb,color:#1e293b
      class n0 script
      classDef agent fill:#ede9fe,stroke:#7c3aed,color:#1e293b
      class n1 agent
      classDef skill fill:#ccfbf1,stroke:#0d9488,color:#1e293b
      class n2 skill
      classDef approval fill:#fef3c7,stroke:#d97706,color:#1e293b
      class n3 approval
      classDef workflow fill:#fce7f3,stroke:#db2777,color:#1e293b
      class n4 workflow
      classDef conditional stroke-dasharray:5 4
      class n3 conditional
    "#);
}

#[test]
fn dot_has_shapes_and_dotted_lines() {
    assert_snapshot!(every_kind().to_dot(), @r##"
    digraph "every \"kind\"" {
      graph [label="every \"kind\"", labelloc=t, rankdir=TB, fontname="Helvetica,Arial,sans-serif", fontsize=18, nodesep=0.4, ranksep=0.5];
      node [fontname="Helvetica,Arial,sans-serif", fontsize=11, margin="0.2,0.1"];
      edge [color="#64748b", arrowsize=0.7];
      n0 [label="build (script)\nmake &amp;&amp; echo \"<b>done</b>\" # ok", shape=box, style="filled", fillcolor="#dbeafe", color="#2563eb"];
      n1 [label="review (agent)", shape=box, style="filled,rounded", fillcolor="#ede9fe", color="#7c3aed"];
      n2 [label="changelog (skill)", shape=note, style="filled", fillcolor="#ccfbf1", color="#0d9488"];
      n3 [label="ok (approval)", shape=hexagon, style="filled,dashed", fillcolor="#fef3c7", color="#d97706"];
      n4 [label="ship (workflow)", shape=box3d, style="filled", fillcolor="#fce7f3", color="#db2777"];
      n0 -> n1;
      n0 -> n2;
      n1 -> n3 [style=dashed];
      n2 -> n4 [style=dotted];
      n3 -> n4;
    }
    "##);
}

#[test]
fn the_svg_of_a_step_is_small_and_complete() {
    let mut graph = graph("hello", &["greet:"]);
    graph.nodes[0].title = "Say hello".to_owned();
    graph.nodes[0].detail = vec!["echo 'hi' & exit".to_owned()];
    let svg = graph.to_svg();
    let style = svg.find("<style>").unwrap()..svg.find("</style>").unwrap();
    assert_snapshot!([&svg[..style.start], &svg[style.end..]].concat(), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" class="abide-graph" role="img" aria-label="hello: 1 step" width="232" height="264" viewBox="0 0 232 264">
    <title>hello: 1 step</title>
    </style>
    <rect class="page" width="232" height="264" rx="12"/>
    <text class="name" x="32" y="50">hello</text>
    <text class="about" x="32" y="74">1 step</text>
    <g transform="translate(32 104)">
    <g class="script" transform="translate(0 0)"><title>greet (script)
    Say hello
    echo &apos;hi&apos; &amp; exit</title>
    <rect class="shade" y="2" width="168" height="84" rx="10"/><rect class="card" width="168" height="84" rx="10"/>
    <svg x="12" y="12" width="30" height="30" viewBox="0 0 30 30"><rect class="tile" width="30" height="30" rx="8"/><path class="glyph" d="M9 10l5 5-5 5M16 20h6"/></svg>
    <text class="title" x="52" y="25">Say hello</text>
    <text class="sub" x="52" y="41"><tspan class="kind">script</tspan> · greet</text>
    <path class="rule" d="M1 54H167"/>
    <text class="detail" x="14" y="72">echo &apos;hi&apos; &amp; exit</text>
    </g>
    </g>
    <g class="script"><svg x="32" y="230" width="16" height="16" viewBox="0 0 30 30"><rect class="tile" width="30" height="30" rx="8"/><path class="glyph" d="M9 10l5 5-5 5M16 20h6"/></svg>
    <text class="sub" x="56" y="242">script</text>
    </g>
    </svg>
    "#);
}

#[test]
fn every_step_and_edge_is_in_the_svg() {
    let graph = deploy();
    let svg = graph.to_svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let count = |class: &str| {
        let is = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|given| given.split(' ').any(|word| word == class))
        };
        document.descendants().filter(is).count()
    };
    // The legend repeats one tile per kind, and one line for what may be skipped.
    assert_eq!((count("card"), count("tile"), count("if")), (7, 10, 1));
    assert_eq!((count("edge"), count("head")), (8, 7));
    for id in ["test", "build", "security-scan", "deploy-staging", "smoke-test", "approve", "deploy-prod"] {
        assert!(svg.contains(&format!("</tspan> · {id}</text>")), "{id}");
    }
    assert!(!svg.contains("href") && !svg.contains("url(") && !svg.contains("<script"));
}
