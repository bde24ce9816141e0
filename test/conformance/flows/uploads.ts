import { api, HEADERS, TUS_EXTENSIONS, TUS_VERSION } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { sameBytes, sampleBytes, sha256Hex, tusChecksum, tusMetadata } from "../samples.ts";

const BYTES = sampleBytes(30_000, 3);
const { append, create, head, options, terminate } = api.uploads;
const tus = { "tus-resumable": TUS_VERSION };

export const uploadsFlow: Flow = async (subject) => {
  if (subject.covers(options)) await announcement(subject);
  await partByPart(subject);
  await refusals(subject);
  await atOnce(subject);
  await givenUp(subject);
};

async function announcement({ owner }: Subject): Promise<void> {
  owner.step("what the tus server can do");
  const answer = await owner.call(options, {}, { key: null });
  owner.check(options, answer.headers.get("tus-version") === TUS_VERSION, "Tus-Version is wrong");
  const extensions = (answer.headers.get("tus-extension") ?? "").split(",").map((word) => word.trim());
  owner.check(
    options,
    TUS_EXTENSIONS.every((word) => extensions.includes(word)),
    "Tus-Extension lacks an extension",
  );
  owner.check(
    options,
    (answer.headers.get("tus-checksum-algorithm") ?? "").includes("sha1"),
    "Tus-Checksum-Algorithm lacks sha1",
  );
}

/** Begins an upload and answers its id, from Location. */
async function begin({ owner, vaultId }: Subject, filename: string, length: number): Promise<string> {
  const headers = {
    ...tus,
    "upload-length": length,
    "upload-metadata": tusMetadata({ filename, vaultId, filetype: "text/plain" }),
  };
  const made = await owner.call(create, { headers });
  const location = new URL(made.headers.get("location") ?? "/", owner.baseUrl).pathname;
  owner.check(create, /^\/api\/uploads\/[0-9a-f-]{36}$/.test(location), `Location is ${location}`);
  owner.check(create, made.headers.get("tus-resumable") === TUS_VERSION, "Tus-Resumable is missing");
  owner.check(create, made.headers.has("upload-expires"), "Upload-Expires is missing");
  return location.slice("/api/uploads/".length);
}

async function partByPart(subject: Subject): Promise<void> {
  const { owner, name } = subject;
  const filename = name("résumé.bin");
  owner.step("part by part, each with its checksum");
  const params = { uploadId: await begin(subject, filename, BYTES.length) };
  let fileId: string | null = null;
  for (let offset = 0; offset < BYTES.length; offset += 10_000) {
    const at = await owner.call(head, { params, headers: tus });
    owner.check(head, at.headers.get("upload-offset") === String(offset), "Upload-Offset is wrong");
    owner.check(head, at.headers.get("upload-length") === String(BYTES.length), "Upload-Length is wrong");
    owner.check(head, at.headers.get("cache-control")?.includes("no-store") ?? false, "Cache-Control is not no-store");
    const body = BYTES.subarray(offset, offset + 10_000);
    const checksum = tusChecksum(offset === 0 ? "sha256" : "sha1", body);
    const added = await owner.call(append, {
      params,
      headers: { ...tus, "upload-offset": offset, "upload-checksum": checksum },
      body,
    });
    owner.check(
      append,
      added.headers.get("upload-offset") === String(offset + 10_000),
      "the new Upload-Offset is wrong",
    );
    fileId = added.headers.get(HEADERS.fileId);
  }
  owner.check(append, fileId !== null, "the last part's answer has no File-Id");
  if (fileId === null) return;
  const { file } = (await owner.call(api.files.get, { params: { fileId } })).value();
  owner.check(
    append,
    file.sha256 === sha256Hex(BYTES) && file.name === filename.normalize("NFC") && file.contentType === "text/plain",
    "the file's sha256, name or contentType is wrong",
  );
  const got = await owner.call(api.files.content, { params: { fileId } });
  owner.check(append, sameBytes(got.body, BYTES), "the file holds other bytes");
}

async function refusals(subject: Subject): Promise<void> {
  const { owner, name } = subject;
  owner.step("wrong offset, checksum, version and media type change nothing");
  const params = { uploadId: await begin(subject, name("refused"), 10) };
  const body = new Uint8Array([1, 2, 3]);
  await owner.call(append, { params, headers: { ...tus, "upload-offset": 5 }, body }, { expect: "offset_mismatch" });
  const wrong = tusChecksum("sha256", new Uint8Array(9));
  await owner.call(
    append,
    { params, headers: { ...tus, "upload-offset": 0, "upload-checksum": wrong }, body },
    { expect: "checksum_mismatch" },
  );
  const old = { params, headers: { "tus-resumable": "0.2.2", "upload-offset": 0 }, body };
  const refused = await owner.call(append, old, { expect: "unsupported_tus_version" });
  owner.check(append, refused.headers.get("tus-version") === TUS_VERSION, "412 without Tus-Version");
  const json = { headers: { "content-type": "application/json" }, expect: "unsupported_media_type" } as const;
  await owner.call(append, { params, headers: { ...tus, "upload-offset": 0 }, body }, json);
  const at = await owner.call(head, { params, headers: tus });
  owner.check(head, at.headers.get("upload-offset") === "0", "a refused part moved the offset");
  await owner.call(
    create,
    { headers: { ...tus, "upload-length": 3, "upload-metadata": "filename !!!" } },
    { expect: "validation_failed" },
  );
}

async function atOnce({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("creation with the whole upload, and a new version of a file by its id");
  const named = {
    ...tus,
    "upload-length": BYTES.length,
    "upload-metadata": tusMetadata({ filename: name("once"), vaultId }),
  };
  const made = await owner.call(create, { headers: named, body: BYTES });
  owner.check(create, made.headers.get("upload-offset") === String(BYTES.length), "Upload-Offset is not the length");
  const fileId = made.headers.get(HEADERS.fileId);
  owner.check(create, fileId !== null, "a complete creation-with-upload has no File-Id");
  if (fileId === null) return;
  const next = { ...tus, "upload-length": 2, "upload-metadata": tusMetadata({ fileId }) };
  const again = await owner.call(create, { headers: next, body: new Uint8Array([4, 2]) });
  owner.check(create, again.headers.get(HEADERS.fileId) === fileId, "the new version has another File-Id");
  const { file } = (await owner.call(api.files.get, { params: { fileId } })).value();
  owner.check(create, file.size === 2, "the file does not have the new content");
}

async function givenUp(subject: Subject): Promise<void> {
  const { owner, name } = subject;
  owner.step("an upload is given up");
  const params = { uploadId: await begin(subject, name("never"), 10) };
  await owner.call(terminate, { params, headers: tus });
  const gone = await owner.call(head, { params, headers: tus }, { expect: "any" });
  owner.check(head, [404, 410].includes(gone.status), `a terminated upload answers ${String(gone.status)}`);
}
