/**
 * `instanceof` across copies of this package: two versions in one program, or a bundle beside `node_modules`. Prototypes carry the name of
 * their class under a registered symbol, which every copy reads.
 */
const CLASS = Symbol.for("@coffer/sdk/class");

/** Has `instanceof` of the class accept objects of the class, or of a class below it, from any copy. */
export function markClass(marked: { readonly prototype: object }, name: string): void {
  Object.defineProperty(marked.prototype, CLASS, { value: name });
  Object.defineProperty(marked, Symbol.hasInstance, {
    value(this: { readonly prototype: object }, value: unknown): boolean {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      return Object.hasOwn(this.prototype, CLASS) && isMarked(value, nameOf(this.prototype));
    },
  });
}

function isMarked(value: unknown, name: unknown): boolean {
  for (let each = value; typeof each === "object" && each !== null; each = Object.getPrototypeOf(each))
    if (Object.hasOwn(each, CLASS) && nameOf(each) === name) return true;
  return false;
}

const nameOf = (marked: object): unknown => (marked as { readonly [CLASS]?: unknown })[CLASS];
