/** Rewinds while something else acts on the same files: an earlier one's act that comes late, another one, or somebody. */
import {
  SdkError,
  type Client,
  type File,
  type Middleware,
  type Rewind,
  type Vault,
  type TransportRequest,
} from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
const vaults = new Map<string, Vault>();
let client: Client;
let agent: SharedPerson;
let other: SharedPerson;

beforeAll(async () => {
  ({ client } = stack.owner);
  [agent, other] = [await stack.invite("the agent"), await stack.invite("another one")];
  for (const type of ["shared", "public"] as const)
    vaults.set(type, await client.vaults.create({ name: `rewound ${type}`, type }));
  for (const { signer } of [agent, other])
    await client.vaults.members.add(vaults.get("shared")?.id ?? "", signer.chainAddress);
});

async function now(): Promise<string> {
  const time = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < time) await new Promise(setImmediate);
  return time;
}

const reasons = ({ left }: Rewind) => left.map(({ id, act, reason }) => [id, act, reason]);
const acts = ({ steps }: Rewind) => steps.map(({ id, act }) => [id, act]);

describe.each(["shared", "public"])("[D5-rewind D5-rewind-shared] a rewind in a %s vault", (type) => {
  const place = () => ({ vaultId: vaults.get(type)?.id ?? "" });
  const since = async () => ({ chainAddress: agent.signer.chainAddress, since: await now(), ...place() });
  type Input = Awaited<ReturnType<typeof since>>;
  const rewound = (input: Input, by: Client = client) => by.agents.rewind(input);
  const made = async (by: Client) =>
    (await by.files.upload({ ...place(), name: crypto.randomUUID(), body: "first" })).file;
  const replace = (by: Client, { id }: File, body: string) => by.files.replace(id, { ...place(), body });
  const rename = (by: Client, { id }: File, name: string = crypto.randomUUID()) =>
    by.files.update(id, { name }, place());
  const seen = async ({ id }: File) => [(await client.files.get(id)).name, await read(client, id)];
  const isTrashed = async ({ id }: File) => (await client.files.get(id)).trashedAt !== null;

  /**
   * A client of the owner's next process. It has its plan, and something happens before it looks at the item again for
   * its step. `times`: so often, each time after the next plan. `looks` counts.
   */
  async function interrupted(input: Input, { id }: File, happens: () => Promise<unknown>, times = 1) {
    let [looks, plans, perPlan] = [0, 0, Infinity];
    const middleware: Middleware = async (request, next, { endpointId }) => {
      if (endpointId !== "files.get" || !request.url.endsWith(id)) return next(request);
      looks += 1;
      if (plans < times && looks === (plans + 1) * (perPlan + 1)) {
        plans += 1;
        await happens();
      }
      return next(request);
    };
    const by = stack.owner.another({ middleware: [middleware] });
    await by.agents.rewind({ ...input, dryRun: true });
    [perPlan, looks] = [looks, 0];
    return { by, plans: () => plans, isLookedAtAgain: () => looks > times * (perPlan + 1) };
  }

  /** A client of the owner. Something happens before its first call there. */
  function before(at: string, happens: () => Promise<unknown>): Client {
    let isFirst = true;
    const middleware: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === at && isFirst) {
        isFirst = false;
        await happens();
      }
      return next(request);
    };
    return stack.owner.another({ middleware: [middleware] });
  }

  /** A rewind whose process ends when its first act has left. That act reaches the service later. */
  async function cutOff(input: Input, by = stack.owner) {
    const held: TransportRequest[] = [];
    const dying = by.another({
      retry: { limit: 0 },
      transport: (request) => {
        if (request.method === "GET") return fetch(request.url, request);
        held.push(request);
        throw new TypeError("killed");
      },
    });
    await expect(rewound(input, dying)).rejects.toThrow(SdkError);
    const answers: number[] = [];
    const arrives = async (): Promise<void> => {
      for (const act of held.slice(0, 1)) answers.push((await fetch(act.url, act)).status);
    };
    return { arrives, answers };
  }

  test("goes on where an act of an earlier one, which was cut off, comes late", async () => {
    const file = await made(client);
    const input = await since();
    await rename(agent.client, file);
    await replace(agent.client, file, "second");
    const { arrives, answers } = await cutOff(input);
    const { by } = await interrupted(input, file, arrives);
    const report = await rewound(input, by);
    expect([answers, reasons(report), acts(report)]).toEqual([[200], [], [[file.id, "content"]]]);
    expect(await seen(file)).toEqual([file.name, "first"]);
    expect(acts(await rewound(input))).toEqual([]);
  });

  test("has nothing left to do where another one has done it", async () => {
    const [renamed, replaced, trashed] = [await made(client), await made(client), await made(client)];
    const input = await since();
    await rename(agent.client, renamed);
    await replace(agent.client, replaced, "second");
    await agent.client.files.delete(trashed.id);
    const folder = await agent.client.folders.create({ ...place(), name: crypto.randomUUID() });
    const fresh = await made(agent.client);
    const { by } = await interrupted(input, fresh, () => rewound(input));
    const report = await rewound(input, by);
    expect([reasons(report), acts(report)]).toEqual([[], []]);
    expect([await seen(renamed), await seen(replaced)]).toEqual([renamed, replaced].map(({ name }) => [name, "first"]));
    expect([await isTrashed(fresh), await isTrashed(trashed)]).toEqual([true, false]);
    expect((await client.folders.get(folder.id)).trashedAt).not.toBeNull();
  });

  test("undoes what the actor itself does in between", async () => {
    const file = await made(client);
    const input = await since();
    await replace(agent.client, file, "second");
    const { by } = await interrupted(input, file, () => replace(agent.client, file, "third"));
    expect(reasons(await rewound(input, by))).toEqual([]);
    expect(await seen(file)).toEqual([file.name, "first"]);
  });

  test("leaves what somebody else does in between, and names it", async () => {
    const [replaced, renamed] = [await made(client), await made(client)];
    const input = await since();
    await replace(agent.client, replaced, "second");
    await rename(agent.client, renamed);
    const fresh = await made(agent.client);
    const { by } = await interrupted(input, fresh, async () => {
      await replace(other.client, replaced, "theirs");
      await rename(other.client, renamed, `theirs ${type}`);
      await rename(other.client, fresh, `kept ${type}`);
    });
    const report = await rewound(input, by);
    expect(acts(report)).toEqual([]);
    expect(new Set(reasons(report).map(String))).toEqual(
      new Set([
        `${replaced.id},content,changed_since`,
        `${renamed.id},move,changed_since`,
        `${fresh.id},trash,changed_since`,
      ]),
    );
    expect([await seen(replaced), await seen(renamed)]).toEqual([
      [replaced.name, "theirs"],
      [`theirs ${type}`, "first"],
    ]);
    expect(await isTrashed(fresh)).toBe(false);
  });

  test("leaves a new file that somebody else changes while it makes its plan", async () => {
    const input = await since();
    const fresh = await made(agent.client);
    const by = before("files.get", () => rename(other.client, fresh, `meanwhile ${type}`));
    expect(reasons(await rewound(input, by))).toEqual([[fresh.id, "trash", "changed_since"]]);
    expect([await isTrashed(fresh), await seen(fresh)]).toEqual([false, [`meanwhile ${type}`, "first"]]);
  });

  test("leaves what somebody else does between its look and its act", async () => {
    const file = await made(client);
    const input = await since();
    await rename(agent.client, file);
    const by = before("files.update", () => rename(other.client, file, `at once ${type}`));
    expect(reasons(await rewound(input, by))).toEqual([[file.id, "move", "changed_since"]]);
    expect(await seen(file)).toEqual([`at once ${type}`, "first"]);
  });

  test("leaves what somebody else changed of an item, and undoes the rest", async () => {
    const file = await made(client);
    const input = await since();
    await replace(agent.client, file, "second");
    const { by } = await interrupted(input, file, () => rename(other.client, file, `in between ${type}`));
    const report = await rewound(input, by);
    expect([reasons(report), acts(report)]).toEqual([[], [[file.id, "content"]]]);
    expect(await seen(file)).toEqual([`in between ${type}`, "first"]);
  });

  test("plans an item anew once, and no more", async () => {
    const file = await made(client);
    const input = await since();
    await replace(agent.client, file, "second");
    const { by, ...were } = await interrupted(input, file, () => replace(agent.client, file, "again"), 2);
    const report = await rewound(input, by);
    expect([reasons(report), acts(report)]).toEqual([[[file.id, "content", "changed_since"]], []]);
    expect([were.plans(), were.isLookedAtAgain(), await seen(file)]).toEqual([2, false, [file.name, "again"]]);
    expect(acts(await rewound(input))).toEqual([[file.id, "content"]]);
  });

  test("says that an item is gone which somebody deletes for good", async () => {
    const [during, after, kept] = [await made(client), await made(client), await made(client)];
    const input = await since();
    for (const file of [during, after, kept]) await replace(agent.client, file, "second");
    const { by } = await interrupted(input, after, () => client.files.delete(after.id, { permanent: true }));
    const planning = stack.owner.another({
      middleware: [
        async (request, next, { endpointId }) => {
          if (endpointId === "files.entries" && request.url.includes(during.id))
            await client.files.delete(during.id, { permanent: true });
          return next(request);
        },
      ],
    });
    const plan = await planning.agents.rewind({ ...input, dryRun: true });
    expect([reasons(plan), plan.steps.length]).toEqual([[[during.id, null, "gone"]], 2]);
    const report = await rewound(input, by);
    expect(new Map(report.left.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([during, after].map(({ id }) => [id, "gone"])),
    );
    expect(acts(report)).toEqual([[kept.id, "content"]]);
  });

  test("names an item of which the service tells nothing more", async () => {
    const file = await made(client);
    const input = await since();
    await replace(agent.client, file, "second");
    let isSilent = false;
    const by = stack.owner.another({
      middleware: [
        async (request, next, { endpointId }) => {
          if (endpointId === "changes.list" && isSilent) return Response.json({ changes: [], nextCursor: null });
          const answer = await next(request);
          if (endpointId === "files.versions") {
            isSilent = true;
            await replace(other.client, file, "theirs");
          }
          return answer;
        },
      ],
    });
    expect(reasons(await rewound(input, by))).toEqual([[file.id, "content", "changed_since"]]);
    expect(await seen(file)).toEqual([file.name, "theirs"]);
  });

  test("ends as one does, if three run at once", async () => {
    const folder = await client.folders.create({ ...place(), name: crypto.randomUUID() });
    const files: File[] = [];
    for (let at = 0; at < 12; at += 1) files.push(await made(client));
    const input = await since();
    for (const [at, file] of files.entries())
      if (at % 3 === 0) await agent.client.files.delete(file.id);
      else if (at % 3 === 1) await rename(agent.client, file);
      else await replace(agent.client, file, "second");
    const [one, two] = [files[1], files[4]];
    for (const [from, to] of [
      [one, two],
      [two, one],
    ])
      if (from && to) await rename(agent.client, from, to.name);
    await agent.client.folders.delete(folder.id);
    const fresh = [await made(agent.client), await made(agent.client)];
    const three = [1, 2, 3].map(() => rewound(input, stack.owner.another()));
    // One of them may find an item that another has just brought back, and leaves it as it is.
    const left = (await Promise.all(three)).flatMap(reasons);
    expect(left.filter(([, , reason]) => reason !== "changed_since")).toEqual([]);
    for (const file of files) expect([await isTrashed(file), await seen(file)]).toEqual([false, [file.name, "first"]]);
    for (const file of fresh) expect(await isTrashed(file)).toBe(true);
    expect((await client.folders.get(folder.id)).trashedAt).toBeNull();
    expect(acts(await rewound(input))).toEqual([]);
  });

  test("is undone itself, where one of its acts comes late", async () => {
    const file = await made(client);
    const input = await since();
    await rename(agent.client, file, `the agent's ${type}`);
    await replace(agent.client, file, "by the agent");
    // The agent goes on and begins to rewind itself, and the owner undoes that.
    const later = await since();
    await replace(agent.client, file, "something else");
    const { arrives, answers } = await cutOff(input, agent);
    const { by } = await interrupted(later, file, arrives);
    const report = await rewound(later, by);
    expect([answers, reasons(report)]).toEqual([[200], []]);
    expect(new Set(report.steps.map(({ act }) => act))).toEqual(new Set(["move", "content"]));
    expect(await seen(file)).toEqual([`the agent's ${type}`, "by the agent"]);
  });

  /** Two files whose names the agent has swapped. */
  async function swapped() {
    const [one, two] = [await made(client), await made(client)];
    const input = await since();
    await rename(agent.client, one);
    await rename(agent.client, two, one.name);
    await rename(agent.client, one, two.name);
    const names = async () => [(await client.files.get(one.id)).name, (await client.files.get(two.id)).name];
    return { one, two, input, names };
  }

  /** A client of the owner that does something after each rename that the service has done. */
  const afterRenames = (happens: () => Promise<unknown>) =>
    stack.owner.another({
      retry: { limit: 0 },
      middleware: [
        async (request, next, { endpointId }) => {
          const answer = await next(request);
          if (endpointId === "files.update" && answer.ok) await happens();
          return answer;
        },
      ],
    });

  test("renames nothing where somebody else has taken the name", async () => {
    const [file, chained] = [await made(client), await made(client)];
    const input = await since();
    await rename(agent.client, file);
    await rename(agent.client, chained, file.name);
    await rename(agent.client, file, chained.name);
    await rename(agent.client, chained);
    const was = await client.files.get(file.id);
    await other.client.files.upload({ ...place(), name: file.name, body: "theirs" });
    const report = await rewound(input);
    expect(acts(report)).toEqual([]);
    expect(new Set(reasons(report).map(String))).toEqual(
      new Set([file, chained].map(({ id }) => `${id},move,name_exists`)),
    );
    const { name, revision } = await client.files.get(file.id);
    expect([name, revision]).toEqual([was.name, was.revision]);
  });

  test("gives an item that stepped aside its name back, if another one cannot make room", async () => {
    const { one, two, input, names } = await swapped();
    // The one that did not step aside is changed, each time. So the rewind leaves it.
    const by = afterRenames(async () => {
      const [first, second] = await names();
      if (first?.startsWith(".rewind-") === true) await replace(other.client, two, crypto.randomUUID());
      if (second?.startsWith(".rewind-") === true) await replace(other.client, one, crypto.randomUUID());
    });
    const report = await rewound(input, by);
    expect(acts(report)).toEqual([]);
    expect(new Set(reasons(report).map(([, , reason]) => reason))).toEqual(new Set(["name_exists", "changed_since"]));
    expect(await names()).toEqual([two.name, one.name]);
    expect(reasons(await rewound(input))).toEqual([]);
    expect(await names()).toEqual([one.name, two.name]);
  });

  test("gives the name back that an earlier one, which was cut off, has taken away", async () => {
    const { one, two, input, names } = await swapped();
    const dying = afterRenames(() => Promise.reject(new TypeError("killed")));
    await expect(rewound(input, dying)).rejects.toThrow();
    const aside = (await names()).findIndex((name) => name.startsWith(".rewind-"));
    const [held, wanted] = aside === 0 ? [two, one.name] : [one, two.name];
    await rename(other.client, held);
    await rename(other.client, held, wanted);
    const report = await rewound(input);
    expect(new Map(report.left.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        [held.id, "changed_since"],
        [aside === 0 ? one.id : two.id, "name_exists"],
      ]),
    );
    expect(await names()).toEqual([two.name, one.name]);
  });

  test("undoes the restore of a content of the same size", async () => {
    const file = await made(client);
    const { versionId } = await client.files.get(file.id);
    await replace(agent.client, file, "other");
    const later = await since();
    await agent.client.files.restoreVersion(file.id, versionId, place());
    const report = await rewound(later, agent.client);
    expect([reasons(report), acts(report)]).toEqual([[], [[file.id, "content"]]]);
    expect(await seen(file)).toEqual([file.name, "other"]);
    expect(acts(await rewound(later, agent.client))).toEqual([]);
  });

  test("says that somebody has restored another content of the same size", async () => {
    const file = await made(client);
    const { versionId } = await client.files.get(file.id);
    await replace(client, file, "other");
    const input = await since();
    await replace(agent.client, file, "wrong");
    await client.files.restoreVersion(file.id, versionId, place());
    const report = await rewound(input);
    expect([reasons(report), acts(report)]).toEqual([[[file.id, "content", "changed_since"]], []]);
    expect(await seen(file)).toEqual([file.name, "first"]);
  });

  test("reads no content where only one was of that size", async () => {
    const file = await made(client);
    const input = await since();
    await replace(agent.client, file, "second");
    await rewound(input);
    let isRead = false;
    const by = before("files.content", () => Promise.resolve((isRead = true)));
    const report = await rewound(input, by);
    expect([reasons(report), acts(report), isRead]).toEqual([[], [], false]);
  });
});
