import Type, {
  type Static,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TUnsafe,
} from 'typebox';

/* What schemas are made of: of columns, requests, answers and archives. */

export const closed = { additionalProperties: false } as const;
/** An object without additional members. */
export const object = <P extends TProperties>(members: P, options: TSchemaOptions = {}) =>
  Type.Object(members, { ...closed, ...options });
/** An array of such objects. */
export const arrayOf = <P extends TProperties>(members: P, options: TSchemaOptions = {}) =>
  Type.Array(object(members), options);
/** A closed object whose members are all optional. */
export const partialObject = <P extends TProperties>(members: P, options: TSchemaOptions = {}) =>
  Type.Partial(Type.Object(members), { ...closed, ...options });
/** A closed object that is a component of the API's description. */
export const component = <P extends TProperties>($id: string, members: P, options: TSchemaOptions = {}) =>
  object(members, { $id, ...options });
/** A component for items of lists, from which `fields` can select members. */
export const itemComponent = <P extends TProperties>($id: string, members: P, options: TSchemaOptions = {}) =>
  partialObject(members, { $id, ...options });

/** Whether a value of JSON is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Optional text is null in responses, never absent. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** A member of a request that can be omitted; null clears it. */
export const Clearable = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));
/** The members as optional ones: `object({ name, ...optional({ color, icon }) })`. */
export const optional = <P extends TProperties>(members: P) => Type.Partial(Type.Object(members)).properties;
export const Count = Type.Integer({ minimum: 0 });
/** The plain form: `format` alone would also accept `urn:uuid:`, which PostgreSQL does not. */
export const Uuid = Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' });
export const DateOnly = Type.String({ format: 'date' });
/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
});
export const Color = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#1976d2'] });
export const Position = Type.String({
  pattern: '^[0-9]{1,19}$',
  examples: ['48213'],
  description: 'A place in the change feed; grows in commit order',
});
/** A JSON object with members defined elsewhere. */
export const OpenObject = Type.Record(Type.String(), Type.Unknown());
/** An object with members of the caller's choice, whose names have at most `longest` characters. */
export const keyed = <T extends TSchema>(longest: number, value: T, options: TSchemaOptions = {}) =>
  // the length of a name is only checked as a pattern
  Type.Record(Type.String({ pattern: `^[\\s\\S]{1,${longest}}$` }), value, { ...closed, ...options });
/** The key of a type, a field, a role. */
export const Key = Type.String({ minLength: 1, maxLength: 100 });

/**
 * One of the given values; its static type is their union.
 * @param options schema options, or only the description, which a default may follow.
 */
export function Choice<const V extends readonly string[]>(
  values: V,
  options: string | TSchemaOptions = {},
  byDefault?: V[number],
): TUnsafe<V[number]> {
  const described = typeof options === 'string' ? { description: options } : options;
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    byDefault === undefined ? described : { default: byDefault, ...described },
  ) as unknown as TUnsafe<V[number]>;
}

export const BooleanOf = (description: string) => Type.Boolean({ description });
/** A boolean that is false by default. */
export const Flag = (description: string) => Type.Boolean({ default: false, description });
export const OptionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }));
export const TextUpTo = (maxLength: number, description: string) => Type.String({ maxLength, description });
/** A text with at least one character. */
export const FilledText = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
/** An integer within bounds, which are included. */
export const IntegerIn = (minimum: number, maximum: number, description: string, byDefault?: number) =>
  Type.Integer({
    minimum,
    maximum,
    ...(byDefault === undefined ? {} : { default: byDefault }),
    description,
  });
export const IntegerFrom = (minimum: number, description: string) => Type.Integer({ minimum, description });
export const NumberIn = (minimum: number, maximum: number, description: string) =>
  Type.Number({ minimum, maximum, description });
/** The options of an array with at least and at most these numbers of items. */
export const itemsIn = (minItems: number, maxItems: number, description: string) => ({
  minItems,
  maxItems,
  description,
});
export const itemsUpTo = (maxItems: number, description: string) => ({ maxItems, description });
/** The id of an object of a response that may be null. */
export const NullableId = (description: string) => Nullable(Type.String({ ...Uuid, description }));
/** A text of a response that may be null. */
export const NullableText = (description: string) => Nullable(Type.String({ description }));
export const OptionalText = (maxLength: number, description: string, more: Record<string, unknown> = {}) =>
  Type.Optional(Type.String({ maxLength, description, ...more }));
/** Keys of types in a request; none by default. */
export const TypeKeys = (description: string) =>
  Type.Array(Type.String({ maxLength: 100 }), { default: [], maxItems: 500, description });

/** The static type of an object with these members. */
export type StaticOf<P extends TProperties> = Static<ReturnType<typeof Type.Object<P>>>;
