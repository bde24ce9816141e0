/**
 * Objects of the interface. The comment on a field is its text everywhere: editors, the reference and the OpenAPI document show it.
 * TypeScript keeps it in declaration files as long as the type of the object is the one that was written, so fields go through these two
 * functions: `z.object` itself maps the type, and the comments are gone.
 */
import * as z from "zod/mini";

/** Takes fields that it does not know, and drops them: a later version of the service may add some. */
export function object<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape, z.core.$strip> {
  return z.object(shape);
}

/** Refuses fields that it does not know. */
export function strictObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape, z.core.$strict> {
  return z.strictObject(shape);
}

/** The type of what a schema parses to. */
export type Parsed<Schema extends z.core.$ZodType> = Readonly<z.core.output<Schema>>;

/** A schema of a type that has a name: editors show the name, and not the fields. */
export type Named<Type> = z.ZodMiniType<Type, Type>;
