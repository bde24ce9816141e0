/** Next steps begin with the command by which their reader started the program. */
import { expect, it } from "vitest";
import { coffer } from "../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { asInvoked, COMMAND_NAMES, invocationOf } from "./invocation.ts";
import { ROUTES } from "./routes.ts";

const NPM = { npm_lifecycle_event: "coffer", npm_command: "run-script", npm_package_json: "/src/coffer/package.json" };

it.each([
  ["coffer", {}, "/usr/local/bin/coffer", false],
  ["coffer", { ...NPM, npm_lifecycle_event: "test" }, "/src/coffer/packages/cli/dist/main.js", false],
  ["npm run -s coffer --", { ...NPM, INIT_CWD: "/src/coffer/docs" }, "/src/coffer/packages/cli/dist/main.js", false],
  ["npm run -s coffer --", { ...NPM, npm_command: "run", INIT_CWD: "/src/coffer" }, "/src/coffer/x/main.js", false],
  ["npm --prefix /src/coffer run -s coffer --", { ...NPM, INIT_CWD: "/home/ada" }, "/src/coffer/x/main.js", false],
  ["node /home/ada/coffer.mjs", NPM, "/home/ada/coffer.mjs", true],
  ["node '/home/ada'\\''s/coffer.mjs'", {}, "/home/ada's/coffer.mjs", true],
])("is %s", (expected, env, script, isOneFile) => {
  expect(invocationOf(env, script, isOneFile)).toBe(expected);
});

it("stands for commands alone, not for the name", () => {
  expect(COMMAND_NAMES).toEqual(Object.keys(ROUTES));
  const text = "install coffer from where you got it, then coffer mcp install; coffer login, or coffer chain import";
  expect(asInvoked(text, "node c.mjs")).toBe(
    "install coffer from where you got it, then node c.mjs mcp install; node c.mjs login, or node c.mjs chain import",
  );
  expect(asInvoked("coffer upload-something and coffer.mjs", "x")).toBe("coffer upload-something and coffer.mjs");
});

it("goes on with the profile that the line named, but for a text that names one [issue 49]", async () => {
  const home = makeDirectory();
  const empty = await coffer(["profiles", "list", "--profile", "the owner"], home);
  expect(empty.out).toContain("Next: coffer --profile 'the owner' login");
  const added = await coffer(["profiles", "add", "work", "--base-url", "http://127.0.0.1:9", "--profile", "x"], home);
  expect(added.out).toContain("Next: coffer login --profile work");
});

it.each([
  ["a failure", ["whoami"]],
  ["a failure as JSON", ["whoami", "--json"]],
  ["a usage error", ["uplod"]],
  ["an empty list", ["profiles", "list"]],
  ["what doctor found", ["doctor"]],
  ["what doctor found, as JSON", ["doctor", "--json"]],
  ["a result", ["profiles", "add", "work", "--base-url", "http://127.0.0.1:9"]],
])("is that of %s", async (_kind, words) => {
  const invocation = "npm run -s coffer --";
  const { out, err } = await coffer(words, makeDirectory(), { invocation });
  expect(out + err).toContain(`${invocation} `);
  expect(out + err).not.toMatch(/(?<!-s )\bcoffer (?:login|signup|profiles|config|chain|doctor|--help)/);
});
