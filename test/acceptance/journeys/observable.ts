/**
 * An observable: one thing that a user, or whoever listens on the wire, must see in a journey. Pure data; the checks of
 * the built ones are the programs beside this file, and run.ts holds both together.
 */
import type { Issue } from "../requirement.ts";

/** By which way it is observed. */
export type Tag = "api" | "sdk" | "mcp" | "webhook" | "cli";

/** What it is observed on: a stack as `npm start` makes it, or a service beside a local network that misbehaves on demand. */
export type Ground = "stack" | "network";

export type Observable = {
  readonly id: string;
  readonly tag: Tag;
  readonly text: string;
} & ({ readonly status: "built"; readonly ground: Ground } | { readonly status: "pending"; readonly issue: Issue });

export interface Journey {
  /** `J1` … `J19`. */
  readonly name: string;
  readonly title: string;
  readonly observables: readonly Observable[];
}

/** Built now; requirement ids that it proves stand in brackets in its text. */
export function builtObservable(id: string, tag: Tag, text: string): Observable {
  return { id, tag, text, status: "built", ground: "stack" };
}

/** The same for what concerns shared vaults; the checks are the programs shared-j02.ts …. */
export function sharedObservable(id: string, tag: Tag, text: string): Observable {
  return { id, tag, text, status: "built", ground: "network" };
}

export function pendingObservable(issue: Issue, id: string, tag: Tag, text: string): Observable {
  return { id, tag, text, status: "pending", issue };
}
