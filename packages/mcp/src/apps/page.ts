/** Documents of the app: a script and a style that the document's own policy allows by their hashes, and nothing else. */
import { createHash } from "node:crypto";
import { startView, VIEW_FUNCTIONS } from "./view.ts";

const STYLE = `
:root {
  color-scheme: light dark;
  font: 14px/1.45 var(--font-sans, system-ui, sans-serif);
  color: var(--color-text-primary, light-dark(#1b1f24, #e8eaed));
  background: var(--color-background-primary, light-dark(#ffffff, #1c1e21));
}
body { margin: 0; }
main { padding: 12px; transition: opacity .1s; }
main.busy { opacity: .5; pointer-events: none; }
h1 { font-size: 16px; margin: 0 0 8px; }
p { margin: 0 0 8px; overflow-wrap: anywhere; }
button { font: inherit; color: inherit; cursor: pointer; background: none; border: 0; text-align: start; }
button:focus-visible { outline: 2px solid var(--color-ring-primary, #3b82f6); outline-offset: 1px; }
.path { display: flex; flex-wrap: wrap; gap: 2px; margin-bottom: 8px; }
.crumb { padding: 2px 6px; border-radius: 6px; font-weight: 600; max-width: 100%; overflow-wrap: anywhere; }
.crumb + .crumb::before { content: "/"; margin-inline-end: 8px; opacity: .5; }
.row {
  display: grid; grid-template-columns: 20px minmax(0, 1fr) 72px 172px; gap: 8px; width: 100%; box-sizing: border-box;
  padding: 7px 8px; align-items: baseline;
}
.row + .row { border-top: 1px solid var(--color-border-tertiary, light-dark(#e6e8eb, #303338)); }
.folder:hover, .crumb:hover, .more:hover { background: var(--color-background-secondary, light-dark(#f2f4f7, #292c31)); }
.folder .name { font-weight: 600; }
.name { overflow-wrap: anywhere; }
.sign, .size, .time, .quiet { color: var(--color-text-secondary, light-dark(#5c6672, #9aa3ad)); }
.size, .time { text-align: end; }
.size, .time { font-variant-numeric: tabular-nums; white-space: nowrap; }
.more { margin-top: 8px; padding: 6px 12px; border-radius: 6px; font-weight: 600; }
.preview {
  padding: 10px 12px; border-radius: 8px; white-space: pre-wrap;
  background: var(--color-background-secondary, light-dark(#f2f4f7, #292c31));
}
.choice { display: flex; gap: 8px; justify-content: end; margin-top: 12px; }
.choice button { padding: 7px 16px; border-radius: 8px; border: 1px solid var(--color-border-primary, light-dark(#c9ced6, #4a4f57)); }
.choice .yes {
  background: var(--color-background-inverse, light-dark(#1b1f24, #e8eaed)); font-weight: 600;
  color: var(--color-text-inverse, light-dark(#ffffff, #1b1f24));
}
.good { color: var(--color-text-success, light-dark(#157347, #5cc98f)); }
.bad { color: var(--color-text-danger, light-dark(#b42318, #ff8a80)); }
@media (max-width: 460px) { .row { grid-template-columns: 20px minmax(0, 1fr) 70px; } .time { display: none; } }
`;

export type ViewKind = "files" | "consent";

const pages = new Map<ViewKind, string>();

export function renderPage(kind: ViewKind): string {
  const cached = pages.get(kind);
  if (cached !== undefined) return cached;
  const script = `${VIEW_FUNCTIONS.map(String).join("\n")}\nvoid ${startView.name}(${JSON.stringify(kind)});`;
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(STYLE)}; base-uri 'none'; form-action 'none'`;
  const page = [
    `<!doctype html>`,
    `<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width"><title>Coffer</title><style>${STYLE}</style></head>`,
    `<body><main><p class="quiet">Waiting for the answer.</p></main><script>${script}</script></body></html>`,
  ].join("\n");
  pages.set(kind, page);
  return page;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
