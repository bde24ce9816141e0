/** Rotation on a real stack: everything under new keys, readers all the while, and a floor in the end. */
import { setTimeout } from "node:timers/promises";
import { vaultKeysGroup } from "@coffer/contract";
import { parseEntryStatement, parseRecord, parseVersionStatement } from "@coffer/crypto";
import type { Middleware } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { raiseGeneration, read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import { keepVersion, onWire, servingVersion, spoilingContent } from "../kit/lying-service.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
let owner: SharedPerson;
let member: SharedPerson;

beforeAll(async () => {
  owner = stack.owner;
  member = await stack.invite("rotating");
});

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A vault with files, folders and trash, whose member was removed afterwards. */
async function openOld(name: string, plainNames = false) {
  const { client } = owner;
  const vault = await client.vaults.create({ name, type: "shared", plainNames });
  await client.vaults.members.add(vault.id, member.signer.chainAddress);
  const vaultId = vault.id;
  const folder = await client.folders.create({ name: "reports", vaultId });
  const inner = await client.folders.create({ name: "inner", vaultId, parentId: folder.id });
  // Names of their own where the service may see them: those of other vaults must be nowhere in the clear.
  const ending = plainNames ? "text" : "txt";
  const put = async (title: string, folderId?: string) => {
    const body = `content of ${title}.${ending}`;
    return (await client.files.upload({ vaultId, name: `${title}.${ending}`, body, ...(folderId && { folderId }) }))
      .file;
  };
  const files = [await put("top"), await put("in", folder.id), await put("deep", inner.id)];
  const big = (
    await member.client.files.upload({ vaultId, name: "big.bin", body: pattern(3 * 1024 * 1024), folderId: folder.id })
  ).file;
  const padded = (
    await client.files.upload(
      { vaultId, name: `padded.${ending}`, body: `content of padded.${ending}` },
      { padded: true },
    )
  ).file;
  const trashedFolder = await client.folders.create({ name: "old", vaultId });
  const below = await put("below", trashedFolder.id);
  await client.folders.delete(trashedFolder.id);
  const trashed = await put("trashed");
  await client.files.delete(trashed.id);
  await client.vaults.members.remove(vault.id, member.signer.chainAddress);
  return { vault, folder, inner, files: [...files, padded], big, trashed, trashedFolder, below };
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
}

/** Generations that the service's statements name. */
async function generationsOf(person: SharedPerson, vaultId: string): Promise<Set<number>> {
  const found = new Set<number>();
  for (const trashed of [false, true]) {
    for await (const file of person.client.files.list({ vaultId, trashed })) {
      const { shared } = onWire(file);
      found.add(generationAt(shared?.version, 148));
      found.add(generationAt(shared?.entry, 89));
    }
    for await (const folder of person.client.folders.list({ vaultId, trashed }))
      found.add(generationAt(onWire(folder).shared?.entry, 89));
  }
  return found;
}

function generationAt(statement: string | undefined, offset: number): number {
  return Number(Buffer.from(statement ?? "", "base64").readBigUInt64BE(offset));
}

describe("vaults.rotate", () => {
  test.each([false, true])(
    "encrypts versions, names and the trash again while readers go on; plain names: %s",
    async (plainNames) => {
      const old = await openOld(`rotate-${String(plainNames)}`, plainNames);
      const vaultId = old.vault.id;
      expect(await generationsOf(owner, vaultId)).toEqual(new Set([1]));
      const before = await owner.client.files.get(old.big.id);
      const stopped = { now: false };
      let reads = 0;
      const reader = owner.another();
      const reading = (async () => {
        while (!stopped.now) {
          for (const { id, name } of old.files) {
            expect(text(await (await reader.files.download(id)).bytes())).toBe(`content of ${name}`);
            reads += 1;
          }
        }
      })();
      const seen: string[] = [];
      const result = await owner.client.vaults.rotate(vaultId, {
        onProgress: ({ done, total }) => void seen.push(`${String(done)}/${String(total)}`),
      });
      stopped.now = true;
      await reading;
      expect(reads).toBeGreaterThan(0);
      expect(result).toMatchObject({ files: 7, folders: 3, generation: 3, floor: 3, failed: [] });
      expect(seen.at(0)).toBe("0/10");
      expect(seen.at(-1)).toBe("10/10");
      expect(await generationsOf(owner, vaultId)).toEqual(new Set([3]));
      for (const { id, name } of old.files) expect(await read(owner.client, id)).toBe(`content of ${name}`);
      const big = await (await owner.another().files.download(old.big.id)).bytes();
      expect(Buffer.compare(big, pattern(3 * 1024 * 1024))).toBe(0);
      // What was replaced is kept, for who is in the middle of it, too.
      const kept = await fetch(`${stack.baseUrl}/api/files/${old.big.id}/content?versionId=${before.versionId}`, {
        headers: { authorization: `Bearer ${owner.apiKey}` },
      });
      expect([kept.status, (await kept.arrayBuffer()).byteLength]).toEqual([200, before.storedSize]);
      // The trash comes back as it was.
      expect((await owner.client.files.restore(old.trashed.id)).trashedAt).toBeNull();
      expect(await read(owner.client, old.trashed.id)).toBe(`content of ${old.trashed.name}`);
      expect(await owner.client.folders.restore(old.trashedFolder.id)).toMatchObject({ name: "old", trashedAt: null });
      expect(await read(owner.client, old.below.id)).toBe(`content of ${old.below.name}`);
      // What is whole is rotated again, in a generation of its own.
      const again = await owner.client.vaults.rotate(vaultId);
      expect(again).toMatchObject({ files: 7, folders: 3, generation: 4, floor: 4, failed: [] });
    },
  );

  test("is taken up where it was cut off, and everything stays readable in between [E10]", async () => {
    const old = await openOld("cut-off");
    const vaultId = old.vault.id;
    let calls = 0;
    for (let most = 8; ; most += 9) {
      calls = 0;
      const cut = owner.another({
        retry: { limit: 0 },
        middleware: [
          async (request, next) => {
            calls += 1;
            if (calls > most) throw new TypeError("cut off");
            const answer = await next(request);
            // The last one is done, and its answer is lost.
            if (calls === most) throw new TypeError("cut off");
            return answer;
          },
        ],
      });
      const result = await cut.vaults.rotate(vaultId).catch(() => null);
      const reader = owner.another();
      for (const { id, name } of old.files)
        expect(text(await (await reader.files.download(id)).bytes())).toBe(`content of ${name}`);
      if (result === null) continue;
      expect(result).toMatchObject({ generation: 3, floor: 3, failed: [] });
      break;
    }
    expect(await generationsOf(owner, vaultId)).toEqual(new Set([3]));
  });

  test("is not undermined by an upload that began before it: nothing lands below the floor, and no reader takes it [E12]", async () => {
    const vault = await owner.client.vaults.create({ name: "late upload", type: "shared" });
    const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "old", body: "of before" });
    const before = await keepVersion(stack, file.id);
    const refused: (string | null)[] = [];
    const late = owner.another({
      middleware: [
        async (request, next, { endpointId }) => {
          const isLast =
            endpointId === "uploads.append" && refused.length === 0 && Number(request.headers.get("upload-offset")) > 0;
          if (isLast) {
            await raiseGeneration(owner.client, vault.id);
            expect(await owner.client.vaults.rotate(vault.id)).toMatchObject({ floor: 3, failed: [] });
          }
          const answer = await next(request);
          if (isLast) refused.push(answer.headers.get("x-error-code"));
          return answer;
        },
      ],
    });
    const body = pattern(300 * 1024);
    const done = await late.files.upload({ vaultId: vault.id, name: "late", body }, { partBytes: 256 * 1024 });
    expect(refused).toEqual(["generation_moved"]);
    expect(await generationsOf(owner, vault.id)).toEqual(new Set([3]));
    expect(Buffer.compare(await (await owner.another().files.download(done.file.id)).bytes(), body)).toBe(0);
    // A service that shows what it had: refused by who remembers nothing, too.
    const lied = owner.another({ middleware: [servingVersion(before)] });
    const reading = lied.files.download(file.id).then((download) => download.bytes());
    await expect(reading).rejects.toMatchObject({ name: "VaultError", code: "rolled_back" });
  });

  test("takes back nobody's newer version: what it has read follows that version alone, whatever the service answers", async () => {
    const vault = await owner.client.vaults.create({ name: "newer", type: "shared" });
    const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "note", body: "old" });
    await raiseGeneration(owner.client, vault.id);
    let written = false;
    // It lets the rotation go on with the older version, and forgets its condition.
    const hostile: Middleware = async (request, next, { endpointId }) => {
      if (endpointId !== "files.replace") return next(request);
      if (!written) await owner.client.files.replace(file.id, { body: "newer" });
      written = true;
      request.headers.delete("if-match");
      return next(request);
    };
    await owner.another({ middleware: [hostile] }).vaults.rotate(vault.id);
    expect(written).toBe(true);
    expect(await read(owner.client, file.id)).toBe("newer");
  });

  test("covers what the service lists: what it withholds is below the floor afterwards, and nobody takes it [E12]", async () => {
    const vault = await owner.client.vaults.create({ name: "withheld", type: "shared" });
    const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "hidden", body: "hidden" });
    await raiseGeneration(owner.client, vault.id);
    const hiding: Middleware = async (request, next, { endpointId }) =>
      endpointId === "files.list" ? Response.json({ files: [], nextCursor: null }) : next(request);
    const result = await owner.another({ middleware: [hiding] }).vaults.rotate(vault.id);
    expect(result).toMatchObject({ files: 0, floor: 3, failed: [] });
    await expect(owner.another().files.download(file.id)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("sends nothing any more when it has failed", async () => {
    const vault = await owner.client.vaults.create({ name: "half listed", type: "shared" });
    await owner.client.files.upload({ vaultId: vault.id, name: "one.txt", body: "one" });
    await raiseGeneration(owner.client, vault.id);
    let [lists, hasEnded] = [0, false];
    const late: string[] = [];
    const failing: Middleware = async (request, next, { endpointId }) => {
      if (hasEnded) late.push(endpointId);
      // The list of the trash, when what is outdated is looked for the second time: a file is on its way then.
      if (request.url.includes("trashed=true") && endpointId === "files.list" && ++lists === 2)
        return new Response("", { status: 500 });
      if (endpointId === "files.content") await setTimeout(200);
      return next(request);
    };
    const rotating = owner.another({ middleware: [failing], retry: { limit: 0 } });
    await expect(rotating.vaults.rotate(vault.id)).rejects.toMatchObject({ status: 500 });
    hasEnded = true;
    await setTimeout(500);
    expect(late).toEqual([]);
  });

  test("is done by members as far as they reach, and only the owner raises the floor", async () => {
    const old = await openOld("by-member");
    const helper = await stack.invite("helper");
    await owner.client.vaults.members.add(old.vault.id, helper.signer.chainAddress);
    const byMember = await helper.client.vaults.rotate(old.vault.id);
    expect(byMember).toMatchObject({ files: 5, floor: 1 });
    expect(new Set(byMember.failed.map(({ code }) => code))).toEqual(new Set(["trashed"]));
    const byOwner = await owner.client.vaults.rotate(old.vault.id);
    // The keys of a member's rotation still lead to those of before: the owner begins anew.
    expect(byOwner).toMatchObject({ files: 7, folders: 3, floor: 3, failed: [] });
  });

  test("names what cannot be read, goes on with the rest, and leaves the floor [E5 E10]", async () => {
    const old = await openOld("damaged");
    const [first] = old.files;
    const hostile = owner.another({
      middleware: [spoilingContent((body) => body.with(-1, (body.at(-1) ?? 0) ^ 1), first?.id)],
    });
    const result = await hostile.vaults.rotate(old.vault.id);
    expect(result).toMatchObject({ files: 6, floor: 1, failed: [{ kind: "file", id: first?.id, code: "damaged" }] });
    expect(await owner.client.vaults.rotate(old.vault.id)).toMatchObject({ files: 1, floor: 3, failed: [] });
    expect(await read(owner.client, first?.id ?? "")).toBe("content of top.txt");
  });

  test("writes contents and names under no key that another member has made", async () => {
    const { client } = owner;
    const { id: vaultId } = await client.vaults.create({ name: "own keys", type: "shared" });
    const old = await client.files.upload({ vaultId, name: "old.txt", body: "old" });
    const folder = await client.folders.create({ vaultId, name: "old" });
    const helper = await stack.invite("own keys");
    await client.vaults.members.add(vaultId, helper.signer.chainAddress);
    await raiseGeneration(client, vaultId);
    // The owner's key is the current one of the new generation.
    await client.files.upload({ vaultId, folderId: folder.id, name: "new.txt", body: "new" });
    await helper.client.vaults.rotate(vaultId);
    const { keys } = await client.call(vaultKeysGroup.list, { params: { vaultId } });
    const makers = new Map(
      keys.map(({ keyId, record }) => [keyId, parseRecord(Uint8Array.from(Buffer.from(record, "base64"))).maker]),
    );
    const file = onWire(await client.files.get(old.file.id)).shared;
    const named = onWire(await client.folders.get(folder.id)).shared;
    const bytes = (statement = ""): Uint8Array => Uint8Array.from(Buffer.from(statement, "base64"));
    const keyIds = [
      parseVersionStatement(bytes(file?.version)).keyId,
      parseEntryStatement(bytes(file?.entry)).keyId,
      parseEntryStatement(bytes(named?.entry)).keyId,
    ];
    const address = helper.signer.chainAddress.slice(2);
    for (const keyId of keyIds)
      expect(Buffer.from(makers.get(Buffer.from(keyId).toString("hex")) ?? []).toString("hex")).toBe(address);
  });
});
