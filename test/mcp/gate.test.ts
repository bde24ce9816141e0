/**
 * Every text that a model can choose, by the registry of the tools: once text of others was shown, none reaches anybody new unless a
 * person agrees. A tool or an argument that is not judged here turns the test red.
 */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { CredentialState, TOOLS } from "@coffer/mcp";
import { type ApiKey, type Middleware, type VaultReaders, toRequest } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import type { Era } from "../kit/mcp-http.ts";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere } from "../kit/tools-here.ts";
import { openEveryCall, type Args } from "./every-call.ts";

const newAccount = serviceOfFile();
const NO_FORMER = { generation: null, former: [] };

/** No character that an address or JSON would write otherwise. */
const CANARY = "canary-5d1c9e";
const STRANGER = `0x${"5d".repeat(32)}`;

/** What becomes of the text of an argument. */
type Fate =
  /** Stored in a vault, where everybody who reads it sees it. */
  | "stored"
  /** Given to the service, which looks for it or keeps it. */
  | "service"
  /** Given to somebody outside of the account. */
  | "outside"
  /** Compared on this machine, or read as a time, an id or a word of a list: the text itself goes nowhere. */
  | "kept"
  /** Handed back to the service, which made it. */
  | "cursor";

interface Field {
  readonly fate: Fate;
  /** Beside the arguments of a call that succeeds. Those that are undefined are left out. */
  readonly with?: Args;
  /** Where the canary itself would be no valid value. */
  readonly text?: string;
  /** The argument around the text. Default: the text, or a list of it. */
  readonly around?: (text: string) => unknown;
}

const ADDRESS = `0x${"ca".repeat(32)}`;
const kept: Field = { fate: "kept" };
const cursor: Field = { fate: "cursor" };
const stored: Field = { fate: "stored" };
const asked: Field = { fate: "service" };

/** By tool, each argument that takes text. Enumerations are none. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  status_check: {},
  vault_list: { vaultId: kept, cursor },
  vault_access_check: { vaultId: kept },
  file_list: { vaultId: kept, folder: asked, cursor },
  file_search: {
    query: asked,
    type: { fate: "service", text: `${CANARY}/` },
    folder: asked,
    vaultId: kept,
    author: kept,
    since: kept,
    until: kept,
    cursor,
  },
  file_get: { files: asked, vaultId: kept },
  file_read: { file: asked, vaultId: kept, lines: kept, find: kept },
  file_download: {
    files: asked,
    folder: { fate: "service", with: { files: undefined } },
    vaultId: kept,
    dest: kept,
    version: kept,
    confirm: kept,
  },
  file_verify: { file: asked, path: kept, vaultId: kept },
  change_list: { since: kept, by: kept, vaultId: kept, cursor },
  transfer_get: { transferId: kept, cursor: kept },
  transfer_cancel: { transferId: kept },
  file_upload: {
    paths: { fate: "stored", text: `${CANARY}.txt` },
    folder: stored,
    name: stored,
    idempotencyKey: stored,
    vaultId: kept,
    expectedVersion: kept,
  },
  file_write: {
    name: stored,
    text: stored,
    replace: {
      fate: "stored",
      with: { name: "moved.txt", text: undefined },
      around: (text) => ({ find: "m", replacement: text }),
    },
    folder: stored,
    vaultId: kept,
    expectedVersion: kept,
  },
  file_move: { files: asked, to: stored, name: stored, vaultId: kept },
  file_delete: { files: asked, vaultId: kept, confirm: kept },
  file_restore: { files: asked, version: kept, name: stored, vaultId: kept },
  vault_create: { name: asked },
  access_list: { vaultId: kept, cursor },
  access_grant: {
    name: { fate: "outside" },
    chainAddress: { fate: "outside", text: ADDRESS },
    vaultIds: kept,
    until: kept,
    confirm: kept,
  },
  access_revoke: { who: kept, rewindSince: kept, confirm: kept },
  webhook_list: { webhookId: kept, cursor },
  webhook_set: {
    url: { fate: "outside", text: `https://receiver.example/${CANARY}` },
    webhookId: kept,
    events: kept,
    confirm: kept,
  },
  webhook_delete: { webhookId: kept, confirm: kept },
  webhook_send: { webhookId: kept, deliveryId: kept },
  audit_list: { since: kept, by: kept, cursor },
};

interface Property {
  readonly type?: string;
  readonly enum?: unknown;
  readonly items?: Property;
}

/** Arguments of the registry that take text. */
function textFields(): Record<string, string[]> {
  const isText = ({ type, enum: words, items }: Property): boolean =>
    type === "array"
      ? items !== undefined && isText(items)
      : words === undefined && type !== "integer" && type !== "boolean";
  return Object.fromEntries(
    TOOLS.map((tool) => {
      const properties = tool.inputSchema(false)["properties"] as Record<string, Property>;
      return [
        tool.name,
        Object.keys(properties)
          .filter((name) => isText(properties[name] ?? {}))
          .toSorted(),
      ];
    }),
  );
}

