import {
  findHolder,
  findKey,
  findKeysOfAddress,
  inCommandWords,
  revokeHolder,
  untrusted,
  type AccessHolder,
  type Revocation,
  type Task,
} from "@coffer/tasks";
import type { ApiKey } from "@coffer/sdk";
import { argument, command } from "../../../declarations.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { done, type Document } from "../../../result.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "End an agent's access: its key, its memberships, and what is written next",
  description:
    "The key ends at once. The chain removes the agent's address from every shared vault. What is written there from then on gets new keys. After an interruption the same command finishes.",
  examples: [
    { line: "coffer agents revoke 5f0c2a1e", does: "by the beginning of its key's id; asks first" },
    {
      line: "coffer agents revoke 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "by the chain address that coffer agents list shows",
    },
  ],
  args: [argument("AGENT", "Id of its key, beginning of the id, name, or chain address")] as const,
  run: async (context, _flags, [text]) => {
    const { task } = context;
    const keys = await keysOf(task, text);
    const [key, ...others] = keys;
    if (key === undefined) return await removeAddress(context, await findHolder(task, text));
    await context.confirm(`End the access of ${keys.map(described).join(" and ")}?`);
    // An agent that was invited again has several keys. The memberships of its address go with the first one.
    for (const other of others) await (await context.client()).apiKeys.revoke(other.id, { signal: context.signal });
    const revoked = await revokeHolder(task, { kind: "key", key });
    for (const { warnings } of revoked.agent?.memberships ?? []) printWarnings(context, warnings);
    const isPartial = revoked.agent === null && key.chainAddress !== null && (await hasSharedVaults(context));
    return revocationReport(keys, revoked, isPartial);
  },
});

type Context = Parameters<ReturnType<typeof command>["run"]>[0];

const ADDRESS = /^0x[0-9a-f]{64}$/;

async function keysOf(task: Task, text: string): Promise<readonly ApiKey[]> {
  const id = text.trim().toLowerCase();
  return ADDRESS.test(id) ? await findKeysOfAddress(task, id) : [await findKey(task, text)];
}

function described({ id, name, chainAddress }: ApiKey): string {
  return `${untrusted(name).visible()} (key ${id}${chainAddress === null ? "" : `, address ${chainAddress}`})`;
}

/** The service shows no key of the address: what the chain names is removed all the same. */
async function removeAddress(context: Context, holder: AccessHolder): Promise<Document> {
  const chainAddress = holder.kind === "address" ? holder.chainAddress : null;
  const vaultIds = holder.kind === "address" ? holder.vaultIds : [];
  if (vaultIds.length === 0)
    return done({ apiKeyId: null, chainAddress, key: null, memberships: [], effect: null }, [
      `No key and no vault of this account names ${chainAddress ?? "it"}: there is nothing to end.`,
    ]);
  await context.confirm(`End the access of the address ${chainAddress ?? ""} to ${String(vaultIds.length)} vaults?`);
  await revokeHolder(context.task, holder);
  const memberships = vaultIds.map((vaultId) => ({ vaultId, outcome: "removed" }));
  return done({ apiKeyId: null, chainAddress, key: null, memberships, effect: null }, [
    ...vaultIds.map((vaultId) => `Vault ${vaultId}: removed from the allowlist`),
    KEEPS,
  ]);
}

const KEEPS = "What it has downloaded, it still has.";

async function hasSharedVaults({ client, signal }: Context): Promise<boolean> {
  const page = await (await client()).vaults.list({ type: "shared", limit: 1 }, { signal });
  return page.vaults.length > 0;
}

function revocationReport(keys: readonly ApiKey[], { agent, effect }: Revocation, isPartial: boolean): Document {
  const memberships = (agent?.memberships ?? []).map(({ vaultId, outcome, generation }) => ({
    vaultId,
    outcome,
    generation,
  }));
  const lines = [
    ...keys.map(({ id }) => `API key ${id}: revoked`),
    ...memberships.map(({ vaultId, outcome, generation }) =>
      outcome === "removed"
        ? `Vault ${vaultId}: removed from the allowlist; the generation is ${String(generation)}, and what is written next has a fresh key`
        : `Vault ${vaultId}: no member`,
    ),
    ...(effect === null ? [] : [inCommandWords(effect)]),
    KEEPS,
    ...(isPartial
      ? ["Its memberships stay: this machine has no chain key. Run it again where SERVICE_CHAIN_PRIVATE_KEY is set."]
      : []),
  ];
  const [key] = keys;
  const facts = { apiKeyId: key?.id ?? null, chainAddress: key?.chainAddress ?? null };
  const json = { ...facts, key: "revoked", memberships: isPartial ? null : memberships, effect };
  return done(json, lines, { exit: exitOfActs(isPartial ? 1 : 0) });
}
