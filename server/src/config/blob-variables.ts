/** Where the contents of files are: the variables of a store that speaks S3. */
import * as z from "zod/mini";

/** Characters that need no escape in a path, so that the name that is signed is the name that is sent. */
const PLACE = /^https?:\/\/[\w.:[\]-]{1,253}\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]{1,128}){0,8}\/?$/;

function text<Schema extends z.ZodMiniType>(
  name: string,
  schema: Schema,
  expects: string,
  about: string,
  fallback = "",
) {
  return { name, schema, fallback, expects, about };
}
const secret = (about: string, name: string) =>
  text(name, z.string().check(z.regex(/^[\x21-\x7e]{0,4096}$/)), "visible ASCII characters", about);

export const BLOB_VARIABLES = {
  blobsUrl: text(
    "SERVICE_BLOBS_URL",
    z.string().check(z.check(requirePlace)),
    "an http or https address with a bucket, such as https://s3.eu-central-1.amazonaws.com/bucket/prefix",
    "A store that speaks S3, for the contents of files. Without it they are in the data directory.",
  ),
  blobsRegion: text(
    "SERVICE_BLOBS_REGION",
    z.string().check(z.regex(/^[a-z0-9-]{1,64}$/)),
    "a region such as eu-central-1",
    "The store's region, for signatures.",
    "us-east-1",
  ),
  blobsAddressing: text(
    "SERVICE_BLOBS_ADDRESSING",
    z.enum(["path", "host"]),
    "path or host",
    "Where requests to the store name the bucket.",
    "path",
  ),
  blobsAccessKeyId: secret("The store's access key id. SERVICE_BLOBS_URL needs it.", "SERVICE_BLOBS_ACCESS_KEY_ID"),
  blobsSecretAccessKey: secret("Its secret. SERVICE_BLOBS_URL needs it.", "SERVICE_BLOBS_SECRET_ACCESS_KEY"),
  blobsSessionToken: secret("The token of temporary keys to the store.", "SERVICE_BLOBS_SESSION_TOKEN"),
  blobsEncryption: text(
    "SERVICE_BLOBS_ENCRYPTION",
    z.enum(["", "AES256", "aws:kms"]),
    "AES256, aws:kms or nothing",
    "What the store is asked to encrypt with. Without it, the bucket's own setting holds.",
  ),
  blobsEncryptionKey: text(
    "SERVICE_BLOBS_ENCRYPTION_KEY",
    z.string().check(z.regex(/^[\w:/.-]{0,512}$/)),
    "a key's id",
    "The key for aws:kms. Without it, the store's own.",
  ),
  blobsBodies: text(
    "SERVICE_BLOBS_BODIES",
    z.enum(["", "signed"]),
    "signed or nothing",
    "signed: each upload to the store carries a digest of its bytes, also over https. Over http it always does.",
  ),
  blobRedirect: text(
    "SERVICE_BLOB_REDIRECT",
    z.enum(["", "presigned"]),
    "presigned or nothing",
    "presigned: clients that ask for it get files of public vaults from the store itself. SERVICE_BLOBS_URL must be what they reach.",
  ),
  blobsCaFile: text(
    "SERVICE_BLOBS_CA_FILE",
    z.string(),
    "a file with certificates in PEM",
    "The authorities that vouch for the store, instead of the system's.",
  ),
} as const;

function requirePlace(context: { value: string; issues: unknown[] }): void {
  const { value } = context;
  const isPlace = value === "" || (PLACE.test(value) && URL.canParse(value) && !/\/\.{1,2}(\/|$)/.test(value));
  if (!isPlace) context.issues.push({ code: "custom", message: "not a store", input: value });
}
