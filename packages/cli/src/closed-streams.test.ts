/** Whoever reads a command may stop, and what it is sent to may be full. Each command ends as it should, and says so. */
import { spawn } from "node:child_process";
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { listCommands } from "./command-list.ts";
import { EXIT } from "./exit-codes.ts";
import { ROUTES } from "./routes.ts";
import { coffer, type Situation } from "../../../test/kit/coffer.ts";
import { COFFER } from "../../../test/kit/coffer-program.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "../../../test/cli/owner-scene.ts";

const places = await listCommands(ROUTES);
const LOST = /^error: Standard output did not take the result: no space is left\.\nnext: .+\n$/;

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const wordsOf = (line: string): string[] =>
  [...line.replace(/ (<|>|\|) .*$/, "").matchAll(/"([^"]*)"|(\S+)/g)]
    .slice(1)
    .map(([, quoted, bare]) => quoted ?? bare ?? "");

describe("where nobody is signed in [issue 19]", () => {
  const at = (words: readonly string[], more: Situation) =>
    coffer(words, makeDirectory(), { ...more, env: { SERVICE_BASE_URL: "http://127.0.0.1:1" } });

  it.each(places.map(({ path, command }) => [path.join(" "), path, command] as const))(
    "%s",
    async (_name, path, { examples }) => {
      const line = examples[0].line.replace(/--base-url \S+/, "");
      for (const flags of [[], ["--json"]]) {
        const words = [...wordsOf(line), ...flags];
        const open = await at(words, {});
        const closed = await at(words, { broken: { stdout: "EPIPE" } });
        expect([words, closed.code]).toEqual([words, open.code]);
        // A document that nobody takes is said in two lines.
        if (open.code !== 0 && open.out.startsWith('{"error":'))
          expect([words, closed.err]).toEqual([words, expect.stringMatching(/^error: /m)]);
        const full = await at(words, { broken: { stdout: "ENOSPC" } });
        const isLost = open.out !== "" && !open.out.startsWith('{"error":');
        expect([words, full.code]).toEqual([words, isLost ? EXIT.failed : open.code]);
        if (isLost) expect([words, full.err.slice(open.err.length)]).toEqual([words, expect.stringMatching(LOST)]);
        for (const broken of [{ stderr: "EPIPE" }, { stderr: "ENOSPC" }, { stdout: "EPIPE", stderr: "EPIPE" }] as const)
          expect([words, broken, (await at(words, { broken })).code]).toEqual([words, broken, open.code]);
      }
      expect((await at([...path, "--help"], { broken: { stdout: "EPIPE" } })).code).toBe(0);
    },
  );
});

/** In a shell, with the descriptors as it leaves them. `$C` is the program. */
async function inShell(
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly [number, string, string]> {
  const program = COFFER.map((word) => `'${word}'`).join(" ");
  const child = spawn("bash", ["-c", `C() { timeout 60 ${program} "$@"; }\n${script}`], {
    env: { PATH: process.env["PATH"], HOME: makeDirectory(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = [child.stdout.toArray(), child.stderr.toArray()];
  const code = await new Promise<number>((resolve) => child.once("close", (ended) => resolve(ended ?? -1)));
  return [code, Buffer.concat(await out).toString(), Buffer.concat(await err).toString()];
}

const SIGNED_OUT =
  "error: Nobody is signed in here.\nnext: coffer login --base-url URL, or coffer signup --base-url URL for a new account\n";
const NO_SPACE = expect.stringMatching(LOST) as string;

describe("as a program [issue 19]", () => {
  it.each([
    ["C --help | head -1; exit ${PIPESTATUS[0]}", 0, expect.stringMatching(/^.+\n$/) as string, ""],
    ["C version | true; exit ${PIPESTATUS[0]}", 0, "", ""],
    ["C ls --json | true; exit ${PIPESTATUS[0]}", 4, "", SIGNED_OUT],
    ["C version >/dev/full", 1, "", NO_SPACE],
    ["C --help >/dev/full", 1, "", NO_SPACE],
    ["C ls --json >/dev/full", 4, "", SIGNED_OUT],
    ["C ls 2>/dev/full", 4, "", ""],
    ["C ls 2> >(true)", 4, "", ""],
    ["C ls >&- 2>&- <&-", 4, "", ""],
    ["C completion bash 2>&- | wc -c; exit ${PIPESTATUS[0]}", 0, expect.stringMatching(/^\d{3,}\n$/) as string, ""],
    [
      "C login --api-key-stdin --base-url http://127.0.0.1:1 <&-",
      2,
      "",
      expect.stringMatching(/^error: .*no key.*\nnext: /) as string,
    ],
    [
      "C login --api-key-stdin --base-url http://127.0.0.1:1 </",
      2,
      "",
      expect.stringMatching(/^error: .*\nnext: /) as string,
    ],
  ])("%s", async (script, code, out, err) => {
    expect(await inShell(script)).toEqual([code, out, err]);
  });

  it("what follows something ends with the first line that its reader does not take [issue 19]", async () => {
    const stage: Scene = await openScene(await openSharedStack());
    const { env }: Shell = stage.owner;
    const follow = (words: string): ReturnType<typeof inShell> =>
      inShell(`C ${words} | head -1; exit \${PIPESTATUS[0]}`, env);
    const working = new AbortController();
    try {
      const changing = change(stage, working.signal);
      const ended = await Promise.all([
        follow("changes --follow"),
        follow("changes --follow --json-lines --since 1d"),
        follow("webhooks listen --quiet --forward-to http://127.0.0.1:1 2>/dev/null"),
        follow("webhooks listen --quiet --json-lines --forward-to http://127.0.0.1:1 2>/dev/null"),
      ]);
      expect(ended).toEqual(ended.map(() => [0, expect.stringMatching(/^[^\n]+\n$/), ""]));
      working.abort();
      await changing;
    } finally {
      await stage.stack[Symbol.asyncDispose]();
    }
  });
});

/** Something happens in the account again and again. */
async function change({ stack }: Scene, signal: AbortSignal): Promise<void> {
  const { vaults } = stack.owner.client;
  const { id } = await vaults.create({ name: "changing", type: "public" });
  for (let at = 0; !signal.aborted; at += 1) {
    await vaults.update(id, { name: `changing ${String(at)}` });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
