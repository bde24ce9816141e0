import { api, HEADERS } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { sampleBytes } from "../samples.ts";

/** Idempotency-Key as in decisions §1 (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyFlow: Flow = async (subject) => {
  const { owner, name, vaultId } = subject;
  const replayed = (headers: Headers) => headers.get(HEADERS.idempotentReplay) === "true";

  owner.step("a repeated creation answers the same and makes nothing");
  const key = `"${name("folder")}"`;
  const body = { name: name("once"), vaultId };
  const first = await owner.call(api.folders.create, { body }, keyed(key));
  const again = await owner.call(api.folders.create, { body }, keyed(key));
  owner.check(
    api.folders.create,
    again.value().folder.id === first.value().folder.id,
    "the repeat made another folder",
  );
  owner.check(api.folders.create, replayed(again.headers) && !replayed(first.headers), "Idempotent-Replayed is wrong");

  owner.step("the key with another body or path is refused");
  const other = { ...keyed(key), expect: "idempotency_mismatch" } as const;
  await owner.call(api.folders.create, { body: { ...body, name: name("twice") } }, other);
  await owner.call(api.vaults.create, { body: { name: name("twice"), type: "public" } }, other);

  owner.step("a repeated upload stores nothing");
  const upload = { query: { vaultId, name: name("bytes") }, headers: {}, body: sampleBytes(5000) };
  const stored = await owner.call(api.files.upload, upload, keyed(`"${name("file")}"`));
  const second = `"${name("second")}"`;
  const title = name("keyed");
  const input = { ...upload, query: { vaultId, name: title } };
  const one = await owner.call(api.files.upload, input, keyed(second));
  const two = await owner.call(api.files.upload, input, keyed(second));
  owner.check(
    api.files.upload,
    one.value().file.id === two.value().file.id && replayed(two.headers),
    "the repeat is not the first answer",
  );
  owner.check(api.files.upload, stored.value().file.id !== one.value().file.id, "two keys answered one file");
  const listed = (await owner.call(api.files.list, { query: { vaultId, name: title } })).value().files;
  owner.check(api.files.upload, listed.length === 1, "the repeat stored a second file");

  if (subject.covers(api.apiKeys.create)) await secretAnswers(subject);

  owner.step("keys that are no keys");
  const invalid = { headers: { "idempotency-key": "x".repeat(300) }, expect: "validation_failed" } as const;
  await owner.call(api.folders.create, { body: { name: name("long"), vaultId } }, invalid);
};

async function secretAnswers({ owner, name }: Subject): Promise<void> {
  owner.step("an answer that held a secret is never repeated");
  const secret = `"${name("secret")}"`;
  const created = (await owner.call(api.apiKeys.create, { body: { name: "shown once" } }, keyed(secret))).value();
  const refused = await owner.call(
    api.apiKeys.create,
    { body: { name: "shown once" } },
    { ...keyed(secret), expect: "already_created" },
  );
  const text = new TextDecoder().decode(refused.body);
  owner.check(
    api.apiKeys.create,
    text.includes(created.id) && !text.includes(created.key),
    "the refusal does not name the id, or repeats the key",
  );
  await owner.call(api.apiKeys.revoke, { params: { keyId: created.id } });
}

function keyed(key: string) {
  return { headers: { "idempotency-key": key } };
}
