import { saveProfile } from "@coffer/tasks";
import { FIELDS, SECRETS } from "../../../config-fields.ts";
import type { Context } from "../../../context.ts";
import { argument, command, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { describeInstallLine } from "../../../install-line.ts";
import { done } from "../../../result.ts";
import { networkFileAt, selectedProfile, reachableProfile } from "../../../profile-credentials.ts";
import { setDefaultProfile } from "../../../default-profile.ts";

export default command({
  brief: "Change one value of the configuration",
  description:
    "Another service's address drops the key, session and content-origins of the former one. key-store moves the API key and the chain key of the profile, and later ones go there too. Its value file is the configuration (mode 0600). Its value keychain is that of your system, which needs npm install -g @napi-rs/keyring. When the keychain is gone for good, key-store file --lost-keys makes the profile usable again. content-origins are stores that the service may send downloads to, as its operator says, with spaces or commas between them; an empty value names none. install-line is how agents get coffer, for coffer invites create --name NAME --prompt: the address where you host coffer.mjs, its path for agents on this machine, or a line that installs it, such as npm install -g and your package. Of an address the SHA-256 of your own coffer.mjs is kept, too, and agents compare it. An empty value names none.",
  examples: [
    { line: "coffer config set base-url https://coffer.example.com", does: "of the profile" },
    { line: "coffer config set network-file network.json", does: "what shared vaults need" },
    { line: "coffer config set key-store keychain", does: "keys into the system's keychain; file brings them back" },
  ],
  flags: { lostKeys: toggle("With key-store file: forget keys that the keychain does not give any more") },
  args: [argument("name", FIELDS.join(", "), () => FIELDS), argument("value", "The new value")] as const,
  run: async (context, { lostKeys }, [name, value]) => {
    if (SECRETS.some((secret) => secret === name))
      throw usage(
        "Secrets do not belong on a command line",
        "coffer login --api-key-stdin, or coffer chain import --stdin",
      );
    const saved = await change(name, value);
    return done({ name, value: saved }, [`${name} is ${saved}`]);

    async function change(field: string, text: string): Promise<string> {
      if (field === "default-profile") return await setDefaultProfile(context, text);
      if (field === "base-url") {
        if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ""))
          throw usage(`${text} is no http address`, "coffer config set base-url https://HOST");
        await saveProfile({ ...(await selectedProfile(context)), baseUrl: text }, {});
        return text;
      }
      if (field === "key-store") {
        if (text !== "file" && text !== "keychain")
          throw usage(
            `Keys are kept in the file or in the keychain, not in ${text}`,
            "coffer config set key-store keychain",
          );
        if (text === "file") return await moveKeysToFile(context, lostKeys);
        await saveProfile(await reachableProfile(context), { keyStore: text });
        return text;
      }
      if (field === "content-origins") return await setContentOrigins(context, text);
      if (field === "install-line") return await setInstallLine(context, text);
      if (field !== "network-file") throw usage(`There is no value ${field}`, "coffer config set --help");
      const networkFile = networkFileAt(context, text);
      await saveProfile(await reachableProfile(context), { networkFile });
      return networkFile;
    }
  },
});

/** Those that `coffer` could not use are refused, and nothing is saved. */
async function setContentOrigins(context: Context, text: string): Promise<string> {
  const { contentOriginsIn, nodeTransport } = await import("@coffer/sdk/node");
  const contentOrigins = contentOriginsIn(text);
  try {
    nodeTransport({ contentOrigins });
  } catch {
    throw usage(
      "It takes origins such as https://s3.example.com, without a path, and http on this machine alone",
      "coffer config set content-origins https://s3.example.com",
    );
  }
  await saveProfile(await reachableProfile(context), { contentOrigins });
  return contentOrigins.length === 0 ? "none" : contentOrigins.join(" ");
}

async function setInstallLine(context: Context, text: string): Promise<string> {
  const installLine = text.trim() === "" ? null : await describeInstallLine(text, context.world);
  await saveProfile(await reachableProfile(context), { installLine });
  return installLine ?? "none";
}

/** Keys that can be read come back to the file. Others are forgotten only when the person says that they are lost. */
async function moveKeysToFile(context: Context, mayLose: boolean): Promise<string> {
  const selected = await reachableProfile(context);
  if (!mayLose) {
    await saveProfile(selected, { keyStore: "file" });
    return "file";
  }
  const keys = { apiKey: selected.stored?.apiKey ?? null, chainPrivateKey: selected.stored?.chainPrivateKey ?? null };
  const lost = Object.entries(keys).filter(([, key]) => key !== null && !isReadable(key));
  const lostNames = lost.map(([name]) => (name === "apiKey" ? "the API key" : "the chain key")).join(" and ");
  if (lost.length > 0) await context.confirm(`Forget ${lostNames} of profile ${selected.profile} for good?`);
  const remaining = { ...keys, ...Object.fromEntries(lost.map(([name]) => [name, null])) };
  await saveProfile(selected, { ...remaining, keyStore: "file" }, { keychainIsLost: true });
  if (lost.length > 0) context.printNote(`Lost: ${lostNames}.`);
  for (const [name] of lost)
    context.printNote(`Next: ${name === "apiKey" ? "coffer login" : "coffer chain import, from its backup"}`);
  return "file";
}

function isReadable(key: { reveal(): string }): boolean {
  try {
    key.reveal();
    return true;
  } catch {
    return false;
  }
}
