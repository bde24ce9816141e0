import { inCommandWords, findKey, revokeHolder, untrusted, type Revoked } from "@coffer/tasks";
import type { ApiKey } from "@coffer/sdk";
import { argument, command } from "../../../declarations.ts";
import { EXIT } from "../../../exit-codes.ts";
import { done, type Document } from "../../../result.ts";
import { noteWarnings } from "../words.ts";

export default command({
  brief: "End an agent's access: its key, its memberships, and what is written next",
  description:
    "The key ends at once. The chain removes the agent's address from every shared vault. What is written there from then on gets new keys. After an interruption the same command finishes.",
  examples: [{ line: "coffer agents revoke 5f0c2a1e", does: "by the beginning of its key's id; asks first" }],
  args: [argument("API_KEY_ID", "Id of its key, beginning of the id, or name")] as const,
  run: async (context, _flags, [text]) => {
    const { task } = context;
    const key = await findKey(task, text);
    const who = `${untrusted(key.name).visible()} (key ${key.id}${key.chainAddress === null ? "" : `, address ${key.chainAddress}`})`;
    await context.confirm(`End the access of ${who}?`);
    const revoked = await revokeHolder(task, { kind: "key", key });
    for (const { warnings } of revoked.agent?.memberships ?? []) noteWarnings(context, warnings);
    const isPartial = revoked.agent === null && key.chainAddress !== null && (await hasSharedVaults(context));
    return shown(key, revoked, isPartial);
  },
});

async function hasSharedVaults({ client, signal }: Parameters<ReturnType<typeof command>["run"]>[0]): Promise<boolean> {
  const page = await (await client()).vaults.list({ type: "shared", limit: 1 }, { signal });
  return page.vaults.length > 0;
}

function shown({ id, chainAddress }: ApiKey, { agent, effect }: Revoked, isPartial: boolean): Document {
  const memberships = (agent?.memberships ?? []).map(({ vaultId, outcome, generation }) => ({
    ...{ vaultId, outcome, generation: Number(generation) },
  }));
  const lines = [
    `API key ${id}: revoked`,
    ...memberships.map(({ vaultId, outcome, generation }) =>
      outcome === "removed"
        ? `Vault ${vaultId}: removed from the allowlist; the generation is ${String(generation)}, and what is written next has a fresh key`
        : `Vault ${vaultId}: no member`,
    ),
    ...(effect === null ? [] : [inCommandWords(effect)]),
    "What it has downloaded, it still has.",
    ...(isPartial
      ? ["Its memberships stay: this machine has no chain key. Run it again where SERVICE_CHAIN_PRIVATE_KEY is set."]
      : []),
  ];
  const json = { apiKeyId: id, chainAddress, key: "revoked", memberships: isPartial ? null : memberships, effect };
  return done(json, lines, { exit: isPartial ? EXIT.someFailed : EXIT.done });
}
