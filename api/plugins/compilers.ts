import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

type BuildSerializer = ReturnType<typeof SerializerSelector>;
type CompileSerializer = ReturnType<BuildSerializer>;
type Serialize = ReturnType<CompileSerializer>;

const buildNow = SerializerSelector();

/**
 * Serialisers that are compiled when their answer is first given: there is one for each answer of each
 * operation, and compiling them all would take longer than everything else that a start does. Each is handed
 * only the shared schemas that it names: it would go through all of them, hundreds, to compile one.
 */
export const serializersWhenNeeded: BuildSerializer = (schemas, options) => (route) => {
  let serialize: Serialize | undefined;
  return (data) => {
    serialize ??= buildNow(namedBy(route.schema, schemas as Record<string, unknown>), options)(route);
    return serialize(data);
  };
};

/** The shared schemas that a schema names, directly or through others. */
function namedBy(schema: unknown, shared: Record<string, unknown>): Record<string, unknown> {
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

/** The schemas that operations name by their id. */
interface SharedSchemas {
  add(schema: { $id: string }): void;
  getSchema(id: string): unknown;
  getSchemas(): Record<string, unknown>;
}

/**
 * Keeps the shared schemas, as they are: nobody changes them. The framework asks for all of them twice for each
 * operation, and a store of its own would copy them each time: a third of a start.
 */
export function keepSchemas(given: Record<string, unknown> = {}): SharedSchemas {
  // what a part of the application adds is its own
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

/** What the framework calls to check one part of a request; it reads `errors` after a refusal. */
export interface Validate<Fault> {
  (data: unknown): boolean;
  errors?: Fault[] | null;
}

/** A check that is compiled when it is first asked for, for the same reason. */
export function validateWhenNeeded<Fault>(compile: () => Validate<Fault>): Validate<Fault> {
  let validate: Validate<Fault> | undefined;
  const check: Validate<Fault> = (data) => {
    validate ??= compile();
    const fits = validate(data);
    check.errors = validate.errors ?? null;
    return fits;
  };
  return check;
}
