/** What the SDK's methods ask of the service, and which errors the SDK and the chain add: for docs/generated/api.md. */
import type { ClientErrorCode } from "@coffer/sdk";

export interface MethodFacts {
  /** The endpoints that a call may use. Absent: the one of the method's name. */
  readonly endpoints?: readonly string[];
  /** More endpoints that it may use in a shared vault. */
  readonly inShared?: readonly string[];
  /** The SDK's and the chain's own errors, beside those of {@link EVERYWHERE}. */
  readonly codes?: readonly ClientErrorCode[];
  /** And those of these steps, in a shared vault. */
  readonly steps?: readonly (keyof typeof STEPS)[];
}

/** Any method may fail with these. */
export const EVERYWHERE: readonly ClientErrorCode[] = [
  ...(["connection_failed", "timeout", "aborted", "unknown_error"] as const),
  ...(["contract_broken", "invalid_request", "credential_missing"] as const),
];

/** The steps of work in a shared vault, each with its errors. */
export const STEPS = {
  opening: [
    ...(["configuration", "vault_changed", "network_changed", "vault_not_found", "not_a_member"] as const),
    ...([
      "membership_ended",
      "clock_skew",
      "chain_unavailable",
      "chain_stale",
      "chain_disagrees",
      "rolled_back",
    ] as const),
  ],
  reading: [
    ...([
      "key_servers_unavailable",
      "key_servers_behind",
      "wrong_chain_key",
      "sign_in_ended",
      "address_alias",
    ] as const),
    ...(["damaged", "wrong_key", "not_encrypted", "unsupported_version", "unsupported_suite"] as const),
  ],
  writing: ["vault_unnamed", "signing_key_missing", "generation_moved"],
  acting: ["no_gas", "transaction_refused", "transaction_failed", "transaction_unknown", "generation_moved"],
} as const satisfies Readonly<Record<string, readonly ClientErrorCode[]>>;

const KEYS = ["vaults.get", "vaultKeys.list", "vaultKeys.steps"];
const NEW_KEYS = ["vaultKeys.publish", "folderNames.get", "folderNames.stage"];
const PARTS = ["uploads.create", "uploads.append", "uploads.head", "uploads.terminate"];
const PROOF = ["files.get", "account.get", "deletion.challenge"];
const LISTS = ["files.list", "folders.list", "files.get", "folders.get"];

const PINNED: MethodFacts = { codes: ["vault_changed"] };
const NAMED: MethodFacts = { inShared: [...KEYS, "files.get", "folders.get"], steps: ["opening", "reading"] };
const FOUND: MethodFacts = { ...NAMED, inShared: [...KEYS, ...LISTS, "folderNames.get"] };
const CHANGED: MethodFacts = { inShared: [...KEYS, ...NEW_KEYS, ...LISTS], steps: ["opening", "reading", "writing"] };
const MOVED: readonly ClientErrorCode[] = ["integrity_failed", "source_changed", "not_resumable", "shared_vault"];
const SENT: MethodFacts = {
  ...CHANGED,
  inShared: [...(CHANGED.inShared ?? []), "files.content"],
  codes: MOVED,
};
/** An act on the allowlist, which clients without `sharedVaults` refuse. */
const act = (endpoints: readonly string[], ...codes: readonly ClientErrorCode[]): MethodFacts => ({
  endpoints: ["vaults.get", ...endpoints],
  codes: ["shared_vault", ...codes],
  steps: ["opening", "acting"],
});

