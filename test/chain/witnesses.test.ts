/** A second node of the chain that must show what the first one shows: late, gone, and beside a first one that says what it did not do. */
import {
  addMember,
  type Chain,
  createVault,
  fromSuiSigner,
  openChain,
  parseNetworkConfiguration,
  removeMember,
  type TransactionSigner,
} from "@coffer/chain";
import { type LateNode, type Localnet, openLocalnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";

let localnet: Localnet;
let second: LateNode;
beforeAll(async () => {
  localnet = await openLocalnet();
  await localnet.listen();
  second = await localnet.openNode();
});
afterAll(() => localnet.close());

/** Its pauses are real where the nodes' time has to pass. */
function open({ waits = false } = {}): Chain {
  const network = parseNetworkConfiguration({ ...localnet.network(), witnessUrls: [second.url] });
  return openChain(network, waits ? {} : { wait: () => Promise.resolve() });
}
const person = (): TransactionSigner => fromSuiSigner(new Ed25519Keypair());

it("is waited for while it is late: every act ends as without it [N14]", async () => {
  second.lag = 1200;
  const [chain, owner, anna] = [open({ waits: true }), person(), person()];
  const { objectId } = (await createVault(chain, owner, {})).vault;
  expect(await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress })).toMatchObject({
    outcome: "done",
    vault: { members: [{ chainAddress: anna.chainAddress }] },
  });
  second.lag = 0;
});

it("stops all reading of vaults while it does not answer, and is named [N14]", async () => {
  const [chain, owner] = [open(), person()];
  const { objectId } = (await createVault(chain, owner, {})).vault;
  const network = { ...chain.network, witnessUrls: ["http://127.0.0.1:9"] };
  const reading = openChain(network).readVault(objectId);
  await expect(reading).rejects.toMatchObject({ code: "chain_unavailable" });
  await expect(reading).rejects.toThrow(/^Witness 127\.0\.0\.1:9: The chain node does not answer/);
});

/** A node that says of each transaction that it was executed, and drops it. */
function dropping(chain: Chain, objectId: string, before: () => Promise<unknown>): Chain {
  const changedObjects = [{ objectId, outputVersion: "1", idOperation: "None" }];
  Object.assign(chain.client.core, {
    executeTransaction: async () => {
      await before();
      return { Transaction: { status: { success: true, error: null }, effects: { changedObjects } } };
    },
    waitForTransaction: () => Promise.resolve(),
  });
  return chain;
}

it("shows that a removal was never made, whatever the first node says of it, also when something else has happened [N13]", async () => {
  const [owner, anna, bert] = [person(), person(), person()];
  const { objectId } = (await createVault(open(), owner, {})).vault;
  const removal = { objectId, chainAddress: anna.chainAddress };
  await addMember(open(), owner, removal);
  const idle = removeMember(
    dropping(open(), objectId, () => Promise.resolve()),
    owner,
    removal,
  );
  await expect(idle).rejects.toMatchObject({ code: "rolled_back" });
  const other = () => addMember(open(), owner, { objectId, chainAddress: bert.chainAddress });
  await expect(removeMember(dropping(open(), objectId, other), owner, removal)).rejects.toMatchObject({
    code: "transaction_unknown",
  });
  await expect(removeMember(open(), owner, removal)).resolves.toMatchObject({ outcome: "done" });
});
