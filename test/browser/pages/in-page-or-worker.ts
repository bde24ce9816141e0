/** Makes a program answer its test: `run(input)` of the page, and the same in a dedicated worker that has the same bundle. */

export type Where = "page" | "worker";

type Program = (input: never) => Promise<unknown>;

interface Failure {
  readonly failure: string;
}

/** Inputs and answers are JSON values. A worker is started for each run there, and ended after it. */
export function answerTest(program: Program): void {
  if (typeof document === "undefined") answerPage(program);
  else
    Object.assign(globalThis, {
      run: (input: { readonly where?: Where }) =>
        input.where === "worker" ? runInWorker(input) : program(input as never),
    });
}

function answerPage(program: Program): void {
  addEventListener("message", ({ data }) => {
    program(data as never).then(
      (answer) => postMessage({ answer }),
      (error: unknown) => postMessage({ failure: String(error instanceof Error ? error.stack : error) }),
    );
  });
}

async function runInWorker(input: object): Promise<unknown> {
  const worker = new Worker("/program.js", { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(`the worker did not start: ${message}`));
      worker.onmessage = ({ data }: MessageEvent<{ readonly answer: unknown } | Failure>) => {
        if ("failure" in data) reject(new Error(data.failure));
        else resolve(data.answer);
      };
      worker.postMessage(input);
    });
  } finally {
    worker.terminate();
  }
}
