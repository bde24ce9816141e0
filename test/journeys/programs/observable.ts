/**
 * An observable: one thing that a user, or whoever listens on the wire, must see in a journey. Pure data; the checks of
 * the built ones are the programs beside this file, and run.ts holds both together.
 */
import { pending, type Pending } from "../requirement.ts";

/** By which way it is observed. */
export type Tag = "api" | "sdk" | "mcp" | "webhook" | "cli";

/** What it is observed on: a stack as `npm start` makes it, or a service beside a local network that misbehaves on demand. */
export type Ground = "stack" | "network";

export type Observable = {
  readonly id: string;
  readonly tag: Tag;
  readonly text: string;
} & ({ readonly status: "built"; readonly ground: Ground } | Pending);

export interface Journey {
  /** `J1` … `J19`. */
  readonly name: string;
  readonly title: string;
  readonly observables: readonly Observable[];
}

/** `J1-key api: what is seen`, `… (shared): …` where it is seen on a network, or `… (pending: cli): …`. */
const LINE = /^(\S+) (api|sdk|mcp|webhook|cli)(?: \((shared|pending)(?:: ([^)]+))?\))?: (.+)$/s;

/** Ids of requirements that a built observable proves stand in brackets in its text. The checks are the programs j01.ts …, shared-j02.ts …. */
export function journey(name: string, title: string, lines: readonly string[]): Journey {
  const observables = lines.map((line): Observable => {
    const [, id = "", tag, kind, issue = "", text = ""] = LINE.exec(line) ?? [];
    if (text === "") throw new Error(`${name}: not "<id> <tag>: <text>": ${line}`);
    const seen = { id, tag: tag as Tag, text };
    if (kind === "pending") return { ...seen, ...pending(issue) };
    return { ...seen, status: "built", ground: kind === "shared" ? "network" : "stack" };
  });
  return { name, title, observables };
}
