/** J13: `coffer` in scripts: no terminal, no home that can be written to, and a pseudo-terminal beside it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@coffer/sdk";
import { COFFER } from "../../kit/coffer-program.ts";
import { objectAt } from "../kit/account.ts";
import { openCofferUser } from "../kit/coffer.ts";
import { parseObject, REPOSITORY } from "../kit/stack.ts";
import { openWireTap } from "../kit/wire-tap.ts";
import type { Checks, World } from "./run.ts";

/** Too large to go up together. */
const SIZE = 600_000;
const FILES = 10;
const TO = ["--vault", "Files"];

export async function headless({ stack, scratch, cleanup }: World): Promise<Checks> {
  const { apiKey } = stack;
  const tap = cleanup.use(await openWireTap());
  tap.forwardTo(stack.baseUrl);
  const coffer = await openCofferUser(scratch, {
    SERVICE_BASE_URL: tap.baseUrl,
    SERVICE_API_KEY: apiKey,
    HOME: "/nonexistent",
    NO_COLOR: "1",
  });
  const directory = async (name: string, files = FILES): Promise<string> => {
    const path = join(scratch, name);
    await mkdir(path);
    for (let at = 0; at < files; at += 1) await writeFile(join(path, `${String(at)}.bin`), randomBytes(SIZE));
    return path;
  };
  const nothingThere = { SERVICE_BASE_URL: "http://127.0.0.1:1" };
  return {
    "J13-one-document": async () => {
      const path = await directory("all");
      const { uploaded, failed } = await coffer.document("upload", ...TO, path);
      assert.deepEqual([uploaded, failed], [FILES, 0]);
      const { code, out, err } = await coffer.run(["upload", ...TO, path]);
      assert.deepEqual([code, err], [0, ""]);
      assert.match(out, /^Uploaded 0, unchanged 10, failed 0, skipped 0/);
      // A person sees the progress on the same screen, and nothing of it with --quiet.
      const { screen } = await coffer.type(["upload", ...TO, await directory("typed")]);
      assert.match(screen, /Uploading +\d+%[^]*Uploaded 10, unchanged 0/);
      const quiet = await coffer.type(["upload", ...TO, path, "--json", "--quiet"]);
      assert.equal(parseObject(quiet.screen)["unchanged"], FILES);
    },
    "J13-partial": async () => {
      const path = await directory("nine", FILES - 1);
      // Nobody can read it, the superuser neither: no name of the service has a backslash.
      await writeFile(join(path, "un\\readable"), "x");
      const { code, out, err } = await coffer.run(["upload", ...TO, path, "--json"]);
      assert.deepEqual([code, err], [5, ""]);
      const { uploaded, failed } = parseObject(out);
      assert.deepEqual([uploaded, failed], [9, 1]);
      const typed = await coffer.type(["upload", ...TO, path]);
      assert.equal(typed.code, 5);
      assert.match(typed.screen, /failed: [^]*Uploaded 0, unchanged 9, failed 1/);
    },
    "J13-repeat": async () => {
      const path = await directory("cut");
      const [command, ...args] = COFFER;
      const child = spawn(command, [...args, "upload", ...TO, path, "--folder", "cut"], {
        env: coffer.env,
        stdio: "ignore",
      });
      const ended = once(child, "exit");
      let sent = 0;
      const cut = ({ method }: { method: string }): boolean => {
        if (method !== "GET" && method !== "HEAD") sent += 1;
        return sent > FILES / 2 && child.kill("SIGINT");
      };
      assert.deepEqual(await tap.cutting(cut, () => ended), [130, null]);
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey } });
      const there = await client.search({ q: "bin", since: new Date(Date.now() - 600_000).toISOString() });
      const before = there.files.length;
      const { uploaded, unchanged } = await coffer.document("upload", ...TO, path, "--folder", "cut");
      assert.equal(Number(uploaded) + Number(unchanged), FILES);
      assert.ok(Number(uploaded) > 0 && Number(unchanged) > 0, `${String(uploaded)} of ${String(before)}`);
      const { screen } = await coffer.type(["upload", ...TO, path, "--folder", "cut"]);
      assert.match(screen, /Uploaded 0, unchanged 10/);
    },
    "J13-api-down": async () => {
      const words = ["upload", ...TO, scratch, "--json"];
      const { code, out, err } = await coffer.run(words, { env: nothingThere });
      assert.deepEqual([code, err], [8, ""]);
      assert.equal(objectAt(parseObject(out), "error")["retryable"], true);
      const typed = await coffer.type(["upload", ...TO, scratch, "--base-url", nothingThere.SERVICE_BASE_URL]);
      assert.equal(typed.code, 8);
      assert.match(typed.screen, /^error: [^\n]+\r?\nnext: [^\n]+$/m);
      assert.doesNotMatch(typed.screen, /^\s+at /m);
    },
    "J13-help": async () => {
      // The manual page has every command, with the names of its arguments. With full counts each is asked.
      const page = await readFile(join(REPOSITORY, "packages/cli/man/coffer.1"), "utf8");
      const titles = [...page.matchAll(/^\.SS coffer (.*)$/gm)].map(([, title = ""]) =>
        title.replaceAll(/[\\[\]]/g, ""),
      );
      assert.ok(titles.length > 90);
      const waiting = titles.map((title) => title.split(" "));
      if (process.env["COFFER_TEST_COUNTS"] !== "full") waiting.sort(() => Math.random() - 0.5).splice(12);
      const showAll = async (): Promise<void> => {
        for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
          const { code, out, err } = await coffer.run([...path, "--help"], { env: nothingThere });
          assert.deepEqual([path, code, err, out.includes("USAGE")], [path, 0, "", true]);
        }
      };
      await Promise.all([showAll(), showAll()]);
      assert.equal((await coffer.type(["upload", "--help"])).code, 0);
    },
  };
}
