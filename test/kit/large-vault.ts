/** A vault of the largest size, put on the local chain by hand: making it act by act would take thousands of transactions. */
import type { Localnet } from "@coffer/localnet";
import { NO_END } from "@coffer/crypto";
import { bcs } from "@mysten/sui/bcs";

const member = bcs.struct("Member", {
  chainAddress: bcs.Address,
  signingKey: bcs.byteVector(),
  since: bcs.u64(),
  endsAt: bcs.u64(),
  until: bcs.u64(),
  replacedKeys: bcs.u8(),
});
const OPEN = { endsAt: NO_END, until: 0, replacedKeys: 0 } as const;
const former = bcs.struct("Former", {
  chainAddress: bcs.Address,
  signingKey: bcs.byteVector(),
  since: bcs.u64(),
  until: bcs.u64(),
  endsAt: bcs.u64(),
});
/** The contents of the vault object. */
const vaultBcs = bcs.struct("Vault", {
  id: bcs.Address,
  generation: bcs.u64(),
  floor: bcs.u64(),
  base: bcs.u64(),
  plainNames: bcs.bool(),
  owner: member,
  offered: bcs.option(bcs.Address),
  members: bcs.vector(member),
  former: bcs.vector(former),
  oldest: bcs.u64(),
  last: bcs.byteVector(),
  before: bcs.byteVector(),
});

/** Of a member or former member whom nobody is. */
export function strangerAt(kind: string, at: number): string {
  return `0x${kind.repeat(28)}${at.toString(16).padStart(8, "0")}`;
}

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/**
 * 1,000 members, of whom `last` is the last one and is offered the ownership; 1,800 former ones; generation 3,000. Gives the object's id,
 * and the size of its contents in bytes.
 */
export async function putLargestVault(
  localnet: Localnet,
  people: { readonly owner: string; readonly last: string },
): Promise<{ readonly objectId: string; readonly bytes: number }> {
  const objectId = strangerAt("da", 1);
  const contents = vaultBcs
    .serialize({
      id: objectId,
      generation: 3000,
      floor: 1,
      base: 1,
      plainNames: false,
      offered: people.last,
      oldest: 0,
      last: key(8),
      before: key(9),
      owner: { chainAddress: people.owner, signingKey: key(1), since: 1, ...OPEN },
      members: Array.from({ length: 1000 }, (_, at) => ({
        chainAddress: at === 999 ? people.last : strangerAt("bb", at),
        signingKey: key(2),
        since: 1,
        ...OPEN,
      })),
      former: Array.from({ length: 1800 }, (_, at) => ({
        chainAddress: strangerAt("cc", at),
        signingKey: key(3),
        since: at,
        until: at + 1,
        endsAt: NO_END,
      })),
    })
    .toBytes();
  await localnet.chain.putObject({
    id: objectId,
    type: `${localnet.network().originalPackageId}::vault::Vault`,
    owner: { kind: "shared", initialVersion: 1n },
    contents,
  });
  return { objectId, bytes: contents.length };
}

type Contents = ReturnType<typeof vaultBcs.parse>;

/** Puts more entries into a vault that is there: what would take thousands of transactions. */
export async function enlargeVault(
  { chain }: Localnet,
  objectId: string,
  change: (vault: Contents) => Partial<Contents>,
): Promise<void> {
  const object = chain.readObject(objectId);
  if (object === null) throw new Error("there is no such vault");
  const vault = vaultBcs.parse(object.contents);
  const contents = vaultBcs.serialize({ ...vault, ...change(vault) }).toBytes();
  await chain.putObject({ ...object, contents });
}
