/** Rewinds in shared vaults: what members signed decides, whatever the service says of who did it. */
import type { Change } from "@coffer/contract";
import { type Client, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt } from "../kit/lying-service.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
let client: Client;
let agent: SharedPerson;
let other: SharedPerson;
let vault: Vault;

beforeAll(async () => {
  ({ client } = stack.owner);
  [agent, other] = [await stack.invite("the agent"), await stack.invite("another one")];
  vault = await client.vaults.create({ name: "rewound", type: "shared" });
  for (const { signer } of [agent, other]) await client.vaults.members.add(vault.id, signer.chainAddress);
});

type Said = { changes: Change[] };
type Who = { readonly kind: string };

/** A client of the owner in another process, which is told that the agent did what the other one did. */
const deceived = (change: (changes: Change[]) => Change[]) =>
  stack.owner.another({
    middleware: [lyingAt("changes.list", (said: Said) => ({ ...said, changes: change(said.changes) }))],
  });

/** Rows of the other one become the agent's, also where the feed was asked for the agent's alone. */
async function blaming(since: string) {
  const { chainAddress } = agent.signer;
  const all: Change[] = [];
  for await (const change of client.changes.list({ vaultId: vault.id, since, limit: 1000 }, { names: false }))
    all.push(change);
  const blamed = all.map((change) => {
    const actor = change.actor as Who & Change["actor"];
    return actor.chainAddress === other.signer.chainAddress ? { ...change, actor: { ...actor, chainAddress } } : change;
  });
  return deceived(() => blamed);
}

async function now(): Promise<string> {
  const time = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < time) await new Promise(setImmediate);
  return time;
}

const inVault = () => ({ vaultId: vault.id });

async function made(by: Client, body = "first") {
  return (await by.files.upload({ ...inVault(), name: crypto.randomUUID(), body })).file;
}

const rewound = (since: string, by: Client = client) =>
  by.agents.rewind({ chainAddress: agent.signer.chainAddress, since, ...inVault() });

const reasons = ({ left }: Awaited<ReturnType<typeof rewound>>) => left.map(({ id, reason }) => [id, reason]);

