import { randomBytes, randomUUID } from "node:crypto";
import { END_STEP } from "@coffer/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signRecord, signTogether } from "../../shared-vaults/statements.test-kit.ts";
import { agentOf } from "../../shared-vaults/vaults.test-kit.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  type TestService,
} from "../../service.test-kit.ts";
import {
  contentOf,
  countBlobs,
  encryptedFile,
  entryOf,
  headersOf,
  loneUpload,
  newUpload,
  openWriting,
  put,
  send,
  tied,
  type Upload,
  usageOf,
  versionOf,
  type Writing,
} from "../shared-files.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";
import { ServiceError } from "../../../service-error.ts";

const service = ofEachTest(openTestService);
const writing = ofEachTest(() => openWriting(service));

describe("an upload to a shared vault", () => {
  test("[D5-shared-ciphertext] [D5-shared-upload] is stored as it came: ids from the statement, no name, no content type, size and digest of the bytes", async () => {
    const upload = newUpload(writing, "plan.pdf");
    const file = await send(service, writing, upload);
    expect(file).toMatchObject({
      id: upload.file.fileId,
      versionId: upload.file.versionId,
      name: "",
      encrypted: true,
      folderId: null,
      contentType: "application/octet-stream",
      size: upload.file.bytes.length,
      shared: { version: upload.version, ...upload.entry },
    });
    const { bytes, headers } = await contentOf(service, writing.member, file.id);
    expect(bytes.equals(upload.file.bytes)).toBe(true);
    expect(headers["Content-Disposition"]).toBe(`attachment; filename="${file.id}"`);
  });

  test("of another account's member counts for the vault's account, is recorded there, and by whom", async () => {
    const file = await put(service, { ...writing, by: writing.member }, "notes");
    const owner = writing.shared.owner.principal.accountId;
    expect(await usageOf(service, owner)).toEqual({ bytes: file.size, files: 1 });
    expect(await usageOf(service, writing.member.principal.accountId)).toEqual({ bytes: 0, files: 0 });
    const { build } = service.database;
    const changes = await service.database.all(
      build.selectFrom("changes").select(["action", "actor_json"]).where("account_id", "=", owner).orderBy("sequence"),
    );
    expect(changes.at(-1)).toMatchObject({ action: "file.uploaded" });
    expect(changes.at(-1)?.actor_json).toContain(writing.member.principal.keyId);
  });

  test("again, with the same statements, is the same file and keeps no second blob", async () => {
    const upload = newUpload(writing, "twice");
    const first = await send(service, writing, upload);
    expect(await send(service, writing, upload)).toEqual(first);
    expect(await countBlobs(service)).toBe(1);
    expect(await usageOf(service, writing.shared.owner.principal.accountId)).toMatchObject({ files: 1 });
  });

  test("races another of the same name index: one wins, nothing of the other stays", async () => {
    const uploads = [writing, { ...writing, by: writing.member }].map((as) => send(service, as, newUpload(as, "same")));
    expect(await outcomes(uploads)).toEqual({ ok: 1, name_exists: 1 });
    expect(await countBlobs(service)).toBe(1);
  });
});

test("[D5-shared-ciphertext] a membership that ends makes a new place: what is of the one before is not stored any more", async () => {
  const { chain, clock } = service;
  const { shared, by } = writing;
  const end = Math.ceil((clock.now() + 1) / END_STEP) * END_STEP;
  const ending = agentOf(by);
  chain.add(shared.objectId, { address: ending.chainAddress, signingKey: ending.publicKey, endsAt: end });
  const early = newUpload(writing, "early");
  const record = signRecord(by, { vault: shared.objectId, generation: 1, after: end });
  const publish = () =>
    service.handlers.vaultKeys.publish(
      { params: { vaultId: shared.vaultId }, body: { record } },
      contextOf(by.principal),
    );
  expect(await codeOf(Promise.resolve(publish()))).toBe("chain_unavailable");
  clock.advance(END_STEP);
  expect(await codeOf(send(service, writing, early))).toBe("generation_moved");
  const { key } = answerOf(await publish());
  const later = { ...writing, keyId: key.keyId, after: end };
  expect(
    await codeOf(send(service, { ...later, keyId: writing.keyId }, newUpload({ ...later, keyId: writing.keyId }, "a"))),
  ).toBe("statement_invalid");
  await send(service, later, newUpload(later, "late"));
  // The key of before stays the current one of its own place.
  const { keys } = answerOf(
    await service.handlers.vaultKeys.list({ params: { vaultId: shared.vaultId }, query: {} }, contextOf(by.principal)),
  );
  expect(keys.map(({ keyId, current }) => [keyId, current]).sort()).toEqual(
    [
      [key.keyId, true],
      [writing.keyId, true],
    ].sort(),
  );
});

