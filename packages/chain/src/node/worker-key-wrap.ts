/** The key wrap in a worker: pairings take 60 to 150 ms each, in which a long-lived process answers nobody. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { openChain } from "../chain.ts";
import {
  sealVaultKeyWrap,
  type KeyServerStatus,
  type SealKeyWrap,
  type SealKeyWrapOptions,
} from "../key-wrap/index.ts";
import { Conversation } from "./conversation.ts";
import type { Call, Question, WorkerStart } from "./worker-messages.ts";

/** The worker makes the requests, with its own `fetch` and clock. */
export type WorkerKeyWrapOptions = Pick<SealKeyWrapOptions, "network" | "signer" | "vaultObjects" | "timeout">;

/**
 * Like `sealVaultKeyWrap`, in a worker. The worker starts at the first use, does not keep the process alive, and
 * starts again if it dies. Signer and vault lookup run in this thread. If the worker's file is not there (a program
 * bundled into one file), this thread does the work. Errors lose their `cause`.
 */
export function sealVaultKeyWrapInWorker(options: WorkerKeyWrapOptions): SealKeyWrap {
  const file = workerFile();
  if (!existsSync(fileURLToPath(file)))
    return sealVaultKeyWrap({ ...options, client: openChain(options.network).client });
  let started: StartedWorker | null = null;
  let closed = false;
  const ask = async (call: Call): Promise<unknown> => {
    if (closed) throw new TypeError("the key wrap is closed");
    started ??= startWorker(file, options, (ended) => {
      if (started === ended) started = null;
    });
    return await started.ask(call);
  };
  return {
    prepare: () => {
      ask({ method: "prepare" }).catch(() => undefined);
    },
    wrap: async (key, place) => (await ask({ method: "wrap", key, place })) as Uint8Array,
    unwrap: async (items) => (items.length === 0 ? [] : ((await ask({ method: "unwrap", items })) as Uint8Array[])),
    checkKeyServers: async () => (await ask({ method: "checkKeyServers" })) as KeyServerStatus[],
    checkSession: async () => {
      await ask({ method: "checkSession" });
    },
    close: () => {
      closed = true;
      started?.stop();
      started = null;
    },
  };
}

interface StartedWorker {
  ask(call: Call): Promise<unknown>;
  /** Answers earlier questions first, as without a worker. */
  stop(): void;
}

function startWorker(file: URL, options: WorkerKeyWrapOptions, onEnd: (ended: StartedWorker) => void): StartedWorker {
  const { network, signer, timeout } = options;
  const start: WorkerStart = { network, chainAddress: signer.chainAddress, timeout };
  const worker = new Worker(file, { workerData: start, name: "coffer key wrap" });
  const conversation = new Conversation<Call, Question>(worker, async (question) => answer(options, question));
  let stopping = false;
  const rest = (): void => {
    if (conversation.open > 0) return;
    worker.unref();
    if (stopping) void worker.terminate();
  };
  const started: StartedWorker = {
    ask: async (call) => {
      // Only while somebody waits does the worker keep the process alive.
      worker.ref();
      return await conversation.ask(call).finally(rest);
    },
    stop: () => {
      stopping = true;
      rest();
    },
  };
  const end = (): void => {
    onEnd(started);
    conversation.end(new Error("the worker of the key wrap ended"));
  };
  worker.on("error", end);
  worker.on("exit", end);
  worker.unref();
  return started;
}

async function answer({ signer, vaultObjects }: WorkerKeyWrapOptions, question: Question): Promise<unknown> {
  switch (question.method) {
    case "signPersonalMessage":
      return await signer.signPersonalMessage(question.message);
    case "locate":
      return await vaultObjects.locate(question.vault);
  }
}

/** Beside this file, in the sources as in the build. */
function workerFile(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./key-wrap-worker.${extension}`, import.meta.url);
}
