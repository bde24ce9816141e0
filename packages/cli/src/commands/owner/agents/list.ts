import {
  findAgent,
  admitAgent,
  listAgents,
  shortIds,
  TaskFailure,
  untrusted,
  type Agent,
  type StoredInvite,
  type Admission,
} from "@coffer/tasks";
import type { Context } from "../../../context.ts";
import { command, optionalArgument, toggle } from "../../../declarations.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { usage } from "../../../failure.ts";
import { listing, type Listing } from "../../../result.ts";
import { endText } from "../cell-text.ts";

export default command({
  brief: "List agents, and let those in that wait",
  description:
    "With --approve it adds an agent to the shared vaults of its invite, until the end that the invite has. The invite's text, which this machine kept, says both, and proves the agent's address: the service's word does not count. An agent that was removed, or whose end is over, waits for nothing: invite it again.",
  examples: [
    { line: "coffer agents list", does: "keys, addresses, vaults" },
    {
      line: "coffer agents list --approve 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "by the address that the agent printed; asks first",
    },
    { line: "coffer agents list --approve", does: "asks for each that waits" },
  ],
  flags: {
    approve: toggle("Add those that wait to the vaults of their invites; --yes needs the AGENT"),
    ended: toggle("Also keys that have ended"),
  },
  args: [
    optionalArgument("AGENT", "Chain address that it printed, or the name in its invite; all without it"),
  ] as const,
  isList: true,
  run: async (context, { approve, ended }, [who]) => {
    if (approve && context.globals.yes && who === undefined)
      throw usage("--yes lets in whoever waits, so the agent has to be named", APPROVE_ONE);
    const agents = await chosenAgents(context, ended, who);
    if (!approve) return agentListing(agents, null);
    const approved: Admission[] = [];
    let declined: TaskFailure | null = null;
    for (const agent of agents.filter(({ waitsFor }) => waitsFor.length > 0)) {
      const refusal = await askAbout(context, agent);
      declined ??= refusal;
      if (refusal === null) approved.push(...(await admitAgent(context.task, context.world.env, agent)));
    }
    if (approved.length === 0 && declined !== null) throw declined;
    for (const each of approved) printOutcome(context, each, agents);
    return agentListing(await chosenAgents(context, ended, who), approved);
  },
});

const APPROVE_ONE = "coffer agents list --approve ADDRESS --yes, with the address that the agent printed";

async function chosenAgents(
  { task, world }: Context,
  withEnded: boolean,
  who: string | undefined,
): Promise<readonly Agent[]> {
  const agents = await listAgents(task, world.env, withEnded, world.now());
  return who === undefined ? agents : [findAgent(agents, who)];
}

/** null: the owner agreed. Whoever is asked about several agents may decline one, and agree to the next. */
async function askAbout(context: Context, agent: Agent): Promise<TaskFailure | null> {
  // Nothing is done without a proof: what is printed instead needs no answer.
  if (agent.storedInvite === null) return null;
  try {
    await context.confirm(await questionAbout(context, agent, agent.storedInvite));
    return null;
  } catch (thrown) {
    if (thrown instanceof TaskFailure && thrown.code === "declined") return thrown;
    throw thrown;
  }
}

/** Everything in it was decided on this machine but the names of vaults, which are the service's: so their ids are there too. */
async function questionAbout(
  { client, signal }: Context,
  { key, waitsFor }: Agent,
  { name, accessUntil, scopes, budgets }: StoredInvite,
): Promise<string> {
  const { vaults } = await client();
  const vaultNames = waitsFor.map(
    async (id) => `${untrusted((await vaults.get(id, { signal })).name).visible()} (${id})`,
  );
  const who = `${name === null ? "the agent" : untrusted(name).visible()} (${key.chainAddress ?? "no address"})`;
  const rights = [
    ...(scopes === null ? [] : [`its key may ${scopes.join(", ")}`]),
    ...Object.entries(budgets ?? {}).map(([budget, amount]) => `${budget} ${String(amount)}`),
  ];
  const limits = rights.length === 0 ? "" : ` (${rights.join("; ")})`;
  const end = accessUntil === null ? "without an end" : `until ${endText(accessUntil)}`;
  return `Let ${who} read and write everything in ${(await Promise.all(vaultNames)).join(", ")} ${end}${limits}?`;
}

function printOutcome(
  { printNote }: Context,
  { chainAddress, vaultId, outcome }: Admission,
  agents: readonly Agent[],
): void {
  const address = chainAddress ?? "ADDRESS";
  const accessUntil = agents.find(({ key }) => key.chainAddress === chainAddress)?.accessUntil ?? null;
  if (outcome === "added") {
    printNote(`Added ${address} to ${vaultId}. Its access ends: ${endText(accessUntil)}`);
    return;
  }
  const until = accessUntil === null ? "" : ` --until ${accessUntil}`;
  printNote(
    `Not added: this machine did not make the invite, so nothing here proves the address, the vault or the end. Compare them with what you decided and with what the agent printed, then run: coffer vaults members add ${vaultId} ${address}${until}`,
  );
}

function agentListing(agents: readonly Agent[], approved: readonly Admission[] | null): Listing {
  const short = shortIds(agents.flatMap(({ memberOf, waitsFor }) => [...memberOf, ...waitsFor]));
  const isWaiting = agents.some(({ waitsFor }) => waitsFor.length > 0);
  const unproven = approved?.filter(({ outcome }) => outcome !== "added") ?? [];
  return listing({
    name: "agents",
    items: agents.map(({ key, invite, name, accessUntil, memberOf, waitsFor }) => ({
      apiKeyId: key.id,
      name,
      chainAddress: key.chainAddress,
      inviteId: invite?.id ?? null,
      scopes: key.scopes,
      vaultIds: key.vaultIds,
      expiresAt: key.expiresAt,
      revokedAt: key.revokedAt,
      lastUsedAt: key.lastUsedAt,
      accessUntil,
      memberOf,
      waitsFor,
    })),
    otherFields: approved === null ? {} : { approved },
    empty: "No agents. Invite one: coffer invites create --name NAME --vaults VAULT --prompt",
    after: isWaiting && approved === null ? ["Some wait to be let in: coffer agents list --approve"] : [],
    exit: exitOfActs(unproven.length),
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
