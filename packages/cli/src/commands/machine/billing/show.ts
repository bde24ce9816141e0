import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";

export default command({
  brief: "Show the plan and what pays for it",
  examples: [{ line: "coffer billing show", does: "the subscription too" }],
  run: async ({ client, signal }) => {
    const billing = await (await client()).billing.get({ signal });
    const { plan, subscription } = billing;
    const paid =
      subscription === null
        ? "nothing is paid for"
        : `${subscription.plan}, ${subscription.status}, since ${timeText(subscription.since)}`;
    return done({ billing }, [`plan          ${plan}`, `subscription  ${paid}`]);
  },
});
