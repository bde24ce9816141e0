/** What is on the chain before its first transaction. */
import { fromBase64, toBase58 } from "@mysten/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { MODULES, PACKAGE_DIGEST } from "@coffer/chain/package";
import { sha256 } from "@noble/hashes/sha2.js";
import { placeModule } from "../move/bytecode.ts";
import { readModule } from "../move/module.ts";
import { FRAMEWORK } from "../move/types.ts";
import { coinContents, COIN_OF_SUI, deriveId, makeObject, type NewObject, type StoredObject } from "./objects.ts";

const seed = (name: string) => sha256(new TextEncoder().encode(`coffer localnet ${name}`));

/** The same in every local chain: configurations can name it. Another package is another id, beside the old one. */
export const PACKAGE_ID = deriveId(seed(`package ${PACKAGE_DIGEST}`), 0);
/** What wrote the genesis objects, and what was put on the chain by hand. */
export const SYSTEM_DIGEST = toBase58(seed("genesis"));

const FAUCET_COIN = deriveId(seed("faucet coin"), 0);
/** Ten thousand million SUI, all that there is. */
const ALL_SUI = 10n ** 19n;

/** The faucet's account. Its key is no secret: it is made of its name. */
export function faucetKeypair(): Ed25519Keypair {
  return Ed25519Keypair.fromSecretKey(seed("faucet key"));
}

export function isCofferPackage(modules: readonly string[]): boolean {
  return modules.length === MODULES.length && modules.every((module, at) => module === MODULES[at]);
}

export function genesisObjects(time: number): StoredObject[] {
  const faucet = faucetKeypair().toSuiAddress();
  return [
    clockObject(time, 1n),
    cofferPackage(),
    makeObject({
      ...system(FAUCET_COIN, { kind: "address", address: faucet }),
      data: {
        kind: "move",
        type: COIN_OF_SUI,
        hasPublicTransfer: true,
        contents: coinContents(FAUCET_COIN, ALL_SUI),
      },
    }),
  ];
}

export function cofferPackage(): StoredObject {
  const modules = MODULES.map((module) => placeModule(fromBase64(module), PACKAGE_ID)).map((bytes) => {
    const { name, datatypes } = readModule(bytes);
    return { name, bytes, datatypes: [...datatypes.keys()].map((datatype) => `${name}::${datatype}`) };
  });
  const data = {
    kind: "package",
    modules: new Map(modules.map(({ name, bytes }) => [name, bytes])),
    datatypes: modules.flatMap(({ datatypes }) => datatypes),
  } as const;
  return makeObject({ ...system(PACKAGE_ID, { kind: "immutable" }), data });
}

export const CLOCK_ID = `0x${"6".padStart(64, "0")}`;

/** The clock as of a time, in milliseconds since 1970. */
export function clockObject(time: number, version: bigint): StoredObject {
  const type = { kind: "datatype", address: FRAMEWORK, module: "clock", name: "Clock", typeArguments: [] } as const;
  const contents = coinContents(CLOCK_ID, BigInt(time));
  return makeObject({
    ...system(CLOCK_ID, { kind: "shared", initialVersion: 1n }),
    version,
    data: { kind: "move", type, hasPublicTransfer: false, contents },
  });
}

function system(id: string, owner: NewObject["owner"]): Omit<NewObject, "data"> {
  return { id, owner, version: 1n, previousTransaction: SYSTEM_DIGEST, storageRebate: 0n };
}