/** What is sent instead of a good upload. */
type Change = (writing: Writing, upload: Upload) => { upload?: Partial<Upload>; bytes?: Buffer };

const flipped = (bytes: Buffer, at: number) =>
  Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));

/** Refused as `statement_invalid`, but for these. */
const OTHER_CODES: Readonly<Record<string, string>> = {
  plaintext: "not_encrypted",
  "plaintext of the right length": "not_encrypted",
  "a statement about plaintext": "not_encrypted",
  "a generation that is to come": "chain_unavailable",
};

/** The statements are signed together after the change. */
const TOGETHER: Readonly<Record<string, Change>> = {
  plaintext: () => ({ bytes: Buffer.alloc(600, "plain text ") }),
  "plaintext of the right length": (_writing, { file }) => ({ bytes: Buffer.alloc(file.bytes.length, "plain text ") }),
  "a header cut short": (_w, { file }) => ({ bytes: file.bytes.subarray(0, 30) }),
  nothing: () => ({ bytes: Buffer.alloc(0) }),
  "another version's header": (_w, { file }) => ({
    bytes: Buffer.concat([encryptedFile({ fileId: file.fileId }).bytes.subarray(0, 48), file.bytes.subarray(48)]),
  }),
  "another envelope": (_w, { file }) => ({ bytes: flipped(file.bytes, 60) }),
  "an envelope of other length": (_w, { file }) => ({ bytes: flipped(file.bytes, 47) }),
  "a byte too few": (_w, { file }) => ({ bytes: file.bytes.subarray(0, -1) }),
  "a byte too many": (_w, { file }) => ({ bytes: Buffer.concat([file.bytes, Buffer.alloc(1)]) }),
  "an envelope over 4096 bytes": (writing, { file }) => {
    const large = encryptedFile({ ...file, envelope: randomBytes(4097) });
    return { upload: { version: versionOf(writing, large) }, bytes: large.bytes };
  },
  "a statement for another vault": (writing, { file }) => ({
    upload: { version: versionOf(writing, file, { vault: `0x${"7".repeat(64)}` }) },
  }),
  "a statement of another format": (writing, { file }) => {
    const header = file.bytes.subarray(0, 44);
    return { upload: { version: versionOf(writing, file, { header: flipped(header, 9) }) } };
  },
  "a statement about plaintext": (writing, { file }) => ({
    upload: { version: versionOf(writing, file, { header: Buffer.alloc(44, 1) }) },
  }),
  "a statement that is not the first": (writing, { file, version }) => ({
    upload: { version: versionOf(writing, file, { sequence: 2, previous: version }) },
  }),
  "a key that the vault has not": (writing, { file }) => ({
    upload: { version: versionOf({ ...writing, keyId: "1".repeat(64) }, file) },
  }),
  "a generation that is to come": (writing, { file }) => {
    const ahead = { ...writing, generation: 2 };
    const entry = entryOf(ahead, "name", { kind: "file", id: file.fileId });
    return { upload: { version: versionOf(ahead, file), entry } };
  },
  "an entry of another file": (writing) => ({
    upload: { entry: entryOf(writing, "name", { kind: "file", id: randomUUID() }) },
  }),
  "an entry of a folder": (writing, { file }) => ({
    upload: { entry: entryOf(writing, "name", { kind: "folder", id: file.fileId }) },
  }),
  "an entry in another folder": (writing, { file }) => ({
    upload: { entry: entryOf(writing, "name", { kind: "file", id: file.fileId, folderId: randomUUID() }) },
  }),
  "an entry about other metadata": (_w, { entry }) => ({
    upload: { entry: { ...entry, metadata: randomBytes(136).toString("base64") } },
  }),
};

