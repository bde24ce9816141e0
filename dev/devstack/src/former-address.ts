/** Where the service of a data directory was before. Profiles name that address, so the directory keeps its port. */
import { join } from "node:path";
import { configFile, readConfig } from "@coffer/sdk/node";
import { answers, PROFILE } from "./account.ts";
import { shown } from "./report.ts";
import { quoted } from "./shell-words.ts";

/** The address that its owner's profile has from an earlier start; null in a new directory. */
export async function addressOfData(dataDirectory: string): Promise<string | null> {
  const config = await readConfig(join(dataDirectory, "credentials.json"));
  const address = config?.profiles[PROFILE]?.baseUrl ?? "";
  return URL.parse(address)?.port ? address : null;
}

/** What to say when the service has moved: to its user, and about those of the user's own profiles that name the former address. */
export async function movedLines(former: string, address: string): Promise<string[]> {
  // Another stack on the same data may serve the former address.
  if (former === address || (await answers(former))) return [];
  const file = configFile();
  // A configuration that cannot be read is no reason not to start.
  const profiles = Object.entries((await readConfig(file).catch(() => null))?.profiles ?? {});
  return [
    `the service of these data moved from ${former} to ${address}; --port ${new URL(former).port} brings it back`,
    ...profiles
      .filter(([, { baseUrl }]) => baseUrl === former)
      .map(
        ([name]) =>
          `profile ${name} of ${shown(file)} names the former address; to sign in again: coffer logout --profile ${quoted(name)}, then coffer login --profile ${quoted(name)} --base-url ${address}`,
      ),
  ];
}
