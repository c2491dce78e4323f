import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

type BuildSerializer = ReturnType<typeof SerializerSelector>;
type CompileSerializer = ReturnType<BuildSerializer>;
type Serialize = ReturnType<CompileSerializer>;

const buildNow = SerializerSelector();

/**
 * Serialisers that are compiled when their answer is first given: there is one for each answer of each
 * operation, and compiling them all would take longer than everything else that a start does.
 */
export const serializersWhenNeeded: BuildSerializer = (schemas, options) => {
  const compile = buildNow(schemas, options);
  return (route) => {
    let serialize: Serialize | undefined;
    return (data) => {
      serialize ??= compile(route);
      return serialize(data);
    };
  };
};

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
