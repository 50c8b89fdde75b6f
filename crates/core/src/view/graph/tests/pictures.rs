//! How Mermaid and DOT are written.

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
