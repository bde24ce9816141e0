/** What holds of every command, whatever it does. */
import { describe, expect, it } from "vitest";
import { coffer } from "../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { flagForm, flagTitle } from "./flag-forms.ts";
import { parseLine } from "./line-parser.ts";
import { ROUTES } from "./routes.ts";
import { listCommands } from "./command-list.ts";
import { VERSION } from "./version.ts";
import manifest from "../package.json" with { type: "json" };

const places = await listCommands(ROUTES);
const home = makeDirectory();

/** The words of an example, as a shell splits them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");

describe("every command [issue 19]", () => {
  it.each(places.map((place) => [place.path.join(" "), place] as const))(
    "%s: help, examples, JSON",
    async (_name, place) => {
      const { path, brief, command } = place;
      expect(command.brief).toBe(brief);
      expect(brief).toMatch(/^[A-Z].*[^.]$/);

      const help = await coffer([...path, "--help"], home);
      expect([help.code, help.err]).toEqual([0, ""]);
      const [before = "", after = ""] = help.out.split("FLAGS OF EVERY COMMAND\n");
      for (const { line, does } of command.examples)
        expect([before.includes(line), before.includes(`# ${does}`)], line).toEqual([true, true]);
      for (const [name, flag] of Object.entries(command.flags)) expect(before).toContain(flagTitle(name, flag));
      for (const [name, flag] of Object.entries({ ...GLOBAL_FLAGS, ...(command.isList ? LIST_FLAGS : {}) }))
        expect(after).toContain(flagForm(name, flag));
      // Only what is copied may be wide.
      for (const line of help.out.split("\n"))
        expect(line.length <= 80 || /^ {2}(# |coffer )/.test(line), line).toBe(true);

      for (const { line } of command.examples) {
        const [program, ...words] = wordsOf(line.replace(/ (<|\||>>?|&&) .*$/, ""));
        expect(program).toBe("coffer");
        const reading = await parseLine(ROUTES, words);
        expect(reading, line).toMatchObject({ kind: "command", call: { command } });
      }

      for (const words of [
        ["--help", "--json"],
        ["--json", "--no-such-flag"],
      ]) {
        const ran = await coffer([...path, ...words], home);
        expect(ran.err).toBe("");
        expect(ran.out.trimEnd().split("\n")).toHaveLength(1);
        expect(Object.keys(JSON.parse(ran.out) as object)).toEqual([words[1] === "--json" ? "help" : "error"]);
        expect(ran.code).toBe(words[1] === "--json" ? 0 : 2);
      }
    },
  );

  it("has its global flags and all commands on the first page", async () => {
    const { out } = await coffer(["--help"], home);
    for (const [name, flag] of Object.entries({ ...GLOBAL_FLAGS, ...LIST_FLAGS }))
      expect(out.replaceAll(/\s+/g, " ")).toContain(`${flagForm(name, flag)} ${flag.brief}`);
    for (const [name] of Object.entries(ROUTES)) expect(out).toContain(`\n  ${name} `);
    expect((await coffer(["vaults", "--help"], home)).out).toContain("\n  set-signing-key  ");
    expect((await coffer(["help", "ls"], home)).out).toBe((await coffer(["ls", "-h"], home)).out);
  });

  it("has the version of its package", () => {
    expect(manifest.version).toBe(VERSION);
  });
});
