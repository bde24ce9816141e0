/** A program that stores a folder under a name by the SDK, and nothing else. */
import { createClient } from "@coffer/sdk";
import { uploadFolder } from "@coffer/sdk/node";

const [baseUrl = "", apiKey = "", directory = "", vaultId = "", name = "", journalDirectory = ""] =
  process.argv.slice(2);
const client = createClient({ baseUrl, credentials: { apiKey } });
const { id: folderId } = await client.folders.create({ vaultId, name });
const { failed } = await uploadFolder(client, directory, { vaultId, folderId, journalDirectory });
// Connections that are kept open would hold the process, as they would hold coffer.
process.exit(failed.length);
