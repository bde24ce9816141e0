import { choice, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Get the address where a plan is paid for",
  examples: [{ line: "coffer billing checkout --plan pro", does: "open what it prints" }],
  flags: { plan: choice("The plan (default: pro)", ["pro"]) },
  run: async ({ client, signal }, { plan = "pro" }) => {
    const { url } = await (await client()).billing.checkout({ plan }, { signal });
    return done({ url }, [url]);
  },
});
