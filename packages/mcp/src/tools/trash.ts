import { api } from "@coffer/contract";
import { defineTool } from "../tool.ts";
import { fileFacts, findOwnFile } from "./own-file.ts";

export const trashTools = [
  defineTool({
    name: "trash_restore",
    title: "Restore a file from the trash",
    description: "Brings a file back, to the top of its vault if its folder is gone.",
    endpoints: [api.files.get, api.files.restore],
    // An update that only adds: nothing that exists is changed or lost.
    hints: { destructiveHint: false },
    input: {
      fileId: api.files.restore.params.shape.fileId,
      name: api.files.restore.body.shape.name,
      vaultId: api.files.list.query.shape.vaultId,
    },
    describe: {
      name: "default: the old one",
      vaultId: "needed with name; default: where the file was seen",
    },
    run: async ({ fileId, name, vaultId }, call) => {
      await findOwnFile(call, fileId);
      const client = await call.client();
      const file = await client.files.restore(fileId, name === undefined ? {} : { name }, {
        signal: call.signal,
        ...(vaultId === undefined ? {} : { vaultId }),
      });
      return { summary: "The file is back.", facts: fileFacts(file) };
    },
  }),
] as const;
