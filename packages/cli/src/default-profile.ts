import type { Context } from "./context.ts";
import { CommandFailure } from "./failure.ts";
import { selectedProfile } from "./profile-credentials.ts";

/** Makes a profile the default one. */
export async function setDefaultProfile(context: Context, name: string): Promise<string> {
  const { readConfig, writeConfig } = await import("@coffer/sdk/node");
  const { configFile } = await selectedProfile(context);
  const config = await readConfig(configFile);
  if (config === null || !Object.hasOwn(config.profiles, name))
    throw new CommandFailure("not_found", { message: `There is no profile ${name}`, nextStep: "coffer profiles list" });
  await writeConfig({ defaultProfile: name }, configFile);
  return name;
}
