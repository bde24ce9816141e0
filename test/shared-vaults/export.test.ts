/** Exports of shared vaults: they open without the service, and whoever changes one is found out. */
import { createHash, randomUUID } from "node:crypto";
import { appendFile, cp, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExportStatement, signExportStatement } from "@coffer/crypto";
import { exportVault, openExport, type ExportProgress, type ExportResult, type OpenedExport } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { allOf } from "../kit/bytes.ts";
import { edit, readAll, tampered, unsigned } from "../kit/changed-export.ts";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

/** Of the owner's network configuration. */
const AGGREGATOR_KEY = "enoki_private_fedcba9876543210";

const stack = sharedStack();
let member: SharedPerson;
const place = makeDirectory();
let bundle: string;
let vaultId: string;
let fileIds: string[];
let exported: ExportResult;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const NAME = "../../etc/passwd";

beforeAll(async () => {
  bundle = join(place, "bundle");
  const { client } = stack.owner;
  member = await stack.invite("reader");
  const vault = await client.vaults.create({ name: "exported", type: "shared" });
  vaultId = vault.id;
  await client.vaults.members.add(vaultId, member.signer.chainAddress);
  const folder = await client.folders.create({ name: "reports", vaultId });
  const put = async (name: string, folderId?: string) =>
    (await client.files.upload({ vaultId, name, body: `content of ${name}`, ...(folderId && { folderId }) })).file.id;
  fileIds = [await put("one.txt"), await put("..passwd", folder.id), await put("trashed.txt")];
  await client.files.delete(fileIds[2] ?? "");
  await member.client.files.upload({ vaultId, name: "by-member.bin", body: new Uint8Array(3_000_000).fill(7) });
  const [independent, committee] = stack.network.keyServerSets;
  const named = committee!.servers.map((server) => ({ ...server, apiKeyName: "X-API-Key", apiKey: AGGREGATOR_KEY }));
  const network = { ...stack.network, keyServerSets: [independent!, { ...committee!, servers: named }] };
  exported = await exportVault(stack.owner.another({ shared: { network } }), vaultId, bundle, { trash: true });
});

async function openAs(person: SharedPerson, directory = bundle, more = {}): Promise<OpenedExport> {
  return openExport(directory, { signer: person.signer, network: stack.network, ...more });
}

const SIGNED_FILES = ["manifest.json", "manifest.statement"] as const;

