/** Looks into a stack's data from outside, as an operator would with `find`, `grep` and `sqlite3`, or with `psql` and a client of S3. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { engineSettings } from "../../kit/engine-settings.ts";
import { addressIn } from "../../kit/postgres/address.ts";

/** Paths of all regular files below `directory`. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** What holds the rows of a stack, as {@link filesHolding} names it. */
const ROWS = "rows";

/** Which files below `directory` hold these bytes; `rows` and `objects` where they are in its PostgreSQL and its S3 store. */
export async function filesHolding(directory: string, text: string): Promise<string[]> {
  const places = await storedIn(directory);
  return places.filter(({ bytes }) => bytes.includes(text)).map(({ name }) => name);
}

/** Everything that is stored for a server: its files, the rows of its PostgreSQL and the objects of its S3 store. */
export async function storedIn(directory: string): Promise<{ readonly name: string; readonly bytes: Buffer }[]> {
  const paths = await filesBelow(directory);
  const files = await Promise.all(paths.map(async (name) => ({ name, bytes: await readIfThere(name) })));
  const url = addressIn(directory);
  if (url === null) return files;
  const [{ readAllRows }, { readObjects }] = [
    await import("../../kit/postgres/databases.ts"),
    await import("../../kit/ceph/stored.ts"),
  ];
  const objects = (await readObjects(directory)).map((bytes) => ({ name: "objects", bytes }));
  return [...files, { name: ROWS, bytes: Buffer.from(await readAllRows(url)) }, ...objects];
}

/** Empty for a file that has gone since the listing, such as a mail that was just put into the outbox. */
async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** The sum of all file sizes below `directory` without the database, or of all that its S3 store holds, in bytes. */
export async function blobBytes(directory: string): Promise<number> {
  if (addressIn(directory) !== null) return (await import("../../kit/ceph/stored.ts")).objectBytes(directory);
  const paths = (await filesBelow(directory)).filter((path) => !/\.sqlite(-\w+)?$/.test(path));
  const sizes = await Promise.all(paths.map((path) => sizeOf(path)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A file may vanish between the listing and the look. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** The service's database file below `directory`, or `rows`; the local network of a stack keeps a file of its own. */
export async function databasePath(directory: string): Promise<string> {
  if (addressIn(directory) !== null) return ROWS;
  const found = (await filesBelow(directory)).filter(
    (path) => path.endsWith(".sqlite") && !path.includes("/localnet/"),
  );
  const [path] = found;
  if (path === undefined || found.length > 1) throw new Error(`${found.length} databases below ${directory}`);
  return path;
}

/** Runs one statement against the stack's database, beside the running server. It changes one row. */
export async function runSql(directory: string, statement: string, ...values: (string | number)[]): Promise<void> {
  const changes = await change(directory, statement, values);
  if (changes !== 1) throw new Error(`the statement met ${changes} rows: ${statement}`);
}

/** The same for a statement about tables. */
export async function alterTables(directory: string, statement: string): Promise<void> {
  await change(directory, statement, []);
}

async function change(directory: string, statement: string, values: readonly (string | number)[]): Promise<number> {
  const url = addressIn(directory);
  if (url !== null) return (await import("../../kit/postgres/databases.ts")).alterRows(url, statement, values);
  const database = new DatabaseSync(await databasePath(directory));
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    return Number(database.prepare(statement).run(...values).changes);
  } finally {
    database.close();
  }
}

/** Reads rows of the stack's database, beside the running server. */
export async function querySql(
  directory: string,
  statement: string,
  ...values: (string | number)[]
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const url = addressIn(directory);
  if (url !== null) return (await import("../../kit/postgres/databases.ts")).findRows(url, statement, values);
  const database = new DatabaseSync(await databasePath(directory), { readOnly: true });
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    return database.prepare(statement).all(...values);
  } finally {
    database.close();
  }
}

/** The environment in which another process, such as an operator's command, meets the data of a development stack. */
export async function operatorVariables(directory: string): Promise<Record<string, string>> {
  return { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...(await engineSettings(directory)) };
}
