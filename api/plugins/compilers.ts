import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

type BuildSerializer = ReturnType<typeof SerializerSelector>;
type CompileSerializer = ReturnType<BuildSerializer>;
type Serialize = ReturnType<CompileSerializer>;

const buildSerializer = SerializerSelector();

/**
 * Compiles each serializer when it is first used: compiling all of them would dominate the start time. Each gets only
 * the shared schemas that it refers to, since the compiler processes all schemas that it gets.
 */
export const lazySerializers: BuildSerializer = (schemas, options) => (route) => {
  let serialize: Serialize | undefined;
  return (data) => {
    serialize ??= buildSerializer(
      referencedSchemas(route.schema, schemas as Record<string, unknown>),
      options,
    )(route);
    return serialize(data);
  };
};

/** The shared schemas that a schema refers to, directly or indirectly. */
function referencedSchemas(schema: unknown, shared: Record<string, unknown>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  const follow = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return;
    for (const [key, value] of Object.entries(part)) {
      if (key !== '$ref' || typeof value !== 'string') {
        follow(value);
        continue;
      }
      const id = value.split('#', 1)[0]!;
      if (id in named || !Object.hasOwn(shared, id)) continue;
      named[id] = shared[id];
      follow(shared[id]);
    }
  };
  follow(schema);
  return named;
}

/** Fastify's schema bucket. */
interface SharedSchemas {
  add(schema: { $id: string }): void;
  getSchema(id: string): unknown;
  getSchemas(): Record<string, unknown>;
}

/**
 * A schema bucket that does not copy. The framework calls `getSchemas` twice per operation, and its own bucket copies all
 * schemas each time, which takes a third of the start time.
 */
export function createSchemaBucket(given: Record<string, unknown> = {}): SharedSchemas {
  // schemas that an encapsulated plugin adds must not appear in its parent
  const schemas = { ...given };
  return {
    add(schema) {
      if (schema.$id in schemas) throw new Error(`there are two schemas with the id ${schema.$id}`);
      schemas[schema.$id] = schema;
    },
    getSchema: (id) => schemas[id],
    getSchemas: () => schemas,
  };
}

/** A validator as Fastify calls it; it sets `errors` if the data is invalid. */
export interface Validate<E> {
  (data: unknown): boolean;
  errors?: E[] | null;
}

/** A validator that is compiled when it is first used. */
export function lazyValidator<E>(compile: () => Validate<E>): Validate<E> {
  let validate: Validate<E> | undefined;
  const check: Validate<E> = (data) => {
    validate ??= compile();
    const fits = validate(data);
    check.errors = validate.errors ?? null;
    return fits;
  };
  return check;
}
