/** What a removed member can still do, alone and with the service's help, and where it ends (docs/threat-model.md). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  encodeFileStart,
  nameIndex,
  parseEnvelope,
  parseFileStart,
  reopenFilePlan,
  unwrapDataKey,
  type DataKey,
} from "@coffer/crypto";
import { nodePlatform as platform } from "@coffer/crypto/node";
import type { Client, Middleware, Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { keepVersion, lyingAt, lyingLater, servingVersion, type KeptVersion } from "../../kit/lying-service.ts";
import { openOutside, openVaultOutside, writeOutside, type OpenedVault } from "../../kit/opened-vault.ts";
import { read, sharedStack } from "../../kit/shared-scene.ts";
import type { SharedPerson } from "../../kit/shared-stack.ts";

const HONEST = "paid 100 to Anna";
const FORGED = "paid 999 to Mara";
/** Before the words that count: a source that is read once has no digest from this size on. */
const LONG = " ".repeat(4 * 1024 * 1024);

const stack = sharedStack();
let owner: Client;
let former: SharedPerson;
let vault: Vault;
/** Without a digest, since it is long and its source is read once; and with one. */
let undigested: string;
let digested: string;
/** What the former member kept in memory, and what the service kept, before the removal. */
let kept: { readonly vault: OpenedVault; readonly versions: Readonly<Record<string, KeptVersion>> };
const effects: Record<string, string> = {};

beforeAll(async () => {
  owner = stack.owner.client;
  vault = await owner.vaults.create({ name: "left", type: "shared" });
  former = await stack.invite("former");
  effects["add"] = (await owner.vaults.members.add(vault.id, former.signer.chainAddress)).effect;
  const once = { body: new Blob([LONG, HONEST]).stream(), size: LONG.length + HONEST.length };
  undigested = (await owner.files.upload({ vaultId: vault.id, name: "once.txt", ...once })).file.id;
  digested = (await owner.files.upload({ vaultId: vault.id, name: "whole.txt", body: HONEST })).file.id;
  const versions = { undigested: await keep(undigested), digested: await keep(digested) };
  kept = { vault: await openVaultOutside(former, vault, stack.network), versions };
  effects["revoke"] = (await owner.agents.revoke(former.keyId ?? "")).effect;
});

const keep = (fileId: string): Promise<KeptVersion> => keepVersion(stack, fileId);

function versionOf(name: "undigested" | "digested"): KeptVersion {
  const version = kept.versions[name];
  if (version === undefined) throw new Error(`${name} was kept`);
  return version;
}

/** A client that has met nothing, of a service that shows this version. */
function deceived(version: KeptVersion): Client {
  return stack.owner.another({ retry: { limit: 0 }, middleware: [servingVersion(version)] });
}

const readTrimmed = async (client: Client, id: string) => (await read(client, id)).trimStart();

/** With the vault key in memory and the bytes from anywhere. */
async function openData({ bytes: stored }: KeptVersion): Promise<{ dataKey: DataKey; start: FileParts }> {
  const start = parseFileStart(stored);
  const { record, wrapped } = parseEnvelope(start.envelope);
  const place = { commitment: start.commitment, headerPrefix: start.headerPrefix };
  return { dataKey: await unwrapDataKey(platform, record, kept.vault.key, wrapped, place), start };
}

type FileParts = ReturnType<typeof parseFileStart>;

const decrypted = async ({ bytes: stored }: KeptVersion) => (await openOutside(kept.vault, stored)).trimStart();

/** Another content of the same length under the same key, salt and commitment: all that a statement without a digest says still fits. */
async function forge(version: KeptVersion, content: string): Promise<KeptVersion> {
  const { dataKey, start } = await openData(version);
  const { headerBytes: header, envelope, commitment, payloadOffset } = start;
  const salt = version.bytes.slice(payloadOffset, payloadOffset + 24);
  const saved = { header, envelope, salt, commitment, padded: false, contentSize: content.length };
  const plan = await reopenFilePlan(platform, saved, dataKey);
  const chunks = await plan.keys.encrypt(Buffer.from(content), 0, true);
  return { file: version.file, bytes: Buffer.concat([encodeFileStart(plan), chunks]) };
}

/** A new version that the former member signs, in the last generation that was its own. */
const backDate = (version: KeptVersion, content: string) =>
  writeOutside(kept.vault, version, content, Date.now() - 86_400_000);

/** Looks for a name, in a client that has met nothing, while the service names the key of before; answers the indexes that were asked for. */
async function lookFor(name: string, asked: string[]): Promise<void> {
  const watch: Middleware = (request, next) => {
    const index = new URL(request.url).searchParams.get("nameIndex");
    if (index !== null) asked.push(index);
    return next(request);
  };
  const keyId = Buffer.from(kept.vault.record.keyId).toString("hex");
  const naming = lyingAt("folderNames.get", (said: object) => ({ ...said, keyId }));
  const client = stack.owner.another({ retry: { limit: 0 }, middleware: [watch, naming] });
  await client.files.list({ vaultId: vault.id, folderId: "root", name });
}

