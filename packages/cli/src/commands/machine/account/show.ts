import { untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { sizeText } from "../../../terminal/visible.ts";

export default command({
  brief: "Show the account, its plan and what it stores",
  examples: [{ line: "coffer account show", does: "usage and limits too" }],
  run: async ({ client, signal }) => {
    const { account } = await (await client()).account.get({ signal });
    const { usage, limits } = account;
    return done({ account }, [
      `${account.email}${account.emailVerified ? "" : " (not verified: coffer email resend)"}`,
      ...(account.name === null ? [] : [untrusted(account.name)]),
      `id       ${account.id}`,
      `access   ${account.accessLevel}`,
      `chain    ${account.chainAddress ?? "no address is linked: coffer account link-chain"}`,
      `plan     ${account.plan}`,
      `stored   ${sizeText(usage.bytes)} of ${sizeText(limits.storageBytes)} in ${String(usage.files)} files`,
      `past     ${sizeText(usage.versionBytes)} in former versions`,
    ]);
  },
});
