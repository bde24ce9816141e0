import { openLocalnet } from "@coffer/localnet";
import { openSuiSignatures } from "@coffer/server/drivers/message-signatures/sui";
import { expect, it } from "vitest";
import { zkloginUserOf } from "../kit/zklogin-user.ts";
import { describeMessageSignatures } from "../suites/message-signatures.ts";

describeMessageSignatures("@mysten/sui and the local chain", async () => {
  let behind = 0;
  const localnet = await openLocalnet();
  const { originalPackageId, grpcUrl, chainId } = localnet.network();
  const clock = { now: () => Date.now() + behind, elapsed: () => 0 };
  const chain = { url: grpcUrl, packageId: originalPackageId, chainId };
  const { node } = localnet.faults;
  return {
    signatures: openSuiSignatures(chain, { clock, fetch: localnet.fetch }),
    alone: openSuiSignatures(null, { clock }),
    zklogin: zkloginUserOf,
    node: {
      get down() {
        return node.down;
      },
      set down(isDown) {
        node.down = isDown;
      },
      get stale() {
        return node.stale;
      },
      set stale(isStale) {
        node.stale = isStale;
        if (!isStale) behind = 0;
      },
      advanceEpoch: () => localnet.advanceEpoch(),
    },
    advance: (milliseconds) => void (behind += milliseconds),
    [Symbol.asyncDispose]: () => localnet.close(),
  };
});

it.each([
  ["an error page", () => Promise.resolve(new Response("<html>", { status: 502 }))],
  ["no answer, whatever its signal says", () => new Promise<Response>(() => undefined)],
  [
    "an endless answer",
    () => Promise.resolve(new Response(endless(), { headers: { "content-type": "application/grpc-web-text" } })),
  ],
])("a node that gives %s says nothing of a signature", async (_name, answer) => {
  const clock = { now: () => Date.now(), elapsed: () => 0 };
  const chain = { url: "https://node.example", packageId: `0x${"1".repeat(64)}`, chainId: null };
  const signatures = openSuiSignatures(chain, { clock, fetch: answer, timeout: 50 });
  const user = zkloginUserOf("ada", 2);
  const message = new Uint8Array([1]);
  const signature = Uint8Array.from(Buffer.from(await user.signPersonalMessage(message), "base64"));
  const verdict = signatures.verify({ chainAddress: user.chainAddress, message, signature });
  await expect(verdict).rejects.toMatchObject({ name: "ChainUnavailableError" });
});

/** Base64 of zeros for ever. */
function endless(): ReadableStream<Uint8Array> {
  const part = Buffer.alloc(65_536, "A");
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(part)) });
}
