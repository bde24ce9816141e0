/** The operations of S3 that the driver uses, by name, with answers that are parsed. */
import { hash } from "node:crypto";
import { BlobStoreAwayError } from "../../../ports/blob-store.ts";
import { readText, type S3Answer, type S3Body, type S3Client, type S3Request } from "./client.ts";
import { codeIn, refusalOf, S3Refusal } from "./refusal.ts";
import type { Patience, S3Settings } from "./settings.ts";
import { all, type Element, escapeXml, readXml, textOf } from "./xml.ts";

export interface FoundObject {
  readonly name: string;
  readonly size: number;
  readonly modifiedAt: number;
}

export interface FoundUpload {
  readonly name: string;
  readonly uploadId: string;
  readonly begunAt: number;
}

export interface StoredPart {
  readonly number: number;
  readonly etag: string;
}

/** The mark says who wrote an object, so that a repeated request recognises its own work. */
const MARK = "x-amz-meta-coffer-mark";
const PAGE = "1000";
/** S3's limit for one request. */
export const DELETED_AT_ONCE = 1_000;

export class S3Objects {
  readonly #client: S3Client;
  readonly #encryption: Readonly<Record<string, string>>;
  readonly #bucket: string;

  constructor(client: S3Client, { encryption, bucket }: Pick<S3Settings, "encryption" | "bucket">) {
    this.#client = client;
    this.#bucket = bucket;
    const key = encryption === null || encryption.keyId === null ? null : encryption.keyId;
    this.#encryption = {
      ...(encryption === null ? {} : { "x-amz-server-side-encryption": encryption.method }),
      ...(key === null ? {} : { "x-amz-server-side-encryption-aws-kms-key-id": key }),
    };
  }

  /** False: the condition failed, as there is one already that another has written, or not that of the ETag `replaced` any more. */
  async put(
    name: string,
    body: S3Body,
    { mark, onlyNew, replaced }: { readonly mark: string; readonly onlyNew: boolean; readonly replaced?: string },
  ): Promise<boolean> {
    const condition: Record<string, string> = onlyNew
      ? { "if-none-match": "*" }
      : replaced === undefined
        ? {}
        : { "if-match": replaced };
    const expected = onlyNew ? [412, 409] : replaced === undefined ? [] : [412, 404];
    const headers = { ...this.#encryption, ...condition, [MARK]: mark };
    const answer = await this.#client.text(
      { operation: "put", method: "PUT", name, headers, body, expected },
      requireStored("put"),
    );
    if (answer.status < 300) return true;
    // The answer to an earlier try may have been lost.
    return answer.repeats > 0 && (await this.find(name))?.mark === mark;
  }

  async find(name: string): Promise<{ readonly size: number; readonly mark: string } | null> {
    const answer = await this.#client.request({ operation: "head", method: "HEAD", name, expected: [404] });
    await readText(answer);
    if (answer.status === 404) return null;
    return { size: Number(header(answer, "content-length")), mark: header(answer, MARK) };
  }

  /** The body is the caller's; null: there is none. `length` 0 is not asked for. */
  async get(
    name: string,
    from: number,
    length: number | null,
    etag: string | null,
    { patience, version }: { patience?: Pick<Patience, "attempts" | "within">; version?: string | undefined } = {},
  ): Promise<S3Answer | null> {
    const end = length === null ? "" : String(from + length - 1);
    const isWhole = from === 0 && length === null;
    const headers = {
      ...(isWhole ? {} : { range: `bytes=${String(from)}-${end}` }),
      ...(etag === null ? {} : { "if-match": etag }),
    };
    const query = version === undefined ? {} : { versionId: version };
    const asked: S3Request = { operation: "get", method: "GET", name, query, headers, expected: [404, 416] };
    const answer = await this.#client.request(asked, patience);
    if (answer.status !== 404) return answer;
    await readText(answer);
    return null;
  }

  /** The newest version of an object that may have been deleted; null: the bucket keeps none. */
  async findVersion(name: string): Promise<string | null> {
    const page = await this.#page("list-versions", { versions: "", prefix: name, "max-keys": PAGE });
    const found = all(page, "Version").find((version) => textOf(version, "Key") === name);
    return found === undefined ? null : textOf(found, "VersionId");
  }

  async delete(name: string): Promise<void> {
    await readText(await this.#client.request({ operation: "delete", method: "DELETE", name, expected: [404] }));
  }

  /** Answers those that are still there, with why. */
  async deleteAll(names: readonly string[]): Promise<ReadonlyMap<string, Error>> {
    const failed = new Map<string, Error>();
    for (let at = 0; at < names.length; at += DELETED_AT_ONCE) {
      const objects = names
        .slice(at, at + DELETED_AT_ONCE)
        .map((name) => `<Object><Key>${escapeXml(name)}</Key></Object>`);
      const document = `<Delete><Quiet>true</Quiet>${objects.join("")}</Delete>`;
      const { text } = await this.#client.text({
        operation: "delete-many",
        method: "POST",
        name: "",
        query: { delete: "" },
        headers: { "content-md5": hash("md5", document, "base64") },
        body: bodyOfText(document),
      });
      if (text.trim() === "") continue;
      for (const error of all(readXml(text), "Error")) {
        const code = textOf(error, "Code");
        if (code !== "NoSuchKey") failed.set(textOf(error, "Key"), new S3Refusal("delete-many", 200, code));
      }
    }
    return failed;
  }

  async *list(prefix: string): AsyncGenerator<FoundObject> {
    for (let token: string | null = ""; token !== null;) {
      const page: Element = await this.#page("list", {
        "list-type": "2",
        prefix,
        "max-keys": PAGE,
        ...(token === "" ? {} : { "continuation-token": token }),
      });
      for (const found of all(page, "Contents")) {
        const modifiedAt = Date.parse(textOf(found, "LastModified"));
        yield { name: textOf(found, "Key"), size: Number(textOf(found, "Size")), modifiedAt };
      }
      token = textOf(page, "IsTruncated") === "true" ? textOf(page, "NextContinuationToken") : null;
      if (token === "") throw new BlobStoreAwayError("The blob store cuts its listing off");
    }
  }

  async *listUploads(prefix: string): AsyncGenerator<FoundUpload> {
    for (let after: { key: string; id: string } | null = { key: "", id: "" }; after !== null;) {
      const page: Element = await this.#page("list-uploads", {
        uploads: "",
        prefix,
        "max-uploads": PAGE,
        ...(after.key === "" ? {} : { "key-marker": after.key, "upload-id-marker": after.id }),
      });
      for (const found of all(page, "Upload")) {
        const begunAt = Date.parse(textOf(found, "Initiated"));
        yield { name: textOf(found, "Key"), uploadId: textOf(found, "UploadId"), begunAt };
      }
      const next = { key: textOf(page, "NextKeyMarker"), id: textOf(page, "NextUploadIdMarker") };
      after = textOf(page, "IsTruncated") === "true" && next.key !== "" ? next : null;
    }
  }

  async createUpload(name: string, mark: string): Promise<string> {
    const { text } = await this.#client.text(
      {
        operation: "begin-upload",
        method: "POST",
        name,
        query: { uploads: "" },
        headers: { ...this.#encryption, [MARK]: mark },
      },
      requireElement("begin-upload", "InitiateMultipartUploadResult"),
    );
    return textOf(readXml(text), "UploadId");
  }

  /** The part's ETag. */
  async putPart(name: string, uploadId: string, number: number, body: S3Body): Promise<string> {
    const query = { partNumber: String(number), uploadId };
    const asked: S3Request = { operation: "put-part", method: "PUT", name, query, body };
    const answer = await this.#client.text(asked, requireStored("put-part"));
    return header(answer, "etag");
  }

  /** A part from a range of an object, inside the store. */
  async copyPart(
    name: string,
    uploadId: string,
    { number, source, from, size }: { number: number; source: string; from: number; size: number },
  ): Promise<string> {
    const { text } = await this.#client.text(
      {
        operation: "copy-part",
        method: "PUT",
        name,
        query: { partNumber: String(number), uploadId },
        headers: {
          "x-amz-copy-source": `/${this.#bucket}/${source}`,
          "x-amz-copy-source-range": `bytes=${String(from)}-${String(from + size - 1)}`,
        },
      },
      requireElement("copy-part", "CopyPartResult"),
    );
    return textOf(readXml(text), "ETag");
  }

  async listParts(name: string, uploadId: string): Promise<(StoredPart & { readonly size: number })[]> {
    const parts: (StoredPart & { readonly size: number })[] = [];
    for (let after = ""; ;) {
      const query = { uploadId, "max-parts": PAGE, ...(after === "" ? {} : { "part-number-marker": after }) };
      const { text } = await this.#client.text(
        { operation: "list-parts", method: "GET", name, query },
        requireElement("list-parts", "ListPartsResult"),
      );
      const page = readXml(text);
      for (const part of all(page, "Part"))
        parts.push({
          number: Number(textOf(part, "PartNumber")),
          etag: textOf(part, "ETag"),
          size: Number(textOf(part, "Size")),
        });
      if (textOf(page, "IsTruncated") !== "true") return parts;
      after = textOf(page, "NextPartNumberMarker");
    }
  }

  /** Only the body says whether it is a success: S3 begins its answer before the end is certain. */
  async completeUpload(name: string, uploadId: string, parts: readonly StoredPart[], onlyNew: boolean): Promise<void> {
    const listed = parts.map(
      ({ number, etag }) => `<Part><PartNumber>${String(number)}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    await this.#client.text(
      {
        operation: "complete-upload",
        method: "POST",
        name,
        query: { uploadId },
        headers: { "content-type": "application/xml", ...(onlyNew ? { "if-none-match": "*" } : {}) },
        body: bodyOfText(`<CompleteMultipartUpload>${listed.join("")}</CompleteMultipartUpload>`),
      },
      requireElement("complete-upload", "CompleteMultipartUploadResult"),
    );
  }

  /** Also when it is over already. */
  async abortUpload(name: string, uploadId: string): Promise<void> {
    const query = { uploadId };
    await readText(
      await this.#client.request({ operation: "abort-upload", method: "DELETE", name, query, expected: [404] }),
    );
  }

  async #page(operation: string, query: Readonly<Record<string, string>>): Promise<Element> {
    const { text } = await this.#client.text(
      { operation, method: "GET", name: "", query },
      (body) => void readXml(body),
    );
    return readXml(text);
  }
}

function requireElement(operation: string, name: string): (text: string) => void {
  return (text) => {
    const root = readXml(text);
    if (root.name === "Error") throw refusalOf(operation, 200, text);
    if (root.name !== name) throw new SyntaxError(`The answer to ${operation} is a ${root.name}`);
  };
}

/** A store that has stored something names it. */
function requireStored(operation: string): (text: string, answer: S3Answer) => void {
  return (text, answer) => {
    if (answer.status >= 300) return;
    if (codeIn(text) !== "") throw refusalOf(operation, 200, text);
    if (header(answer, "etag") === "") throw new Error(`The answer to ${operation} names no ETag`);
  };
}

export function bodyOfText(text: string): S3Body {
  const bytes = Buffer.from(text);
  return { blocks: [bytes], bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}

export function header({ headers }: Pick<S3Answer, "headers">, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
