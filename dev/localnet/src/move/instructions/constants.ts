/** The constants of a module's pool: primitive values and vectors of them, in BCS. */
import { decodeValue } from "../bcs-values.ts";
import { type Layouts } from "../layouts.ts";
import { entry, type MoveModule } from "../module.ts";
import { MalformedCodeError, type MoveValue } from "../values.ts";

const NO_DATATYPES: Layouts = {
  layoutOf: () => {
    throw new MalformedCodeError("a constant holds no structs");
  },
  abilitiesOf: () => {
    throw new MalformedCodeError("a constant holds no structs");
  },
};

export function decodeConstant(module: MoveModule, index: number): MoveValue {
  const { type_: type, data } = entry(module.json.constant_pool, index);
  return decodeValue(Uint8Array.from(data), module.typeOf(type), NO_DATATYPES);
}
