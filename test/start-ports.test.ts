/** The port of `npm start`: its data keep it, because profiles name it. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { makeDirectory } from "./kit/directory.ts";
import { makeFolder, nodeStart, stopAll, until, type Run } from "./kit/npm-start.ts";

afterEach(stopAll);

async function addressOf(run: Run): Promise<string> {
  await until(run, "up until Ctrl-C");
  return /service ready at (\S+);/.exec(run.stderr)?.[1] ?? "";
}

it("stays with the data; a port that is taken ends the start, and says by whom; profiles hear of a move [issue 49]", async (context) => {
  const base = makeDirectory();
  const folder = await makeFolder(base, { "a.txt": "a" });
  const home = join(base, "home");
  const start = (...words: string[]): Run =>
    nodeStart(["--data", join(base, "data"), "--folder", folder, ...words], { HOME: home, XDG_CONFIG_HOME: "" });
  const first = start("--port", "0");
  const address = await addressOf(first);
  await first.stop();

  const second = start();
  expect(await addressOf(second)).toBe(address);
  expect(second.stderr).not.toContain("moved");
  await second.stop();

  const { port } = new URL(address);
  const other = createServer().listen(Number(port), "127.0.0.1");
  await once(other, "listening");
  const refused = start();
  expect([await refused.ended, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain(`Port ${port} is in use`);
  expect(refused.stderr).toContain("move the service with --port");
  expect(refused.stderr).not.toContain("trying the next");
  other.close();
  await once(other, "close");

  const profiles = {
    own: { baseUrl: address, apiKey: "cof_own" },
    elsewhere: { baseUrl: "https://coffer.example.com" },
  };
  await mkdir(join(home, ".config", "coffer"), { recursive: true });
  await writeFile(
    join(home, ".config", "coffer", "config.json"),
    JSON.stringify({ version: 1, defaultProfile: "own", profiles }),
    { mode: 0o600 },
  );
  const moved = start("--port", "0");
  const now = await addressOf(moved);
  expect(moved.stderr).toContain(`moved from ${address} to ${now}; --port ${port} brings it back`);
  expect(moved.stderr).toContain(`coffer logout --profile 'own', then coffer login --profile 'own' --base-url ${now}`);
  expect(moved.stderr).not.toContain("profile elsewhere");
  await moved.stop();
  if (process.platform !== "linux") context.skip("only Linux shows which process listens on a port");
  expect(refused.stderr).toContain(`(process ${String(process.pid)})`);
});
