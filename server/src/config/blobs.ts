/** Where the contents of files are, from the variables. */
import { isLoopbackHost } from "./loopback.ts";
import type { Values } from "./values.ts";

export type BlobsConfig =
  | { readonly kind: "disk"; readonly directory: string; readonly reserveBytes: number }
  | S3BlobsConfig;

/** The secrets are in no log. */
export interface S3BlobsConfig {
  readonly kind: "s3";
  /** `https://s3.eu-central-1.amazonaws.com`, without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** In front of all names: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  /** The bucket is in the path; false: in the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  /** What the store is asked to encrypt with; null: whatever the bucket says. */
  readonly encryption: { readonly method: "AES256" | "aws:kms"; readonly keyId: string | null } | null;
  /** `signed`: with a digest of each body also where TLS protects it. */
  readonly bodies: "signed" | null;
  /** `presigned`: clients that ask for it are sent to the store for contents of public vaults. */
  readonly redirect: "presigned" | null;
  /** A file with certificates in PEM. */
  readonly caFile: string | null;
}

const orNull = (text: string): string | null => (text === "" ? null : text);

export function assembleBlobs(values: Values): BlobsConfig {
  if (values.blobsUrl === "")
    return { kind: "disk", directory: `${values.dataDirectory}/blobs`, reserveBytes: values.diskReserve };
  const url = new URL(values.blobsUrl);
  const [bucket = "", ...prefix] = url.pathname.split("/").filter((part) => part !== "");
  const { blobsEncryption: method, blobsEncryptionKey: key } = values;
  return {
    kind: "s3",
    endpoint: url.origin,
    bucket,
    prefix: prefix.map((part) => `${part}/`).join(""),
    region: values.blobsRegion,
    pathStyle: values.blobsAddressing === "path",
    accessKeyId: values.blobsAccessKeyId,
    secretAccessKey: values.blobsSecretAccessKey,
    sessionToken: orNull(values.blobsSessionToken),
    encryption: method === "" ? null : { method, keyId: orNull(key) },
    bodies: values.blobsBodies === "" ? null : values.blobsBodies,
    redirect: values.blobRedirect === "" ? null : values.blobRedirect,
    caFile: orNull(values.blobsCaFile),
  };
}

/** What an operator may read of it: no key. */
export function placeOfBlobs(blobs: BlobsConfig): string {
  return blobs.kind === "disk" ? blobs.directory : `${blobs.endpoint}/${blobs.bucket}/${blobs.prefix}`;
}

export function blobProblems(values: Partial<Values>): string[] {
  const { mode, blobsUrl: url, blobsAddressing, blobsEncryption, blobsEncryptionKey } = values;
  if (url === undefined) return [];
  if (url === "") {
    const set = [
      ["SERVICE_BLOBS_ACCESS_KEY_ID", values.blobsAccessKeyId],
      ["SERVICE_BLOB_REDIRECT", values.blobRedirect],
    ].find(([, value]) => value !== undefined && value !== "");
    return set === undefined ? [] : [`SERVICE_BLOBS_URL: ${String(set[0])} needs it; it is the address of the store`];
  }
  const problems: string[] = [];
  const parsed = URL.parse(url);
  if (values.blobsAccessKeyId === "") problems.push("SERVICE_BLOBS_ACCESS_KEY_ID: SERVICE_BLOBS_URL needs it");
  if (values.blobsSecretAccessKey === "") problems.push("SERVICE_BLOBS_SECRET_ACCESS_KEY: SERVICE_BLOBS_URL needs it");
  if (mode === "production" && parsed?.protocol === "http:" && !isLoopbackHost(parsed.hostname))
    problems.push("SERVICE_BLOBS_URL: production reaches the store over https, or on this machine");
  if (blobsEncryptionKey !== undefined && blobsEncryptionKey !== "" && blobsEncryption !== "aws:kms")
    problems.push("SERVICE_BLOBS_ENCRYPTION: SERVICE_BLOBS_ENCRYPTION_KEY needs aws:kms");
  if (blobsAddressing === "host" && parsed !== null && /^[\d.]+$|^\[/.test(parsed.hostname))
    problems.push("SERVICE_BLOBS_ADDRESSING: an address without a name takes the bucket in the path; set path");
  return problems;
}
