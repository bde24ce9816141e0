/** The curves as a drawing: how long 99 of 100 requests take, over the rate. Both axes are logarithmic. */
import { type Curve, IN_TIME } from "./knees.ts";

const [WIDTH, HEIGHT, LEFT, TOP] = [760, 420, 70, 30];
const [RIGHT, BOTTOM] = [WIDTH - 20, HEIGHT - 50];
const RATES = [100, 100_000] as const;
const TIMES = [1, 200] as const;
const COLOURS = ["#1b6ca8", "#2a9d55", "#c77d0a", "#b03a2e", "#7d3c98", "#117a65", "#555555"];

const along = (value: number, [from, to]: readonly [number, number]): number =>
  Math.log(Math.min(Math.max(value, from), to) / from) / Math.log(to / from);
const xOf = (rate: number): string => (LEFT + along(rate, RATES) * (RIGHT - LEFT)).toFixed(1);
const yOf = (time: number): string => (BOTTOM - along(time, TIMES) * (BOTTOM - TOP)).toFixed(1);

export function drawCurves(curves: readonly Curve[]): string {
  const ticks = [
    ...[100, 1_000, 10_000, 100_000].map((rate) => tickBelow(rate)),
    ...[1, 2, 5, 10, 20, 50, 100, 200].map((time) => tickBeside(time)),
  ];
  const bound = `<line x1="${LEFT}" x2="${RIGHT}" y1="${yOf(IN_TIME)}" y2="${yOf(IN_TIME)}" stroke="#999" stroke-dasharray="4 4"/>`;
  const lines = curves.map((curve, at) => lineOf(curve, COLOURS[at % COLOURS.length] ?? "#000"));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<path d="M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}" fill="none" stroke="#333"/>
${[...ticks, bound, ...lines].join("\n")}
<text x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">requests a second, of which 5 % write</text>
<text x="16" y="${(TOP + BOTTOM) / 2}" text-anchor="middle" transform="rotate(-90 16 ${(TOP + BOTTOM) / 2})">ms within which 99 % are answered</text>
</svg>
`;
}

function tickBelow(rate: number): string {
  return `<text x="${xOf(rate)}" y="${BOTTOM + 18}" text-anchor="middle">${rate.toLocaleString("en")}</text>`;
}

function tickBeside(time: number): string {
  const y = yOf(time);
  return `<path d="M${LEFT} ${y}H${RIGHT}" stroke="#eee"/><text x="${LEFT - 8}" y="${y}" text-anchor="end" dy="4">${time}</text>`;
}

function lineOf({ points, load: { processes }, knee }: Curve, colour: string): string {
  const way = points.map(({ rate, most }) => `${xOf(rate)} ${yOf(most)}`).join("L");
  const name = `<text x="${xOf(knee)}" y="${TOP - 10}" text-anchor="middle" fill="${colour}">${processes}</text>`;
  return `<path d="M${way}" fill="none" stroke="${colour}" stroke-width="2"/>${name}`;
}
