/**
 * The settings of a server that a test starts on a directory, the same each time. With `COFFER_TEST_DATABASE=postgres` and `COFFER_TEST_BLOBS=s3` they lead to a
 * database and a prefix of its own, in engines of the run. Engines are loaded only then: most runs and all programs use none.
 */
export async function engineSettings(directory: string): Promise<Record<string, string>> {
  return { ...(await databaseSettings(directory)), ...(await storeSettings(directory)) };
}

async function databaseSettings(directory: string): Promise<Record<string, string>> {
  if (process.env["COFFER_TEST_DATABASE"] !== "postgres") return {};
  const { databaseIn } = await import("./postgres/databases.ts");
  return { SERVICE_DATABASE_URL: await databaseIn(directory) };
}

async function storeSettings(directory: string): Promise<Record<string, string>> {
  if (process.env["COFFER_TEST_BLOBS"] !== "s3") return {};
  const { cephStoreIn } = await import("./ceph/stored.ts");
  const { endpoint, bucket, prefix, accessKeyId, secretAccessKey } = await cephStoreIn(directory);
  return {
    SERVICE_BLOBS_URL: `${endpoint}/${bucket}/${prefix}`,
    SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId,
    SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey,
  };
}
