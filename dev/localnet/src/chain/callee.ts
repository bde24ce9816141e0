/** Finds what a MoveCall means: a function of a published Coffer package, or one of the framework's that publishing needs. */
import type { Machine } from "../move/machine.ts";
import type { Abilities } from "../move/module.ts";
import { ABILITY } from "../move/module.ts";
import type { Layouts, FindModule } from "../move/layouts.ts";
import { FRAMEWORK, isDatatype, type MoveType, parseType, substitute } from "../move/types.ts";
import type { MoveValue } from "../move/values.ts";
import { ExecutionFailure } from "./failures.ts";
import type { MoveCall } from "./transaction-form.ts";

export interface Callee {
  readonly name: string;
  /** The transaction's context included, when it is taken. */
  readonly parameters: readonly MoveType[];
  readonly returns: readonly MoveType[];
  readonly takesContext: boolean;
  run(machine: Machine, values: readonly MoveValue[]): readonly MoveValue[];
}

interface Packages {
  readonly findModule: FindModule;
  readonly layouts: Layouts;
}

const MAKE_IMMUTABLE: Callee = {
  name: "make_immutable",
  parameters: [parseType(`${FRAMEWORK}::package::UpgradeCap`)],
  returns: [],
  takesContext: false,
  // The capability is used up: its object is deleted, and nobody can upgrade the package.
  run: () => [],
};

/** Throws {@link ExecutionFailure} when there is no such function, or users may not call it. */
export function findCallee({ findModule, layouts }: Packages, call: MoveCall): Callee {
  if (call.package === FRAMEWORK) return findFrameworkCallee(call);
  const module = findModule(call.package, call.module);
  const called = module?.functions.find((candidate) => candidate.name === call.function);
  if (module === null || called === undefined) {
    throw new ExecutionFailure("FUNCTION_NOT_FOUND", `Function not found: ${call.module}::${call.function}.`);
  }
  if (called.visibility !== "Public" && !called.isEntry) {
    throw new ExecutionFailure(
      "NON_ENTRY_FUNCTION_INVOKED",
      `${call.function} is neither public nor an entry function.`,
    );
  }
  const typeArguments = readTypeArguments(call, called.typeParameters, layouts);
  const place = (types: readonly MoveType[]) => types.map((type) => substitute(type, typeArguments));
  const parameters = place(called.parameters);
  return {
    name: called.name,
    parameters,
    returns: place(called.returns),
    takesContext: isContext(parameters.at(-1)),
    run: (machine, values) => machine.run(module, called, typeArguments, values),
  };
}

function findFrameworkCallee(call: MoveCall): Callee {
  if (call.module === "package" && call.function === "make_immutable") return MAKE_IMMUTABLE;
  const name = `0x2::${call.module}::${call.function}`;
  throw new ExecutionFailure("FUNCTION_NOT_FOUND", `The local chain has no ${name}: it runs the Coffer package.`);
}

function readTypeArguments(call: MoveCall, constraints: readonly number[], layouts: Layouts): MoveType[] {
  if (call.typeArguments.length !== constraints.length) {
    throw new ExecutionFailure("TYPE_ARITY_MISMATCH", `${call.function} takes ${constraints.length} type arguments.`);
  }
  return call.typeArguments.map((text, at) => {
    const type = parseType(text);
    if (!satisfies(layouts.abilitiesOf(type), constraints[at] ?? 0)) {
      throw new ExecutionFailure("TYPE_ARITY_MISMATCH", `Type argument ${at} of ${call.function} lacks an ability.`);
    }
    return type;
  });
}

function satisfies(abilities: Abilities, constraints: number): boolean {
  return (["copy", "drop", "store", "key"] as const).every(
    (ability) => (constraints & ABILITY[ability]) === 0 || abilities[ability],
  );
}

function isContext(type: MoveType | undefined): boolean {
  return type?.kind === "reference" && isDatatype(type.to, FRAMEWORK, "tx_context", "TxContext");
}