export const METHOD_FACTS: Readonly<Record<string, MethodFacts>> = {
  "account.linkChain": { endpoints: ["account.get", "account.linkChainChallenge", "account.linkChain"] },
  "auth.logout": { codes: ["configuration"] },
  "apiKeys.create": { endpoints: ["apiKeys.create", "account.get"] },
  "invites.create": { inShared: ["vaults.get"], steps: ["opening"] },
  "invites.redeem": PINNED,
  "invites.checkAddressProof": { endpoints: [] },
  "invites.readText": { endpoints: [] },
  "vaults.create": {
    inShared: ["account.get", "vaults.list"],
    codes: ["shared_vault", "wrong_chain_key", "signing_key_missing", "signing_key_invalid"],
    steps: ["opening", "acting"],
  },
  "vaults.list": PINNED,
  "vaults.get": PINNED,
  "vaults.update": { inShared: [...PROOF, "vaults.get"], steps: ["opening"] },
  "vaults.restore": { ...PINNED, endpoints: ["vaults.restore", "vaults.get"] },
  "vaults.delete": { inShared: [...PROOF, "vaults.get"], steps: ["opening"] },
  "vaults.members.list": { endpoints: ["members.list"], codes: ["shared_vault"] },
  "vaults.members.add": act(
    ["apiKeys.list", "invites.list", "members.add"],
    ...(["address_invalid", "end_invalid", "invite_unproven", "already_member", "is_owner", "not_owner"] as const),
    ...(["members_full", "signing_key_invalid", "act_outdated"] as const),
  ),
  "vaults.members.setUntil": act(
    ["members.add"],
    "address_invalid",
    "end_invalid",
    "is_owner",
    "not_owner",
    "act_outdated",
  ),
  "vaults.members.remove": act(["members.remove"], "address_invalid", "is_owner", "not_owner"),
  "vaults.checkAccess": { endpoints: ["vaults.get", "vaultKeys.list"], codes: ["shared_vault", "configuration"] },
  "vaults.readers": { endpoints: ["vaults.get"], codes: ["shared_vault"], steps: ["opening"] },
  "vaults.leave": act([], "is_owner"),
  "vaults.setSigningKey": act([], "signing_key_missing", "signing_key_invalid", "too_many_keys", "act_outdated"),
  "vaults.offerOwnership": act([], "address_invalid", "is_owner", "not_owner", "act_outdated"),
  "vaults.acceptOwnership": act(["ownership.claim"], "not_offered", "act_outdated"),
  "vaults.trust": { endpoints: [], codes: ["shared_vault", "address_invalid"], steps: ["opening"] },
  "vaults.trustOwner": { endpoints: ["vaults.get"], codes: ["shared_vault", "address_invalid"], steps: ["opening"] },
  "vaults.rotate": {
    endpoints: [
      ...KEYS,
      ...NEW_KEYS,
      ...LISTS,
      "files.content",
      "files.replace",
      ...PARTS,
      "files.update",
      "folders.update",
    ],
    codes: ["shared_vault", "not_owner", "floor_invalid", "integrity_failed"],
    steps: ["opening", "reading", "writing", "acting"],
  },
  "vaults.reseal": {
    endpoints: [...KEYS, "vaultKeys.publish"],
    codes: ["shared_vault"],
    steps: ["opening", "reading", "writing"],
  },
  "vaults.forgetSeen": { endpoints: ["vaults.get"], codes: ["shared_vault"], steps: ["opening"] },
  "vaults.export": {
    endpoints: [
      "vaults.get",
      "vaultKeys.list",
      "folders.list",
      "files.list",
      "files.get",
      "folders.get",
      "files.content",
    ],
    codes: ["shared_vault", "integrity_failed"],
    steps: ["opening", "reading"],
  },
  "agents.revoke": act(["apiKeys.get", "apiKeys.revoke", "vaults.list", "members.remove"], "is_owner", "not_owner"),
  "folders.create": CHANGED,
  "folders.list": FOUND,
  "folders.get": NAMED,
  "folders.entries": NAMED,
  "folders.update": { ...CHANGED, endpoints: ["folders.update", "folders.get"] },
  "folders.delete": NAMED,
  "folders.restore": { ...CHANGED, endpoints: ["folders.restore", "folders.get"] },
  "files.list": FOUND,
  "files.get": NAMED,
  "files.upload": { ...SENT, endpoints: ["files.upload", ...PARTS, "files.get", "vaults.get", "folders.get"] },
  "files.uploadMany": { ...SENT, endpoints: ["files.batch", "files.upload", ...PARTS, "vaults.get", "folders.get"] },
  "files.replace": { ...SENT, endpoints: ["files.replace", ...PARTS, "files.get"] },
  "files.download": {
    ...NAMED,
    inShared: [...(NAMED.inShared ?? []), "files.versions"],
    endpoints: ["files.content", "files.get"],
    codes: ["shared_vault", "integrity_failed"],
  },
  "files.entries": NAMED,
  "files.versions": NAMED,
  "files.restoreVersion": {
    ...SENT,
    inShared: [...(SENT.inShared ?? []), "files.versions", "files.replace", ...PARTS],
  },
  "files.deleteVersion": { ...NAMED, inShared: [...KEYS, ...PROOF] },
  "files.update": { ...CHANGED, endpoints: ["files.update", "files.get"] },
  "files.delete": { ...NAMED, inShared: [...KEYS, ...PROOF] },
  "files.restore": { ...CHANGED, endpoints: ["files.restore", "files.get"] },
  "files.trashMany": NAMED,
  "files.restoreMany": { ...CHANGED, endpoints: ["files.restoreMany", "files.get", "folders.get"] },
  "files.moveMany": { ...CHANGED, endpoints: ["files.moveMany", "files.get", "folders.get"] },
  search: {
    ...NAMED,
    codes: ["vault_unnamed"],
    endpoints: ["files.search", "vaults.list", "vaults.get", "changes.list", "files.list", "folders.list", "files.get"],
  },
  "trash.list": NAMED,
  "trash.vaults": { ...PINNED, endpoints: ["trash.list"] },
  "trash.empty": { inShared: [...PROOF, "vaults.get"], steps: ["opening"] },
  "audit.verify": { endpoints: ["audit.list", "account.get"] },
  "webhooks.eventKinds": { endpoints: ["webhookEvents.list"] },
  "agents.rewind": {
    endpoints: [
      ...[
        "account.get",
        "apiKeys.list",
        "changes.list",
        "files.get",
        "files.versions",
        "files.entries",
        "files.update",
      ],
      ...[
        "files.delete",
        "files.restore",
        "files.content",
        "files.restoreVersion",
        "files.list",
        "folders.get",
        "folders.entries",
      ],
      ...["folders.update", "folders.delete", "folders.restore", "folders.list"],
    ],
  },
  "changes.list": { ...NAMED, endpoints: ["changes.list", "files.get", "folders.get"] },
  "changes.follow": { ...NAMED, endpoints: ["changes.list", "files.get", "folders.get"] },
  "events.follow": { endpoints: ["events.stream"] },
};

