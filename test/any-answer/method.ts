/** What a method of a client is, which is called against a service that lies. */
import type { ItemKind } from "./truth.ts";
import type { World } from "./world.ts";
import type { Draw } from "./draw.ts";
import type { Client } from "@coffer/sdk";

/** What a call is about, as its caller means it. */
export interface Meaning {
  /** The shared vault that its content and names are for; null: nobody is to have them in the clear. */
  readonly vaultId?: string | null;
  /** The file or folder that it changes. */
  readonly itemId?: string;
  readonly kind?: ItemKind;
  readonly folderId?: string | null | undefined;
  readonly name?: string | undefined;
  readonly content?: string;
  /** Content and name are for a public vault that the call names. */
  readonly isOpen?: boolean;
}

/** What one method does with the client: it draws its arguments, says what it means, and looks at what it is answered. */
export interface Run {
  readonly world: World;
  readonly draw: Draw;
  readonly client: Client;
  readonly tools: () => Promise<Tools>;
  readonly means: (meaning: Meaning) => void;
  readonly blame: (what: string | null) => void;
}

/** Calls the client once, or what belongs together; answers what is to be held against its result when it is known what it sent. */
export type Method = (run: Run) => Promise<(() => void) | undefined>;

/** What a tool answers, as a host reads it. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Tools extends AsyncDisposable {
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}
