/** The worker's side: the key wrap itself. It does nothing unless a worker of this package imports it. */
import { parentPort, workerData } from "node:worker_threads";
import { openChain } from "../chain.ts";
import { sealVaultKeyWrap, type SealKeyWrap, type VaultLocation } from "../key-wrap/index.ts";
import { Conversation } from "./conversation.ts";
import type { Call, Question, WorkerStart } from "./worker-messages.ts";

if (parentPort !== null && isStart(workerData)) {
  const start = workerData;
  const conversation: Conversation<Question, Call> = new Conversation(parentPort, async (call) =>
    answer(keyWrap, call),
  );
  const keyWrap = openKeyWrap(start, conversation);
}

function isStart(data: unknown): data is WorkerStart {
  return typeof data === "object" && data !== null && "network" in data && "chainAddress" in data;
}

function openKeyWrap(start: WorkerStart, conversation: Conversation<Question, Call>): SealKeyWrap {
  const { client, network } = openChain(start.network);
  return sealVaultKeyWrap({
    client,
    network,
    timeout: start.timeout,
    signer: {
      chainAddress: start.chainAddress,
      signPersonalMessage: async (message) =>
        (await conversation.ask({ method: "signPersonalMessage", message })) as string,
      signTransaction: async () => await Promise.reject(new TypeError("a key wrap signs no transaction")),
    },
    vaultObjects: {
      locate: async (vault) => (await conversation.ask({ method: "locate", vault })) as VaultLocation,
    },
  });
}

async function answer(keyWrap: SealKeyWrap, call: Call): Promise<unknown> {
  switch (call.method) {
    case "prepare":
      keyWrap.prepare();
      return;
    case "wrap":
      return await keyWrap.wrap(call.key, call.place);
    case "unwrap":
      return await keyWrap.unwrap(call.items);
    case "checkKeyServers":
      return await keyWrap.checkKeyServers();
    case "checkSession":
      return await keyWrap.checkSession();
  }
}
