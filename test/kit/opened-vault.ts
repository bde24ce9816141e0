/** A shared vault opened without the SDK: by the packages under it, as another program would. */
import { openChain, sealVaultKeyWrap, toVaultView, type NetworkConfiguration } from "@coffer/chain";
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import {
  openVaultKeys,
  parseRecord,
  type Author,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import type { Vault } from "@coffer/sdk";
import type { SharedPerson } from "./shared-stack.ts";

export interface OpenedVault {
  readonly view: VaultView;
  readonly wrap: ReturnType<typeof sealVaultKeyWrap>;
  readonly author: Author;
  readonly record: VaultKeyRecord;
  readonly key: VaultKey;
}

/** The vault must have a key: something was written in it. `keyId`: which one, in hex; else the one that is listed first. */
export async function openVaultOutside(
  { client, signer }: SharedPerson,
  { id: vaultId, chainObjectId }: Vault,
  network: NetworkConfiguration,
  keyId?: string,
): Promise<OpenedVault> {
  const chain = openChain(network);
  const object = await chain.readVault(chainObjectId ?? "");
  const wrap = sealVaultKeyWrap({
    ...{ client: chain.client, network },
    signer: { ...signer, signTransaction: () => Promise.reject(new Error("sends nothing")) },
    vaultObjects: { initialSharedVersion: () => Promise.resolve(object.initialSharedVersion) },
  });
  const { keys } = await client.call(vaultKeysGroup.list, { params: { vaultId } });
  const listed = keys.find((each) => keyId === undefined || each.keyId === keyId);
  const record = parseRecord(Uint8Array.from(Buffer.from(listed?.record ?? "", "base64")));
  const view = toVaultView(object);
  const [opened] = await openVaultKeys(view, [record], wrap);
  if (signer.statements === undefined || opened === undefined) throw new Error("nothing opened");
  const author = { address: Buffer.from(signer.chainAddress.slice(2), "hex"), signer: signer.statements };
  return { view, wrap, author, record, key: opened.key };
}
