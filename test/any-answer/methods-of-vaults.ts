/** Methods of vaults, members, agents and exports. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ExportStore, Vault } from "@coffer/sdk";
import * as node from "@coffer/sdk/node";
import { onSpare, plain, vaultOf } from "./arguments.ts";
import type { Method, Run } from "./method.ts";

export const VAULTS: Readonly<Record<string, Method>> = {
  "vaults.create": async (run) => {
    const { client, draw, blame } = run;
    const type = draw.pick(["public", "shared"] as const);
    const name = draw.word("v");
    const made = await client.vaults.create({ name, type });
    if (made.type !== type) blame(`a ${type} vault was to be made, and a ${made.type} one is answered`);
    return undefined;
  },
  "vaults.list": async (run) => {
    const { vaults } = await run.client.vaults.list();
    for (const vault of vaults) blameVault(run, vault);
    return undefined;
  },
  "vaults.get": onVault(({ client }, id) => client.vaults.get(id)),
  "vaults.update": onVault(({ client, draw }, id) => client.vaults.update(id, { name: draw.word("v") })),
  "vaults.delete": plain((run) => run.client.vaults.delete(vaultOf(run))),
  "vaults.restore": onVault(({ client }, id) => client.vaults.restore(id)),
  "vaults.members.list": async (run) => {
    const { client, world, blame } = run;
    const vaultId = world.vaults.spare.id;
    const members = (await client.vaults.members.list(vaultId)).items;
    if (members.length === 0) blame(`nobody is a member of ${vaultId}`);
    return undefined;
  },
  "vaults.members.add": onSpare(({ client, world }, vaultId) =>
    client.vaults.members.add(vaultId, world.memberAddress),
  ),
  "vaults.members.setUntil": onSpare(({ client, world }, vaultId) =>
    client.vaults.members.setUntil(vaultId, world.memberAddress, null),
  ),
  "vaults.members.remove": onSpare(({ client, world }, vaultId) =>
    client.vaults.members.remove(vaultId, world.memberAddress),
  ),
  "vaults.checkAccess": plain((run) => run.client.vaults.checkAccess(vaultOf(run))),
  "vaults.readers": plain((run) => run.client.vaults.readers(vaultOf(run))),
  "vaults.leave": onSpare(({ client }, vaultId) => client.vaults.leave(vaultId)),
  "vaults.setSigningKey": onSpare(({ client }, vaultId) => client.vaults.setSigningKey(vaultId)),
  "vaults.offerOwnership": onSpare(({ client }, vaultId) => client.vaults.offerOwnership(vaultId, null)),
  "vaults.acceptOwnership": onSpare(({ client }, vaultId) => client.vaults.acceptOwnership(vaultId)),
  "vaults.trust": plain(({ client, world }) => {
    const { id, chainObjectId } = world.vaults.mine;
    return client.vaults.trust(id, {
      chainObjectId: chainObjectId ?? "",
      ownerAddress: world.owner.signer.chainAddress,
    });
  }),
  "vaults.trustOwner": plain(({ client, world }) =>
    client.vaults.trustOwner(world.vaults.mine.id, world.owner.signer.chainAddress),
  ),
  "vaults.rotate": onSpare(({ client }, vaultId) => client.vaults.rotate(vaultId)),
  "vaults.reseal": onSpare(({ client }, vaultId) => client.vaults.reseal(vaultId)),
  "vaults.forgetSeen": onSpare(({ client }, vaultId) => client.vaults.forgetSeen(vaultId)),
  // An export is a copy of what the service shows, and its reader verifies it: see {@link exported}.
  "vaults.export": onSpare(({ client }, vaultId) => client.vaults.export(vaultId, memoryStore(new Map()))),
  "agents.revoke": onSpare(({ client, world }, vaultId) =>
    client.agents.revoke(randomUUID(), { chainAddress: world.memberAddress, vaultIds: [vaultId] }),
  ),
};

function onVault(act: (run: Run, id: string) => Promise<Vault>): Method {
  return async (run) => {
    const id = vaultOf(run);
    const answered = await act(run, id);
    if (answered.id !== id) run.blame(`vault ${answered.id} was answered for ${id}`);
    blameVault(run, answered);
    return undefined;
  };
}

/** Of one that the machine has pinned: what it is stands on the disk. */
export function blameVault({ world, blame }: Run, { id, type, chainObjectId }: Vault): void {
  const object = world.truth.vaults.get(id)?.object;
  if (object === undefined && !world.truth.open.has(id)) return;
  if ((chainObjectId?.slice(2) ?? undefined) !== object || (type === "shared") !== (object !== undefined))
    blame(`vault ${id} is answered as ${type} with object ${String(chainObjectId)}`);
}

function memoryStore(written: Map<string, Uint8Array>): ExportStore {
  return {
    write: async (path, content) => {
      written.set(path, content instanceof Uint8Array ? content : await buffer(content));
    },
    read: (path) => Promise.resolve(written.get(path) ?? null),
    open: (path) => Promise.resolve(written.has(path) ? Readable.from([written.get(path) ?? Buffer.alloc(0)]) : null),
    size: (path) => Promise.resolve(written.get(path)?.length ?? null),
    list: (folder) =>
      Readable.from(
        [...written.keys()].flatMap((path) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [])),
      ),
    remove: (path) => Promise.resolve(void written.delete(path)),
  };
}

/** What an export that was signed holds must be of its vault, and called what it is called there. */
export async function exported(
  run: Run,
  write: (client: Run["client"], vaultId: string, directory: string) => Promise<unknown>,
): Promise<undefined> {
  const { client, world, draw, blame } = run;
  const { spare, theirs } = world.vaults;
  const vaultId = draw.pick([spare, theirs]).id;
  const directory = join(world.machine.directory, `export-${draw.word("e")}`);
  run.means({ vaultId });
  try {
    await write(client, vaultId, directory);
    const { signer } = world.owner;
    const opened = await node.openExport(directory, { signer, network: world.stack.network });
    for await (const { id, name } of opened.files())
      if (world.truth.items.get(id)?.names.has(name) !== true) blame(`${id} is exported with ${vaultId}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return undefined;
}
