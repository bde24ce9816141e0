/** Acts on several files and folders of perhaps several vaults. */
import { lookUpEach, nameOf, untrusted, type ItemOutcome, type Item } from "@coffer/tasks";
import type { Context } from "../../context.ts";
import { exitOfActs } from "../../exit-codes.ts";
import { usage } from "../../failure.ts";
import { done, type Document } from "../../result.ts";
import { plain } from "./item-rows.ts";
import { isTop, itemAt, resolveVaultPath } from "./vault-paths.ts";

/** Finds each; `trashed` looks in the trash, too. The top of a vault is refused. */
export async function findByNames(
  { task }: Context,
  names: readonly string[],
  vault: string | undefined,
  options: { readonly trashed?: boolean } = {},
): Promise<ItemOutcome[]> {
  return await lookUpEach(task, names, async (text): Promise<Item> => {
    const resolved = await resolveVaultPath(task, text, vault);
    if (isTop(resolved.path)) throw usage("This is the top of a vault", "coffer vaults delete VAULT");
    return await itemAt(task, resolved, options);
  });
}

/** One that failed alone is thrown: its exit code says why. */
export function actReport(outcomes: readonly ItemOutcome[], word: string): Document {
  const failures = outcomes.flatMap(({ failure }) => (failure === null ? [] : [failure]));
  const [first] = failures;
  if (first !== undefined && outcomes.length === 1) throw first;
  const acted = outcomes.length - failures.length;
  return done(
    {
      [word]: acted,
      failed: failures.length,
      items: outcomes.map(({ failure, item, named }) => ({
        named,
        id: item?.id ?? null,
        kind: item?.kind ?? null,
        ...(item === null ? {} : { item: plain(item.kind === "file" ? item.file : item.folder) }),
        code: failure?.code ?? null,
        message: failure?.message ?? null,
      })),
    },
    [
      ...outcomes.map(({ failure, item, named }) =>
        untrusted(
          failure === null
            ? `${word}: ${item === null ? named : nameOf(item)}`
            : `failed: ${named}: ${failure.message}${failure.detail === null ? "" : `: ${failure.detail.visible()}`}`,
        ),
      ),
    ],
    { exit: exitOfActs(failures.length) },
  );
}
