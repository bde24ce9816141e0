/** Versions of files in shared vaults: what members signed is listed, opened and restored, whatever the service says. */
import type { FileVersion as SaidVersion } from "@coffer/contract";
import { createClient, type Client, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingOfFiles } from "../kit/lying-service.ts";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
let client: Client;
let member: SharedPerson;
let vault: Vault;

beforeAll(async () => {
  ({ client } = stack.owner);
  member = await stack.invite("a member");
  vault = await client.vaults.create({ name: "versions", type: "shared" });
  await client.vaults.members.add(vault.id, member.signer.chainAddress);
});

const signed = ({ signer: { chainAddress } }: SharedPerson) => ({
  kind: "member",
  id: null,
  name: null,
  chainAddress,
  verified: true,
});

/** A file with that content in turn of the owner and the member, the oldest first. */
async function write(...contents: readonly string[]) {
  const [first = "", ...others] = contents;
  const input = { vaultId: vault.id, name: crypto.randomUUID(), body: first, contentType: "text/one" };
  const { file } = await client.files.upload(input);
  for (const [at, body] of others.entries())
    await [member.client, client][at % 2]?.files.replace(file.id, {
      vaultId: vault.id,
      body,
      contentType: "text/more",
    });
  const { versions } = await client.files.versions(file.id);
  return {
    ...file,
    versions,
    at: (number: number) => versions.find((each) => each.number === number)?.versionId ?? "",
  };
}

/** The owner's client in another process, which the service lies to about versions. */
const deceived = (change: (versions: SaidVersion[]) => SaidVersion[]) =>
  stack.owner.another({
    middleware: [
      lyingAt("files.versions", (said: { versions: SaidVersion[] }) => ({ ...said, versions: change(said.versions) })),
    ],
  });

describe("[D5-versions-shared] a shared vault's file", () => {
  test("shows its versions by their signers, and each opens whole and in part", async () => {
    const file = await write("one", "the second", "third");
    expect(
      file.versions.map(({ number, size, contentType, author, how }) => [number, size, contentType, author, how]),
    ).toEqual([
      [3, 5, "text/more", signed(stack.owner), "replace"],
      [2, 10, "text/more", signed(member), "replace"],
      [1, 3, "text/one", signed(stack.owner), "upload"],
    ]);
    for (const reader of [stack.owner.another(), member.client]) {
      expect(await read(reader, file.id, { versionId: file.at(2), vaultId: vault.id })).toBe("the second");
      expect(await read(reader, file.id, { versionId: file.at(1).toUpperCase() })).toBe("one");
      expect(await read(reader, file.id, { versionId: file.at(3) })).toBe("third");
      expect(await read(reader, file.id, { versionId: file.at(2), range: { offset: 4, length: 3 } })).toBe("sec");
    }
    const first = await client.files.versions(file.id, { limit: 1 });
    const { versions } = await stack.owner
      .another()
      .files.versions(file.id, { limit: 2, cursor: first.nextCursor ?? "" });
    expect(versions).toEqual(file.versions.slice(1));
    await expect(client.files.download(file.id, { versionId: crypto.randomUUID() })).rejects.toMatchObject({
      code: "not_found",
    });
    const keyOnly = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.owner.apiKey } });
    expect((await keyOnly.files.versions(file.id)).versions.map(({ author }) => author)).toEqual([null, null, null]);
  });

  test("restores one as a new version, which the restoring member signs; its name stays [M3]", async () => {
    const file = await write("one", "the second");
    await client.files.update(file.id, { name: `renamed ${file.name}` });
    const restored = await member.client.files.restoreVersion(file.id, file.at(1), { vaultId: vault.id });
    expect(restored).toMatchObject({ name: `renamed ${file.name}`, size: 3, contentType: "text/one" });
    expect(await read(client, file.id)).toBe("one");
    const { versions } = await client.files.versions(file.id);
    expect(versions.map(({ number, how, author }) => [number, how, author])).toEqual([
      [3, "restore", signed(member)],
      [2, "replace", signed(member)],
      [1, "upload", signed(stack.owner)],
    ]);
    const current = versions[0]?.versionId ?? "";
    expect(current).not.toBe(file.at(1));
    // The current one changes nothing.
    expect(await client.files.restoreVersion(file.id, current)).toEqual(await client.files.get(file.id));
    expect((await client.files.versions(file.id)).versions).toEqual(versions);
  });

  test("restores a content of many parts", async () => {
    const large = new Uint8Array(9 * 1024 * 1024).fill(7);
    const { file } = await client.files.upload({ vaultId: vault.id, name: "large", body: large });
    await client.files.replace(file.id, { body: "small" });
    await client.files.restoreVersion(file.id, file.versionId);
    expect(Buffer.compare(await (await client.files.download(file.id)).bytes(), large)).toBe(0);
    const { versions } = await client.files.versions(file.id);
    expect(versions.map(({ how, size }) => [how, size])).toEqual([
      ["restore", large.length],
      ["replace", 5],
      ["upload", large.length],
    ]);
  });

  test("gives a version up only with its owner's proof, which the owner's client makes", async () => {
    const file = await write("one", "two", "three");
    const keyOnly = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.owner.apiKey } });
    await expect(keyOnly.files.deleteVersion(file.id, file.at(2))).rejects.toMatchObject({
      code: "owner_proof_required",
    });
    await expect(member.client.files.deleteVersion(file.id, file.at(2))).rejects.toMatchObject({ code: "owner_only" });
    await client.files.deleteVersion(file.id, file.at(2));
    expect((await client.files.versions(file.id)).versions.map(({ number }) => number)).toEqual([3, 1]);
    // What is left still opens: it was signed since the last rotation.
    expect(await read(client, file.id, { versionId: file.at(1) })).toBe("one");
    await expect(keyOnly.vaults.update(vault.id, { keepVersionsDays: 7 })).rejects.toMatchObject({
      code: "owner_proof_required",
    });
    expect(await client.vaults.update(vault.id, { keepVersionsDays: 29 })).toMatchObject({ keepVersionsDays: 29 });
    expect(await keyOnly.vaults.update(vault.id, { keepVersionsDays: 30 })).toMatchObject({ keepVersionsDays: 30 });
  });
});

