/**
 * Read masks (google.protobuf.FieldMask): an answer holds the requested fields and no others. So a client that forgets
 * to ask fails here and not first on a real network.
 */
interface FieldLike {
  readonly name: string;
  readonly localName: string;
  readonly kind: string;
  readonly oneof?: string | undefined;
  readonly T?: unknown;
}

interface MessageTypeLike<Message> {
  readonly fields: readonly FieldLike[];
  create(): Message;
}

/** What is wanted of a message: all of it, or some of its fields. */
interface Tree {
  isWhole: boolean;
  readonly fields: Map<string, Tree>;
}

const ALL = "*";
const MAX_PATHS = 200;

/** Keeps what the paths name, in snake case, such as `effects.status`. `*`, or no mask and no default, keeps everything. */
export function masked<Message extends object>(
  type: MessageTypeLike<Message>,
  message: Message,
  mask: { readonly paths: readonly string[] } | undefined,
  byDefault: string,
): Message {
  const paths = (mask?.paths ?? byDefault.split(",")).slice(0, MAX_PATHS);
  return paths.includes(ALL) ? message : keep(type, message, treeOf(paths));
}

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = { isWhole: false, fields: new Map() };
  for (const path of paths) {
    let at = root;
    for (const part of path.split(".").slice(0, 16)) {
      const next = at.fields.get(part) ?? { isWhole: false, fields: new Map() };
      at.fields.set(part, next);
      at = next;
    }
    at.isWhole = true;
  }
  return root;
}

function keep<Message extends object>(type: MessageTypeLike<Message>, message: Message, tree: Tree): Message {
  const kept = type.create() as Record<string, unknown>;
  const from = message as Record<string, unknown>;
  for (const field of type.fields) {
    const wanted = tree.fields.get(field.name);
    if (wanted === undefined) continue;
    // A oneof is under its own name; nobody asks for a part of one.
    const name = field.oneof ?? field.localName;
    kept[name] = wanted.isWhole ? from[name] : keepInside(field, from[name], wanted);
  }
  return kept as Message;
}

function keepInside(field: FieldLike, value: unknown, tree: Tree): unknown {
  if (field.kind !== "message" || typeof field.T !== "function" || field.oneof !== undefined) return value;
  const type = (field.T as () => MessageTypeLike<object>)();
  if (Array.isArray(value)) return value.map((item) => keep(type, item as object, tree));
  return typeof value === "object" && value !== null ? keep(type, value, tree) : value;
}
