/** What a command declares: flags and arguments with their types, words and examples. Help and completion are made of it. */
import type { Context } from "./context.ts";
import type { Result } from "./result.ts";

type Letter =
  | "a"
  | "b"
  | "c"
  | "d"
  | "e"
  | "f"
  | "g"
  | "i"
  | "k"
  | "l"
  | "m"
  | "o"
  | "p"
  | "r"
  | "s"
  | "t"
  | "u"
  | "w"
  | "x"
  | "z";

export interface Flag<Value> {
  readonly kind: "switch" | "text" | "texts" | "verbatim" | "choice";
  readonly brief: string;
  /** What stands for the value in help. */
  readonly placeholder?: string;
  readonly letter?: Letter;
  readonly isRequired?: boolean;
  readonly values?: readonly string[];
  readonly parse?: (text: string) => unknown;
  /** Proposes values while a person types. */
  readonly complete?: Completer;
  /** Only a type: the value that the command gets. */
  readonly value?: Value;
}

export type Completer = (partial: string) => Promise<readonly string[]> | readonly string[];

export interface Argument<Value> {
  readonly name: string;
  readonly brief: string;
  readonly isOptional?: boolean;
  readonly parse?: (text: string) => unknown;
  readonly complete?: Completer;
  readonly value?: Value;
}

interface FlagOptions {
  readonly letter?: Letter;
  readonly placeholder?: string;
  readonly complete?: Completer;
}

/** On when it is there. */
export const toggle = (brief: string, words: Pick<FlagOptions, "letter"> = {}): Flag<boolean> => ({
  kind: "switch",
  brief,
  ...words,
});

export const text = (brief: string, words: FlagOptions = {}): Flag<string | undefined> => ({
  kind: "text",
  brief,
  ...words,
});

export const requiredText = (brief: string, words: FlagOptions = {}): Flag<string> => ({
  kind: "text",
  brief,
  isRequired: true,
  ...words,
});

/** Given several times, or once with commas. */
export const texts = (brief: string, words: FlagOptions = {}): Flag<readonly string[] | undefined> => ({
  kind: "texts",
  brief,
  ...words,
});

/** Given several times; commas are part of a value. */
export const verbatim = (brief: string, words: FlagOptions = {}): Flag<readonly string[] | undefined> => ({
  kind: "verbatim",
  brief,
  ...words,
});

export const choice = <const Values extends readonly string[]>(
  brief: string,
  values: Values,
  words: Pick<FlagOptions, "letter"> = {},
): Flag<Values[number] | undefined> => ({ kind: "choice", brief, values, ...words });

/** `parse` throws what the person is told: a sentence without its full stop. */
export const parsed = <Value>(
  brief: string,
  parse: (text: string) => Value,
  words: FlagOptions = {},
): Flag<Value | undefined> => ({ kind: "text", brief, parse, ...words });

/** A whole number from `least` on. */
export const count = (brief: string, least = 1, words: FlagOptions = {}): Flag<number | undefined> =>
  parsed(
    brief,
    (typed) => {
      const number = Number(typed);
      if (/^\d+$/.test(typed) && Number.isSafeInteger(number) && number >= least) return number;
      throw new Error(`expected a whole number from ${String(least)} on`);
    },
    { placeholder: "N", ...words },
  );

export const argument = (name: string, brief: string, complete?: Completer): Argument<string> => ({
  name,
  brief,
  ...(complete === undefined ? {} : { complete }),
});

export const optionalArgument = (name: string, brief: string, complete?: Completer): Argument<string | undefined> => ({
  name,
  brief,
  isOptional: true,
  ...(complete === undefined ? {} : { complete }),
});

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type Arguments = readonly Argument<unknown>[];

/** One argument, from `least` times on. */
export interface Repeated {
  readonly each: Argument<string>;
  readonly least: number;
  readonly most?: number;
}

export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F]: F[Name] extends Flag<infer Value> ? Value : never;
};

export type ArgumentValues<A extends Arguments | Repeated> = A extends Repeated
  ? readonly string[]
  : { readonly [At in keyof A]: A[At] extends Argument<infer Value> ? Value : never };

export interface Example {
  /** The whole line, beginning with `coffer`. */
  readonly line: string;
  readonly does: string;
}

export interface Declaration<F extends Flags, A extends Arguments | Repeated> {
  /** One line, an imperative without its full stop. */
  readonly brief: string;
  /** More to say in the command's own help. */
  readonly description?: string;
  /** At least one. */
  readonly examples: readonly [Example, ...Example[]];
  readonly flags?: F;
  readonly args?: A;
  /** It has `--json-lines` too. Its result is a listing. */
  readonly isList?: boolean;
  readonly run: (context: Context, flags: FlagValues<F>, args: ArgumentValues<A>) => Promise<Result>;
}

/** A command, its types forgotten. */
export interface Command {
  readonly brief: string;
  readonly description: string;
  readonly examples: readonly [Example, ...Example[]];
  readonly flags: Flags;
  readonly args: Arguments | Repeated;
  readonly isList: boolean;
  run(context: Context, flags: Readonly<Record<string, unknown>>, args: readonly unknown[]): Promise<Result>;
}

export function command<
  const F extends Flags = NonNullable<unknown>,
  const A extends Arguments | Repeated = readonly [],
>(declaration: Declaration<F, A>): Command {
  const { brief, description, examples, flags, args, isList, run } = declaration;
  return {
    brief,
    description: description ?? "",
    examples,
    isList: isList ?? false,
    flags: flags ?? {},
    args: args ?? [],
    // The framework parsed them by these declarations.
    run: (context, values, parsedArgs) => run(context, values as FlagValues<F>, parsedArgs as ArgumentValues<A>),
  };
}

/** A place in the tree of commands: a command that is loaded when it is needed, or a group of them. */
export type Route =
  | { readonly brief: string; readonly load: () => Promise<{ readonly default: Command }>; readonly isHidden?: boolean }
  | { readonly brief: string; readonly routes: Routes };

export type Routes = Readonly<Record<string, Route>>;

export const isGroup = (route: Route): route is Extract<Route, { routes: Routes }> => "routes" in route;
