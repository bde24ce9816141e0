/** Versions, rewinding, changes and search with `coffer`, in public vaults: as a script, and in a pseudo-terminal. */
import { createClient, type Client } from "@coffer/sdk";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { COFFER } from "../../kit/coffer-program.ts";
import { createKey, objectsAt } from "../kit/account.ts";
import { openCofferUser, type CofferUser } from "../kit/coffer.ts";
import { parseObject } from "../kit/stack.ts";
import { openWireTap } from "../kit/wire-tap.ts";
import { actOn, bodyOf, fill, join, look, untilAfterNow } from "./rewound-vault.ts";
import type { Checks, World } from "./run.ts";
import { STREETS } from "./search-names.ts";

const userOf = ({ stack, scratch }: World, apiKey = stack.apiKey, baseUrl = stack.baseUrl): Promise<CofferUser> =>
  openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey });

const clientOf = ({ stack: { baseUrl } }: World, apiKey: string): Client =>
  createClient({ baseUrl, credentials: { apiKey } });

/** J20: versions of two keys. */
export async function versionsByCommand(world: World, contents: readonly string[]): Promise<Checks> {
  const { stack, scratch } = world;
  const owner = clientOf(world, stack.apiKey);
  const { id: vaultId } = await owner.vaults.create({ name: "Versions by command", type: "public" });
  const { key } = await createKey(stack.baseUrl, stack.apiKey, { name: "typist", vaultIds: [vaultId] });
  const agent = await userOf(world, key);
  const named = "Versions by command:report.txt";
  return {
    "J20-cli": async () => {
      const send = async (user: CofferUser, input: string): Promise<void> => {
        const words = ["--vault", "Versions by command", "--if-exists", "version", "--json"];
        const sent = await user.run(["upload", "--stdin", "--name", "report.txt", ...words], { input });
        assert.equal(sent.code, 0, sent.out);
      };
      const people = [await userOf(world), agent];
      for (const [at, body] of contents.entries()) await send(people[at % 2] ?? agent, body);
      const list = async () => objectsAt(await agent.document("versions", "list", named), "versions");
      const versions = await list();
      const numbers = contents.map((_, at) => at + 1).reverse();
      assert.deepEqual(
        versions.map(({ number, size }) => [number, size]),
        numbers.map((number) => [number, contents[number - 1]?.length]),
      );
      const { screen } = await agent.type(["versions", "list", named]);
      assert.deepEqual(
        [...screen.matchAll(/^ +(\d+) /gm)].map(([, number]) => Number(number)),
        numbers,
      );
      assert.equal(screen.split("typist").length - 1, 2, screen);
      const copy = path.join(scratch, "second newest.txt");
      await agent.document("versions", "get", named, "4", copy);
      assert.equal(await readFile(copy, "utf8"), contents[3]);
      const taken = await agent.type(["versions", "get", named, "3", copy]);
      assert.equal(taken.code, 7, taken.screen);
      assert.equal(await readFile(copy, "utf8"), contents[3]);
      const stored = async () => (await owner.account.get()).account.usage.bytes;
      const before = await stored();
      assert.equal((await agent.type(["versions", "restore", named, "4"])).code, 0);
      assert.deepEqual([(await list())[0]?.["number"], await stored()], [6, before]);
      assert.equal((await agent.run(["cat", named])).out, contents[3]);
    },
  };
}

/** J21: the plan, the question, a kill, and the repeat. */
export async function rewindsByCommand(world: World): Promise<Checks> {
  const { stack, cleanup } = world;
  const owner = clientOf(world, stack.apiKey);
  const { id: vaultId } = await owner.vaults.create({ name: "Rewound by command", type: "public" });
  const sizes = { files: 16, folders: 4 };
  const things = await fill(owner, vaultId, sizes);
  const a = await join(stack.baseUrl, owner, vaultId);
  const before = await look(owner, vaultId);
  const since = await untilAfterNow();
  const { made } = await actOn(a.client, vaultId, things, 50);
  const byA = await look(owner, vaultId);
  const kept = made.find((id) => byA.get(id)?.trashed === false && byA.get(id)?.content !== "") ?? "";
  await owner.files.update(kept, { name: "kept by the owner" });
  const tap = cleanup.use(await openWireTap());
  tap.forwardTo(stack.baseUrl);
  return {
    "J21-cli": async () => {
      const user = await userOf(world, stack.apiKey, tap.baseUrl);
      const words = ["agents", "rewind", a.id, "--since", since, "--vault", "Rewound by command"];
      const middle = await look(owner, vaultId);
      const plan = await user.document(...words, "--dry-run");
      const steps = objectsAt(plan, "steps").length;
      assert.ok(steps > 20);
      assert.deepEqual(
        objectsAt(plan, "left").map(({ id }) => id),
        [kept],
      );
      assert.equal((await user.run(words)).code, 2);
      const declined = await user.type(words, [{ after: "[y/N] ", types: "n\r" }]);
      assert.match(declined.screen, /Nothing was done/);
      assert.deepEqual(await look(owner, vaultId), middle);
      const own = await (await userOf(world, a.key)).run(["agents", "rewind", a.id, "--since", since]);
      assert.equal(own.code, 6, own.err);

      const [command, ...args] = COFFER;
      const child = spawn(command, [...args, ...words, "--yes"], { env: user.env, stdio: "ignore" });
      const ended = once(child, "exit");
      let writes = 0;
      const cut = ({ method }: { method: string }): boolean =>
        method !== "GET" && ++writes > 3 && child.kill("SIGKILL");
      assert.deepEqual(await tap.cutting(cut, () => ended), [null, "SIGKILL"]);
      assert.notDeepEqual(await look(owner, vaultId), middle);
      const { code, screen } = await user.type(words, [{ after: "[y/N] ", types: "y\r" }]);
      assert.equal(code, 5, screen);
      assert.match(screen, /Left alone: 1/);
      const after = await look(owner, vaultId);
      for (const [id, seen] of before) assert.deepEqual(after.get(id), seen);
      for (const id of made) assert.equal(after.get(id)?.trashed, id !== kept);
      assert.equal(after.get(kept)?.name, "kept by the owner");
    },
  };
}

