import { argument, command } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";

const PLANS = ["free", "pro"] as const;

export default command({
  brief: "Change the plan of a subscription",
  examples: [{ line: "coffer billing plan free", does: "ends the subscription with what is paid for" }],
  args: [argument("plan", PLANS.join(" or "), () => PLANS)] as const,
  run: async ({ client, signal }, _flags, [planText]) => {
    const plan = PLANS.find((each) => each === planText);
    if (plan === undefined) throw usage(`There is no plan ${planText}`, "coffer billing plan free, or pro");
    const billing = await (await client()).billing.changePlan({ plan }, { signal });
    return done({ billing }, [`The plan is ${billing.plan}.`]);
  },
});
