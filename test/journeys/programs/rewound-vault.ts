/** A vault in which one agent does every kind of act, and what there is to see in it: J21 in public and shared vaults. */
import { chainKeySigner, createClient, generateChainKey, type Client, type File } from "@coffer/sdk";
import assert from "node:assert/strict";

export interface Seen {
  readonly name: string;
  readonly place: string | null;
  readonly trashed: boolean;
  /** Digest of the content; of a folder "". */
  readonly content: string;
}

/** All files and folders of the vault, by id. `digest`: of a file's content. Default: of its stored bytes. */
export async function look(
  client: Client,
  vaultId: string,
  digest: (file: File) => Promise<string> = ({ sha256 }) => Promise.resolve(sha256),
): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const trashed of [false, true]) {
    for await (const file of client.files.list({ vaultId, trashed, limit: 1000 }))
      seen.set(file.id, { name: file.name, place: file.folderId, trashed, content: await digest(file) });
    for await (const { id, name, parentId: place } of client.folders.list({ vaultId, trashed, limit: 1000 }))
      seen.set(id, { name, place, trashed, content: "" });
  }
  return seen;
}

export const bodyOf = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Sizes {
  readonly files: number;
  readonly folders: number;
}

export async function fill(owner: Client, vaultId: string, sizes: Sizes) {
  const folders: string[] = [];
  for (let number = 0; number < sizes.folders; number += 1) {
    const parentId = number % 3 === 2 ? (folders.at(-1) ?? null) : null;
    folders.push((await owner.folders.create({ vaultId, parentId, name: `folder ${number}` })).id);
  }
  const inputs = Array.from({ length: sizes.files }, (_, number) => ({
    vaultId,
    folderId: folders[number % sizes.folders] ?? "",
    name: `file ${number}`,
    body: bodyOf(`content ${number}`),
  }));
  const outcomes = await owner.files.uploadMany(inputs);
  const files = outcomes.map((outcome) => {
    assert.ok(outcome.result !== null);
    return outcome.result.file.id;
  });
  return { folders, files };
}

/** An agent with a chain key of its own. */
export async function join(baseUrl: string, owner: Client, vaultId: string) {
  const { text } = await owner.invites.create({ name: "agent", vaultIds: [vaultId] });
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const { key, keyId: id } = await createClient({ baseUrl }).invites.redeem(text, signer);
  return { id, key, client: createClient({ baseUrl, credentials: { apiKey: key } }) };
}

/** Every kind of act in turn, on one thing after the other; the same ones in each run. */
export async function actOn(
  agent: Client,
  vaultId: string,
  { folders, files }: Awaited<ReturnType<typeof fill>>,
  acts: number,
) {
  const trashed = new Set<string>();
  const made: string[] = [];
  for (let turn = 0; turn < acts; turn += 1) {
    const fileId = files[(turn * 7) % files.length] ?? "";
    const folderId = folders[turn % folders.length] ?? "";
    const isGone = trashed.has(fileId);
    if (isGone && turn % 2 === 0) {
      await agent.files.restore(fileId, {}, { vaultId });
      trashed.delete(fileId);
    } else if (turn % 10 === 3 || isGone) {
      const { file } = await agent.files.upload({
        vaultId,
        folderId,
        name: `new ${turn}`,
        body: bodyOf(`new ${turn}`),
      });
      made.push(file.id);
    } else if (turn % 10 === 5) {
      await agent.files.delete(fileId);
      trashed.add(fileId);
    } else if (turn % 10 === 7) await agent.folders.update(folderId, { name: `renamed folder ${turn}` }, { vaultId });
    else if (turn % 10 === 9) made.push((await agent.folders.create({ vaultId, name: `new folder ${turn}` })).id);
    else if (turn % 5 === 1) await agent.files.update(fileId, { name: `renamed ${turn}` }, { vaultId });
    else if (turn % 5 === 2) await agent.files.update(fileId, { folderId: null, name: `moved ${turn}` }, { vaultId });
    else await agent.files.replace(fileId, { vaultId, body: bodyOf(`replaced ${turn}`) });
  }
  // A whole folder goes, with what lies in it; two files change names; and one name is used again.
  await agent.folders.delete(folders.at(-1) ?? "");
  const [first, second] = [files[0] ?? "", files[folders.length] ?? ""];
  for (const id of [first, second]) if (trashed.has(id)) await agent.files.restore(id, {}, { vaultId });
  const [one, two] = [
    await agent.files.update(first, { name: "one" }, { vaultId }),
    await agent.files.update(second, { name: "two" }, { vaultId }),
  ];
  await agent.files.update(first, { name: "between", folderId: two.folderId }, { vaultId });
  await agent.files.update(second, { name: "one", folderId: one.folderId }, { vaultId });
  return { made, trashed };
}

/** A time that is later than all acts so far, and has passed. */
export async function untilAfterNow(): Promise<string> {
  const time = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < time) await new Promise(setImmediate);
  return time;
}
