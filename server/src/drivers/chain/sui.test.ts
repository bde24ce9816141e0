import { describe, expect, it } from "vitest";
import { describeChain } from "../../../../test/suites/chain.ts";
import { openSuiChain } from "./sui.ts";
import { newTestVault } from "./chain.test-kit.ts";
import { openTestNode, renderVault, TEST_CHAIN, TEST_PACKAGE } from "./node.test-kit.ts";

const config = { url: "https://node.example", packageId: TEST_PACKAGE, chainId: null };
const VAULT = `0x${"a".repeat(64)}`;
const owner = { address: `0x${"1".repeat(64)}`, signingKey: new Uint8Array(32).fill(1) };
const vault = newTestVault(owner);

function open(bounds = {}, chainId: string | null = null) {
  let now = Date.UTC(2030, 0, 1);
  const clock = { now: () => now, elapsed: () => now };
  const node = openTestNode(clock);
  const chain = openSuiChain({ ...config, chainId }, { clock, fetch: node.fetch, bounds });
  node.objects.set(VAULT, renderVault(VAULT, vault));
  return { chain, node, advance: (milliseconds: number) => void (now += milliseconds) };
}

describeChain("sui", () => {
  const { chain, node, advance } = open();
  return {
    chain,
    advance,
    place: (objectId, placed) => void node.objects.set(objectId, renderVault(objectId, placed)),
    placeOther: (objectId) =>
      void node.objects.set(objectId, { ...renderVault(objectId, vault), type: "0x2::coin::Coin<0x2::sui::SUI>" }),
    takeAway: (objectId) => void node.objects.delete(objectId),
    stop: () => void (node.answer = () => Promise.reject(new TypeError("fetch failed"))),
    start: () => void (node.answer = null),
    reads: () => node.reads,
    [Symbol.asyncDispose]: () => chain[Symbol.asyncDispose](),
  };
});

async function failureOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  if (error === null) return "answered";
  expect(error.name).toBe("ChainUnavailableError");
  return error.message;
}

