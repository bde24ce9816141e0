/** Every opcode of bytecode version 7 that the compiler for Sui makes. */
import { BOX_INSTRUCTIONS } from "./boxes.ts";
import { INTEGER_INSTRUCTIONS } from "./integers.ts";
import { LOCAL_INSTRUCTIONS } from "./locals.ts";
import type { Step } from "../frame.ts";

export const INSTRUCTIONS: Readonly<Record<string, Step>> = {
  ...LOCAL_INSTRUCTIONS,
  ...INTEGER_INSTRUCTIONS,
  ...BOX_INSTRUCTIONS,
};
