/** What clients were promised, and what was found broken. */
export interface Promised {
  readonly fileId: string;
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
}

export interface Ledger {
  /** Files whose storage was acknowledged, in order. */
  readonly files: Promised[];
  /** Names of API keys that were created under one Idempotency-Key each. */
  readonly keys: string[];
  /** Invites that were redeemed; `key` is null where its answer was lost. */
  readonly redeemed: { readonly chainAddress: string; readonly key: string | null; revoked: boolean }[];
  readonly findings: string[];
  /** Requests that a kill cut off, and uploads that went on after one. */
  readonly counts: { sent: number; cut: number; resumed: number; replayed: number; rotated: number };
}

export function openLedger(): Ledger {
  return {
    files: [],
    keys: [],
    redeemed: [],
    findings: [],
    counts: { sent: 0, cut: 0, resumed: 0, replayed: 0, rotated: 0 },
  };
}

/** Lets clients through while the server is up. */
export interface Gate {
  open(): void;
  shut(): void;
  /** Resolves when it is open. */
  pass(): Promise<void>;
}

export function createGate(): Gate {
  let waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    open() {
      isOpen = true;
      for (const go of waiting) go();
      waiting = [];
    },
    shut() {
      isOpen = false;
    },
    pass: () => (isOpen ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
  };
}
