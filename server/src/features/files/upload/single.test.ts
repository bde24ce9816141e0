import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { collect } from "../../../../../test/kit/bytes.ts";
import type { IncomingBytes } from "../../../handler.ts";
import { ServiceError } from "../../../service-error.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  type TestService,
} from "../../service.test-kit.ts";
import { countBlobs, usageOf } from "../shared-files.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const service = ofEachTest(openTestService);

const sha = (algorithm: string, bytes: string | Buffer) => createHash(algorithm).update(bytes).digest("base64");

async function upload(
  service: TestService,
  name: string,
  bytes: string | Buffer,
  more: Parameters<typeof service.handlers.files.upload>[0]["headers"] = {},
) {
  const recorded = await service.handlers.files.upload(
    { query: { name }, headers: more, body: bodyOf(bytes) },
    contextOf(service.owner),
  );
  return recorded.reply.body.file;
}

test("[D5-upload-raw] [D5-default-vault] [D5-file-shape] [D1-create-201] a raw upload goes to the default vault and comes back byte for byte", async () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));
  const file = await upload(service, "data.bin", bytes);
  expect(file).toMatchObject({
    name: "data.bin",
    size: 5000,
    contentType: "application/octet-stream",
    folderId: null,
    trashedAt: null,
  });
  expect(file.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
  const answer = await service.handlers.files.content(
    { params: { fileId: file.id }, query: {}, headers: {} },
    contextOf(service.owner),
  );
  expect("body" in answer && answer.body !== undefined && (await collect(answer.body)).equals(bytes)).toBe(true);
  expect(await usageOf(service, service.owner.accountId)).toEqual({ bytes: 5000, files: 1 });
});

test("[D5-upload-digest] digests are verified before a row exists; unknown algorithms are ignored, malformed fields refused", async () => {
  const good = ["sha-256", "sha-512"].map((name) => `${name}=:${sha(name.replace("-", ""), "hello")}:`).join(", ");
  await upload(service, "a", "hello", { "content-digest": good, "repr-digest": good });
  await upload(service, "b", "hello", {
    "content-digest": "crc32c=:AAAAAA==:, sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:;x=1",
  });
  for (const algorithm of ["sha256", "sha512"]) {
    const wrong = { "content-digest": `${algorithm.replace("sha", "sha-")}=:${sha(algorithm, "other")}:` };
    expect(await codeOf(upload(service, "c", "hello", wrong)), algorithm).toBe("digest_mismatch");
  }
  for (const field of [
    "sha-256",
    "sha-256=abc",
    "sha-256=:abc:",
    "sha-256=:****:",
    "",
    "=:AAAA:",
    "SHA-256=:AAAA:",
    `${good},`,
  ]) {
    expect(await codeOf(upload(service, "c", "hello", { "repr-digest": field })), field).toBe("validation_failed");
  }
  expect(await countBlobs(service)).toBe(2);
  expect(await usageOf(service, service.owner.accountId)).toEqual({ bytes: 10, files: 2 });
});

test("[D5-upload-if-none-match] [D1-conflict-409] [D1-precondition-412] a name is taken once per place: 409, or 412 when If-None-Match asked for it", async () => {
  await upload(service, "a", "1");
  expect(await codeOf(upload(service, "a", "2"))).toBe("name_exists");
  expect(await codeOf(upload(service, "a", "2", { "if-none-match": "*" }))).toBe("precondition_failed");
  const folder = (await service.handlers.folders.create({ body: { name: "f" } }, contextOf(service.owner))).reply.body
    .folder;
  const query = { name: "a", folderId: folder.id };
  await service.handlers.files.upload({ query, headers: {}, body: bodyOf("3") }, contextOf(service.owner));
  expect(await countBlobs(service)).toBe(2);
});

