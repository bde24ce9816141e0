/** A program: the stack of `npm start` on the engines that its environment names, with a shared vault in the place of the main job's. */
import { once } from "node:events";
import { startStack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";

const [, , dataDirectory = ""] = process.argv;
{
  await using stack = await startStack({ dataDirectory, environment: process.env });
  const { baseUrl, credentialsFile, apiKey, sharedVaults } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
  await owner.vaults.create({ name: "Documents", type: "shared" });
  console.log(JSON.stringify({ baseUrl, credentialsFile }));
  await once(process, "SIGTERM");
}
