/** TEST ONLY: the entries of files whose rows were written past the service, for the benchmark of searches. */
import type { Queries } from "../../ports/database.ts";
import { addEntries } from "./store.ts";

const FILES = 500;

/** New entries for all files that there are. */
export async function indexFiles(queries: Queries): Promise<void> {
  const { build } = queries;
  const ids = (await queries.all(build.selectFrom("files").select("id").orderBy("created_at").orderBy("id"))).map(
    ({ id }) => id,
  );
  for (let at = 0; at < ids.length; at += FILES) {
    const files = build
      .selectFrom("files")
      .select(["id", "account_id", "vault_id", "folder_id", "name", "content_type", "shared_json", "created_at"])
      .select(["created_by", "updated_by"])
      .where("id", "in", ids.slice(at, at + FILES))
      .orderBy("created_at")
      .orderBy("id");
    await addEntries(queries, await queries.all(files));
  }
}
