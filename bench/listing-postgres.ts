/** Pages of a listing over PostgreSQL, in an account with a million files against one with a thousand. */
import { Client } from "pg";
import { startEngine } from "./engine.ts";
import { AUTHOR, createWalk, LARGE, PAGE, REQUESTS, SMALL } from "./listing.ts";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch, startService } from "./service.ts";

export const listingPostgres: Benchmark = async () => {
  await using scratch = await openScratch();
  await using engine = await startEngine();
  const url = await engine.make("service");
  await using service = await startService(scratch.directory, 2, { SERVICE_DATABASE_URL: url });
  const began = performance.now();
  await seed(url, [SMALL, LARGE]);
  const seeding = (performance.now() - began) / 1000;
  const [small = "", large = ""] = service.keys;
  const walkSmall = createWalk(service, small);
  const walkLarge = createWalk(service, large);
  for (let at = 0; at < 30; at += 1) await Promise.all([walkSmall(), walkLarge()]);
  const few: number[] = [];
  const many: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    few.push(await walkSmall());
    many.push(await walkLarge());
  }
  return measured({
    name: "listing-postgres",
    about: `median page of ${String(PAGE)} files at ${String(LARGE)} files over that at ${String(SMALL)}, over PostgreSQL`,
    value: median(many) / median(few),
    unit: "times",
    limit: { at: "most", value: 1.5 },
    series: { [`page at ${String(SMALL)} files, ms`]: few, [`page at ${String(LARGE)} files, ms`]: many },
    facts: {
      requests: `${String(REQUESTS)} pages each, one after the other by cursor, in turns`,
      seeded: `${seeding.toFixed(0)} s`,
    },
  });
};

/** Rows without content, oldest account first. */
async function seed(connectionString: string, counts: readonly number[]): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; default_vault_id: string }>(
      "select id, default_vault_id from accounts order by created_at, email",
    );
    for (const [at, count] of counts.entries()) {
      const account = rows[at];
      if (account === undefined) throw new Error("an account is missing");
      const id = (variant: string) =>
        `lpad(to_hex(n), 8, '0') || '-0000-4000-${variant}00${String(at)}-' || lpad(to_hex(n), 12, '0')`;
      await client.query(
        `insert into files (id, account_id, vault_id, folder_id, version_id, blob_key, name, size, content_type, sha256, encrypted,
          created_at, updated_at, trashed_at, trashed_with, version_number, version_author, created_by, updated_by)
        select ${id("8")}, $1, $2, null, ${id("9")}, 'bench-${String(at)}-' || n, 'file ' || n, 1000, 'text/plain', $3, 0,
          1700000000000 + n * 7::bigint, 1700000000000 + n * 7::bigint, null, null, 1, $4, $4, $4
        from generate_series(1, $5::int) as n`,
        [account.id, account.default_vault_id, "0".repeat(64), AUTHOR, count],
      );
    }
    await client.query("vacuum analyze files");
  } finally {
    await client.end();
  }
}
