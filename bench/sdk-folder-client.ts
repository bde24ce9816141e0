/** A program that stores a folder by the SDK, and nothing else. */
import { createClient } from "@coffer/sdk";
import { uploadFolder } from "@coffer/sdk/node";

const [baseUrl = "", apiKey = "", directory = "", vaultId = "", folderId = "", journalDirectory = ""] =
  process.argv.slice(2);
const client = createClient({ baseUrl, credentials: { apiKey } });
const { failed } = await uploadFolder(client, directory, { vaultId, folderId, journalDirectory });
// Connections that are kept open would hold the process, as they would hold coffer.
process.exit(failed.length);
