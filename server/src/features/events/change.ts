/** A row of the audit log as the change feed shows it: ids, sizes and times. */
import type { AuditEvent, Change, EventObject } from "@coffer/contract";
import type { ChangeRow } from "../../ports/tables.ts";
import { toAuditEvent } from "../changes/events.ts";

export function toChange(row: ChangeRow): Change {
  const { sequence, id, action: kind, occurredAt, actor, targets } = toAuditEvent(row);
  const object = row.object_json === null ? null : (JSON.parse(row.object_json) as EventObject);
  const file = object?.type === "file" ? object : null;
  const target: AuditEvent["targets"][number] | undefined = targets[0];
  return {
    sequence,
    id,
    kind,
    occurredAt,
    actor: { type: actor.type, id: actor.id, chainAddress: actor.chainAddress },
    object: {
      type: target?.type ?? "",
      id: target?.id ?? "",
      vaultId: row.vault_id,
      folderId: row.folder_id,
      versionId: file?.versionId ?? null,
      size: file?.size ?? null,
    },
  };
}
