/** J20: yesterday's version, in a public vault. */
import { createClient, type Client, type File } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createKey } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { versionsByCommand } from "./commands-files.ts";
import { openTools } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";

const CONTENTS = ["first", "the second", "third", "the fourth one", "fifth"];

export async function yesterdaysVersion(world: World): Promise<Checks> {
  const { stack } = world;
  const { baseUrl, apiKey } = stack;
  const { key, id: agentId } = await createKey(baseUrl, apiKey, { name: "agent" });
  const owner = createClient({ baseUrl, credentials: { apiKey } });
  const agent = createClient({ baseUrl, credentials: { apiKey: key } });
  const file = await writeAll([owner, agent]);
  const read = async (versionId?: string): Promise<string> =>
    new TextDecoder().decode(await (await agent.files.download(file.id, { versionId })).bytes());
  return {
    ...(await versionsByCommand(world, CONTENTS)),
    "J20-list": async () => {
      const { versions } = await agent.files.versions(file.id);
      assert.deepEqual(
        versions.map(({ number, size }) => [number, size]),
        CONTENTS.map(({ length }, at) => [at + 1, length]).reverse(),
      );
      const byAgent = versions.filter(({ author }) => author?.id === agentId && author.name === "agent");
      assert.deepEqual(
        byAgent.map(({ number }) => number),
        [4, 2],
      );
      const times = versions.map(({ createdAt }) => createdAt);
      assert.deepEqual(times, times.toSorted().reverse());
    },
    "J20-download": async () => {
      const { versions } = await agent.files.versions(file.id);
      assert.equal(await read(versions[1]?.versionId), CONTENTS[3]);
    },
    "J20-restore": async () => {
      const { usage } = (await owner.account.get()).account;
      const { versions } = await agent.files.versions(file.id);
      await agent.files.restoreVersion(file.id, versions[1]?.versionId ?? "");
      assert.equal(await read(), CONTENTS[3]);
      const [newest] = (await agent.files.versions(file.id)).versions;
      assert.deepEqual([newest?.number, newest?.how], [6, "restore"]);
      assert.equal((await owner.account.get()).account.usage.bytes, usage.bytes);
    },
    "J20-tools": async () => {
      const tools = await openTools(world, key);
      const look = await tools.call("file_get", { files: [file.id] });
      const rows = look.facts["rows"] as unknown[][];
      assert.deepEqual(
        rows.map(([number]) => number),
        [6, 5, 4, 3, 2, 1],
      );
      await tools.call("file_restore", { files: [file.id], version: "3" });
      assert.equal(await read(), CONTENTS[2]);
      await tools.call("file_restore", { files: [file.id], version: "6" });
      assert.equal(await read(), CONTENTS[3]);
    },
    "J20-kept-days": async () => {
      // Days pass: the clock of a running stack cannot be moved, so its rows are.
      const end = "UPDATE file_versions SET expires_at = ? WHERE version_id = ?";
      for (const { versionId } of (await agent.files.versions(file.id)).versions.slice(1))
        await runSql(stack.dataDirectory, end, Date.now(), versionId);
      const { versions } = await agent.files.versions(file.id);
      assert.deepEqual(
        versions.map(({ number }) => number),
        [8],
      );
      assert.equal(await read(), CONTENTS[3]);
    },
  };
}

/** One upload and four new versions, by both in turn. */
async function writeAll(clients: readonly Client[]): Promise<File> {
  const [first = "", ...others] = CONTENTS;
  const { file } = await (clients[0] as Client).files.upload({ name: "report.txt", body: first });
  for (const [at, body] of others.entries())
    await (clients[(at + 1) % clients.length] as Client).files.replace(file.id, { body });
  return file;
}
