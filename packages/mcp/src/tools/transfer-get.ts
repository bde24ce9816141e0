import { api } from "@coffer/contract";
import * as z from "zod/mini";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { pageInput } from "./page-input.ts";
import { REPORT } from "./transfer-rows.ts";

export const transferGet = defineTool({
  name: "transfer_get",
  profile: "read",
  title: "Look at a transfer",
  description: "How far a long transfer is, its result, or with cursor the rest of its rows.",
  endpoints: [api.account.get],
  input: { transferId: z.string().check(z.minLength(1), z.maxLength(64)), cursor: pageInput.cursor },
  describe: { transferId: "from the answer that began it" },
  output: { ...REPORT, totalBytes: COUNT, transferId: TEXT },
  table: "rows",
  run: ({ transferId, cursor }, call) => call.transfers.get(transferId, cursor),
});
