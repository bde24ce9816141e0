// `npm run chain:publish -- --network testnet [--grpc-url <url>] [--key-servers <file>] [--out <file>]`: publishes the Move package,
// immutable, with the key in SERVICE_CHAIN_PRIVATE_KEY, and prints the network configuration that clients pin, to a file as well if one
// is named. `--key-servers` names a JSON file with sets of key servers, the one for writing first, in place of the network's own:
// [{ "threshold": 2, "servers": [{ "objectId": "0x…", "weight": 1 }, …] }]; a network of one's own (`--network localnet`) needs it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fromSuiSigner, KNOWN_NETWORKS, publishPackage, type PublishTarget } from "@coffer/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";

const { values } = parseArgs({
  options: {
    network: { type: "string" },
    "grpc-url": { type: "string" },
    "key-servers": { type: "string" },
    out: { type: "string" },
  },
});
const target = parseTarget();
const { out } = values;
if (out !== undefined && existsSync(out)) fail(`${out} exists already; name another file`);
const privateKey = process.env["SERVICE_CHAIN_PRIVATE_KEY"];
if (privateKey === undefined) fail("Set SERVICE_CHAIN_PRIVATE_KEY to the suiprivkey1… text of the address that pays");

try {
  const { configuration, digest } = await publishPackage(target, fromSuiSigner(openKey(privateKey)));
  const { originalPackageId } = configuration;
  const text = `${JSON.stringify(configuration, null, 2)}\n`;
  // Also where it cannot be written to the file: what was published must not be lost.
  process.stdout.write(text);
  console.error(`Published ${originalPackageId} in transaction ${digest}; nobody can change it any more.`);
  if (out !== undefined) writeFileSync(out, text, { flag: "wx" });
} catch (error) {
  fail(error instanceof Error ? error.message : "The package was not published");
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

/** Of the key nothing is repeated, not even when it is malformed. */
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
