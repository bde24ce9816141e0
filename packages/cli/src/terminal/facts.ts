/** Facts of one thing: a line for each, their values below each other. */
import type { Shown } from "../result.ts";
import { shown } from "./visible.ts";

/** Facts without a value are left out. */
export function factLines(facts: readonly (readonly [name: string, value: Shown])[]): string[] {
  const known = facts.map(([name, value]) => [name, shown(value)] as const).filter(([, value]) => value !== "");
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
