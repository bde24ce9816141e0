/** The attack suite: what a stranger, an account and a crowd try against one running development server. */
import { attackForeignIds } from "./foreign-ids.ts";
import { attackWithHeldBytes } from "./held.ts";
import { attackWithShapes } from "./shapes.ts";
import type { Section, Target } from "./target.ts";

export async function* runAttack(target: Target, seed: number): AsyncGenerator<Section> {
  yield await attackForeignIds(target, seed);
  yield await attackWithShapes(target);
  yield* attackWithHeldBytes(target);
}
