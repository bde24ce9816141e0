/** The failure of one part of a request with several. */
import { ERROR_FACTS, HEADERS, isErrorCode, type PartError } from "@coffer/contract";
import { decodeError } from "./decode-response.ts";
import type { SdkError } from "./errors.ts";
import type { Connection } from "../connection/options.ts";

/** What became of one file or folder. */
export interface ItemOutcome {
  /** UUID of the file or folder. */
  readonly id: string;
  /** null: it is done. */
  readonly error: SdkError | null;
}

/** The error that the part would have by itself; null: the service says neither that it succeeded nor why not. */
export function partErrorOf(error: PartError | null, { clock }: Pick<Connection, "clock">): Promise<SdkError> {
  const code = error?.code ?? "";
  const status = isErrorCode(code) ? ERROR_FACTS[code][0] : 500;
  const headers = { [HEADERS.errorCode]: code };
  const answer = new Response(JSON.stringify({ error: error?.message ?? "" }), { status, headers });
  return decodeError(answer, clock.now());
}