/** How a whole folder is looked at. */
const LOOKED = ["folders.list", "folders.get", "files.list", "files.get"];
const WHOLE_FOLDER: MethodFacts = {
  ...SENT,
  endpoints: [
    ...[...LOOKED, "vaults.get", "files.content", "folders.create", "files.trashMany"],
    ...["files.batch", "files.upload", "files.replace", ...PARTS],
  ],
  codes: [...MOVED, "destination_exists", "configuration", "locked"],
};

/** Functions of the other entries that ask the service or the chain; the others only use this machine. */
export const FUNCTION_FACTS: Readonly<Record<string, MethodFacts>> = {
  downloadFile: { ...factsLike("files.download"), codes: ["shared_vault", "integrity_failed", "destination_exists"] },
  uploadFile: {
    ...SENT,
    endpoints: ["files.upload", "files.replace", ...PARTS, "files.get", "vaults.get", "folders.get"],
  },
  uploadFolder: WHOLE_FOLDER,
  downloadFolder: { ...WHOLE_FOLDER, endpoints: [...LOOKED, "files.content"] },
  syncFolder: { ...WHOLE_FOLDER, codes: [...(WHOLE_FOLDER.codes ?? []), "too_many_deletions"] },
  restoreRemoved: { codes: ["configuration", "destination_exists", "source_changed"] },
  exportVault: {
    ...factsLike("vaults.export"),
    codes: ["public_vault", "shared_vault", "integrity_failed", "locked"],
  },
  openExport: { codes: ["export_unsigned"], steps: ["opening", "reading"] },
  openSharedVaults: { codes: ["configuration", "keychain_unusable"] },
  sharedVaults: { codes: ["configuration"] },
  createClient: { codes: ["configuration"] },
  resolveSettings: { codes: ["configuration", "profile_missing"] },
};

function factsLike(method: string): MethodFacts {
  return METHOD_FACTS[method] ?? {};
}

/** The facts of a client's method. */
export function factsOf(method: string): Required<MethodFacts> {
  const { endpoints = [method], inShared = [], codes = [], steps = [] } = METHOD_FACTS[method] ?? {};
  return { endpoints, inShared, codes, steps };
}

/** Every code of the SDK and the chain that the facts name, the service's errors aside. */
export function codesOf({ codes = [], steps = [] }: MethodFacts): ReadonlySet<string> {
  return new Set<string>([...EVERYWHERE, ...codes, ...steps.flatMap((step) => STEPS[step])]);
}

/** Every code of the SDK and the chain. */
export const OWN_CODES: ReadonlySet<string> = new Set(
  [...Object.values(METHOD_FACTS), ...Object.values(FUNCTION_FACTS)].flatMap((facts) => [...codesOf(facts)]),
);
