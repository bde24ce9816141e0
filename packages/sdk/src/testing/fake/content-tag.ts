/** The tag of a content, and what refuses to change another one. */
import type { File } from "@coffer/contract";
import { toBase64 } from "../../digest.ts";
import { refuseChanged, refuseOtherTag } from "./items.ts";

export function etagOf(file: File): string {
  const bytes = Uint8Array.from(file.sha256.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return `"sha256-${toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}"`;
}

export function refuseUnmatched(file: File, ifMatch: string | null): void {
  refuseOtherTag(etagOf(file), ifMatch);
}

/** For a change of the content. */
export function refuseReplaced(file: File, ifMatch: string | null | undefined): void {
  refuseChanged(file, ifMatch, etagOf(file));
}
