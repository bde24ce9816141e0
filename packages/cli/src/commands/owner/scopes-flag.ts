/** `--scopes files:read,files:write`. */
import { usage } from "../../failure.ts";

/** Those of `known` that were named. */
export function parseScopes<Scope extends string>(texts: readonly string[], scopes: readonly Scope[]): Scope[] {
  return texts.map((text) => {
    const scope = scopes.find((each) => each === text.trim());
    if (scope !== undefined) return scope;
    throw usage(`There is no such scope here: ${text}`, `name some of ${scopes.join(",")}`);
  });
}
