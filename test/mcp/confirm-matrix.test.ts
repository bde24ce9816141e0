/** Every tool that destroys or opens access, in both protocol eras, by every kind of answer: only a clear yes, once, does it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CredentialState } from "@coffer/mcp";
import type { Client } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import type { Era } from "../kit/mcp-http.ts";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere, type Sent, type ToolsHere, type ToolsHereOptions } from "../kit/tools-here.ts";

type Args = Readonly<Record<string, unknown>>;

interface Act {
  readonly tool: string;
  readonly args: Args;
  /** Local folders that the tools may use. Absent: none. */
  readonly folders?: readonly string[];
  /** Of the tools, for an act on local files, which only a client of the SDK can do. Absent: the client of the scene. */
  readonly client?: Client;
  readonly isDone: () => Promise<boolean>;
  /** Changes what is acted on. Absent: nothing of it can change. */
  readonly change?: () => Promise<unknown>;
  /** How often it was done. Absent: once done, the state is another. */
  readonly times?: () => Promise<number>;
}

interface Scene {
  readonly client: Client;
  /** Without members. */
  readonly plain: Client;
  readonly vaultId: string;
}

const newAccount = serviceOfFile();
const URL_BEFORE = "https://receiver.example/before";
const URL_AFTER = "https://receiver.example/after";

const ADDRESS = `0x${"1b".repeat(32)}`;

/** This service has no chain, and so no members: those of this client's vaults are remembered here, each as often as it was added. */
function withMembers(client: Client): Client {
  const added = new Map<string, string[]>();
  const members = {
    list: (id: string) => Promise.resolve({ items: (added.get(id) ?? []).map((chainAddress) => ({ chainAddress })) }),
    add: (id: string, who: string) => Promise.resolve(void added.set(id, [...(added.get(id) ?? []), who])),
    remove: (id: string) => Promise.resolve(void added.delete(id)),
  };
  async function* sharedOnes() {
    for (const id of added.keys()) yield await Promise.resolve({ id });
  }
  const list = (query: { type?: string } = {}, ...rest: never[]): unknown =>
    query.type === "shared" ? sharedOnes() : client.vaults.list(query as object, ...rest);
  return { ...client, vaults: { ...client.vaults, list, members } } as unknown as Client;
}

async function makeWebhook(client: Client): Promise<string> {
  return (await client.webhooks.create({ url: URL_BEFORE, events: ["*"] })).webhook.id;
}

