// `npm run chain:publish -- --network testnet [--grpc-url <url>] [--out <file>]`: publishes the Move package, immutable, with the key in
// SERVICE_CHAIN_PRIVATE_KEY, and prints the network configuration that clients pin, to a file as well if one is named.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fromSuiSigner, KNOWN_NETWORKS, publishPackage } from "@coffer/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";

const { values } = parseArgs({
  options: { network: { type: "string" }, "grpc-url": { type: "string" }, out: { type: "string" } },
});
const known = values.network === "testnet" || values.network === "mainnet" ? KNOWN_NETWORKS[values.network] : null;
if (known === null) fail("Name the network: --network testnet or --network mainnet");
const privateKey = process.env["SERVICE_CHAIN_PRIVATE_KEY"];
if (privateKey === undefined) fail("Set SERVICE_CHAIN_PRIVATE_KEY to the suiprivkey1… text of the address that pays");
const { out } = values;
if (out !== undefined && existsSync(out)) fail(`${out} exists already; name another file`);

const { keyServers, ...network } = known;
const target = { ...network, grpcUrl: values["grpc-url"] ?? network.grpcUrl, keyServerSets: [keyServers] };
try {
  const { configuration, digest } = await publishPackage(target, fromSuiSigner(openKey(privateKey)));
  const text = `${JSON.stringify(configuration, null, 2)}\n`;
  // Also where it cannot be written to the file: what was published must not be lost.
  process.stdout.write(text);
  console.error(
    `Published ${configuration.originalPackageId} in transaction ${digest}; nobody can change it any more.`,
  );
  if (out !== undefined) writeFileSync(out, text, { flag: "wx" });
} catch (error) {
  fail(error instanceof Error ? error.message : "The package was not published");
}

/** Of the key nothing is repeated, not even when it is malformed. */
function openKey(text: string): Ed25519Keypair {
  try {
    return Ed25519Keypair.fromSecretKey(text.trim());
  } catch {
    fail("SERVICE_CHAIN_PRIVATE_KEY is not the suiprivkey1… text of an Ed25519 key");
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
