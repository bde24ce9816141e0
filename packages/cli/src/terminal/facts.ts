/** Facts of one thing: a line for each, their values below each other. */
import type { Printable } from "../result.ts";
import { visibleText } from "./visible.ts";

/** Facts without a value are left out. */
export function factLines(facts: readonly (readonly [name: string, value: Printable])[]): string[] {
  const filled = facts.map(([name, value]) => [name, visibleText(value)] as const).filter(([, value]) => value !== "");
  const width = Math.max(0, ...filled.map(([name]) => name.length));
  return filled.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
