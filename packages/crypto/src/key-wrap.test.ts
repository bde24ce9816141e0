import { describeKeyWrap } from "../../../test/suites/key-wrap.ts";
import { OWNER, testKeyWrap, VAULT } from "./vault.test-kit.ts";

describeKeyWrap("the tests' double", async () => {
  const wrap = testKeyWrap("members");
  return {
    owner: wrap,
    member: wrap,
    stranger: testKeyWrap("strangers"),
    place: { vault: VAULT, generation: 5n, after: 0n, creator: OWNER.address },
    asked: () => [wrap.requests.length],
    [Symbol.asyncDispose]: async () => {},
  };
});
