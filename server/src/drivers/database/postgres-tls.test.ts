/** TLS to a real PostgreSQL, whose certificate no authority of the system vouches for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeCertificates } from "../../../../test/kit/certificates.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { openCluster } from "../../../../test/kit/engines.ts";
import { insertAccount } from "../../../../test/kit/rows.ts";
import { startServerProcess } from "../../../../test/crash/server-process.ts";
import { findVersion, migrate } from "../../schema/migrate.ts";
import { openPostgres } from "./postgres.ts";

it("serves, and listens, once the authority is named and vouches for that host; else nothing is sent", async (context) => {
  const certificates = makeCertificates();
  if (certificates === null) return context.skip("openssl is not installed");
  const directory = makeDirectory();
  const named = (name: "good" | "untrusted"): string => {
    const path = join(directory, `${name}.pem`);
    writeFileSync(path, certificates[name].cert);
    return `&sslrootcert=${encodeURIComponent(path)}`;
  };
  await using cluster = await openCluster({ certificate: certificates.good });
  const at = (host: string, more: string): string =>
    `postgres://coffer@${host}:${String(cluster.port)}/postgres?sslmode=verify-full${more}`;

  const url = at("localhost", named("good"));
  await using database = openPostgres({ url, directUrl: url });
  await migrate(database);
  const heard: string[] = [];
  await using other = openPostgres({ url, directUrl: url });
  other.news.onChange((ids) => void heard.push(...(ids ?? [])));
  database.news.onChange(() => undefined);
  await vi.waitFor(() => expect([database.news.isLive, other.news.isLive]).toEqual([true, true]));
  const { accountId } = await insertAccount(database);
  await database.act([accountId], async () => undefined);
  await vi.waitFor(() => expect(heard).toEqual([accountId]));
  await using byNumber = openPostgres({ url: at("127.0.0.1", named("good")) });
  await byNumber.ping();

  const missing = join(directory, "missing.pem");
  for (const [refused, why] of [
    [at("localhost", named("untrusted")), /no authority that is trusted here vouches .*\((DEPTH_ZERO|UNABLE|SELF)/],
    [at("localhost", ""), /no authority that is trusted here vouches .*\((DEPTH_ZERO|UNABLE|SELF)/],
    [at("127.0.0.2", named("good")), /cannot be reached/],
    [at("localhost", `&sslrootcert=${encodeURIComponent(missing)}`), /missing\.pem/],
  ] as const) {
    await using stranger = openPostgres({ url: refused });
    await expect(stranger.ping()).rejects.toMatchObject({
      name: "DatabaseUnavailableError",
      message: expect.stringMatching(why),
    });
  }
});

it("a server that Node is told to check no certificates for does not start, and writes nothing", async (context) => {
  const certificates = makeCertificates();
  if (certificates === null) return context.skip("openssl is not installed");
  await using cluster = await openCluster({ certificate: certificates.untrusted });
  const url = `postgres://coffer@localhost:${String(cluster.port)}/postgres?sslmode=verify-full`;
  const start = (more: Readonly<Record<string, string>>) =>
    startServerProcess({ directory: makeDirectory(), environment: { SERVICE_DATABASE_URL: url, ...more } });
  await expect(start({})).rejects.toThrow(/no authority that is trusted here vouches/);
  await expect(start({ NODE_TLS_REJECT_UNAUTHORIZED: "0" })).rejects.toThrow(/NODE_TLS_REJECT_UNAUTHORIZED: 0 lets/);
  await using untouched = openPostgres({ url: cluster.urlOf("postgres") });
  await expect(untouched.snapshot(findVersion)).rejects.toThrow("migrations");
});

it("refuses a certificate for another host, by name and by number, and a server without TLS", async (context) => {
  const certificates = makeCertificates();
  if (certificates === null) return context.skip("openssl is not installed");
  const file = join(makeDirectory(), "authority.pem");
  writeFileSync(file, certificates.trust);
  await using cluster = await openCluster({ certificate: certificates.otherName });
  for (const host of ["localhost", "127.0.0.1"]) {
    const url = `postgres://coffer@${host}:${String(cluster.port)}/postgres?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
    await using stranger = openPostgres({ url });
    await expect(stranger.ping()).rejects.toMatchObject({
      name: "DatabaseUnavailableError",
      message: expect.stringMatching(/for another name/),
    });
  }
  await using plain = openPostgres({ url: `${cluster.urlOf("postgres")}&sslmode=verify-full` });
  await expect(plain.ping()).rejects.toMatchObject({
    name: "DatabaseUnavailableError",
    message: expect.stringContaining("it takes no connections with TLS"),
  });
});

it("says that TLS is missing: of a PostgreSQL that has none, and of an address that asks one for none which wants it [issue 51]", async (context) => {
  const certificates = makeCertificates();
  if (certificates === null) return context.skip("openssl is not installed");
  const start = (SERVICE_DATABASE_URL: string) =>
    startServerProcess({ directory: makeDirectory(), environment: { SERVICE_DATABASE_URL } });
  await using plain = await openCluster();
  await expect(start(`${plain.urlOf("postgres")}&sslmode=verify-full`)).rejects.toThrow(
    /cannot be opened: it takes no connections with TLS, .*Set ssl = on and a certificate in its postgresql\.conf/,
  );
  await using strict = await openCluster({ certificate: certificates.good });
  const rules = join(strict.directory, "data", "pg_hba.conf");
  writeFileSync(rules, "local all all trust\nhostssl all all all trust\n");
  await strict.run("SELECT pg_reload_conf()");
  await vi.waitFor(
    () =>
      expect(start(`postgres://coffer@localhost:${String(strict.port)}/postgres`)).rejects.toThrow(
        /cannot be opened: no pg_hba\.conf entry .*no encryption\. This connection has no TLS: .*sslmode=verify-full/,
      ),
    { timeout: 60_000 },
  );
});
