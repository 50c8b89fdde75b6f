// What gray-matter makes of the texts on standard input, with the second try that OpenCode gives a broken one.
//
// node skills.mjs FOLDER-OF-THE-PACKAGES < '["text", …]' > '[null | {"name", "description", "body"}, …]'

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const matter = createRequire(`${process.argv[2]}/`)("gray-matter");

// Values with a colon become blocks of text; whole lines only, and never a value in quotes.
function repaired(text) {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1];
  if (head === undefined) return text;
  const lines = head.split(/\r?\n/).map((line) => {
    const pair = /^([A-Za-z_]\w*)\s*:\s*(.*)$/.exec(line);
    const value = pair?.[2].trim();
    const rewritten = value && value !== ">" && value !== "|" && !/^["']/.test(value) && value.includes(":");
    return rewritten ? `${pair[1]}: |-\n  ${value}` : line;
  });
  return text.replace(head, () => lines.join("\n"));
}

function parsed(text) {
  // Without this, a broken text that comes a second time is taken for an empty one.
  matter.clearCache();
  return matter(text);
}

function load(text) {
  let file;
  try {
    file = parsed(text);
  } catch {
    try {
      file = parsed(repaired(text));
    } catch {
      return null;
    }
  }
  const { data, content } = file;
  const fits =
    typeof data?.name === "string" && (data.description === undefined || typeof data.description === "string");
  // Half of a character has no place in a Rust text.
  const whole = (text) => text?.toWellFormed() ?? null;
  return fits ? { name: whole(data.name), description: whole(data.description), body: content } : null;
}

const texts = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(load)));
