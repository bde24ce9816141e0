// Three writers on one profile store, as threads or as processes. Prints "done" if each works, and of a name that all want one gets it.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createClient } from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";

const STARTS = {
  threads: (words) => new Worker("./writer.js", { argv: words }),
  processes: (words) => fork("./writer.js", words),
};

const settings = await resolveSettings();
const client = createClient({
  baseUrl: settings.baseUrl,
  credentials: settings.apiKey,
  sharedVaults: await openSharedVaults(settings),
});
const { id: vaultId } = await client.vaults.create({ name: `writers ${crypto.randomUUID()}`, type: "shared" });

async function write(number) {
  const writer = STARTS[process.argv[2]]([vaultId, number]);
  const messages = [];
  writer.on("message", (message) => messages.push(message));
  const [code] = await once(writer, "exit");
  assert.equal(code, 0);
  return messages.join();
}

const outcomes = await Promise.all(["1", "2", "3"].map(write));
assert.deepEqual(outcomes.sort(), ["name_exists", "name_exists", "stored"]);
const names = (await client.files.list({ vaultId })).items.map((each) => each.name).sort();
assert.deepEqual(names, ["1.txt", "2.txt", "3.txt", "wanted.txt"]);
console.log("done");