describe("an export", () => {
  test("opens with chain and key servers alone, names and trash included, and verifies whole [X1]", async () => {
    const opened = await openAs(member);
    const files = await allOf(opened.files());
    expect(files.map(({ name }) => name).sort()).toEqual(["..passwd", "by-member.bin", "one.txt", "trashed.txt"]);
    expect(files.find(({ name }) => name === "trashed.txt")?.trashedAt).not.toBeNull();
    expect((await allOf(opened.folders())).map(({ name }) => name)).toEqual(["reports"]);
    expect(text(await readAll(opened, fileIds[0] ?? ""))).toBe("content of one.txt");
    expect(text(await readAll(opened, fileIds[1] ?? ""))).toBe("content of ..passwd");
    expect(await opened.verify()).toEqual([]);
    expect(NAME).toContain(".."); // Such a name is refused before it is signed:
    await expect(stack.owner.client.files.upload({ vaultId, name: NAME, body: "x" })).rejects.toThrow();
  });

  test("that is closed reads nothing any more, also where it had begun, and says so", async () => {
    const opened = await openAs(member);
    const reading = opened.read(fileIds[0] ?? "");
    await reading.next();
    expect(await allOf(opened.folders())).toHaveLength(1);
    opened.close();
    opened.close();
    await expect(allOf(opened.files())).rejects.toMatchObject({ code: "keys_forgotten", retryable: true });
    await expect(opened.verify()).rejects.toMatchObject({ code: "keys_forgotten" });
    await reading.return();
    const unread = await openAs(member);
    unread.close();
    await expect(readAll(unread, fileIds[0] ?? "")).rejects.toMatchObject({ code: "keys_forgotten" });
  });

  test("leaves out the trash unless asked, and says its size before it fetches anything", async () => {
    const directory = makeDirectory();
    const seen: (readonly [number, number])[] = [];
    const onProgress = ({ bytes, totalBytes }: ExportProgress) => void seen.push([bytes, totalBytes]);
    const result = await exportVault(stack.owner.client, vaultId, directory, { onProgress });
    expect(result).toMatchObject({ files: 3, folders: 1, skipped: 0, totalFiles: 3 });
    expect(seen[0]).toEqual([0, result.totalBytes]);
    expect(result.bytes).toBe(result.totalBytes);
    const files = await allOf((await openAs(member, directory)).files());
    expect(files.map(({ name }) => name).sort()).toEqual(["..passwd", "by-member.bin", "one.txt"]);
    const withTrash = await exportVault(stack.owner.client, vaultId, directory, { trash: true });
    expect([result.trashed, withTrash]).toEqual([0, expect.objectContaining({ files: 4, totalFiles: 4, trashed: 1 })]);
    // Up to date means without it again.
    expect(await exportVault(stack.owner.client, vaultId, directory)).toMatchObject({ files: 3, bytes: 0 });
    expect(await readdir(join(directory, "content"))).toHaveLength(3);
  });

  test("says who exported it and when, signed by a key that the vault names [X6]", async () => {
    expect(exported).toMatchObject({ files: 4, folders: 1, records: 1, signedBy: stack.owner.signer.chainAddress });
    const opened = await openAs(member);
    expect(opened.exportedBy).toBe(stack.owner.signer.chainAddress);
    const manifest = JSON.parse(await readFile(join(bundle, "manifest.json"), "utf8")) as { createdAt: number };
    expect(opened.createdAt).toBe(manifest.createdAt);
    const statement = parseExportStatement(await readFile(join(bundle, "manifest.statement")));
    expect(statement).toMatchObject({ generation: 1n, time: manifest.createdAt });
    expect(Buffer.from(statement.manifestDigest)).toEqual(
      createHash("sha256")
        .update(await readFile(join(bundle, "manifest.json")))
        .digest(),
    );
  });

  test("of a member without a signing key is unsigned, says so, and opens when its reader takes that [X6]", async () => {
    const reader = await stack.signUp("keyless");
    await stack.owner.client.vaults.members.add(vaultId, reader.signer.chainAddress);
    const directory = makeDirectory();
    expect(await exportVault(reader.client, vaultId, directory, { trash: true })).toMatchObject({
      signedBy: null,
      skipped: 1,
    });
    const failure: unknown = await openAs(reader, directory).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "export_unsigned" });
    expect((failure as { nextStep: string }).nextStep).toContain("allowUnsigned");
    const opened = await openAs(reader, directory, { allowUnsigned: true });
    expect([opened.exportedBy, opened.exporterIsMember, await opened.verify()]).toEqual([null, null, []]);
    // The same member is told how to become able to sign.
    const write: unknown = await reader.client.files
      .upload({ vaultId, name: "mine", body: "x" })
      .catch((error: unknown) => error);
    expect(write).toMatchObject({ code: "signing_key_missing" });
    expect((write as { nextStep: string }).nextStep).toContain(`vaults.setSigningKey("${vaultId}")`);
    await reader.client.vaults.setSigningKey(vaultId);
    expect((await exportVault(reader.client, vaultId, directory)).signedBy).toBe(reader.signer.chainAddress);
    expect((await openAs(reader, directory)).exportedBy).toBe(reader.signer.chainAddress);
  });

  test("holds ids and ciphertext alone: no name, no content, no credential [X3]", async () => {
    for (const entry of await readdir(bundle, { recursive: true, withFileTypes: true })) {
      expect(entry.name).toMatch(
        /^(records|folders|files|content|manifest\.(json|statement)|[0-9a-f-]+\.(record|json|file))$/,
      );
      if (!entry.isFile()) continue;
      const content = await readFile(join(entry.parentPath, entry.name));
      const { apiKey, privateKey } = stack.owner;
      for (const secret of ["one.txt", "passwd", "reports", "content of", apiKey, privateKey, AGGREGATOR_KEY])
        expect(content.includes(secret), `${entry.name}: ${secret}`).toBe(false);
    }
  });

  test("is brought up to date, and taken up after a cut, without fetching again what is there [X5]", async () => {
    const { client } = stack.owner;
    const directory = await tampered(bundle);
    let contents = 0;
    const cut = stack.owner.another({
      retry: { limit: 0 },
      middleware: [
        (request, next, { endpointId }) => {
          if (endpointId === "files.content" && ++contents > 1) throw new TypeError("cut off");
          return next(request);
        },
      ],
    });
    const added = await Promise.all(
      ["new-1", "new-2"].map(async (name) => (await client.files.upload({ vaultId, name, body: name })).file.id),
    );
    await expect(exportVault(cut, vaultId, directory, { trash: true })).rejects.toThrow();
    await expect(openAs(member, directory)).rejects.toMatchObject({ code: "damaged" });
    contents = 0;
    expect(await exportVault(cut, vaultId, directory, { trash: true })).toMatchObject({
      files: 6,
      folders: 1,
      skipped: 0,
    });
    expect(contents).toBe(1);
    const opened = await openAs(member, directory);
    expect(text(await readAll(opened, added[0] ?? ""))).toBe("new-1");
    await client.files.replace(added[0] ?? "", { body: "changed" });
    await client.files.delete(added[1] ?? "", { permanent: true });
    const older = makeDirectory();
    await cp(directory, older, { recursive: true });
    expect(await exportVault(client, vaultId, directory, { trash: true })).toMatchObject({ files: 5 });
    expect(text(await readAll(await openAs(member, directory), added[0] ?? ""))).toBe("changed");
    expect((await readdir(join(directory, "content"))).sort()).toEqual(
      (await readdir(join(directory, "files"))).map((name) => name.replace(".json", ".file")).sort(),
    );
    // An older manifest over newer files, and an older file in a newer export.
    const mixed = makeDirectory();
    await cp(directory, mixed, { recursive: true });
    for (const name of SIGNED_FILES) await cp(join(older, name), join(mixed, name));
    await expect(openAs(member, mixed)).rejects.toMatchObject({ code: "damaged" });
    for (const name of SIGNED_FILES) await cp(join(directory, name), join(mixed, name));
    await openAs(member, mixed);
    for (const name of [`files/${added[0] ?? ""}.json`, `content/${added[0] ?? ""}.file`])
      await cp(join(older, name), join(mixed, name));
    await expect(openAs(member, mixed)).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("a changed export is refused", () => {
  const fileOf = (directory: string, at = 0): string => join(directory, "files", `${fileIds[at] ?? ""}.json`);
  const contentOf = (directory: string, at = 0): string => join(directory, "content", `${fileIds[at] ?? ""}.file`);
  const flipped = (base64: string, at: number): string => {
    const raw = Buffer.from(base64, "base64");
    raw[at] = (raw[at] ?? 0) ^ 1;
    return raw.toString("base64");
  };

  test.each([
    ["without a manifest", (d: string) => unlink(join(d, "manifest.json"))],
    ["with a file taken away", async (d: string) => unlink(fileOf(d))],
    ["with a file added", (d: string) => cp(fileOf(d), join(d, "files", "00000000-0000-4000-8000-000000000000.json"))],
    ["with a content taken away", (d: string) => unlink(contentOf(d))],
    ["with a content added", (d: string) => cp(contentOf(d), join(d, "content", `${randomUUID()}.file`))],
    ["with something else added", (d: string) => cp(fileOf(d), join(d, "files", "notes.txt"))],
    ["with a longer manifest", (d: string) => appendFile(join(d, "manifest.json"), "\n")],
    ["with a longer statement", (d: string) => appendFile(join(d, "manifest.statement"), "\n")],
  ])("%s", async (_, change) => {
    await expect(openAs(member, await tampered(bundle, change))).rejects.toMatchObject({ code: "damaged" });
  });

  test.each([
    ["another chain", { network: "chainId", value: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S" }, {}],
    ["another vault than the caller knows", null, { vaultObjectId: `0x${"ab".repeat(32)}` }],
  ])("of %s", async (_, other, more) => {
    const directory = await tampered(bundle, (d) =>
      edit(join(d, "manifest.json"), (json) => {
        if (other !== null) Object.assign(json["network"] as object, { [other.network]: other.value });
      }),
    );
    await expect(openAs(member, directory, more)).rejects.toMatchObject({ code: "vault_changed" });
  });

  test("by anybody who cannot sign: a file left out, another time, another vault's manifest, a stripped signature [X5]", async () => {
    const left = await tampered(bundle, async (d) => {
      for (const path of [fileOf(d), contentOf(d)]) await unlink(path);
    });
    const statement = await readFile(join(left, "manifest.statement"));
    await unsigned(left);
    await expect(openAs(member, left)).rejects.toMatchObject({ code: "export_unsigned" });
    await writeFile(join(left, "manifest.statement"), statement);
    await expect(openAs(member, left)).rejects.toMatchObject({ code: "damaged", step: "export" });
    const later = await tampered(bundle, (d) =>
      edit(join(d, "manifest.json"), (json) => Object.assign(json, { createdAt: 1 })),
    );
    await expect(openAs(member, later)).rejects.toMatchObject({ code: "damaged", step: "export" });
    const { client } = stack.owner;
    const other = await client.vaults.create({ name: "another", type: "shared" });
    const others = makeDirectory();
    await exportVault(client, other.id, others);
    const swapped = await tampered(bundle, async (d) => {
      for (const name of SIGNED_FILES) await cp(join(others, name), join(d, name));
    });
    await expect(openAs(stack.owner, swapped)).rejects.toMatchObject({ code: "damaged" });
    const ours = (await client.vaults.get(vaultId)).chainObjectId;
    await expect(openAs(stack.owner, swapped, { vaultObjectId: ours })).rejects.toMatchObject({
      code: "vault_changed",
    });
    const borrowed = await tampered(bundle, (d) =>
      cp(join(others, "manifest.statement"), join(d, "manifest.statement")),
    );
    await expect(openAs(member, borrowed)).rejects.toMatchObject({ code: "vault_changed", step: "pins" });
  });

  test("made to look newer than the chain", async () => {
    const directory = await tampered(bundle, (d) =>
      edit(join(d, "manifest.json"), (json) => Object.assign(json["vault"] as object, { generation: "99" })),
    );
    await expect(openAs(member, directory)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("in any statement, name, record or byte, at its step [X2]", async () => {
    const shared = (json: Record<string, unknown>) => json["shared"] as Record<string, string>;
    const changes: Record<string, [step: string, change: (directory: string) => Promise<void>]> = {
      "version statement": [
        "statement",
        (d) => edit(fileOf(d), (json) => (shared(json)["version"] = flipped(shared(json)["version"] ?? "", 300))),
      ],
      "entry statement": [
        "entry",
        (d) => edit(fileOf(d), (json) => (shared(json)["entry"] = flipped(shared(json)["entry"] ?? "", 220))),
      ],
      metadata: [
        "metadata",
        (d) => edit(fileOf(d), (json) => (shared(json)["metadata"] = flipped(shared(json)["metadata"] ?? "", 90))),
      ],
      "another file's statements": [
        "ids",
        async (d) => {
          const other = JSON.parse(await readFile(fileOf(d, 1), "utf8")) as Record<string, unknown>;
          await edit(fileOf(d), (json) => Object.assign(json, { shared: other["shared"] }));
        },
      ],
      "a byte of the content": [
        "digest",
        async (d) => {
          const path = contentOf(d);
          const raw = await readFile(path);
          raw[raw.length - 20] = (raw.at(-20) ?? 0) ^ 1;
          await writeFile(path, raw);
        },
      ],
      "a byte of the header": [
        "start",
        async (d) => {
          const path = contentOf(d);
          const raw = await readFile(path);
          raw[60] = (raw[60] ?? 0) ^ 1;
          await writeFile(path, raw);
        },
      ],
      "a shorter content": [
        "length",
        async (d) => {
          const path = contentOf(d);
          await writeFile(path, (await readFile(path)).subarray(0, -3));
        },
      ],
      "another record": [
        "record",
        async (d) => {
          const [name = ""] = await readdir(join(d, "records"));
          const raw = await readFile(join(d, "records", name));
          raw[50] = (raw[50] ?? 0) ^ 1;
          await writeFile(join(d, "records", name), raw);
        },
      ],
    };
    for (const [what, [step, change]] of Object.entries(changes)) {
      const directory = await tampered(bundle, change);
      const isOpened = await openAs(member, directory).then(
        () => true,
        (error: unknown) => (expect(error, what).toMatchObject({ code: "damaged" }), false),
      );
      // Contents are looked at when they are read, everything else at once.
      expect(isOpened, what).toBe(/byte of|shorter/.test(what));
      const opened = await openAs(member, await unsigned(directory), { allowUnsigned: true });
      const problems = await opened.verify();
      expect(
        problems.find(({ id }) => id === fileIds[0]),
        what,
      ).toMatchObject({ code: "damaged", step });
    }
  });

  test("while it is open, too: what is read is what was checked [X7]", async () => {
    const id = fileIds[0] ?? "";
    const [folder = ""] = (await readdir(join(bundle, "folders"))).map((name) => name.replace(".json", ""));
    const swap = (path: string, field: string, value: unknown) => (d: string) =>
      edit(join(d, path), (json) => Object.assign(json, { [field]: value }));
    const later = "2030-01-01T00:00:00.000Z";
    const changes: Record<string, [kind: "file" | "folder", change: (directory: string) => Promise<void>]> = {
      "a time of a file": ["file", swap(`files/${id}.json`, "updatedAt", later)],
      "the digest of a content": ["file", swap(`files/${id}.json`, "sha256", "0".repeat(64))],
      "white space": ["file", (d) => appendFile(fileOf(d), "\n")],
      "another file under its id": ["file", (d) => cp(fileOf(d, 1), fileOf(d))],
      "a file taken away": ["file", (d) => unlink(fileOf(d))],
      "a folder put into the trash": ["folder", swap(`folders/${folder}.json`, "trashedAt", later)],
      "a folder taken away": ["folder", (d) => unlink(join(d, "folders", `${folder}.json`))],
    };
    for (const [what, [kind, change]] of Object.entries(changes)) {
      const directory = await tampered(bundle);
      const opened = await openAs(member, directory);
      if (kind === "file") expect(text(await readAll(opened, id)), what).toBe("content of one.txt");
      await change(directory);
      const items: AsyncIterable<unknown> = kind === "file" ? opened.files() : opened.folders();
      await expect(allOf(items), what).rejects.toMatchObject({ code: "damaged" });
      if (kind === "file") await expect(readAll(opened, id), what).rejects.toMatchObject({ code: "damaged" });
      const problem = { kind, id: kind === "file" ? id : folder, code: "damaged" };
      expect(await opened.verify(), what).toEqual([expect.objectContaining(problem)]);
    }
    // What came afterwards is none of it.
    const directory = await tampered(bundle);
    const opened = await openAs(member, directory);
    const added = randomUUID();
    await cp(fileOf(directory), join(directory, "files", `${added}.json`));
    await cp(contentOf(directory), join(directory, "content", `${added}.file`));
    await writeFile(join(directory, "records", `${"ab".repeat(32)}.record`), "nothing");
    expect((await allOf(opened.files())).map((file) => file.id)).not.toContain(added);
    await expect(readAll(opened, added)).rejects.toMatchObject({ code: "damaged" });
    expect(await opened.verify()).toEqual([]);
  });

  test("once its generations are below the floor, unless the caller takes them [R7 X4]", async () => {
    const old = await tampered(bundle);
    const leaving = await stack.invite("leaving");
    const { client } = stack.owner;
    await client.vaults.members.add(vaultId, leaving.signer.chainAddress);
    await client.vaults.members.remove(vaultId, leaving.signer.chainAddress);
    const { generation, floor, failed } = await client.vaults.rotate(vaultId);
    expect([floor, failed]).toEqual([generation, []]);
    const refusal: unknown = await openAs(member, old).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "rolled_back", step: "export" });
    expect((refusal as { nextStep: string }).nextStep).toContain("acceptBelowFloor");
    expect(await (await openAs(member, old, { acceptBelowFloor: true })).verify()).toEqual([]);
    await unsigned(old);
    const opened = await openAs(member, old, { allowUnsigned: true });
    expect(new Set((await opened.verify()).map(({ code }) => code))).toEqual(new Set(["rolled_back"]));
    // Whoever was removed signs for no later generation.
    const fresh = makeDirectory();
    await exportVault(client, vaultId, fresh);
    const path = join(fresh, "manifest.statement");
    const { statements, chainAddress } = leaving.signer;
    const signer = Buffer.from(chainAddress.slice(2), "hex");
    const forged = await signExportStatement({ ...parseExportStatement(await readFile(path)), signer }, statements);
    await writeFile(path, forged.bytes);
    await expect(openAs(member, fresh)).rejects.toMatchObject({ code: "damaged", step: "export" });
  });
});
