/** A plan reads as the acts came, whichever answer about them comes first, and ends when its caller says so. */
import { expect, it } from "vitest";
import { openBusyAgent } from "../kit/busy-agent.ts";
import { serviceOfFile } from "../kit/service-here.ts";

const newAccount = serviceOfFile();

it("lists its steps in the order of the acts [D5-rewind]", async () => {
  const { agent, connect, keyId, vaultId } = await openBusyAgent(newAccount);
  const ids: string[] = [];
  for (const name of ["first", "second", "third"])
    ids.push((await agent.files.upload({ vaultId, name, body: new TextEncoder().encode(name) })).file.id);
  // Each answer about a file comes after those about files that were made after it.
  const slow = connect(async (request, next) => {
    const answer = await next(request);
    const at = ids.findIndex((id) => request.url.endsWith(`/files/${id}`));
    if (at !== -1) await new Promise((resolve) => setTimeout(resolve, 20 * (ids.length - at)));
    return answer;
  });
  const { steps } = await slow.agents.rewind({ keyId, since: new Date(0).toISOString(), vaultId, dryRun: true });
  expect(steps.map(({ id }) => id)).toEqual(ids);
});

it.each(["/files/[^/]+", "/files/.+/entries", "/files/.+/versions"])(
  "ends at its signal while it reads %s, and reads nothing more [D5-rewind]",
  async (path) => {
    const { agent, connect, keyId, vaultId } = await openBusyAgent(newAccount);
    const owner = connect();
    for (let at = 0; at < 20; at += 1) {
      const { file } = await owner.files.upload({ vaultId, name: `file ${String(at)}`, body: new Uint8Array(1) });
      await agent.files.update(file.id, { name: `renamed ${String(at)}` });
    }
    const ending = new AbortController();
    const isAborted: boolean[] = [];
    // Eight files are looked at side by side.
    const stopped = connect(async (request, next) => {
      if (new RegExp(`${path}$`).test(new URL(request.url).pathname)) {
        ending.abort(new Error("enough"));
        isAborted.push(request.signal.aborted);
      }
      return await next(request);
    });
    const since = new Date(0).toISOString();
    const planning = stopped.agents.rewind({ keyId, since, vaultId, dryRun: true }, { signal: ending.signal });
    await expect(planning).rejects.toThrow("aborted");
    expect(new Set(isAborted)).toEqual(new Set([true]));
    expect(isAborted.length).toBeLessThanOrEqual(8);
  },
);
