import { api } from "@coffer/contract";
import * as z from "zod/mini";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { REPORT } from "./transfer-rows.ts";

export const transferGet = defineTool({
  name: "transfer_get",
  profile: "read",
  title: "Look at a transfer",
  description:
    "How far a long transfer is, or its result. A tool that takes over 20 seconds answers with a transferId.",
  endpoints: [api.account.get],
  input: { transferId: z.string().check(z.minLength(1), z.maxLength(64)) },
  describe: { transferId: "from the answer that began it" },
  output: { ...REPORT, totalBytes: COUNT, transferId: TEXT },
  run: ({ transferId }, call) => call.transfers.get(transferId),
});