describe("before the vault is rotated, a removed member", () => {
  test("opens a file of its time that it had never fetched, with the vault key in memory and the bytes from anybody [R3]", async () => {
    expect(await decrypted(await keep(digested))).toBe(HONEST);
  });

  test("rewrites content without a digest, with the service's help, and nobody notices; content with one is refused where it is read whole [M8 R5]", async () => {
    const forged = await forge(versionOf("undigested"), `${LONG}${FORGED}`);
    expect(await readTrimmed(deceived(forged), undigested)).toBe(FORGED);
    const other = await forge(versionOf("digested"), FORGED);
    await expect(readTrimmed(deceived(other), digested)).rejects.toMatchObject({ code: "damaged", step: "digest" });
    // A range is held to its chunks alone: nobody has read the rest.
    const range = await deceived(other).files.download(digested, { range: { offset: 0, length: FORGED.length } });
    expect(new TextDecoder().decode(await range.bytes())).toBe(FORGED);
  });

  test("back-dates a version into its generation, with the service's help: an honest service and a reader who saw a newer one refuse [R6]", async () => {
    const dated = await backDate(versionOf("digested"), FORGED);
    expect(await readTrimmed(deceived(dated), digested)).toBe(FORGED);
    const headers = {
      authorization: `Bearer ${stack.owner.apiKey}`,
      "content-type": "application/octet-stream",
      "coffer-version": dated.file.shared?.version ?? "",
    };
    const sent = { method: "PUT", headers, body: Uint8Array.from(dated.bytes) };
    const answer = await fetch(`${stack.baseUrl}/api/files/${digested}/content`, sent);
    expect(answer.headers.get("x-error-code")).toBe("generation_moved");
    const lies = lyingLater(servingVersion(dated));
    const warm = stack.owner.another({ retry: { limit: 0 }, middleware: lies.middleware });
    await owner.files.replace(digested, { body: "newer" });
    expect(await readTrimmed(warm, digested)).toBe("newer");
    lies.isLying = true;
    await expect(readTrimmed(warm, digested)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("is refused by the service with its old key, and finds key servers closed when it comes without the vault key [R4 R11]", async () => {
    await expect(readTrimmed(former.another(), digested)).rejects.toMatchObject({ code: "invalid_credential" });
    const cold = stack.owner.another({ shared: { signer: former.signer } });
    await expect(readTrimmed(cold, undigested)).rejects.toMatchObject({ code: "not_a_member" });
  });
});

describe("before the vault is rotated, a removed member that the service helps", () => {
  test("finds out by guessing which name is looked for: the service names a key of its time for the folder [R12]", async () => {
    const asked: string[] = [];
    await lookFor("dismissals.txt", asked);
    const guesses = ["bonuses.txt", "dismissals.txt"].map((name) =>
      Buffer.from(nameIndex(kept.vault.key, null, name)).toString("hex"),
    );
    expect(asked).toEqual([guesses[1]]);
  });
});

describe("after the vault was rotated, a removed member", () => {
  beforeAll(async () => {
    const { effect, ...result } = await owner.vaults.rotate(vault.id);
    expect(result).toMatchObject({ generation: 3, floor: 3, failed: [] });
    effects["rotate"] = effect;
  });

  test("rewrites and back-dates nothing any more: a client that remembers nothing refuses both [R5 R6 R7 E4]", async () => {
    const forged = await forge(versionOf("undigested"), `${LONG}${FORGED}`);
    await expect(readTrimmed(deceived(forged), undigested)).rejects.toMatchObject({ code: "rolled_back" });
    const dated = await backDate(versionOf("digested"), FORGED);
    await expect(readTrimmed(deceived(dated), digested)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("opens what it copied, and nothing that the service serves now [R7 E2 E3 E4 E13 E14]", async () => {
    expect(await decrypted(versionOf("undigested"))).toBe(HONEST);
    await expect(decrypted(await keep(undigested))).rejects.toThrow();
    expect(await readTrimmed(stack.owner.another(), undigested)).toBe(HONEST);
  });

  test("whom the owner adds again reads everything again, and by leaving is where it was [R10 E6 E13]", async () => {
    const { text } = await owner.invites.create({ name: "again" });
    const { key } = await stack.owner.another({ credentials: undefined }).invites.redeem(text, former.signer);
    effects["add again"] = (await owner.vaults.members.add(vault.id, former.signer.chainAddress)).effect;
    const back = former.another({ credentials: { apiKey: key } });
    expect(await readTrimmed(back, undigested)).toBe(HONEST);
    const left = await back.vaults.leave(vault.id);
    effects["leave"] = left.effect;
    expect(left).toMatchObject({ outcome: "done", generation: 4 });
    // Who leaves is a removed member, by its own act: nothing of what comes after, nor a way back.
    const { file } = await owner.files.upload({ vaultId: vault.id, name: "after.txt", body: "after" });
    const cold = stack.owner.another({ shared: { signer: former.signer } });
    await expect(readTrimmed(cold, file.id)).rejects.toMatchObject({ code: "not_a_member" });
    const adding = former.another({ credentials: { apiKey: stack.owner.apiKey } }).vaults.members;
    await expect(adding.add(vault.id, former.signer.chainAddress)).rejects.toMatchObject({ code: "not_owner" });
    const { effect } = await owner.vaults.members.remove(vault.id, former.signer.chainAddress);
    effects["remove"] = effect;
  });
});

test("what adding, removing, revoking and rotating do and do not do is said in their results, and on the page in the same words [E0 E1]", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/threat-model.md"), "utf8");
  const words = page.replaceAll(/\s+/g, " ");
  expect(Object.keys(effects).sort()).toEqual(["add", "add again", "leave", "remove", "revoke", "rotate"]);
  for (const [act, effect] of Object.entries(effects)) expect([act, words.includes(effect)]).toEqual([act, true]);
});
