/** The note of the mode in which a database was made. */
import { prepared, type Queries } from "../../ports/database.ts";

const find = prepared((build) => build.selectFrom("database_origin").select("mode").where("id", "=", 1));
const add = prepared((build, value: { readonly mode: string }) =>
  build
    .insertInto("database_origin")
    .values({ id: 1, mode: value.mode })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/** The mode that is noted, which is the given one in a database that had no note. Of several processes the first decides. */
export async function recordMode(queries: Queries, mode: string): Promise<string> {
  const found = await queries.first(find(queries, {}));
  if (found !== null) return found.mode;
  await queries.run(add(queries, { mode }));
  return (await queries.first(find(queries, {})))?.mode ?? mode;
}
