/** Every opcode of bytecode version 7 that the compiler for Sui makes. */
import type { Step } from "../machine.ts";
import { BOX_INSTRUCTIONS } from "./boxes.ts";
import { INTEGER_INSTRUCTIONS } from "./integers.ts";
import { LOCAL_INSTRUCTIONS } from "./locals.ts";

export const INSTRUCTIONS: Readonly<Record<string, Step>> = {
  ...LOCAL_INSTRUCTIONS,
  ...INTEGER_INSTRUCTIONS,
  ...BOX_INSTRUCTIONS,
};
