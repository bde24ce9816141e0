/** HTML for pages that need no script: everything that is put into a template is escaped, unless it was made by one. */
import { hash } from "node:crypto";

/** Text that is safe between tags. Only {@link markup} makes one. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | readonly Html[];

/** Strings are escaped for text and for quoted attribute values. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(fixed.reduce((text, next, index) => `${text}${render(parts[index - 1] ?? "")}${next}`));
}

function render(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === "string" ? escape(part) : part.map(render).join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

/** Fields are 16 pixels high and more: smaller ones make phones zoom in. */
const STYLE = `
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif; }
body { margin: 0; padding: 1.5rem 1rem; }
main { max-width: 26rem; margin: 0 auto; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
label { display: block; margin: 1rem 0; font-weight: 600; }
[hidden] { display: none; }
small { display: block; font-weight: 400; }
input { display: block; box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem; font: inherit; font-weight: 400;
  border: 1px solid GrayText; border-radius: .4rem; }
button { width: 100%; padding: .8rem; font: inherit; font-weight: 600; border: 0; border-radius: .4rem;
  color: #fff; background: #1d4ed8; }
[role=alert] { padding: .75rem 1rem; border-left: .3rem solid #b91c1c; background: rgb(185 28 28 / .12); }
`;

/** Browsers send no server what stands behind the `#` of an address: so no log on the way has a mail's token. */
const FRAGMENT = `
const take = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  const field = document.querySelector("[name=token]");
  field.value = token;
  field.parentElement.hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
};
take();
addEventListener("hashchange", take);
`;

/** Puts the token of the page's address into its field, and takes it out of the address. Where no script runs, a person types it in. */
export const FRAGMENT_SCRIPT = markup`<script>${new Html(FRAGMENT)}</script>`;

const digestOf = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`;

/** No script but ours runs, nothing is loaded, nobody frames the page, and its form leads back to this service. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": [
    "default-src 'none'",
    `script-src ${digestOf(FRAGMENT)}`,
    `style-src ${digestOf(STYLE)}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** A whole page. */
export function renderPage(title: string, content: Html): string {
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>${title} · Coffer</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
  return page.text;
}
