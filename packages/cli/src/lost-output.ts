/** Standard output that is gone: nobody reads it any more, or the system takes no more of it. */
import { exitOfLostOutput, type ExitCode } from "./exit-codes.ts";
import type { OutputStream, World } from "./world.ts";

export class OutputLost extends Error {
  override readonly name = "OutputLost";
  /** The reader has gone, as that of `coffer ls | head` does. It has what it wanted. */
  readonly isClosed: boolean;

  constructor(cause: unknown) {
    super("standard output takes nothing", { cause });
    this.isClosed = cause instanceof Error && "code" in cause && CLOSED.has(String(cause.code));
  }
}

const CLOSED = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/** The same world. Its standard output throws nothing but `OutputLost`, and notes that nobody reads are dropped. */
export function withSafeOutput(world: World): World {
  return {
    ...world,
    stdout: writingWith(world.stdout, (cause) => {
      throw new OutputLost(cause);
    }),
    stderr: writingWith(world.stderr, () => undefined),
  };
}

const writingWith = (stream: OutputStream, onFailure: (cause: unknown) => void): OutputStream => ({
  write: (data) => stream.write(data).catch(onFailure),
  isTerminal: stream.isTerminal,
  get columns() {
    return stream.columns;
  },
});

/** Whether standard output took it. */
export async function wasWritten(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (thrown) {
    if (thrown instanceof OutputLost) return false;
    throw thrown;
  }
}

/** What the command did stays done. What the system refuses is said. */
export async function endWithLostOutput(lost: OutputLost, { env, interrupted, stderr }: World): Promise<ExitCode> {
  const exit = exitOfLostOutput(interrupted, lost.isClosed);
  if (exit !== null) return exit;
  const [{ failureText, reportOf, resultLost }, { paintOn }] = await Promise.all([
    import("./failure.ts"),
    import("./terminal/paint.ts"),
  ]);
  const report = reportOf(resultLost(lost.cause), { interrupted, timedOut: interrupted });
  await stderr.write(failureText(report, paintOn(stderr, env, false)));
  return report.exit;
}
