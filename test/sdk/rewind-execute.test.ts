/** When a rewind fails, it has ended: nothing changes behind its caller's back. */
import { expect, it } from "vitest";
import { openBusyAgent } from "../kit/busy-agent.ts";
import { serviceOfFile } from "../kit/service-here.ts";

const newAccount = serviceOfFile();

it("has ended all its acts when it rejects, and begins none after that [D5-rewind]", async () => {
  const { agent, connect, keyId, vaultId } = await openBusyAgent(newAccount);
  const since = new Date(0).toISOString();
  for (let at = 0; at < 40; at += 1)
    await agent.files.upload({ vaultId, name: `file ${String(at)}`, body: new Uint8Array(1) });
  let [begun, ended] = [0, 0];
  // The first of eight acts fails at once. The others take a while.
  const failing = connect(async (request, next) => {
    if (request.method !== "DELETE") return await next(request);
    begun += 1;
    if (begun === 1) throw new TypeError("cut off");
    await new Promise((resolve) => setTimeout(resolve, 20));
    const answer = await next(request);
    ended += 1;
    return answer;
  });
  await expect(failing.agents.rewind({ keyId, since, vaultId })).rejects.toThrow();
  const atOnce = [begun, ended];
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([atOnce, [begun, ended]]).toEqual([
    [8, 7],
    [8, 7],
  ]);
});
