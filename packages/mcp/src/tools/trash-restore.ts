import { api } from "@coffer/contract";
import { defineTool } from "../tool.ts";
import { FILE_OUTPUT, fileFacts, findOwnFile } from "./own-file.ts";
import { itemRef } from "./places.ts";

export const trashRestore = defineTool({
  name: "trash_restore",
  profile: "agent",
  title: "Restore a file from the trash",
  description: "Brings a file back, to the top of its vault if its folder is gone.",
  endpoints: [api.files.get, api.files.restore],
  // An update that only adds: nothing that exists is changed or lost.
  hints: { destructiveHint: false },
  input: {
    fileId: itemRef,
    name: api.files.restore.body.shape.name,
    vaultId: api.files.list.query.shape.vaultId,
  },
  describe: {
    name: "default: the old one",
    vaultId: "needed with name; default: where the file was seen",
  },
  output: FILE_OUTPUT,
  run: async ({ fileId, name, vaultId }, call) => {
    const { id } = await findOwnFile(call, fileId);
    const client = await call.client();
    const file = await client.files.restore(id, name === undefined ? {} : { name }, {
      signal: call.signal,
      ...(vaultId === undefined ? {} : { vaultId }),
    });
    return { summary: "The file is back.", facts: fileFacts(file) };
  },
});