describe("a Sui node", () => {
  it("has no vault in another package's object of that name", async () => {
    const { chain, node } = open();
    node.objects.set(VAULT, renderVault(VAULT, vault, `0x${"d".repeat(64)}`));
    expect(await chain.readVault(VAULT, { maxAge: 0 })).toBeNull();
  });

  it.each([
    [0, "answered"],
    [30_000, "answered"],
    [-30_000, "answered"],
    [-30_001, "The service's clock is 31 s behind the chain's: its operator must set it"],
    [
      30_001,
      "The service's clock is 31 s ahead of the chain node's: its operator must set it, or name another node if that one is late",
    ],
    [null, "The chain's node does not say how recent it is"],
  ])("%s ms behind: %s", async (lag, outcome) => {
    const { chain, node } = open();
    node.lag = lag;
    expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe(outcome);
  });

  it("of another chain than the configured one is not believed, and both are named [N10]", async () => {
    const other = "2".repeat(44);
    const { chain, node } = open({}, TEST_CHAIN);
    expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe("answered");
    node.chainId = other;
    const said = await failureOf(chain.readVault(VAULT, { maxAge: 0 }));
    expect(said).toContain(`serves the chain ${other}, and this service uses the chain ${TEST_CHAIN}`);
    expect(said).toContain("SERVICE_CHAIN_ID");
    node.chainId = TEST_CHAIN;
    expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe("answered");
  });

  it("is held to the chain that it showed first, where none is configured [N10]", async () => {
    const { chain, node } = open();
    const again = () => failureOf(chain.readVault(VAULT, { maxAge: 0 }));
    expect(await again()).toBe("answered");
    node.chainId = "2".repeat(44);
    expect(await again()).toContain(`and this service has used the chain ${TEST_CHAIN} since it started`);
    node.chainId = TEST_CHAIN;
    expect(await again()).toBe("answered");
  });

  it.each([[null], [""], ["<script>"], ["1".repeat(65)]])("that calls its chain %j says nothing", async (chainId) => {
    for (const configured of [null, TEST_CHAIN]) {
      const { chain, node } = open({}, configured);
      node.chainId = chainId;
      const said = await failureOf(chain.readVault(VAULT, { maxAge: 0 }));
      expect(said).toBe("The chain's node does not say which chain it serves");
    }
  });

  it("is not believed when its object is broken, too long or another one", async () => {
    const { type, contents } = renderVault(VAULT, vault);
    const cut = contents.subarray(0, -1);
    const longer = Buffer.concat([contents, Uint8Array.of(0)]);
    const other = renderVault(`0x${"b".repeat(64)}`, vault).contents;
    for (const lie of [new Uint8Array(0), cut, longer, other]) {
      const { chain, node } = open();
      node.objects.set(VAULT, { type, contents: lie });
      expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).not.toBe("answered");
    }
  });

  it("is read no further than the largest vault goes", async () => {
    const { chain, node } = open();
    let sent = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += 65_536;
          controller.enqueue(new Uint8Array(65_536).fill(65));
          if (sent > 64 * 1024 * 1024) controller.close();
        },
      });
    const headers = { "content-type": "application/grpc-web-text" };
    node.answer = () => Promise.resolve(new Response(endless(), { headers }));
    expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe("The chain could not be read");
    expect(sent).toBeLessThan(4 * 1024 * 1024);
  });

  it("is given up after a while, whether or not it looks at the signal", async () => {
    for (const heeds of [true, false]) {
      const { chain, node } = open({ timeout: 20 });
      node.answer = (signal) =>
        new Promise((_resolve, reject) => {
          if (heeds) signal?.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
        });
      expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe("The chain could not be read");
      node.answer = null;
      // On a busy machine even that may take longer once.
      const again = (): Promise<string> => failureOf(chain.readVault(VAULT, { maxAge: 0 }));
      await expect.poll(again, { timeout: 30_000 }).toBe("answered");
    }
  });

  it.each([
    ["an error page", () => new Response("<html>", { status: 502 })],
    ["another service", () => new Response("{}", { headers: { "content-type": "application/json" } })],
    ["an endless answer", () => new Response(endless(), { headers: { "content-type": "application/grpc-web-text" } })],
  ])("does not stand for %s", async (_name, answer) => {
    const { chain, node } = open();
    node.answer = () => Promise.resolve(answer());
    expect(await failureOf(chain.readVault(VAULT, { maxAge: 0 }))).toBe("The chain could not be read");
  });
});

describe("what is remembered is bounded", () => {
  it("by what the vaults hold, and the one asked for least recently goes first", async () => {
    const { chain, node } = open({ entries: 5 });
    const members = [2, 3].map((byte) => ({
      ...owner,
      address: `0x${String(byte).repeat(64)}`,
      since: 1,
      endsAt: null,
      until: null,
    }));
    const [a, b, c] = ["a", "b", "c"].map((digit) => `0x${digit.repeat(64)}`) as [string, string, string];
    for (const id of [a, b]) node.objects.set(id, renderVault(id, vault));
    node.objects.set(c, renderVault(c, { ...vault, members }));
    const ask = (id: string) => chain.readVault(id, { maxAge: 1000 });
    for (const id of [a, b, a, c]) await ask(id);
    expect(node.reads).toBe(3);
    for (const id of [a, c]) await ask(id);
    expect(node.reads).toBe(3);
    node.objects.set(`0x${"d".repeat(64)}`, renderVault(`0x${"d".repeat(64)}`, { ...vault, members }));
    await ask(`0x${"d".repeat(64)}`);
    await ask(c);
    expect(node.reads).toBe(5);
  });

  it("and a vault that is larger than all of it is read each time", async () => {
    const { chain, node } = open({ entries: 0 });
    for (let times = 0; times < 3; times += 1) await chain.readVault(VAULT, { maxAge: 1000 });
    expect(node.reads).toBe(3);
  });
});

/** Base64 of zeros for ever. */
function endless(): ReadableStream<Uint8Array> {
  const part = Buffer.alloc(65_536, "A");
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(part)) });
}
