import { randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { allOf } from "../../../../test/kit/bytes.ts";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { openSigner, type TestSigner } from "../chain-proofs/signer.test-kit.ts";
import { signRecord } from "../shared-vaults/statements.test-kit.ts";
import type { TestSharedVault, TestPerson } from "../shared-vaults/vaults.test-kit.ts";
import { type EncryptedFile, encryptedFile, entryOf, headersOf, tied, versionOf } from "./shared-files.test-kit.ts";

interface Person extends TestSigner {
  readonly key: string;
}

async function addPerson(app: TestApp): Promise<Person> {
  const signer = openSigner(randomBytes(32));
  const { id, key } = await app.signUp();
  const { database } = app.deps;
  const linked = { chain_address: signer.chainAddress };
  await database.run(database.build.updateTable("accounts").set(linked).where("id", "=", id));
  return { ...signer, key };
}

/** A shared vault with a member of another account and a vault key, made over HTTP. */
async function openShared(app: TestApp) {
  const [owner, member] = [await addPerson(app), await addPerson(app)];
  const objectId = `0x${randomBytes(32).toString("hex")}`;
  app.chain.set(objectId, newTestVault({ address: owner.chainAddress, signingKey: owner.publicKey }));
  const json = { name: "shared", type: "shared", chainObjectId: objectId };
  const made = await app.ask("POST", "/api/vaults", { key: owner.key, json });
  const vaultId = (made.body["vault"] as { id: string }).id;
  app.chain.add(objectId, { address: member.chainAddress, signingKey: member.publicKey });
  app.clock.advance(60_000);
  const { chainAddress } = member;
  await app.ask("POST", `/api/vaults/${vaultId}/members`, { key: owner.key, json: { chainAddress } });
  const record = signRecord(owner, { vault: objectId, generation: 1 });
  const published = await app.ask("POST", `/api/vaults/${vaultId}/keys`, { key: owner.key, json: { record } });
  const { keyId } = published.body["key"] as { keyId: string };
  return { owner, member, keyId, shared: { vaultId, objectId } as TestSharedVault };
}

function headersFor(vault: Awaited<ReturnType<typeof openShared>>, by: Person, file: EncryptedFile) {
  const writing = { ...vault, by: by as unknown as TestPerson };
  const entry = entryOf(writing, randomUUID(), { kind: "file", id: file.fileId });
  const upload = tied(writing, { file, version: versionOf(writing, file), entry });
  return { ...headersOf(upload.version, upload.entry), authorization: `Bearer ${by.key}` };
}

const openQuick = () =>
  openTestApp({
    replace: ({ settings }) => ({ settings: { ...settings, timing: { ...settings.timing, recheck: 10 } } }),
  });

test("a member that is removed while it reads is cut off, and the owner goes on [R1]", async () => {
  await using app = await openQuick();
  const vault = await openShared(app);
  const file = encryptedFile({ message: Buffer.alloc(24 * 1024 * 1024, 5) });
  const url = `/api/files?vaultId=${vault.shared.vaultId}`;
  const headers = headersFor(vault, vault.owner, file);
  const stored = await app.app.inject({ method: "POST", url, headers, payload: file.bytes });
  expect(stored.statusCode).toBe(201);
  await app.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.app.server.address() as AddressInfo;
  const open = (key: string) =>
    fetch(`http://127.0.0.1:${port}/api/files/${file.fileId}/content`, { headers: { authorization: `Bearer ${key}` } });
  const reading = [await open(vault.member.key), await open(vault.owner.key)].map(({ body }) => body?.getReader());
  for (const reader of reading) expect((await reader?.read())?.done).toBe(false);
  app.chain.remove(vault.shared.objectId, vault.member.chainAddress);
  app.clock.advance(5001);
  const [member, owner] = reading;
  await expect(drain(member)).rejects.toThrow();
  expect(await drain(owner)).toBeGreaterThan(0);
  expect((await open(vault.member.key)).status).toBe(403);
});

async function drain(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<number> {
  let read = 0;
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) return read;
    read += step.value.byteLength;
    // Slower than the server checks, so that the cut comes before the end.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test("a member that is removed while it writes is refused, and nothing of the upload stays", async () => {
  await using app = await openQuick();
  const vault = await openShared(app);
  const file = encryptedFile();
  const cut = async function* () {
    yield file.bytes.subarray(0, 100);
    app.chain.remove(vault.shared.objectId, vault.member.chainAddress);
    app.clock.advance(10_001);
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield file.bytes.subarray(100);
  };
  const answer = await app.app.inject({
    method: "POST",
    url: `/api/files?vaultId=${vault.shared.vaultId}`,
    headers: headersFor(vault, vault.member, file),
    payload: Readable.from(cut()),
  });
  expect([answer.statusCode, answer.headers["x-error-code"]]).toEqual([403, "not_a_member"]);
  expect(await allOf(app.deps.blobs.list())).toEqual([]);
});