describe("[D5-versions-shared] a service that lies about versions", () => {
  test("is found out, row by row: other ids, numbers, order, authors, and versions of other files [S32]", async () => {
    const [file, foreign] = [await write("one", "two", "three", "four"), await write("foreign", "other")];
    const seen = async (change: (versions: SaidVersion[]) => SaidVersion[]) => {
      const { versions } = await deceived(change).files.versions(file.id);
      return versions.map(({ number, author, unreadable }) => unreadable ?? [number, author?.chainAddress]);
    };
    const [owner, other] = [stack.owner.signer.chainAddress, member.signer.chainAddress];
    const row = (versions: SaidVersion[], at: number, change: Partial<SaidVersion>) =>
      versions.map((version, place) => (place === at ? { ...version, ...change } : version));
    const author = { kind: "member", id: null, name: null, chainAddress: `0x${"9".repeat(64)}`, verified: true };
    const claimed = (versions: SaidVersion[]) =>
      versions.map((version, at) => ({ ...version, number: 70 + at, author, size: 1, contentType: "text/evil" }));
    expect(await seen(claimed)).toEqual([
      [4, other],
      [3, owner],
      [2, other],
      [1, owner],
    ]);
    const swapped = ([a, b, c, d]: SaidVersion[]) => [a, c, b, d] as SaidVersion[];
    expect(await seen(swapped)).toEqual([[4, other], [2, other], "damaged", [1, owner]]);
    const twice = (versions: SaidVersion[]) => row(versions, 2, versions[1] ?? {});
    expect(await seen(twice)).toEqual([[4, other], [3, owner], "damaged", [1, owner]]);
    const exchanged = (versions: SaidVersion[]) => row(versions, 1, { versionId: versions[2]?.versionId ?? "" });
    expect(await seen(exchanged)).toEqual([[4, other], "damaged", [2, other], [1, owner]]);
    const { shared } = (await said(foreign.id))[1] as SaidVersion;
    expect(await seen((versions) => row(versions, 2, { shared }))).toEqual([
      [4, other],
      [3, owner],
      "damaged",
      [1, owner],
    ]);
    expect(await seen((versions) => row(versions, 2, { shared: null }))).toMatchObject({ 2: "not_encrypted" });
    const opened = (change: (versions: SaidVersion[]) => SaidVersion[], versionId: string) =>
      read(deceived(change), file.id, { versionId });
    await expect(opened(exchanged, file.at(2))).rejects.toMatchObject({ code: "damaged" });
    await expect(opened(swapped, file.at(3))).rejects.toMatchObject({ code: "damaged" });
    const hidden = (versions: SaidVersion[]) => versions.filter(({ versionId }) => versionId !== file.at(2));
    await expect(opened(hidden, file.at(2))).rejects.toMatchObject({ code: "damaged" });
  });

  test("serves no other version's bytes under an id, and makes nobody restore them [S32]", async () => {
    const file = await write("one", "two", "3");
    const swapping = stack.owner.another({
      middleware: [
        (request, next, { endpointId }) =>
          endpointId === "files.content"
            ? next(new Request(request.url.replace(file.at(2), file.at(1)), request))
            : next(request),
      ],
    });
    await expect(read(swapping, file.id, { versionId: file.at(2) })).rejects.toMatchObject({ name: "VaultError" });
    const restoring = swapping.files.restoreVersion(file.id, file.at(2), { vaultId: vault.id });
    await expect(restoring).rejects.toMatchObject({ name: "VaultError" });
    expect((await client.files.versions(file.id)).versions).toHaveLength(3);
  });

  test("is refused when it answers an older version as the current one, also after that one was read on purpose [S32]", async () => {
    const file = await write("one", "two", "three");
    const [, older] = await said(file.id);
    const state = { isLying: false };
    const reader = stack.owner.another({
      middleware: [
        (request, next, context) =>
          state.isLying
            ? lyingOfFiles((shown) => ({ ...shown, versionId: older?.versionId ?? "", shared: older?.shared ?? null }))(
                request,
                next,
                context,
              )
            : next(request),
      ],
    });
    expect(await read(reader, file.id)).toBe("three");
    expect(await read(reader, file.id, { versionId: file.at(2) })).toBe("two");
    expect(await read(reader, file.id, { versionId: file.at(1) })).toBe("one");
    state.isLying = true;
    await expect(read(reader, file.id)).rejects.toMatchObject({ code: "rolled_back" });
    state.isLying = false;
    const hiding = stack.owner.another({
      middleware: [
        lyingAt("files.versions", ({ versions: [, ...rest] }: { versions: SaidVersion[] }) => ({
          versions: rest,
          nextCursor: null,
        })),
      ],
    });
    expect(await read(hiding, file.id)).toBe("three");
    await expect(hiding.files.versions(file.id)).rejects.toMatchObject({ code: "rolled_back" });
    await expect(read(hiding, file.id, { versionId: file.at(1) })).rejects.toMatchObject({ code: "rolled_back" });
  });
});