it("every text argument of every tool is judged here", () => {
  const judged = Object.entries(FIELDS).map(([tool, fields]) => [tool, Object.keys(fields).toSorted()]);
  expect(Object.fromEntries(judged)).toEqual(textFields());
});

/** A request as the service gets it. */
interface Sent {
  readonly changes: boolean;
  readonly text: string;
}

const NOBODY: VaultReaders = { chainAddresses: [], service: true, ...NO_FORMER };
const ONE_STRANGER: VaultReaders = { chainAddresses: [STRANGER], service: false, ...NO_FORMER };

/** The service, a client whose requests are recorded, and readers as a test says. */
async function openScene() {
  const every = await openEveryCall(newAccount);
  const sent: Sent[] = [];
  const record: Middleware = async (outgoing, next) => {
    const request = toRequest(outgoing);
    const { method, url, headers } = request;
    const body = await request.clone().text();
    sent.push({ changes: method !== "GET", text: [method, url, ...headers.values(), body].join("\n") });
    return await next(request);
  };
  const client = every.service.connect(record);
  const state = { readers: NOBODY };
  Object.assign(client.vaults, { readers: () => Promise.resolve(state.readers) });
  // This service has no chain.
  Object.assign(client.vaults.members, {
    add: (_vaultId: string, who: string) => Promise.resolve(sent.push({ changes: true, text: who })),
  });
  return { ...every, client, sent, state };
}

function stateOf(taint: Partial<CredentialState["taint"]>): CredentialState {
  const credentialState = new CredentialState();
  Object.assign(credentialState.taint, taint);
  return credentialState;
}

const LISTS: ReadonlySet<string> = new Set(["files", "paths", "vaultIds", "events"]);

const ALL = Object.entries(FIELDS).flatMap(([tool, fields]) =>
  Object.entries(fields).map(([name, field]) => [`${tool}.${name}`, tool, name, field] as const),
);

it.each(ALL)(
  "%s reaches nobody new, and the service only while it can read all that was shown [S29 T1 T3 T4]",
  async (...row) => {
    const [, tool, name, { around, fate, text = CANARY, with: others = {} }] = row;
    const { calls, client, folder, sent, state, vaultId } = await openScene();
    writeFileSync(join(folder, `${CANARY}.txt`), CANARY);
    const isPlaced = FIELDS[tool]?.["vaultId"] !== undefined && tool !== "vault_list";
    const args = {
      ...calls[tool]?.[0],
      ...(isPlaced ? { vaultId } : {}),
      ...others,
      [name]: around?.(text) ?? (LISTS.has(name) ? [text] : text),
    };
    /** What was sent of it by one call, before a host that cannot ask. */
    const call = async (taint: Partial<CredentialState["taint"]>, readers: VaultReaders) => {
      Object.assign(state, { readers });
      await using tools = await openToolsHere({
        client,
        folders: [folder],
        parts: { credentialState: stateOf(taint) },
      });
      const before = sent.length;
      const { code } = await tools.call(tool, args);
      const needle = text.includes(CANARY) ? CANARY : text;
      return { code, found: sent.slice(before).filter((each) => each.text.includes(needle)) };
    };
    const stranger = await call({ isTainted: true }, ONE_STRANGER);
    if (fate === "stored" || fate === "outside") {
      expect(stranger.found.filter(({ changes }) => changes)).toEqual([]);
      expect(stranger.code).toBe("confirmation_required");
    }
    if (fate === "cursor") return;
    const closed = await call({ isTainted: true, isClosed: true }, NOBODY);
    expect(closed.found).toEqual([]);
    if (fate !== "kept") expect(closed.code).toBe("confirmation_required");
    // Where nobody new reads it, it goes where it is said to go. What leads outside is agreed to in any case.
    const free = await call({ isTainted: true }, NOBODY);
    expect(free.found.length > 0).toBe(fate === "stored" || fate === "service");
  },
);

