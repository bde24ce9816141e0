/** What the SDK tells its caller to call is there. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { METHOD_COMMANDS } from "@coffer/tasks";
import { expect, it } from "vitest";
import { createClient } from "@coffer/sdk";

const PACKAGES = join(import.meta.dirname, "..", "packages");
/** Texts of the sources, without comments: a sentence is what has spaces in it. */
const SENTENCES = ["sdk", "chain", "crypto"].flatMap((name) =>
  globSync("src/**/*.ts", { cwd: join(PACKAGES, name) })
    .filter((path) => !/\.test\.ts$|testing\/|test-/.test(path))
    .flatMap((path) => {
      const lines = readFileSync(join(PACKAGES, name, path), "utf8").split("\n");
      const code = lines.filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line)).join("\n");
      return [...code.matchAll(/"([^"\n]* [^"\n]*)"|`([^`\n]* [^`\n]*)`/g)].map(([, plain, template]) =>
        (plain ?? template ?? "").replaceAll(/\$\{[^}]*\}/g, ""),
      );
    }),
);
/** Before a colon it is the name of an endpoint. */
const NAMED =
  /(?<![#.\w])(?:vaults|files|folders|agents|apiKeys|account|webhooks|invites|auth|trash|changes|audit)\.(?:members\.)?[a-z][A-Za-z]+\b(?![:.])/g;

it("each method that a sentence names exists, and has words for people and models [issue 48]", () => {
  const client = createClient({ baseUrl: "http://127.0.0.1:9", credentials: null });
  const named = new Set(SENTENCES.flatMap((sentence) => [...sentence.matchAll(NAMED)].map(([whole]) => whole)));
  expect(named.size).toBeGreaterThan(4);
  const missing = [...named].filter((name) => {
    const method = name.split(".").reduce<unknown>((at, part) => Reflect.get(at as object, part), client);
    return typeof method !== "function";
  });
  expect(missing).toEqual([]);
  expect([...named].filter((name) => !Object.hasOwn(METHOD_COMMANDS, name))).toEqual([]);
});
