/** Looks into a stack's data directory from outside, as an operator would with `find`, `grep` and `sqlite3` or `psql`. */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { addressIn } from "../../kit/postgres/address.ts";

/** Paths of all regular files below `directory`. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Which files below `directory` hold these bytes; `rows` where they are in the rows of a PostgreSQL. */
export async function filesHolding(directory: string, text: string): Promise<string[]> {
  const paths = await filesBelow(directory);
  const hits = await Promise.all(paths.map(async (path) => ((await readIfThere(path)).includes(text) ? [path] : [])));
  const url = addressIn(directory);
  if (url === null) return hits.flat();
  const { readAllRows } = await import("../../kit/postgres/databases.ts");
  return [...hits.flat(), ...((await readAllRows(url)).includes(text) ? ["rows"] : [])];
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

/** The sum of all file sizes below `directory` without the database, in bytes. */
export async function blobBytes(directory: string): Promise<number> {
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

/** The service's database file below `directory`; the local network of a stack keeps one of its own. */
export async function databasePath(directory: string): Promise<string> {
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
  const database = new DatabaseSync(await databasePath(directory), { readOnly: true });
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    return database.prepare(statement).all(...values);
  } finally {
    database.close();
  }
}

/** The environment in which an operator's command meets the data of a development stack. */
export async function operatorVariables(directory: string): Promise<Record<string, string>> {
  return { SERVICE_ENV: "development", SERVICE_DATA_DIR: dirname(await databasePath(directory)) };
}