test("[D5-upload-if-none-match] 50 parallel uploads of one name with If-None-Match: exactly one wins, nothing of the others stays", async () => {
  const racers = Array.from({ length: 50 }, (_, index) =>
    upload(service, "one", `content ${index}`, { "if-none-match": "*" }),
  );
  expect(await outcomes(racers)).toEqual({ ok: 1, precondition_failed: 49 });
  expect(await countBlobs(service)).toBe(1);
  expect((await usageOf(service, service.owner.accountId))?.files).toBe(1);
});

test("[D1-quota-403] 50 parallel uploads of 30 % of the quota each: three fit, the quota is never passed", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const racers = Array.from({ length: 50 }, (_, index) => upload(service, `file ${index}`, "x".repeat(300)));
  expect(await outcomes(racers)).toEqual({ ok: 3, storage_quota: 47 });
  expect(await countBlobs(service)).toBe(3);
  expect(await usageOf(service, service.owner.accountId)).toEqual({ bytes: 900, files: 3 });
});

test("[D2-file-sizes] too large a file is refused before a byte is read, and while counting when no length was declared", async () => {
  await using service = await openTestService({ plan: "free", environment: { SERVICE_FREE_FILE_BYTES: "100" } });
  const unread = { stream: failing(new Error("read")), length: 101, contentType: null };
  const send = (body: IncomingBytes, name: string) =>
    service.handlers.files.upload({ query: { name }, headers: {}, body }, contextOf(service.owner));
  expect(await codeOf(send(unread, "a"))).toBe("file_too_large");
  expect(
    await codeOf(send({ ...unread, stream: bodyOf("x".repeat(101), { chunk: 10 }).stream, length: null }, "a")),
  ).toBe("file_too_large");
  expect(await codeOf(send({ ...unread, stream: bodyOf("x".repeat(100)).stream, length: 100 }, "a"))).toBe("ok");
  expect(await countBlobs(service)).toBe(1);
});

test("a body that breaks off, and a key revoked on the way, leave nothing behind", async () => {
  const broken = { stream: failing(new ServiceError("body_truncated")), length: 10, contentType: null };
  const input = { query: { name: "a" }, headers: {}, body: broken };
  expect(await codeOf(service.handlers.files.upload(input, contextOf(service.owner)))).toBe("body_truncated");
  const recheck = () => Promise.reject(new ServiceError("invalid_credential"));
  const late = service.handlers.files.upload({ ...input, body: bodyOf("x") }, contextOf(service.owner, { recheck }));
  expect(await codeOf(late)).toBe("invalid_credential");
  expect(await countBlobs(service)).toBe(0);
  const { files } = answerOf(await service.handlers.files.list({ query: {} }, contextOf(service.owner)));
  expect(files).toEqual([]);
});

test("[D1-vault-limit-404] a key limited to vaults must name one of them unless it reaches the default vault", async () => {
  const created = await service.handlers.vaults.create(
    { body: { name: "V", type: "public" } },
    contextOf(service.owner),
  );
  const vault = created.reply.body.vault;
  const limited = { ...service.owner, vaultIds: new Set([vault.id]) };
  const send = (query: { vaultId?: string; name: string }) =>
    service.handlers.files.upload({ query, headers: {}, body: bodyOf("x") }, contextOf(limited));
  expect(await codeOf(send({ name: "a" }))).toBe("vault_required");
  expect(await codeOf(send({ name: "a", vaultId: vault.id }))).toBe("ok");
  const own = await upload(service, "hidden", "x");
  expect(await codeOf(send({ name: "b", vaultId: own.vaultId }))).toBe("not_found");
  expect(await codeOf(service.handlers.files.get({ params: { fileId: own.id } }, contextOf(limited)))).toBe(
    "not_found",
  );
  const list = answerOf(await service.handlers.files.list({ query: {} }, contextOf(limited)));
  expect(list.files.map(({ name }) => name)).toEqual(["a"]);
});

async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from("12345");
  await Promise.resolve();
  throw error;
}
