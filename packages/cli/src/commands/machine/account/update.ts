import { untrusted } from "@coffer/tasks";
import { command, requiredText } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Change the name of the account",
  examples: [{ line: 'coffer account update --name "Ada"', does: "what others read" }],
  flags: { name: requiredText("Name for people to read", { placeholder: "NAME" }) },
  run: async ({ client, signal }, { name }) => {
    const account = await (await client()).account.update({ name }, { signal });
    return done({ account }, [untrusted(`The account is named ${account.name ?? ""}`)]);
  },
});
