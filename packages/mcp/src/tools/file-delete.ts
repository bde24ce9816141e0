import { api } from "@coffer/contract";
import { TaskFailure } from "@coffer/tasks";
import { defineTool } from "../tool.ts";
import { fileFacts, findOwnFile, FILE_OUTPUT } from "./own-file.ts";
import { itemRef } from "./places.ts";

export const fileDelete = defineTool({
  name: "file_delete",
  profile: "agent",
  title: "Move a file to the trash",
  description: "Moves a file to the trash, where it stays 30 days. trash_restore brings it back.",
  endpoints: [api.files.get, api.files.delete],
  input: { fileId: itemRef },
  output: FILE_OUTPUT,
  run: async ({ fileId }, call) => {
    const before = await findOwnFile(call, fileId);
    const client = await call.client();
    const file = await client.files.delete(before.id, { signal: call.signal });
    if (file === null) throw new TaskFailure("unexpected_answer");
    // The caller already has the names and sizes of a shared vault's files: the service cannot read them.
    return { summary: "The file is in the trash.", facts: fileFacts({ ...before, trashedAt: file.trashedAt }) };
  },
});
