/** Key servers as objects on the chain: what SealClient reads to find a key server's address and public key. */
import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID, fromHex, normalizeSuiAddress, toHex } from "@mysten/sui/utils";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { PutObject } from "../chain-access.ts";

/** Where Seal's own package would be. It is not on the local chain, which never calls it. */
const SEAL_PACKAGE = normalizeSuiAddress("0x5ea1");
const BONEH_FRANKLIN = 0;

const KeyServer = bcs.struct("KeyServer", { id: bcs.Address, firstVersion: bcs.u64(), lastVersion: bcs.u64() });

const KeyServerV1 = bcs.struct("KeyServerV1", {
  name: bcs.string(),
  url: bcs.string(),
  keyType: bcs.u8(),
  publicKey: bcs.byteVector(),
});

const KeyServerV2 = bcs.struct("KeyServerV2", {
  name: bcs.string(),
  keyType: bcs.u8(),
  publicKey: bcs.byteVector(),
  serverType: bcs.enum("ServerType", {
    Independent: bcs.struct("Independent", { url: bcs.string() }),
    Committee: bcs.struct("Committee", {
      version: bcs.u32(),
      threshold: bcs.u16(),
      partialKeyServers: bcs.vector(
        bcs.struct("PartialKeyServer", {
          name: bcs.string(),
          url: bcs.string(),
          partialPublicKey: bcs.byteVector(),
          partyId: bcs.u16(),
        }),
      ),
    }),
  }),
});

interface Described {
  readonly objectId: string;
  readonly name: string;
  readonly publicKey: Uint8Array;
}

export interface IndependentServer extends Described {
  readonly url: string;
  /** Both layouts are in use on real networks. */
  readonly layout: 1 | 2;
}

export interface CommitteeServer extends Described {
  readonly threshold: number;
  readonly members: readonly { name: string; url: string; publicKey: Uint8Array; party: number }[];
}

/** The same for the same public key, so that a restart finds its objects again. `0x` and 64 hex digits. */
export function keyServerObjectId(publicKey: Uint8Array): string {
  return `0x${toHex(sha3_256(concatBytes(utf8ToBytes("coffer/localnet/key-server"), publicKey)))}`;
}

/** The key server's object and the dynamic field with its description. */
export function independentObjects(server: IndependentServer): PutObject[] {
  const { name, url, publicKey, layout } = server;
  const serverType = { Independent: { url } };
  const description =
    layout === 1
      ? KeyServerV1.serialize({ name, url, keyType: BONEH_FRANKLIN, publicKey })
      : KeyServerV2.serialize({ name, keyType: BONEH_FRANKLIN, publicKey, serverType });
  return objects(server.objectId, layout, description.toBytes());
}

/** The committee's object and the dynamic field with its description. */
export function committeeObjects(server: CommitteeServer): PutObject[] {
  const { name, publicKey, threshold, members } = server;
  const partialKeyServers = members.map((member) => ({
    name: member.name,
    url: member.url,
    partialPublicKey: member.publicKey,
    partyId: member.party,
  }));
  const serverType = { Committee: { version: 0, threshold, partialKeyServers } };
  const description = KeyServerV2.serialize({ name, keyType: BONEH_FRANKLIN, publicKey, serverType });
  return objects(server.objectId, 2, description.toBytes());
}

function objects(objectId: string, layout: 1 | 2, description: Uint8Array): PutObject[] {
  const version = bcs.u64().serialize(layout).toBytes();
  const fieldId = deriveDynamicFieldID(objectId, "u64", version);
  const contents = KeyServer.serialize({ id: objectId, firstVersion: layout, lastVersion: layout }).toBytes();
  return [
    {
      id: objectId,
      type: `${SEAL_PACKAGE}::key_server::KeyServer`,
      owner: { kind: "address", address: normalizeSuiAddress("0x0") },
      contents,
    },
    {
      id: fieldId,
      type: `${normalizeSuiAddress("0x2")}::dynamic_field::Field<u64,${SEAL_PACKAGE}::key_server::KeyServerV${layout}>`,
      owner: { kind: "object", parent: objectId },
      contents: concatBytes(fromHex(fieldId), version, description),
    },
  ];
}