describe("[D5-rewind-shared] a rewind in a shared vault", () => {
  test("names the actor by its address: which address a key has is the service's word", async () => {
    const file = await made(client);
    const since = await now();
    await agent.client.files.replace(file.id, { ...inVault(), body: "second" });
    const keyId = (await agent.client.account.get()).credential.id ?? "";
    const report = await client.agents.rewind({ keyId, since, ...inVault() });
    expect([report.steps, reasons(report)]).toEqual([[], [[file.id, "address_needed"]]]);
    expect(report.claimedAddress).toBe(agent.signer.chainAddress);
    expect((await rewound(since)).counts).toMatchObject({ content: 1 });
  });

  test("undoes nothing of another one that the service calls the agent's", async () => {
    const [replaced, renamed] = [await made(client), await made(client)];
    const since = await now();
    await other.client.files.replace(replaced.id, { ...inVault(), body: "by the other one" });
    await other.client.files.update(renamed.id, { name: "named by the other one" }, inVault());
    const created = await made(other.client);
    const report = await rewound(since, await blaming(since));
    expect(report.steps).toEqual([]);
    expect(new Map(report.left.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([replaced, renamed, created].map(({ id }) => [id, "unverified"])),
    );
    expect((await client.files.get(renamed.id)).name).toBe("named by the other one");
    expect((await client.files.get(created.id)).trashedAt).toBeNull();
  });

  test("leaves what another one signed last, also if the service hides that it happened", async () => {
    const file = await made(client);
    const since = await now();
    await agent.client.files.replace(file.id, { ...inVault(), body: "second" });
    await other.client.files.replace(file.id, { ...inVault(), body: "third" });
    const hiding = deceived((changes) =>
      changes.filter(({ actor }) => actor.chainAddress !== other.signer.chainAddress),
    );
    const report = await rewound(since, hiding);
    expect([report.steps, reasons(report)]).toEqual([[], [[file.id, "changed_since"]]]);
  });

  test("keeps a new file of the agent's to which another one has written", async () => {
    const since = await now();
    const file = await made(agent.client);
    await other.client.files.replace(file.id, { ...inVault(), body: "second" });
    const hiding = deceived((changes) =>
      changes.filter(({ actor }) => actor.chainAddress !== other.signer.chainAddress),
    );
    const report = await rewound(since, hiding);
    expect([report.steps, reasons(report)]).toEqual([[], [[file.id, "changed_since"]]]);
    expect((await client.files.get(file.id)).trashedAt).toBeNull();
  });

  test("reports a version that does not verify, and goes on", async () => {
    const file = await made(client);
    const since = await now();
    await agent.client.files.replace(file.id, { ...inVault(), body: "second" });
    await agent.client.files.update(file.id, { name: "renamed" }, inVault());
    const fine = await made(agent.client);
    const spoiling = stack.owner.another({
      middleware: [
        lyingAt("files.versions", (said: { versions: { shared: { version: string } | null }[] }) => ({
          ...said,
          versions: said.versions.map((each, at) =>
            at === 0 || each.shared === null ? each : { ...each, shared: { ...each.shared, version: "AAAA" } },
          ),
        })),
      ],
    });
    const report = await rewound(since, spoiling);
    expect(report.steps.map(({ id, act }) => [id, act])).toEqual([
      [fine.id, "trash"],
      [file.id, "move"],
    ]);
    expect(reasons(report)).toEqual([[file.id, "damaged"]]);
  });

  test("goes by who gave a name, not by who wrote content under it last", async () => {
    const [theirs, own] = [await made(client), await made(client)];
    const since = await now();
    await other.client.files.update(theirs.id, { name: "by the other one" }, inVault());
    await agent.client.files.update(own.id, { name: "by the agent" }, inVault());
    for (const { id } of [theirs, own]) await agent.client.files.replace(id, { ...inVault(), body: "by the agent" });
    // A service that keeps the other one's entry to itself, and so makes its name the agent's.
    const hiding = stack.owner.another({
      middleware: [
        lyingAt("files.entries", (said: { entries: { how: string }[] }) => ({
          ...said,
          entries: said.entries.filter(({ how }) => how !== "rename"),
        })),
      ],
    });
    const plan = { chainAddress: agent.signer.chainAddress, since, ...inVault(), dryRun: true };
    const unsure = await hiding.agents.rewind(plan);
    expect(new Set(reasons(unsure))).toEqual(new Set([theirs, own].map(({ id }) => [id, "unverified"])));
    const report = await rewound(since);
    expect(new Set(report.steps.map(({ id, act }) => `${id} ${act}`))).toEqual(
      new Set([`${theirs.id} content`, `${own.id} content`, `${own.id} move`]),
    );
    expect([(await client.files.get(theirs.id)).name, (await client.files.get(own.id)).name]).toEqual([
      "by the other one",
      own.name,
    ]);
  });
});

test("[D5-rewind] a plan ends at its signal while it compares contents of the same size", async () => {
  const file = await made(client);
  const since = await now();
  for (const body of ["other", "third"]) await agent.client.files.replace(file.id, { ...inVault(), body });
  await rewound(since);
  const ending = new AbortController();
  const isAborted: boolean[] = [];
  const stopped = stack.owner.another({
    middleware: [
      async (request, next, { endpointId }) => {
        if (endpointId === "files.content") {
          ending.abort();
          isAborted.push(request.signal.aborted);
        }
        return await next(request);
      },
    ],
  });
  const input = { chainAddress: agent.signer.chainAddress, since, ...inVault(), dryRun: true };
  await expect(stopped.agents.rewind(input, { signal: ending.signal })).rejects.toMatchObject({ code: "aborted" });
  expect(isAborted).toEqual([true]);
});
