import Type, { type TSchema } from 'typebox';

/* What schemas are made of: requests and answers are checked by them, and rows of archives. */

export const closed = { additionalProperties: false } as const;
/** Optional text is null, never missing, in answers. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** The plain form: the format alone would also take `urn:uuid:`, which PostgreSQL does not. */
export const Uuid = Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' });
export const DateOnly = Type.String({ format: 'date' });
/** A JSON object whose members are somebody else's. */
export const OpenObject = Type.Record(Type.String(), Type.Unknown());
/** The key of a type, a field, a role. */
export const Key = Type.String({ minLength: 1, maxLength: 100 });
export const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
