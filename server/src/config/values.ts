/** Environment variables as typed values: each on its own, what they mean together is in problems.ts. */
import * as z from "zod/mini";
import { type Variable, VARIABLES } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Values = { readonly [Name in keyof typeof VARIABLES]: z.core.output<(typeof VARIABLES)[Name]["schema"]> };

/** What can be read, and a line for each variable that cannot. Unset or empty variables take their defaults. */
export function readValues(environment: Environment): { values: Partial<Values>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const development = environment[VARIABLES.mode.name]?.trim() === "development";
  for (const [key, variable] of Object.entries<Variable>(VARIABLES)) {
    const given = environment[variable.name]?.trim();
    const fallback = (development ? variable.inDevelopment : undefined) ?? variable.fallback;
    const result = z.safeParse(variable.schema, given === undefined || given === "" ? fallback : given);
    if (result.success) values[key] = result.data;
    else problems.push(`${variable.name}: expected ${variable.expects}`);
  }
  return { values, problems };
}

/** Variables of clients: they may be in the same environment. */
const OF_CLIENTS = [
  ...["BASE_URL", "API_KEY", "PROFILE", "CONFIG_FILE", "CONFIG_DIR"],
  ...["CHAIN_PRIVATE_KEY", "NETWORK_FILE", "ALLOWED_DIRS", "ACCESS_CODE"],
].map((name) => `SERVICE_${name}`);

const NAMES = Object.values<Variable>(VARIABLES).map(({ name }) => name);

/** Set, and read by nobody: a slip, or something of others that share the environment. */
export function findUnread(environment: Environment): string[] {
  const read = new Set([...NAMES, ...OF_CLIENTS]);
  return Object.keys(environment).filter((name) => /^SERVICE_[A-Z0-9_]+$/.test(name) && !read.has(name));
}

/** Those of them that are nearly the name of a setting, or the beginning of one, with the nearest. */
export function findMisspelt(environment: Environment): [name: string, meant: string][] {
  return findUnread(environment).flatMap((name) => {
    const meant = nearestTo(name);
    return meant === null ? [] : [[name, meant]];
  });
}

function nearestTo(name: string): string | null {
  const ranked = NAMES.map((known) => ({ known, slips: countSlips(name, known) })).sort((a, b) => a.slips - b.slips);
  const [nearest] = ranked;
  const letters = name.length - "SERVICE_".length;
  const allowed = letters < 4 ? 1 : letters < 9 ? 2 : 3;
  if (nearest !== undefined && nearest.slips <= allowed) return nearest.known;
  return NAMES.find((known) => known.startsWith(`${name}_`)) ?? null;
}

/** Letters to add, to leave out or to change (Levenshtein). */
function countSlips(given: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, at) => at);
  for (let line = 0; line < given.length; line += 1) {
    const next = [line + 1];
    for (let at = 0; at < known.length; at += 1) {
      const changed = (row[at] ?? 0) + (known[at] === given[line] ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[known.length] ?? 0;
}

/** The variables, for `--help`. */
export function renderUsage(): string {
  const lines = Object.values<Variable>(VARIABLES).map(
    (variable) =>
      `  ${variable.name}\n      ${variable.about}\n      Value: ${variable.expects}.${renderDefaults(variable)}`,
  );
  return `You set everything by environment variables:\n${lines.join("\n")}\n`;
}

function renderDefaults({ fallback, inDevelopment }: Variable): string {
  const defaults = [fallback, ...(inDevelopment === undefined ? [] : [`${inDevelopment} in development`])];
  const said = defaults.filter((value) => value !== "").join("; ");
  return said === "" ? "" : ` Default: ${said}.`;
}

/** Several values in one variable, by commas or blanks. */
export function splitList(text: string): string[] {
  return text.split(/[, ]+/).filter((entry) => entry !== "");
}
