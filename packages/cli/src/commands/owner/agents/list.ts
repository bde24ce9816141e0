import { letIn, listAgents, shortIds, untrusted, type Agent, type LetIn } from "@coffer/tasks";
import type { Context } from "../../../context.ts";
import { command, toggle } from "../../../declarations.ts";
import { EXIT } from "../../../exit-codes.ts";
import { listing, type Listing } from "../../../result.ts";
import { endText } from "../words.ts";

export default command({
  brief: "List agents, and let those in that wait",
  description:
    "With --approve it adds each agent to the shared vaults of its invite. The invite's secret, which this machine kept, proves the agent's address.",
  examples: [
    { line: "coffer agents list", does: "keys, addresses, vaults" },
    { line: "coffer agents list --approve", does: "asks for each that waits" },
  ],
  flags: {
    approve: toggle("Add those that wait to the vaults of their invites"),
    ended: toggle("Also keys that have ended"),
  },
  isList: true,
  run: async (context, { approve, ended }) => {
    const { task, world } = context;
    const agents = await listAgents(task, ended, world.now());
    if (!approve) return shownAgents(agents, null);
    const approved: LetIn[] = [];
    for (const agent of agents.filter(({ waitsFor }) => waitsFor.length > 0)) {
      await context.confirm(await questionAbout(context, agent));
      approved.push(...(await letIn(task, world.env, agent)));
    }
    for (const each of approved) noteOutcome(context, each);
    return shownAgents(await listAgents(task, ended, world.now()), approved);
  },
});

async function questionAbout({ client, signal }: Context, { key, waitsFor }: Agent): Promise<string> {
  const who = `${untrusted(key.name).visible()} (${key.chainAddress ?? "no address"})`;
  const { vaults } = await client();
  // With the id, since a name is what the service says.
  const named = waitsFor.map(async (id) => `${untrusted((await vaults.get(id, { signal })).name).visible()} (${id})`);
  return `Let ${who} read and write everything in ${(await Promise.all(named)).join(", ")}?`;
}

function noteOutcome({ note }: Context, { chainAddress, vaultId, outcome }: LetIn): void {
  const address = chainAddress ?? "ADDRESS";
  if (outcome === "added") note(`Added ${address} to ${vaultId}`);
  else
    note(
      `Not added: this machine did not make the invite, so nothing proves the address. Compare it with what the agent printed: coffer vaults members add ${vaultId} ${address}`,
    );
}

function shownAgents(agents: readonly Agent[], approved: readonly LetIn[] | null): Listing {
  const short = shortIds(agents.flatMap(({ memberOf, waitsFor }) => [...memberOf, ...waitsFor]));
  const isWaiting = agents.some(({ waitsFor }) => waitsFor.length > 0);
  const isProven = approved?.every(({ outcome }) => outcome === "added") ?? true;
  return listing({
    name: "agents",
    items: agents.map(({ key, invite, memberOf, waitsFor }) => ({
      ...{ apiKeyId: key.id, name: key.name, chainAddress: key.chainAddress, inviteId: invite?.id ?? null },
      ...{ scopes: key.scopes, vaultIds: key.vaultIds, expiresAt: key.expiresAt, revokedAt: key.revokedAt },
      ...{ lastUsedAt: key.lastUsedAt, memberOf, waitsFor },
    })),
    rest: approved === null ? {} : { approved },
    empty: "No agents. Invite one: coffer invites create --name NAME --vaults VAULT --prompt",
    after: isWaiting && approved === null ? ["Some wait to be let in: coffer agents list --approve"] : [],
    exit: isProven ? EXIT.done : EXIT.someFailed,
    columns: [
      { title: "key", of: ({ apiKeyId }) => apiKeyId },
      { title: "ends", of: ({ revokedAt, expiresAt }) => (revokedAt === null ? endText(expiresAt) : "revoked") },
      { title: "member of", of: ({ memberOf }) => memberOf.map(short).join(" ") },
      { title: "waits for", of: ({ waitsFor }) => waitsFor.map(short).join(" ") },
      { title: "name", of: ({ name }) => untrusted(name) },
      { title: "address", of: ({ chainAddress }) => chainAddress },
    ],
  });
}