test("[D5-versions-shared] after a removal and a rotation kept versions open for owner and members, and for no removed member [S32 E14]", async () => {
  const [leaving, staying] = [await stack.invite("leaving"), await stack.invite("staying")];
  const other = await client.vaults.create({ name: "rotated", type: "shared" });
  for (const { signer } of [leaving, staying]) await client.vaults.members.add(other.id, signer.chainAddress);
  const there = { vaultId: other.id };
  const { file } = await leaving.client.files.upload({ ...there, name: "a", body: "theirs" });
  await client.files.replace(file.id, { ...there, body: "mine" });
  await leaving.client.files.replace(file.id, { ...there, body: "theirs again" });
  await client.vaults.members.remove(other.id, leaving.signer.chainAddress);
  await client.vaults.rotate(other.id);
  for (const reader of [stack.owner.another(), staying.client]) {
    const { versions } = await reader.files.versions(file.id);
    expect(versions.map(({ number, author }) => [number, author])).toEqual([
      [4, signed(stack.owner)],
      [3, signed(leaving)],
      [2, signed(stack.owner)],
      [1, signed(leaving)],
    ]);
    const contents = versions.map(({ versionId }) => read(reader, file.id, { versionId }));
    expect(await Promise.all(contents)).toEqual(["theirs again", "theirs again", "mine", "theirs"]);
  }
  const gone = leaving.another();
  for (const { author, unreadable } of (await gone.files.versions(file.id)).versions)
    expect([author, unreadable]).toEqual([null, "not_a_member"]);
  for (const options of [{}, { ciphertext: true }])
    await expect(read(gone, file.id, { versionId: file.versionId, ...options })).rejects.toMatchObject({
      code: "not_a_member",
    });
  await staying.client.files.restoreVersion(file.id, file.versionId, there);
  expect(await read(client, file.id)).toBe("theirs");
  // What a removed member signs later about its own time has no newer version that names it.
  const { versions } = await client.files.versions(file.id);
  await client.files.deleteVersion(file.id, versions[2]?.versionId ?? "");
  const left = (await client.files.versions(file.id)).versions;
  expect(left.map(({ number, unreadable }) => unreadable ?? number)).toEqual([5, 4, "rolled_back", "rolled_back"]);
  await expect(read(client, file.id, { versionId: file.versionId })).rejects.toMatchObject({ code: "rolled_back" });
});

/** What the service says of the file's versions. */
async function said(fileId: string): Promise<SaidVersion[]> {
  const headers = { authorization: `Bearer ${stack.owner.apiKey}` };
  const answer = await fetch(`${stack.baseUrl}/api/files/${fileId}/versions`, { headers });
  return ((await answer.json()) as { versions: SaidVersion[] }).versions;
}
