/** A plan reads as the acts came, whichever answer about them comes first. */
import { expect, it } from "vitest";
import { openBusyAgent } from "../../../../test/kit/busy-agent.ts";

it("lists its steps in the order of the acts [D5-rewind]", async () => {
  const { agent, connect, keyId, vaultId } = await openBusyAgent();
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
