/** How execution of Move code fails. */

export interface CodeLocation {
  /** `0x` and 64 hex digits. */
  readonly address: string;
  readonly module: string;
  readonly function: string;
  readonly functionIndex: number;
  readonly instruction: number;
}

/** The code called `abort`. */
export class MoveAbortError extends Error {
  override readonly name = "MoveAbortError";
  readonly code: bigint;
  readonly location: CodeLocation;

  constructor(code: bigint, location: CodeLocation) {
    super(`MoveAbort with code ${code} in ${location.address}::${location.module}::${location.function}`);
    this.code = code;
    this.location = location;
  }
}

/** What the virtual machine itself refuses: an overflow, a place outside of a vector, a shift that is too long. */
export class MovePrimitiveError extends Error {
  override readonly name = "MovePrimitiveError";
  readonly location: CodeLocation | null;

  constructor(message: string, location: CodeLocation | null = null) {
    super(message);
    this.location = location;
  }
}

/** More computation than the budget pays for. */
export class OutOfGasError extends Error {
  override readonly name = "OutOfGasError";
}