/** J23: what one key did, what an agent sees, and what comes while it waits. */
export async function changesByCommand(world: World): Promise<Checks> {
  const { stack } = world;
  const owner = clientOf(world, stack.apiKey);
  const { id: vaultId } = await owner.vaults.create({ name: "Followed by command", type: "public" });
  const { key } = await createKey(stack.baseUrl, stack.apiKey, { name: "watcher", vaultIds: [vaultId] });
  const { id: otherId } = await owner.vaults.create({ name: "Not followed", type: "public" });
  const put = (name: string, client = owner, vault = vaultId) =>
    client.files.upload({ name, body: bodyOf(name), vaultId: vault });
  return {
    "J23-cli": async () => {
      const since = await untilAfterNow();
      await put("by the owner");
      await put("by the watcher", clientOf(world, key));
      await put("elsewhere", owner, otherId);
      const named = async (user: CofferUser, ...words: string[]) =>
        objectsAt(await user.document("changes", "--since", since, "--kind", "file", ...words), "changes").map(
          ({ name }) => name,
        );
      const [user, watcher] = [await userOf(world), await userOf(world, key)];
      assert.deepEqual(await named(user), ["by the owner", "by the watcher", "elsewhere"]);
      assert.deepEqual(await named(user, "--by", "watcher"), ["by the watcher"]);
      assert.deepEqual(await named(watcher), ["by the owner", "by the watcher"]);
      const { code, screen } = await watcher.type(["changes", "--since", since]);
      assert.equal(code, 0, screen);
      assert.ok(screen.includes("by the watcher") && !screen.includes("elsewhere"), screen);
    },
    "J23-cli-follow": async () => {
      const watcher = await userOf(world, key);
      const [command, ...args] = COFFER;
      const since = await untilAfterNow();
      const child = spawn(command, [...args, "changes", "--follow", "--since", since, "--json-lines"], {
        env: watcher.env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      world.cleanup.defer(() => void child.kill("SIGKILL"));
      const ended = once(child, "exit");
      const lines = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
      for (const name of ["the first awaited", "the second awaited"]) {
        const next = lines.next() as Promise<IteratorResult<string, undefined>>;
        await put(`beside ${name}`, owner, otherId);
        await put(name);
        assert.equal(parseObject((await next).value ?? "")["name"], name);
      }
      child.kill("SIGINT");
      assert.deepEqual(await ended, [130, null]);
      const typed = ["changes", "--follow", "--since", since];
      const { code, screen } = await watcher.type(typed, [{ after: "the second awaited", types: "\u0003" }]);
      assert.equal(code, 130, screen);
    },
  };
}

/** J24: words, filters, and what could not be searched. `plans` holds a folder with the tower. */
export function searchesByCommand(world: World, vault: string, author: string): Checks {
  return {
    "J24-cli": async () => {
      const user = await userOf(world);
      const find = async (...words: string[]) =>
        objectsAt(await user.document("search", ...words, "--vault", vault), "files").map(({ name }) => name);
      assert.deepEqual(await find("strasse"), STREETS);
      const tower = ["Façade of the tower.pdf"];
      for (const filter of [
        ["--author", author],
        ["--folder", "plans"],
        ["--type", "application/pdf"],
      ])
        assert.deepEqual(await find("FACADE", ...filter), tower);
      const { code, screen } = await user.type(["search", "façade", "--vault", vault]);
      assert.equal(code, 0, screen);
      assert.ok(screen.includes(tower[0] ?? "") && screen.includes("façade by the owner"), screen);
      // The account has a shared vault too, and no chain key is here: not found is not said.
      const partly = await user.run(["search", "nowhere"]);
      assert.equal(partly.code, 5, partly.out);
      assert.match(partly.out, /None yet: not all was looked at[^]*not searched: vault/);
    },
  };
}
