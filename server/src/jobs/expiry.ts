/** What is over by time: resumable uploads nobody finished, and answers kept for repeated requests. */
import { prepared, type Session } from "../ports/database.ts";
import type { UploadRow } from "../ports/tables.ts";
import type { JobDeps } from "./start-jobs.ts";

const BATCH = 100;

const expired = prepared((build, value: { now: number }) =>
  build
    .selectFrom("uploads")
    .select(["id", "blob_key"])
    .where("expires_at", "<=", value.now)
    .orderBy("expires_at")
    .limit(BATCH),
);

const removeExpired = prepared((build, value: { id: string; now: number }) =>
  build.deleteFrom("uploads").where("id", "=", value.id).where("expires_at", "<=", value.now),
);

/** The blob of a finished upload is its file's. */
const queueUnlessFile = prepared((build, value: { blobKey: string; now: number }) =>
  build
    .insertInto("blob_deletions")
    .columns(["blob_key", "not_before"])
    .expression((expression) =>
      expression
        .selectFrom("uploads")
        .select((row) => ["blob_key", row.val(value.now).as("not_before")])
        .where("blob_key", "=", value.blobKey)
        .where((row) =>
          row.not(row.exists(row.selectFrom("files").select("id").where("blob_key", "=", value.blobKey))),
        ),
    )
    .onConflict((conflict) => conflict.column("blob_key").doNothing()),
);

/** Removes the rows; their bytes go to the deletion queue in the same transaction. */
export async function expireUploads(
  deps: Pick<JobDeps, "database" | "clock">,
  signal: AbortSignal,
): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const rows = await deps.database.all(expired(deps.database, { now: deps.clock.now() }));
    if (rows.length === 0) break;
    for (const row of rows) total += await expireUpload(deps, row);
  }
  return { expired: total };
}

function expireUpload(
  deps: Pick<JobDeps, "database" | "clock">,
  upload: Pick<UploadRow, "id" | "blob_key">,
): Promise<number> {
  const now = deps.clock.now();
  const work = async (transaction: Session): Promise<number> => {
    await transaction.run(queueUnlessFile(transaction, { blobKey: upload.blob_key, now }));
    return transaction.run(removeExpired(transaction, { id: upload.id, now }));
  };
  return deps.database.transaction(work, { freesSpace: true });
}

const removeAnswers = prepared((build, value: { now: number }) =>
  build.deleteFrom("idempotency").where("expires_at", "<=", value.now),
);

export async function expireIdempotency(deps: Pick<JobDeps, "database" | "clock">): Promise<{ expired: number }> {
  const query = removeAnswers(deps.database, { now: deps.clock.now() });
  return { expired: await deps.database.transaction((transaction) => transaction.run(query), { freesSpace: true }) };
}
