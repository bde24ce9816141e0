/** Everything that a command touches beyond the service. A test gives one of its own. */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OutputStream {
  /** Resolves when there is room for more. Rejects with what the system says when it takes nothing. */
  write(data: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Columns of the terminal. */
  readonly columns: number;
}

export interface InputStream {
  readonly isTerminal: boolean;
  /** Everything until its end. Rejects when the signal aborts. */
  readAll(signal: AbortSignal): Promise<Uint8Array>;
  /** Piece by piece. Throws when the signal aborts. */
  pieces(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A program that runs in this one's place, with its streams. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Environment;
  readonly cwd?: string;
  /** It gets no input, and its output is dropped; what it says on standard error is shown. */
  readonly isTried?: boolean;
  /**
   * It goes on when this one ends, without its streams, its terminal and its {@link SECRET_VARIABLES}. It is not waited for: the code is 0 once
   * it runs.
   */
  readonly isDetached?: boolean;
}

/** Variables of the environment that nobody else gets to see. */
export const SECRET_VARIABLES = ["SERVICE_API_KEY", "SERVICE_CHAIN_PRIVATE_KEY"] as const;

export interface World {
  readonly env: Environment;
  readonly platform: string;
  readonly workingDirectory: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** How this program was started: the command, and its arguments up to the first of ours. */
  readonly self: Program;
  /** The command by which a person runs this program, for next steps. */
  readonly invocation: string;
  /** The tool server, where this program has it in it. null: it is a package beside this one. */
  readonly toolServer: Program | null;
  /** A line that a person types; `hidden` shows nothing of it. Null when the input ended, or the signal aborted. */
  ask(question: string, hidden: boolean, signal: AbortSignal): Promise<string | null>;
  /** Resolves with the exit code. */
  run(program: Program): Promise<number>;
}
