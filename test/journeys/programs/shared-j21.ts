/** J21: what one agent did is undone, and what others did afterwards stays; in a shared vault. */
import { SdkError, type Client, type File, type Rewind } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { actOn, bodyOf, fill, look, untilAfterNow } from "./rewound-vault.ts";
import type { Checks, SharedWorld } from "./run.ts";

const SIZES = { files: 24, folders: 4, acts: 60 };
const KILLS = 4;

export async function sharedRewind({ service }: SharedWorld): Promise<Checks> {
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Rewound", type: "shared" });
  const [a, b] = [
    await service.invite(owner, { vaultIds: [vaultId] }),
    await service.invite(owner, { vaultIds: [vaultId] }),
  ];
  for (const { address } of [a, b]) await owner.client.vaults.members.add(vaultId, address);
  // Encrypted again, the same content has other bytes.
  const digest = async (file: File): Promise<string> => {
    if (file.trashedAt !== null) return "";
    const bytes = await (await owner.client.files.download(file.id)).bytes();
    return createHash("sha256").update(bytes).digest("hex");
  };
  const seen = () => look(owner.client, vaultId, digest);
  const things = await fill(owner.client, vaultId, SIZES);
  const before = await seen();
  const since = await untilAfterNow();
  const { made } = await actOn(a.client, vaultId, things, SIZES.acts);
  const byA = await seen();
  const changed = (fact: "name" | "content", but: readonly string[] = []): string => {
    const found = things.files.find((id) => {
      const [was, is] = [before.get(id), byA.get(id)];
      return is?.trashed === false && is[fact] !== was?.[fact] && !but.includes(id);
    });
    assert.ok(found !== undefined);
    return found;
  };
  const replaced = changed("content");
  const renamed = changed("name", [replaced]);
  await b.client.files.replace(replaced, { vaultId, body: bodyOf("by B") });
  await b.client.files.update(renamed, { name: "by B" }, { vaultId });
  const kept = made.find((id) => (byA.get(id)?.content ?? "") !== "") ?? "";
  await b.client.files.update(kept, { name: "kept by B" }, { vaultId });
  const byB = [replaced, renamed, kept];
  const input = { chainAddress: a.address, since, vaultId };
  const reportOf = ({ left }: Rewind) => new Set(left.map(({ id, reason }) => `${id} ${reason}`));
  return {
    "J21-shared": async () => {
      const middle = await seen();
      const plan = await owner.client.agents.rewind({ ...input, dryRun: true });
      assert.deepEqual(await seen(), middle);
      assert.ok(Object.values(plan.counts).every((count) => count > 0));
      assert.deepEqual(reportOf(plan), new Set(byB.map((id) => `${id} changed_since`)));
      for (let kill = 0; kill < KILLS; kill += 1) {
        const dying = mortal(owner, Math.floor(plan.steps.length / (KILLS + 2)));
        await assert.rejects(dying.agents.rewind(input), SdkError);
      }
      const done = await owner.client.agents.rewind(input);
      assert.deepEqual(reportOf(done), reportOf(plan));
      const after = await seen();
      for (const [id, was] of before) if (!byB.includes(id)) assert.deepEqual(after.get(id), was);
      for (const id of made) if (!byB.includes(id)) assert.equal(after.get(id)?.trashed, true);
      assert.equal(after.get(replaced)?.content, middle.get(replaced)?.content);
      assert.equal(after.get(renamed)?.name, "by B");
      assert.deepEqual(after.get(kept), middle.get(kept));
      const again = await owner.client.agents.rewind(input);
      assert.deepEqual([again.steps, await seen()], [[], after]);
    },
  };
}

/** A client whose process ends after so many requests that change something. */
function mortal(owner: { another(shared: object, more: object): Client }, writes: number): Client {
  let left = writes;
  const transport = async (request: Request): Promise<Response> => {
    if (request.method !== "GET" && left-- <= 0) throw new TypeError("killed");
    return fetch(request);
  };
  return owner.another({}, { retry: { limit: 0 }, transport });
}
