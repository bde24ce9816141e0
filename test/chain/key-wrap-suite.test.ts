import { describeKeyWrap } from "../suites/key-wrap.ts";
import { keypairOf, openKeyWrapBench, placeOf } from "../kit/key-wrap-bench.ts";

describeKeyWrap("Seal", async () => {
  const bench = await openKeyWrapBench();
  const [owner, member, stranger] = [keypairOf(1), keypairOf(2), keypairOf(3)];
  for (const user of [owner, member]) bench.chain.members.add(user.toSuiAddress());
  return {
    owner: bench.wrapOf(owner),
    member: bench.wrapOf(member),
    stranger: bench.wrapOf(stranger),
    place: placeOf(1n),
    asked: () => bench.asked(),
    [Symbol.asyncDispose]: async () => {},
  };
});
