/** What a client of the interface relies on, as lines of facts: the parameters, bodies and answers of an OpenAPI document. */
import { renderOpenApi } from "@coffer/contract/openapi";
import type { Api } from "@coffer/contract";

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Operation {
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: Content & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

/** Sorted. A line with ` needs ` is what a caller has to send; every other one is what a caller may use. */
export function surfaceOf(api: Api): string[] {
  const { paths } = renderOpenApi(api) as { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
  const facts = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      return [name, ...factsOf(operation).map((fact) => `${name} ${fact}`)];
    }),
  );
  return [...new Set(facts)].sort();
}

/** Baseline lines that are gone, and needs that an operation of the baseline did not have. */
export function breaksOf(baseline: readonly string[], now: readonly string[]): string[] {
  const [before, after] = [new Set(baseline), new Set(now)];
  const known = (line: string): boolean => before.has(line.split(" ", 2).join(" "));
  return [
    ...baseline.filter((line) => !after.has(line) && !line.includes(" needs ")).map((line) => `gone: ${line}`),
    ...now.filter((line) => line.includes(" needs ") && !before.has(line) && known(line)).map((line) => `new: ${line}`),
  ];
}

function factsOf({ parameters = [], requestBody, responses }: Operation): string[] {
  return [
    ...parameters.flatMap(({ name, in: place, required, schema }) => [
      ...(required ? [`needs ${place}.${name}`] : []),
      ...fieldsOf(schema, `takes ${place}.${name}`, null),
    ]),
    ...(requestBody?.required === true ? ["needs body"] : []),
    ...schemasOf(requestBody).flatMap(([type, schema]) => fieldsOf(schema, `takes ${type}`, `needs ${type}`)),
    ...Object.entries(responses)
      .filter(([status]) => status < "400")
      .flatMap(([status, response]) => [
        `answers ${status}`,
        ...schemasOf(response).flatMap(([type, schema]) => fieldsOf(schema, `answers ${status} ${type}`, null)),
      ]),
  ];
}

const schemasOf = (place: Content | undefined): [string, Schema][] =>
  Object.entries(place?.content ?? {}).map(([type, { schema = {} }]) => [type, schema]);

/** What a schema holds. Lines of needed fields begin with `needs`; with null no field is needed. */
function fieldsOf(schema: Schema, at: string, needs: string | null): string[] {
  const { additionalProperties: rest, anyOf = [], items, properties = {}, required = [], type } = schema;
  return [
    ...[type ?? []].flat().map((each) => `${at}: ${each}`),
    // New values may come: clients keep what they do not know. What is taken stays taken.
    ...(at.startsWith("takes ") ? (schema.enum ?? []).map((value) => `${at} = ${String(value)}`) : []),
    ...anyOf.flatMap((each) => fieldsOf(each, at, null)),
    ...(items === undefined ? [] : fieldsOf(items, `${at}[]`, null)),
    ...(typeof rest === "object" ? fieldsOf(rest, `${at}.*`, null) : []),
    ...Object.entries(properties).flatMap(([name, each]) => [
      ...(needs !== null && required.includes(name) ? [`${needs}.${name}`] : []),
      ...fieldsOf(each, `${at}.${name}`, needs !== null && required.includes(name) ? `${needs}.${name}` : null),
    ]),
  ];
}
