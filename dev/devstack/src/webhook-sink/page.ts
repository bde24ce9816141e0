/** The page: one document whose script and style are allowed by their hashes, and nothing else (CSP Level 3 §2.3.1). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the document beside this file. */
export function loadPage(): Page {
  const html = readFileSync(new URL("page.html", import.meta.url), "utf8");
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(html, "script")}`,
    `style-src ${hashOf(html, "style")}`,
    // The empty icon in the document, so that no browser asks for one.
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    html,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "Cross-Origin-Opener-Policy": "same-origin",
    },
  };
}

/** The bytes between the tags. */
function hashOf(html: string, tag: string): string {
  const content = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1];
  if (content === undefined) throw new Error(`the page has no <${tag}>`);
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
