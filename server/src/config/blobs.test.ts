import { describe, expect, it } from "vitest";
import { parseConfig } from "../config.ts";
import { PRODUCTION, problemsOf } from "./config.test-kit.ts";

const STORE = {
  SERVICE_BLOBS_URL: "https://store.example:9000/bucket/some/where",
  SERVICE_BLOBS_ACCESS_KEY_ID: "AKEY",
  SERVICE_BLOBS_SECRET_ACCESS_KEY: "a secret/of+the=store",
};

describe("the store of contents", () => {
  it("is the data directory unless there is another", () => {
    const config = parseConfig({ ...PRODUCTION, SERVICE_DATA_DIR: "/data" });
    expect(config.blobs).toEqual({ kind: "disk", directory: "/data/blobs", reserveBytes: 256 * 1024 * 1024 });
  });

  it("is one that speaks S3, with its bucket and prefix in the address", () => {
    const secret = "a-secret/of+the=store";
    const { blobs } = parseConfig({ ...PRODUCTION, ...STORE, SERVICE_BLOBS_SECRET_ACCESS_KEY: secret });
    expect(blobs).toEqual({
      kind: "s3",
      endpoint: "https://store.example:9000",
      bucket: "bucket",
      prefix: "some/where/",
      region: "us-east-1",
      pathStyle: true,
      accessKeyId: "AKEY",
      secretAccessKey: secret,
      sessionToken: null,
      encryption: null,
      bodies: null,
      redirect: null,
      caFile: null,
    });
  });

  it.each([
    ["no bucket", { SERVICE_BLOBS_URL: "https://store.example" }],
    ["a password in the address", { SERVICE_BLOBS_URL: "https://a:b@store.example/bucket" }],
    ["a query", { SERVICE_BLOBS_URL: "https://store.example/bucket?x=1" }],
    ["a way up", { SERVICE_BLOBS_URL: "https://store.example/bucket/../x" }],
    ["another scheme", { SERVICE_BLOBS_URL: "ftp://store.example/bucket" }],
    ["plain http to another machine", { SERVICE_BLOBS_URL: "http://store.example/bucket" }],
    ["no key", { SERVICE_BLOBS_ACCESS_KEY_ID: "" }],
    ["no secret", { SERVICE_BLOBS_SECRET_ACCESS_KEY: "" }],
    ["a key without aws:kms", { SERVICE_BLOBS_ENCRYPTION: "AES256", SERVICE_BLOBS_ENCRYPTION_KEY: "k" }],
    [
      "a bucket in the name of an address",
      { SERVICE_BLOBS_URL: "https://127.0.0.1/bucket", SERVICE_BLOBS_ADDRESSING: "host" },
    ],
  ])("does not start with %s, and repeats no secret", (_, change) => {
    const store = { ...STORE, SERVICE_BLOBS_SECRET_ACCESS_KEY: "the-secret-of-the-store" };
    const problems = problemsOf({ ...PRODUCTION, ...store, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^SERVICE_BLOBS_/);
    expect(problems[0]).not.toContain("the-secret");
  });

  it("gets a digest of each body over https where that is asked for", () => {
    const store = { ...PRODUCTION, ...STORE, SERVICE_BLOBS_SECRET_ACCESS_KEY: "secret" };
    expect(parseConfig({ ...store, SERVICE_BLOBS_BODIES: "signed" }).blobs).toMatchObject({ bodies: "signed" });
    expect(problemsOf({ ...store, SERVICE_BLOBS_BODIES: "unsigned" })).toHaveLength(1);
  });

  it("sends clients to itself only where that is asked for", () => {
    const store = { ...PRODUCTION, ...STORE, SERVICE_BLOBS_SECRET_ACCESS_KEY: "secret" };
    expect(parseConfig({ ...store, SERVICE_BLOB_REDIRECT: "presigned" }).blobs).toMatchObject({
      redirect: "presigned",
    });
    expect(problemsOf({ ...store, SERVICE_BLOB_REDIRECT: "always" })).toHaveLength(1);
  });

  it.each([
    ["SERVICE_BLOBS_ACCESS_KEY_ID", "AKEY"],
    ["SERVICE_BLOB_REDIRECT", "presigned"],
  ])("is needed by %s", (name, value) => {
    expect(problemsOf({ ...PRODUCTION, [name]: value })).toEqual([expect.stringContaining(name)]);
  });
});
