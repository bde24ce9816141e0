/** What a Seal key server decides over the local chain: an independent one, or a committee's member. */
import { fromHex } from "@mysten/sui/utils";
import { concatBytes } from "@noble/hashes/utils.js";
import type { ChainAccess } from "../chain-access.ts";
import { checkCertificate } from "./certificate.ts";
import { encryptUserKey } from "./encrypted-key.ts";
import type { GrantedKey, KeySource } from "./endpoint.ts";
import type { FaultyChainView } from "./faults.ts";
import type { FetchRequest } from "./fetch-request.ts";
import { KeyServerError } from "./key-server-error.ts";
import { deriveUserKey, provePossession, type MasterKey } from "./master-key.ts";

/** How far a key server's node may lag before it refuses to answer, in milliseconds. */
const MAX_STALENESS = 120_000;

export interface KeyServerParts {
  readonly chain: ChainAccess;
  /** The object this server answers for; null for a committee's member, which proves possession of nothing. */
  readonly objectId: string | null;
  readonly masterKey: MasterKey;
  /** For the fault of that name. */
  readonly wrongMasterKey: MasterKey;
}

export function keyServerSource(parts: KeyServerParts): KeySource {
  return {
    grant: (request, faults) => grantKeys(parts, request, faults),
    describe: (objectId) => describeService(parts, objectId),
  };
}

async function grantKeys(parts: KeyServerParts, request: FetchRequest, faults: FaultyChainView): Promise<GrantedKey[]> {
  const { approval, certificate, session } = request;
  const originalPackageId = faults.view().readPackage(approval.packageId)?.originalId;
  if (originalPackageId === undefined) throw new KeyServerError("InvalidPackage", "Invalid package ID");
  const facts = { originalPackageId, now: faults.now(), aliased: faults.addressAlias };
  await checkCertificate(request, facts, parts.chain);
  checkPolicy(certificate.user, approval.bytes, faults);
  const masterKey = faults.wrongKey ? parts.wrongMasterKey : parts.masterKey;
  return approval.innerIds.map((innerId) => {
    const fullId = concatBytes(fromHex(originalPackageId), innerId);
    return { fullId, key: encryptUserKey(deriveUserKey(masterKey, fullId), session.encryption) };
  });
}

/** Real key servers put `seal::time::check_staleness` before the user's calls; here the view says how old it is. */
function checkPolicy(user: string, transaction: Uint8Array, faults: FaultyChainView): void {
  const view = faults.view();
  if (faults.now() - view.checkpointTime() > MAX_STALENESS)
    throw new KeyServerError("Failure", "Internal server error, please try again later");
  const simulation = view.simulateAs(user, transaction, faults.budget);
  switch (simulation.outcome) {
    case "succeeded":
      return;
    // A key server says no more than that: whoever asks for too many keys reads it as well.
    case "out_of_gas":
    case "aborted":
      throw new KeyServerError("NoAccess", `Access denied: ${simulation.message}`);
    case "object_missing":
      throw new KeyServerError("InvalidParameter", `Invalid parameter to PTB: ${simulation.message}`);
    case "invalid":
      throw new KeyServerError("InvalidPTB", `Invalid PTB: ${simulation.message}`);
  }
}

function describeService({ objectId, masterKey }: KeyServerParts, asked: string | null): Response {
  if (objectId === null || asked !== objectId) throw new KeyServerError("InvalidServiceId", "Invalid service ID");
  const pop = Buffer.from(provePossession(masterKey, fromHex(objectId))).toString("base64");
  return Response.json({ service_id: objectId, pop });
}
