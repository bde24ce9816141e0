/** Addresses of blobs, made without a store. A real one takes them in test/engines. */
import { expect, it } from "vitest";
import { settingsOf } from "../../../../../test/kit/ceph/s3-settings.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openTestDatabase } from "../../../storage.test-kit.ts";
import { openS3Blobs } from "../s3.ts";
import type { S3Settings } from "./settings.ts";
import { signByHand } from "./signatures.test-kit.ts";

const KEY = "0a1b2c3d-blob";
const PLACE = {
  endpoint: "https://s3.example.com:9000",
  accessKeyId: "AKEY",
  secretAccessKey: "the secret of the store",
  bucket: "bucket",
  prefix: "in/",
};

async function addressWith(change: Partial<S3Settings>, origins: readonly string[]): Promise<string | null> {
  await using database = await openTestDatabase(makeDirectory());
  const settings: S3Settings = { ...settingsOf(PLACE), redirect: "presigned", ...change };
  await using blobs = openS3Blobs({ settings, database });
  const address = (await blobs.addressOf?.(KEY, origins)) ?? null;
  const given = blobs.tallies?.().find(({ operation }) => operation === "address")?.done ?? 0;
  expect(given).toBe(address === null ? 0 : 1);
  return address;
}

it("is good for 60 seconds and for this blob alone, and never renders what is in it [A10]", async () => {
  const address = new URL((await addressWith({}, ["https://a.example", "https://s3.example.com:9000"])) ?? "");
  expect(address.origin + address.pathname).toBe(`https://s3.example.com:9000/bucket/in/blobs/${KEY}`);
  const { "X-Amz-Date": date = "", "X-Amz-Signature": signature, ...others } = Object.fromEntries(address.searchParams);
  expect(others).toEqual({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Expires": "60",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Credential": `AKEY/${date.slice(0, 8)}/us-east-1/s3/aws4_request`,
    "response-cache-control": "no-store",
    "response-content-disposition": "attachment",
    "response-content-type": "application/octet-stream",
  });
  expect(signature).toBe(signatureOf(address));
  expect(address.href).not.toContain("secret");
});

it("has the token of temporary keys, signed with the rest", async () => {
  const address = new URL((await addressWith({ sessionToken: "a token+/=" }, ["https://s3.example.com:9000"])) ?? "");
  expect(address.searchParams.get("X-Amz-Security-Token")).toBe("a token+/=");
  expect(address.searchParams.get("X-Amz-Signature")).toBe(signatureOf(address));
});

it("is at the bucket's own host where requests go there, and only for clients that take that origin", async () => {
  const origins = ["https://s3.example.com:9000"];
  expect(await addressWith({ pathStyle: false }, origins)).toBeNull();
  const address = new URL((await addressWith({ pathStyle: false }, ["https://bucket.s3.example.com:9000"])) ?? "");
  expect(address.origin + address.pathname).toBe(`https://bucket.s3.example.com:9000/in/blobs/${KEY}`);
  expect(address.searchParams.get("X-Amz-Signature")).toBe(signatureOf(address));
});

it.each([
  ["without the setting", { redirect: null }, ["https://s3.example.com:9000"]],
  ["for no origin", {}, []],
  ["for the origin without its port", {}, ["https://s3.example.com"]],
  ["for the origin without TLS", {}, ["http://s3.example.com:9000"]],
  ["for the origin and more", {}, ["https://s3.example.com:9000/bucket"]],
])("is not given %s", async (_, change, origins) => {
  expect(await addressWith(change, origins)).toBeNull();
});

/** AWS, "Authenticating requests: using query parameters". */
function signatureOf({ host, pathname, searchParams }: URL): string {
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map((pair) => pair.map(encode).join("="));
  const date = searchParams.get("X-Amz-Date") ?? "";
  const canonical = ["GET", pathname, query.sort().join("&"), `host:${host}\n`, "host", "UNSIGNED-PAYLOAD"].join("\n");
  return signByHand({ date, region: "us-east-1", secretAccessKey: PLACE.secretAccessKey, canonical }).signature;
}