const ACTS: Readonly<Record<string, (scene: Scene) => Promise<Act>>> = {
  "a folder goes to the trash": async ({ client, vaultId }) => {
    const { id: folderId } = await client.folders.create({ vaultId, name: "old" });
    return {
      tool: "file_delete",
      args: { files: [folderId] },
      isDone: async () => (await client.folders.get(folderId)).trashedAt !== null,
      change: () => client.files.upload({ vaultId, folderId, name: "new.txt", body: "x" }),
    };
  },
  "eleven files go to the trash": async ({ client, vaultId }) => {
    const ids: string[] = [];
    for (let at = 0; at < 11; at += 1)
      ids.push((await client.files.upload({ vaultId, name: `f${String(at)}`, body: "x" })).file.id);
    return {
      tool: "file_delete",
      args: { files: ids },
      isDone: async () => (await client.files.get(ids[0] ?? "")).trashedAt !== null,
      change: () => client.files.replace(ids[3] ?? "", { body: "other" }),
    };
  },
  "a local file is replaced": async ({ plain, vaultId }) => {
    const folder = makeDirectory();
    const dest = join(folder, "coffer", "report.txt");
    await mkdir(join(folder, "coffer"), { mode: 0o700 });
    await writeFile(dest, "before");
    const { file } = await plain.files.upload({ vaultId, name: "report.txt", body: "after" });
    return {
      client: plain,
      tool: "file_download",
      args: { files: [file.id], dest, ifExists: "replace" },
      folders: [folder],
      isDone: async () => (await readFile(dest, "utf8")) === "after",
      change: () => writeFile(dest, "changed since"),
    };
  },
  "an invite is made": ({ client, vaultId }) =>
    Promise.resolve({
      tool: "access_grant",
      args: { name: "bot", vaultIds: [vaultId] },
      isDone: async () => (await client.invites.list()).invites.length > 0,
      times: async () => (await client.invites.list()).invites.length,
    }),
  "a key ends": async ({ client }) => {
    const { id } = await client.apiKeys.create({ name: "laptop" });
    return {
      tool: "access_revoke",
      args: { who: id },
      isDone: async () => (await client.apiKeys.get(id)).revokedAt !== null,
    };
  },
  "an invite ends": async ({ client, vaultId }) => {
    const { id } = await client.invites.create({ name: "bot", vaultIds: [vaultId] });
    return {
      tool: "access_revoke",
      args: { who: id },
      isDone: async () => (await client.invites.list()).invites.every((invite) => invite.status === "revoked"),
    };
  },
  "an address gets access": ({ client, vaultId }) =>
    Promise.resolve({
      tool: "access_grant",
      args: { name: "bot", vaultIds: [vaultId], chainAddress: ADDRESS },
      isDone: async () => (await client.vaults.members.list(vaultId)).items.length > 0,
      times: async () => (await client.vaults.members.list(vaultId)).items.length,
    }),
  "the access of an address ends": async ({ client, vaultId }) => {
    await client.vaults.members.add(vaultId, ADDRESS);
    const { id: otherId } = await client.vaults.create({ name: "Other", type: "public" });
    return {
      tool: "access_revoke",
      args: { who: ADDRESS },
      isDone: async () => (await client.vaults.members.list(vaultId)).items.length === 0,
      change: () => client.vaults.members.add(otherId, ADDRESS),
    };
  },
  "a webhook is made": ({ client }) =>
    Promise.resolve({
      tool: "webhook_set",
      args: { url: URL_AFTER },
      isDone: async () => (await client.webhooks.list()).webhooks.length > 0,
      times: async () => (await client.webhooks.list()).webhooks.length,
    }),
  "a webhook gets another address": async ({ client }) => {
    const webhookId = await makeWebhook(client);
    return {
      tool: "webhook_set",
      args: { webhookId, url: URL_AFTER },
      isDone: async () => (await client.webhooks.get(webhookId)).url === URL_AFTER,
      change: () => client.webhooks.update(webhookId, { events: ["file.uploaded"] }),
    };
  },
  "a webhook is deleted": async ({ client }) => {
    const webhookId = await makeWebhook(client);
    return {
      tool: "webhook_delete",
      args: { webhookId },
      isDone: async () => (await client.webhooks.list()).webhooks.length === 0,
      change: () => client.webhooks.update(webhookId, { events: ["file.uploaded"] }),
    };
  },
};

async function openAct(make: (scene: Scene) => Promise<Act>) {
  const { client: plain } = await newAccount();
  const client = withMembers(plain);
  const { id: vaultId } = await client.vaults.create({ name: "V", type: "public" });
  const act = await make({ client, plain, vaultId });
  const open = (options: Partial<ToolsHereOptions> = {}): Promise<ToolsHere> =>
    openToolsHere({ client: act.client ?? client, folders: act.folders ?? [], ...options });
  return { act, open };
}

type Opened = Awaited<ReturnType<typeof openAct>>;

const YES = { action: "accept", content: { confirm: true } };
const tokenIn = (facts: Args): string | undefined => (facts["error"] as { confirm?: string } | undefined)?.confirm;

/** What a person or a host does, and the code that the call ends with. A call of the 2026 era may end without an answer. */
const ANSWERS: Readonly<Record<string, readonly [unknown, string]>> = {
  declines: [{ action: "decline" }, "declined"],
  cancels: [{ action: "cancel" }, "declined"],
  "accepts without a tick": [{ action: "accept", content: { confirm: false } }, "declined"],
  "accepts with a word instead of a tick": [{ action: "accept", content: { confirm: "true" } }, "declined"],
};