/** The statements are sent as they are given. */
const APART: Readonly<Record<string, Change>> = {
  "another's signature": (writing, { file }) => ({
    upload: {
      version: versionOf({ ...writing, by: agentOf(writing.by) }, file, { signer: writing.by.chainAddress }),
    },
  }),
  "another's statement": (writing, { file }) => ({
    upload: { version: versionOf({ ...writing, by: agentOf(writing.by) }, file) },
  }),
  "a version and an entry that were each signed alone": () => ({}),
  "half of another upload": (writing, upload) => ({ upload: { ...newUpload(writing, "name"), file: upload.file } }),
  "a version without the entry that it was signed with": (writing, { file, entry }) => {
    const { version } = signTogether(writing.by, { version: versionOf(writing, file), entry: entry.entry });
    return { upload: { version } };
  },
  "an entry without the version that it was signed with": (writing, { version, entry }) => {
    const both = signTogether(writing.by, { version, entry: entry.entry });
    return { upload: { entry: { ...entry, entry: both.entry } } };
  },
  "both under one signature, of somebody else": (writing, upload) => {
    return { upload: tied(writing, upload, agentOf(writing.by)) };
  },
  "a statement cut short": (_w, { version }) => ({ upload: { version: version.slice(0, -4) } }),
};

describe("an upload that is not what its statements say", () => {
  let service: TestService;
  let writing: Writing;
  beforeAll(async () => {
    service = await openTestService();
    writing = await openWriting(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(Object.entries({ ...TOGETHER, ...APART }))(
    "[D5-shared-ciphertext] %s is refused, and nothing of it is stored",
    async (name, change) => {
      const upload = loneUpload(writing, "name");
      const { upload: changed, bytes } = change(writing, upload);
      const given = { ...upload, ...changed };
      const sent = send(service, writing, name in APART ? given : tied(writing, given), bytes ?? upload.file.bytes);
      expect(await codeOf(sent)).toBe(OTHER_CODES[name] ?? "statement_invalid");
      expect(await countBlobs(service)).toBe(0);
      expect(await usageOf(service, writing.shared.owner.principal.accountId)).toEqual({ bytes: 0, files: 0 });
    },
  );
});

/** More than comes with its headers. Its bytes, if they are wanted, are the error that the answer shows. */
function sendUnread(upload: Upload): Promise<string> {
  const stream = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new ServiceError("body_truncated")) }),
  };
  const body = { stream, length: upload.file.bytes.length, contentType: null };
  const input = {
    query: { vaultId: writing.shared.vaultId },
    headers: headersOf(upload.version, upload.entry),
    body,
  };
  return codeOf(service.handlers.files.upload(input, contextOf(writing.by.principal)));
}

test("[D5-shared-upload] a large upload is refused for its statements, and for its name, before a byte is read", async () => {
  await put(service, writing, "taken");
  const large = (name: string, more: Parameters<typeof versionOf>[2] = {}): Upload => {
    const file = encryptedFile({ message: randomBytes(80_000) });
    const entry = entryOf(writing, name, { kind: "file", id: file.fileId, folderId: null });
    return tied(writing, { file, version: versionOf(writing, file, more), entry });
  };
  expect(await sendUnread(large("new", { sequence: 2 }))).toBe("statement_invalid");
  expect(await sendUnread(large("taken"))).toBe("name_exists");
  expect(await sendUnread(large("new"))).toBe("body_truncated");
});

async function makeFolder({
  id = randomUUID(),
  folderId = null,
}: { readonly id?: string; readonly folderId?: string | null } = {}): Promise<string> {
  const shared = entryOf(writing, id, { kind: "folder", id, folderId });
  const body = { vaultId: writing.shared.vaultId, shared };
  return answerOf(await service.handlers.folders.create({ body }, contextOf(writing.by.principal))).folder.id;
}