const YES = { action: "accept", content: { confirm: true } };

describe.each<readonly [string, Era]>([
  ["2025", "legacy"],
  ["2026", { pin: "2026-07-28" }],
])("a user of a host of the %s era", (_, era) => {
  it("is asked once about each reader, by name, also for many files at once [T2]", async () => {
    const { client, folder, state, vaultId } = await openScene();
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(folder, name), name);
    const asked: string[] = [];
    const credentialState = stateOf({ isTainted: true });
    const onAsked = (message: string) => (asked.push(message), YES);
    await using tools = await openToolsHere({
      client,
      era,
      folders: [folder],
      parts: { credentialState },
      onAsked,
    });
    state.readers = ONE_STRANGER;
    expect((await tools.call("file_upload", { paths: ["a.txt", "b.txt"], vaultId })).code).toBeNull();
    expect((await tools.call("file_write", { name: "c.txt", text: "c", vaultId })).code).toBeNull();
    expect(asked).toEqual([expect.stringContaining(STRANGER)]);
    const another = STRANGER.replaceAll("5d", "6e");
    state.readers = { chainAddresses: [STRANGER, another], service: false, ...NO_FORMER };
    expect((await tools.call("file_write", { name: "d.txt", text: "d", vaultId })).code).toBeNull();
    expect(asked[1]).toContain(another);
    expect(asked[1]).not.toContain(STRANGER);
  });

  it("who declines has nothing sent, and who is shown readers that change meanwhile is asked anew [T2]", async () => {
    const { client, sent, state, vaultId } = await openScene();
    const answers: unknown[] = [{ action: "decline" }];
    const onAsked = (): unknown => {
      state.readers = {
        chainAddresses: [...state.readers.chainAddresses, `${STRANGER.slice(0, -1)}f`],
        service: false,
        ...NO_FORMER,
      };
      return answers.shift() ?? YES;
    };
    const parts = { credentialState: stateOf({ isTainted: true }) };
    await using tools = await openToolsHere({ client, era, parts, onAsked });
    state.readers = ONE_STRANGER;
    const write = () =>
      tools.call("file_write", { name: CANARY, text: "x", vaultId }).catch(() => ({ code: "no end" }));
    expect((await write()).code).toBe("declined");
    expect((await write()).code).not.toBeNull();
    expect(sent.filter(({ changes, text }) => changes && text.includes(CANARY))).toEqual([]);
  });
});

it("addresses of the account's own live keys are no strangers [T5]", async () => {
  const { client, state, vaultId } = await openScene();
  const [key] = (await client.apiKeys.list()).apiKeys;
  const ends: Partial<ApiKey>[] = [{ chainAddress: STRANGER }];
  const list = async function* () {
    for (const end of ends) if (key !== undefined) yield await Promise.resolve({ ...key, ...end });
  };
  Object.assign(client.apiKeys, { list });
  state.readers = ONE_STRANGER;
  const parts = { credentialState: stateOf({ isTainted: true }) };
  await using tools = await openToolsHere({ client, parts });
  expect((await tools.call("file_write", { name: "a", text: "x", vaultId })).code).toBeNull();
  ends.splice(0, 1, { chainAddress: STRANGER, revokedAt: "2026-01-01T00:00:00.000Z" });
  expect((await tools.call("file_write", { name: "b", text: "x", vaultId })).code).toBe("confirmation_required");
});

it("nobody is asked about the vault of --vault, nor where the operator accepts tokens [T5]", async () => {
  const { client, state, vaultId } = await openScene();
  state.readers = ONE_STRANGER;
  for (const launch of [{ vaultId }, { confirm: "token" as const }]) {
    await using tools = await openToolsHere({
      client,
      launch,
      parts: { credentialState: stateOf({ isTainted: true }) },
    });
    const place = "vaultId" in launch ? {} : { vaultId };
    expect(
      (await tools.call("file_write", { name: `${Object.keys(launch)[0] ?? ""}.txt`, text: "x", ...place })).code,
    ).toBeNull();
  }
});