async function attempt(tools: ToolsHere, { tool, args }: Act, confirm?: string): Promise<string | null> {
  const given = confirm === undefined ? args : { ...args, confirm };
  return await tools.call(tool, given).then(
    ({ code }) => code,
    () => "no answer",
  );
}

const ERAS: readonly (readonly [string, Era])[] = [
  ["2025", "legacy"],
  ["2026", { pin: "2026-07-28" }],
];

describe.each(Object.entries(ACTS))("%s", (_, make) => {
  describe.each(ERAS)("by a host of the %s era", (_era, era) => {
    const opened = (): Promise<Opened> => openAct(make);

    it("on a yes, once, with a preview", async () => {
      const { act, open } = await opened();
      const asked: string[] = [];
      await using tools = await open({ era, onAsked: (message) => (asked.push(message), YES) });
      expect(await attempt(tools, act)).toBeNull();
      expect([asked.length, await act.isDone()]).toEqual([1, true]);
      expect(asked[0]?.length).toBeGreaterThan(20);
    });

    it.each(Object.entries(ANSWERS))("not when its user %s", async (_answer, [answer, code]) => {
      const { act, open } = await opened();
      await using tools = await open({ era, onAsked: () => answer });
      // A host may refuse to pass on what does not fit the form.
      expect([code, "confirmation_required", "no answer"]).toContain(await attempt(tools, act));
      expect(await act.isDone()).toBe(false);
    });

    it("not with a token for another tool, other arguments, another state or another process, and not twice", async () => {
      const { act, open } = await opened();
      await using tools = await open({ era });
      await using other = await open({ era });
      const token = async (): Promise<string> => tokenIn((await tools.call(act.tool, act.args)).facts) ?? "none";
      const first = await token();
      expect(first).toMatch(/^\w+\.[\w-]{12}\.[\w-]{43}$/);
      const changed = `${first.slice(0, -2)}${first.endsWith("AA") ? "BB" : "AA"}`;
      for (const wrong of [changed, "", "null", first.slice(1), `${first}x`])
        expect(await attempt(tools, act, wrong)).toBe("confirmation_required");
      expect(await attempt(other, act, first)).toBe("confirmation_required");
      const elsewhere = await openAct(make);
      await using theirs = await elsewhere.open({ era });
      expect(await attempt(theirs, elsewhere.act, first)).toBe("confirmation_required");
      expect(await act.isDone()).toBe(false);
      if (act.change !== undefined) {
        await act.change();
        expect(await attempt(tools, act, first)).toBe("confirmation_required");
        expect(await act.isDone()).toBe(false);
      }
      const last = await token();
      expect(await attempt(tools, act, last)).toBeNull();
      expect(await act.isDone()).toBe(true);
      // Whatever the same call would do now, this token is used up.
      const credentialState = new CredentialState();
      const binding = { tool: act.tool, args: act.args, state: 1 };
      const once = credentialState.confirmations.issue(binding);
      expect([
        credentialState.confirmations.redeem(once, binding),
        credentialState.confirmations.redeem(once, binding),
      ]).toEqual([...[true, false]]);
    });

    it("not by a host that cannot ask, where only a person counts", async () => {
      const { act, open } = await opened();
      await using free = await open({ era });
      const token = tokenIn((await free.call(act.tool, act.args)).facts);
      await using tools = await open({ era, launch: { confirm: "human-only" } });
      const { code, facts } = await tools.call(act.tool, act.args);
      expect([code, tokenIn(facts)]).toEqual(["confirmation_required", undefined]);
      expect(await attempt(tools, act, token)).toBe("confirmation_required");
      expect(await act.isDone()).toBe(false);
    });
  });

  it("not when nobody answers, after the time that a user has", async () => {
    const { act, open } = await openAct(make);
    const never = new Promise(() => undefined);
    await using tools = await open({ onAsked: () => never, parts: { answerWaitMs: 50 } });
    const start = performance.now();
    expect(await attempt(tools, act)).toBe("confirmation_required");
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await act.isDone()).toBe(false);
    await using strict = await open({
      onAsked: () => never,
      parts: { answerWaitMs: 50 },
      launch: { confirm: "human-only" },
    });
    const { facts } = await strict.call(act.tool, act.args);
    expect(tokenIn(facts)).toBeUndefined();
  });

  /** What a lying host of the 2026 era does with the state that it was given. */
  const LIES: Readonly<Record<string, (state: string, seen: string[]) => string>> = {
    changed: (state) => `${state.slice(0, -2)}${state.endsWith("AA") ? "BB" : "AA"}`,
    "made up": () => "k3zz9.AAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    empty: () => "",
  };

  it.each(Object.entries(LIES))("not by a state that is %s", async (_lie, change) => {
    const { act, open } = await openAct(make);
    const tamper = ({ params }: Sent): void => {
      if (typeof params?.["requestState"] === "string") params["requestState"] = change(params["requestState"], []);
    };
    await using tools = await open({ era: { pin: "2026-07-28" }, onAsked: () => YES, tamper });
    await attempt(tools, act);
    expect(await act.isDone()).toBe(false);
  });

  it("not once more by the state that it was done with", async () => {
    const { act, open } = await openAct(make);
    const credentialState = new CredentialState();
    const states: string[] = [];
    const host = { era: { pin: "2026-07-28" }, onAsked: () => YES, parts: { credentialState } };
    await using tools = await open({
      ...host,
      tamper: ({ params }) => {
        if (typeof params?.["requestState"] === "string") states.push(params["requestState"]);
      },
    });
    expect(await attempt(tools, act)).toBeNull();
    const times = await act.times?.();
    expect([states.length, times ?? 1]).toEqual([1, 1]);
    let replays = 0;
    await using again = await open({
      ...host,
      tamper: ({ params }) => {
        if (typeof params?.["requestState"] !== "string") return;
        params["requestState"] = states[0];
        replays += 1;
      },
    });
    await attempt(again, act);
    expect(await act.times?.()).toBe(times);
    // What is gone or the same already is refused, or done without a question.
    if (act.times !== undefined) expect(replays).toBeGreaterThan(0);
  });

  it("not by the state of another call", async () => {
    const { act, open } = await openAct(make);
    const credentialState = new CredentialState();
    let stolen = "";
    const steal = ({ params }: Sent): void => {
      if (typeof params?.["requestState"] === "string") stolen = params["requestState"];
    };
    const other = await openAct(ACTS["a webhook is made"] ?? make);
    await using generous = await other.open({
      era: { pin: "2026-07-28" },
      onAsked: () => YES,
      tamper: steal,
      parts: { credentialState },
    });
    await generous.call("webhook_set", { url: "https://receiver.example/other" });
    expect(stolen).not.toBe("");
    const swap = ({ params }: Sent): void => {
      if (typeof params?.["requestState"] === "string") params["requestState"] = stolen;
    };
    await using tools = await open({
      era: { pin: "2026-07-28" },
      onAsked: () => YES,
      tamper: swap,
      parts: { credentialState },
    });
    await attempt(tools, act);
    expect(await act.isDone()).toBe(false);
  });
});

it("every tool that asks is in the matrix", async () => {
  const { TOOLS } = await import("@coffer/mcp");
  const asking = TOOLS.filter((tool) => JSON.stringify(tool.inputSchema(false)).includes('"confirm"'));
  const client = withMembers((await newAccount()).client);
  const { id: vaultId } = await client.vaults.create({ name: "V", type: "public" });
  const here = await Promise.all(
    Object.values(ACTS).map(async (make) => (await make({ client, plain: client, vaultId })).tool),
  );
  expect([...new Set(here)].toSorted()).toEqual(asking.map(({ name }) => name).toSorted());
});