describe("what an upload to a shared vault must not bring, or must", () => {
  async function refusal(
    service: TestService,
    writing: Writing,
    more: { query?: object; headers?: object; contentType?: string },
  ) {
    const upload = newUpload(writing, "name");
    const input = {
      query: { vaultId: writing.shared.vaultId, ...more.query },
      headers: more.headers ?? headersOf(upload.version, upload.entry),
      body: bodyOf(upload.file.bytes, { contentType: more.contentType ?? null }),
    };
    return codeOf(service.handlers.files.upload(input, contextOf(writing.by.principal)));
  }

  test("[D5-shared-names] a name in the clear, a form, no statements, half an entry", async () => {
    expect(await refusal(service, writing, { query: { name: "plan.pdf" } })).toBe("validation_failed");
    expect(await refusal(service, writing, { contentType: "multipart/form-data; boundary=x" })).toBe(
      "validation_failed",
    );
    expect(await refusal(service, writing, { headers: {} })).toBe("not_encrypted");
    const { version, entry } = loneUpload(writing, "name");
    const { "coffer-metadata": _metadata, ...half } = headersOf(version, entry);
    expect(await refusal(service, writing, { headers: half })).toBe("validation_failed");
    expect(await refusal(service, writing, { headers: headersOf(version) })).toBe("validation_failed");
  });

  test("a public vault takes no statements", async () => {
    expect(await refusal(service, writing, { query: { vaultId: undefined, name: "x" } })).toBe("validation_failed");
  });

  test("with plain names the name is required, shown, and one of its kind", async () => {
    const { member: _member, ...writing } = await openWriting(service, { plainNames: true });
    const named = (name: string, nameIndex?: string) => {
      const file = encryptedFile();
      const own = entryOf(writing, name, { kind: "file", id: file.fileId, keyId: "0".repeat(64) });
      const entry = nameIndex === undefined ? own : { ...own, nameIndex };
      const upload = tied(writing, { file, version: versionOf(writing, file), entry });
      const headers = headersOf(upload.version, upload.entry);
      const body = bodyOf(file.bytes, { contentType: "text/plain" });
      const query = { vaultId: writing.shared.vaultId, ...(name === "" ? {} : { name }) };
      return service.handlers.files.upload({ query, headers, body }, contextOf(writing.by.principal));
    };
    expect(answerOf(await named("plan.txt")).file).toMatchObject({
      name: "plan.txt",
      contentType: "text/plain",
      encrypted: true,
    });
    expect(await codeOf(named("plan.txt"))).toBe("name_exists");
    expect(await codeOf(named(""))).toBe("validation_failed");
    // It would be taken for the index of a name, and shown as none.
    const index = "5".repeat(32);
    expect([await codeOf(named(index, index)), await codeOf(named(index))]).toEqual(["validation_failed", "ok"]);
  });

  test("an id that is taken is refused in the same words, whether the caller may see what has it or not", async () => {
    const { member: _member, ...mine } = await openWriting(service);
    const { member: _other, ...theirs } = await openWriting(service);
    const taken = await put(service, theirs, "theirs");
    const own = await put(service, mine, "mine");
    const again = async (fileId: string) => {
      const file = encryptedFile({ fileId });
      const entry = entryOf(mine, randomUUID(), { kind: "file", id: fileId });
      return send(service, mine, tied(mine, { file, version: versionOf(mine, file), entry })).catch(String);
    };
    const refused = await again(taken.id);
    expect(refused).toContain("choose another");
    expect(await again(own.id)).toBe(refused);
  });

  test("an id that is no UUID is refused: nothing could be asked for by it", async () => {
    const id = "00000000-0000-0000-0000-000000000001";
    for (const ids of [{ fileId: id }, { versionId: id }]) {
      const file = encryptedFile(ids);
      const entry = entryOf(writing, "name", { kind: "file", id: file.fileId });
      expect(await send(service, writing, { file, version: versionOf(writing, file), entry }).catch(String)).toContain(
        "an id is no UUID",
      );
    }
    expect(await makeFolder({ id }).catch(String)).toContain("an id is no UUID");
    expect(await makeFolder({ folderId: id }).catch(String)).toContain("an id is no UUID");
  });
});
