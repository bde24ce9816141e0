/** A plan reads as the acts came, whichever answer about them comes first. */
import { expect, it } from "vitest";
import { openFakeService } from "../../../../test/kit/tools-here.ts";

it("lists its steps in the order of the acts [D5-rewind]", async () => {
  const { client, connect } = await openFakeService();
  const { id: vaultId } = await client.vaults.create({ name: "v", type: "public" });
  const { id: keyId, key } = await client.apiKeys.create({ name: "busy", vaultIds: [vaultId] });
  const busy = connect(async (request, next) => {
    request.headers.set("authorization", `Bearer ${key}`);
    return await next(request);
  });
  const ids: string[] = [];
  for (const name of ["first", "second", "third"])
    ids.push((await busy.files.upload({ vaultId, name, body: new TextEncoder().encode(name) })).file.id);
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
