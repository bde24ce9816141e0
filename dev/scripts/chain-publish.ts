// `npm run chain:publish -- --help`: publishes the Move package, immutable, and prints the network configuration that clients pin.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fromSuiSigner, KNOWN_NETWORKS, publishPackage, type PublishTarget } from "@coffer/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";

const HELP = `npm run chain:publish -- --network NAME [OPTIONS]: publishes the Move package, for good. It prints the network
configuration that clients pin. SERVICE_CHAIN_PRIVATE_KEY is the suiprivkey1… text of an Ed25519 key that pays about 0.05 SUI.

  --network NAME      testnet, mainnet or localnet (a network of your own).
  --grpc-url URL      The chain node. Default: the network's usual one. A localnet needs it.
  --key-servers FILE  JSON with sets of key servers, the one for writing first. Default: the network's own.
                      A localnet needs it: [{ "threshold": 2, "servers": [{ "objectId": "0x…", "weight": 1 }, …] }]
  --out FILE          Also writes the configuration to this new file. SERVICE_CHAIN_FILE of the server names it.
  --help`;

const values = parseOptions();
if (values.help === true) {
  console.log(HELP);
  process.exit(0);
}
const target = parseTarget();
const { out } = values;
if (out !== undefined && existsSync(out)) fail(`${out} exists already; name another file`);
const privateKey = process.env["SERVICE_CHAIN_PRIVATE_KEY"];
if (privateKey === undefined) fail("Set SERVICE_CHAIN_PRIVATE_KEY to the suiprivkey1… text of the address that pays");

try {
  const { configuration, digest, warnings } = await publishPackage(target, fromSuiSigner(openKey(privateKey)));
  const { originalPackageId } = configuration;
  const text = `${JSON.stringify(configuration, null, 2)}\n`;
  // Also where it cannot be written to the file: what was published must not be lost.
  process.stdout.write(text);
  console.error(`Published ${originalPackageId} in transaction ${digest}; nobody can change it any more.`);
  console.error(`SHA-256 of the file, for a page of yours: ${createHash("sha256").update(text).digest("hex")}`);
  for (const { message } of warnings) console.error(message);
  if (out !== undefined) writeFileSync(out, text, { flag: "wx" });
} catch (error) {
  fail(error instanceof Error ? error.message : "The package was not published");
}

function parseOptions() {
  const text = { type: "string" } as const;
  const options = {
    network: text,
    "grpc-url": text,
    "key-servers": text,
    out: text,
    help: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : "Unknown option"}. --help names the options`);
  }
}

function parseTarget(): PublishTarget {
  const keyServerSets = readKeyServers();
  const grpcUrl = values["grpc-url"];
  switch (values.network) {
    case "testnet":
    case "mainnet": {
      const { keyServers, ...known } = KNOWN_NETWORKS[values.network];
      return { ...known, grpcUrl: grpcUrl ?? known.grpcUrl, keyServerSets: keyServerSets ?? [keyServers] };
    }
    case "localnet":
      if (grpcUrl === undefined || keyServerSets === null) fail("A localnet needs --grpc-url and --key-servers");
      return { network: "localnet", grpcUrl, keyServerSets };
    default:
      return fail("Name the network: --network testnet, mainnet or localnet");
  }
}

/** What is wrong with the sets is said by the parser of the configuration, before anything is published. */
function readKeyServers(): PublishTarget["keyServerSets"] | null {
  const file = values["key-servers"];
  if (file === undefined) return null;
  const parsed = readJson(file);
  if (!Array.isArray(parsed)) fail(`${file} is not a list of sets of key servers`);
  return parsed as PublishTarget["keyServerSets"];
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return fail(`${file} cannot be read, or is no JSON`);
  }
}

/** An error repeats nothing of the key, not even when it is malformed. */
function openKey(text: string): Ed25519Keypair {
  try {
    return Ed25519Keypair.fromSecretKey(text.trim());
  } catch {
    return fail("SERVICE_CHAIN_PRIVATE_KEY is not the suiprivkey1… text of an Ed25519 key");
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
