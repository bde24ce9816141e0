/** `--scopes files:read,files:write`. */
import { usage } from "../../failure.ts";

/** Those of `known` that were named. */
export function parseScopes<Scope extends string>(given: readonly string[], known: readonly Scope[]): Scope[] {
  return given.map((text) => {
    const scope = known.find((each) => each === text.trim());
    if (scope !== undefined) return scope;
    throw usage(`There is no such scope here: ${text}`, `name some of ${known.join(",")}`);
  });
}
