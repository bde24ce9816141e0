/** The code of all tools, in the order in which they are listed. A server loads it at the first call. */
import type { Tool } from "./tool.ts";
import { fileDelete } from "./tools/file-delete.ts";
import { fileDownload } from "./tools/file-download.ts";
import { fileMove } from "./tools/file-move.ts";
import { fileGet } from "./tools/file-get.ts";
import { fileList } from "./tools/file-list.ts";
import { fileRead } from "./tools/file-read.ts";
import { fileSearch } from "./tools/file-search.ts";
import { fileUpload } from "./tools/file-upload.ts";
import { fileVerify } from "./tools/file-verify.ts";
import { statusCheck } from "./tools/status-check.ts";
import { accessList } from "./tools/access-list.ts";
import { accessGrant } from "./tools/access-grant.ts";
import { accessRevoke } from "./tools/access-revoke.ts";
import { webhookList } from "./tools/webhook-list.ts";
import { webhookSet } from "./tools/webhook-set.ts";
import { webhookDelete } from "./tools/webhook-delete.ts";
import { webhookSend } from "./tools/webhook-send.ts";
import { auditList } from "./tools/audit-list.ts";
import { changeList } from "./tools/change-list.ts";
import { fileRestore } from "./tools/file-restore.ts";
import { fileWrite } from "./tools/file-write.ts";
import { transferCancel } from "./tools/transfer-cancel.ts";
import { transferGet } from "./tools/transfer-get.ts";
import { vaultAccessCheck } from "./tools/vault-access-check.ts";
import { vaultCreate } from "./tools/vault-create.ts";
import { vaultList } from "./tools/vault-list.ts";

/** One file each in `tools/`. The order is part of the surface: hosts cache the list byte by byte. */
export const TOOLS: readonly Tool[] = [
  statusCheck,
  vaultList,
  vaultAccessCheck,
  fileList,
  fileSearch,
  fileGet,
  fileRead,
  fileDownload,
  fileVerify,
  changeList,
  transferGet,
  transferCancel,
  fileUpload,
  fileWrite,
  fileMove,
  fileDelete,
  fileRestore,
  vaultCreate,
  accessList,
  accessGrant,
  accessRevoke,
  webhookList,
  webhookSet,
  webhookDelete,
  webhookSend,
  auditList,
];

/** The tool of this name. Throws TypeError for a name that is not in the list. */
export function findTool(name: string): Tool {
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) throw new TypeError(`There is no tool ${name}`);
  return tool;
}
