/** Follows types of the SDK to the names and the fields that they are made of. */
import ts from "typescript";

export class NamedTypes {
  readonly types = new Set<string>();
  fields = 0;
  /** Whether what is visited is given by a caller: then what may be left out names its default. */
  areInputs = true;
  readonly #checker: ts.TypeChecker;
  readonly #exported: ReadonlySet<string>;
  readonly #seen = new Set<ts.Type>();

  readonly #problems: string[];
  readonly #skipped: readonly string[];

  /** `skipped`: names of types that are not looked into. */
  constructor(
    checker: ts.TypeChecker,
    exported: ReadonlySet<string>,
    { problems, skipped }: { readonly problems: string[]; readonly skipped: readonly string[] },
  ) {
    this.#checker = checker;
    this.#exported = exported;
    this.#problems = problems;
    this.#skipped = skipped;
  }

  /** What a promise or a list gives when it is awaited. */
  settle(type: ts.Type): ts.Type {
    return this.#checker.getAwaitedType(type) ?? type;
  }

  fieldsOf(type: ts.Type): string[] {
    return this.#isOurs(type) && !type.isUnion()
      ? type
          .getProperties()
          .map(({ name }) => name)
          .filter(isWord)
      : [];
  }

  visit(type: ts.Type, where: string): void {
    if (this.#seen.has(type)) return;
    this.#seen.add(type);
    if (type.isUnion()) for (const part of type.types) this.visit(part, where);
    for (const part of this.#checker.getTypeArguments(type as ts.TypeReference)) this.visit(part, where);
    for (const part of type.aliasTypeArguments ?? []) this.visit(part, where);
    if (type.isUnion() || !this.#isOurs(type)) return;
    const name = type.aliasSymbol?.name ?? type.symbol.name;
    if (type.getCallSignatures().length > 0 || this.#skipped.includes(name)) return;
    if (!this.#exported.has(name))
      this.#problems.push(
        `${where}: ${name === "__type" ? this.#checker.typeToString(type) : name} is no type of @coffer/sdk`,
      );
    this.types.add(name);
    for (const property of type.getProperties()) this.#visitField(property, `${name}.${property.name}`);
  }

  #visitField(property: ts.Symbol, where: string): void {
    if (!isWord(property.name)) return;
    this.fields += 1;
    if (property.getDocumentationComment(this.#checker).length === 0) this.#problems.push(`${where} has no text`);
    const text = ts.displayPartsToString(property.getDocumentationComment(this.#checker));
    const isOptional =
      (property.flags & ts.SymbolFlags.Optional) !== 0 && (property.flags & ts.SymbolFlags.Method) === 0;
    if (this.areInputs && isOptional && !/\bdefault\b/i.test(text)) this.#problems.push(`${where} names no default`);
    this.visit(this.#checker.getTypeOfSymbol(property), where);
  }

  /** Objects that our packages declare: not what the language, the platform or another library does. */
  #isOurs(type: ts.Type): boolean {
    if ((type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) return false;
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const files = (symbol?.declarations ?? []).map((each) => each.getSourceFile().fileName);
    // What zod infers has no name of its own, and is declared in zod.
    return files.some((file) => /\/(packages\/\w+\/(src|dist)|node_modules\/zod)\//.test(file));
  }
}

/** A field that a program writes: no symbol, no index. */
function isWord(name: string): boolean {
  return /^[a-z]\w*$/i.test(name);
}
