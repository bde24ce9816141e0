/** What keys and tokens look like: of this product, and of services whose keys lie about on the machines of agents. */
import { KEY_SCANNING_REGEX } from "@coffer/contract";

/** Secrets of this product (decisions §0: `cof_`, `cofi_`; Sui: `suiprivkey1`), and tokens of its sessions and webhooks. */
export const OWN_SHAPES: readonly RegExp[] = [
  new RegExp(KEY_SCANNING_REGEX.source, "g"),
  /\bcofi_[0-9A-Za-z]{20,}/g,
  /\bsuiprivkey1[0-9a-z]{40,}/g,
  // Secrets of webhooks (Standard Webhooks).
  /\bwhsec_[\w+/]{24,}={0,2}/g,
  // JWTs: access tokens of a saved session, identity tokens.
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]{16,}/g,
];

/** Forms that their issuers publish so that scanners find them. A JWT is none: documents show them as examples. */
const KNOWN_SHAPES: readonly RegExp[] = [
  ...OWN_SHAPES.slice(0, 4),
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s+[\w+/=:;,.\s-]{40}/,
  /\bPuTTY-User-Key-File-[23]:/,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[0-9A-Za-z]{36,}\b/,
  /\bgithub_pat_\w{60,}\b/,
  /\bglpat-[\w-]{20,}/,
  /\bxox[abeprs]-[0-9A-Za-z-]{20,}/,
  /\b[rs]k_live_[0-9A-Za-z]{20,}/,
  /\bsk-(?:ant|proj|svcacct|or)-[\w-]{40,}/,
  /\bsk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}\b/,
  /\bAIza[\w-]{35}\b/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}/,
  /\bhf_[0-9A-Za-z]{34}\b/,
  /\bdop_v1_[0-9a-f]{64}\b/,
  /\bdckr_pat_[\w-]{27}\b/,
  /\bSG\.[\w-]{22}\.[\w-]{43}\b/,
  /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b/,
];

/** Bytes at the beginning of a file that are looked at. */
export const SCANNED_BYTES = 1_048_576;

/** Whether the bytes hold the form of a known key, in ASCII, UTF-8 or UTF-16. */
export function holdsKnownKey(head: Buffer): boolean {
  const text = head.toString("latin1");
  // UTF-16 has a zero between the letters.
  const plain = text.includes("\0") ? [text, text.replaceAll("\0", "")] : [text];
  return plain.some((each) => KNOWN_SHAPES.some((shape) => new RegExp(shape.source).test(each)));
}

/** The forms in which a secret can be written: plain, inside JSON, hex, and base64 at each of its three alignments. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const forms = [secret, JSON.stringify(secret).slice(1, -1), hex, hex.toUpperCase()];
  for (const shift of [0, 1, 2]) {
    // The characters that only bytes of the secret decide: those at the edges depend on what is beside them.
    const padded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replaceAll("=", "");
    const from = shift === 0 ? 0 : shift + 1;
    const inner = padded.slice(from, padded.length - ((shift + bytes.length) % 3 === 0 ? 0 : 1));
    forms.push(inner, inner.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}
