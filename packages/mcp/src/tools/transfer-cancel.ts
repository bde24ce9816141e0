import * as z from "zod/mini";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { REPORT } from "./transfer-rows.ts";

export const transferCancel = defineTool({
  name: "transfer_cancel",
  profile: "read",
  title: "Cancel a transfer",
  description: "Stops a long transfer of this server. What was moved before stays, and the same call moves the rest.",
  endpoints: [],
  hints: { readOnlyHint: false },
  input: { transferId: z.string().check(z.minLength(1), z.maxLength(64)) },
  describe: { transferId: "from the answer that began it" },
  output: { ...REPORT, totalBytes: COUNT, transferId: TEXT },
  table: "rows",
  run: ({ transferId }, call) => call.transfers.cancel(transferId),
});
