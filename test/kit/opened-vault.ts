/** A shared vault opened without the SDK: by the packages under it, as another program would. */
import { openChain, sealVaultKeyWrap, toVaultView, type NetworkConfiguration } from "@coffer/chain";
import { vaultKeysGroup, type File } from "@coffer/contract";
import {
  decryptFile,
  encryptFile,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  openVaultKeys,
  parseEnvelope,
  parseFileStart,
  parseRecord,
  parseVersionStatement,
  unwrapDataKey,
  type Author,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import type { Vault } from "@coffer/sdk";
import { collect } from "./bytes.ts";
import type { KeptVersion } from "./lying-service.ts";
import type { SharedPerson } from "./shared-stack.ts";

export interface OpenedVault {
  readonly view: VaultView;
  readonly wrap: ReturnType<typeof sealVaultKeyWrap>;
  readonly author: Author;
  readonly record: VaultKeyRecord;
  readonly key: VaultKey;
}

/**
 * The vault must have a key: something was written in it. `keyId`: which one, in hex; else the one that is listed first. `clock`: of the
 * stack, where that has one of its own.
 */
export async function openVaultOutside(
  { client, signer }: SharedPerson,
  { id: vaultId, chainObjectId }: Vault,
  network: NetworkConfiguration,
  keyId?: string,
  clock?: () => number,
): Promise<OpenedVault> {
  const chain = openChain(network, { clock });
  const object = await chain.readVault(chainObjectId ?? "");
  const wrap = sealVaultKeyWrap({
    client: chain.client,
    network,
    clock,
    signer: { ...signer, signTransaction: () => Promise.reject(new Error("sends nothing")) },
    vaultObjects: { locate: () => Promise.resolve({ initialSharedVersion: object.initialSharedVersion, at: 0n }) },
  });
  const { keys } = await client.call(vaultKeysGroup.list, { params: { vaultId } });
  const listed = keys.find((each) => keyId === undefined || each.keyId === keyId);
  const record = parseRecord(Uint8Array.from(Buffer.from(listed?.record ?? "", "base64")));
  const view = toVaultView(object);
  const [opened] = await openVaultKeys(view, [record], wrap);
  if (opened === undefined) throw new Error("nothing opened");
  const author = { address: Buffer.from(signer.chainAddress.slice(2), "hex"), signer: signer.statements };
  return { view, wrap, author, record, key: opened.key };
}

/** The version after the one that was kept, by who has this key: without a digest, as of a source that is read once. */
export async function writeOutside(
  { view, author, record, key }: Pick<OpenedVault, "view" | "author" | "record" | "key">,
  { file }: KeptVersion,
  content: string,
  time = Date.now(),
): Promise<KeptVersion> {
  const versionId = crypto.randomUUID();
  const plan = await newFilePlan(nodePlatform, {
    fileId: file.id,
    versionId,
    contentSize: content.length,
    padded: false,
    envelopeOf: (request) => makeEnvelope(nodePlatform, record, key, request),
  });
  const bytes = await collect(encryptFile(plan, Buffer.from(content)));
  const { header, envelope, messageSize } = plan;
  const { generation, after } = record;
  // Whoever forges does not hold itself to the place of the statement before it.
  const previous = { ...parseVersionStatement(Buffer.from(file.shared?.version ?? "", "base64")), generation, after };
  const statement = await makeVersionStatement(view, author, {
    record,
    header,
    envelope,
    commitment: plan.keys.commitment,
    messageLength: messageSize ?? 0,
    digest: null,
    previous,
    time,
  });
  const shared = { ...file.shared, version: Buffer.from(statement.bytes).toString("base64") };
  return { file: { ...file, versionId, shared } as File, bytes };
}

/** The content of stored bytes, by who has the vault key. */
export async function openOutside(
  { record, key }: Pick<OpenedVault, "record" | "key">,
  stored: Uint8Array,
): Promise<string> {
  const { envelope, commitment, headerPrefix } = parseFileStart(stored);
  const place = { commitment, headerPrefix };
  const dataKey = await unwrapDataKey(nodePlatform, record, key, parseEnvelope(envelope).wrapped, place);
  return (await collect(decryptFile(nodePlatform, stored, { unlock: () => ({ dataKey }) }))).toString();
}
