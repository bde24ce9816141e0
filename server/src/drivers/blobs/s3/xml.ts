/**
 * The XML of S3's answers: elements and text, nothing else. What comes is from outside, so a document type, a deep tree or a
 * broken one is refused.
 */
export interface Element {
  readonly name: string;
  readonly text: string;
  readonly children: readonly Element[];
}

const DEEPEST = 16;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
/** A declaration or comment, a tag, or text. */
const TOKEN = /<\?[^>]*\?>|<!--[\s\S]*?-->|<(\/?)([A-Za-z_][\w.:-]*)((?:\s[^<>]*?)?)(\/?)>|[^<]+/gy;

interface Open {
  readonly name: string;
  text: string;
  readonly children: Element[];
}

/** The root element. @throws SyntaxError on anything but one well-formed element. */
export function readXml(document: string): Element {
  const stack: Open[] = [{ name: "", text: "", children: [] }];
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let token = TOKEN.exec(document); token !== null; token = TOKEN.exec(document)) {
    end = TOKEN.lastIndex;
    applyToken(stack, token);
    if (end === document.length) break;
  }
  const [root] = stack[0]?.children ?? [];
  if (end !== document.length || stack.length !== 1 || root === undefined || stack[0]?.children.length !== 1)
    throw new SyntaxError("The answer is not XML");
  return root;
}

function applyToken(stack: Open[], [token, closing, name = "", , empty]: RegExpExecArray): void {
  const top = stack.at(-1);
  if (top === undefined) throw new SyntaxError("The answer is not XML");
  if (name === "") {
    if (!token.startsWith("<")) top.text += decode(token);
    return;
  }
  if (closing === "/") {
    const below = stack.at(-2);
    if (below === undefined || top.name !== name) throw new SyntaxError("The answer is not XML");
    stack.pop();
    below.children.push(top);
    return;
  }
  if (stack.length > DEEPEST) throw new SyntaxError("The answer is nested too deep");
  const opened: Open = { name, text: "", children: [] };
  if (empty === "/") top.children.push(opened);
  else stack.push(opened);
}

function decode(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w+);/g, (_, entity: string) => {
    if (!entity.startsWith("#")) return ENTITIES[entity] ?? "";
    const code = entity[1] === "x" ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}

/** The children of that name. */
export function all(element: Element, name: string): readonly Element[] {
  return element.children.filter((child) => child.name === name);
}

/** The text of the first child of that name; empty when there is none. */
export function textOf(element: Element, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? "";
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
