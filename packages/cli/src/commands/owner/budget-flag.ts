/** `--budget storedBytes=10GiB,filesPerDay=100`: how much a key may store, write and ask. */
import { usage } from "../../failure.ts";

const NAMES = ["storedBytes", "bytesPerDay", "filesPerDay", "requestsPerMinute"] as const;
type Name = (typeof NAMES)[number];

export const BUDGET_BRIEF = `Limits of the key, with commas: ${NAMES.join("=, ")}= (1GiB, 500MB, 100); none without it`;

export type Budgets = { [Each in Name]?: number };

const UNITS: Readonly<Record<string, number>> = { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** undefined: none was given. */
export function parseBudgets(texts: readonly string[] | undefined): Budgets | undefined {
  if (texts === undefined || texts.length === 0) return undefined;
  return Object.fromEntries(texts.map(parseBudget));
}

function parseBudget(text: string): [Name, number] {
  const [, nameText = "", digits = "", unit = ""] =
    /^([A-Za-z-]+)=(\d{1,15}(?:\.\d{1,3})?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim()) ?? [];
  const name = NAMES.find((each) => each.toLowerCase() === nameText.replaceAll("-", "").toLowerCase());
  const amount = Math.round(Number(digits) * (UNITS[unit.toUpperCase()] ?? Number.NaN));
  if (name !== undefined && digits !== "" && Number.isSafeInteger(amount)) return [name, amount];
  throw usage(`--budget has no meaning: ${text}`, "write it like storedBytes=10GiB,filesPerDay=100");
}
