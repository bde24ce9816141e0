/** TEST ONLY: an object of a class with private state, some of whose methods a test puts in place of its own. */
export function wrapped<Inner extends object>(inner: Inner, own: Partial<Inner>): Inner {
  return new Proxy(inner, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
