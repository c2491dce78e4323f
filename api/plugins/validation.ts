import Ajv, { type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FieldError } from '../../platform/errors.ts';
import type { App } from '../types.ts';
import { validateWhenNeeded } from './compilers.ts';
import { fieldErrors } from './faults.ts';
import { registerStorable } from './storable.ts';

const options: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  allowUnionTypes: true,
  // whether the schemas are ones is seen when the API's description is checked, not at every start
  validateSchema: false,
};

/**
 * Request checks: bodies as they are sent, never converted; query and path values converted from text.
 * Every fault is looked for, not only the first; a problem document names the first hundred. Of bodies with very many members only the
 * first fault is named.
 */
export function registerValidation(app: App): void {
  registerStorable(app);
  checkBySchema(app);
}

/** The checks of one kind, each compiled once for its schema: most schemas are constants that every application has. */
function createChecks(more: Options = {}) {
  const ajv = createAjv(more);
  const checks = new WeakMap<object, ValidateFunction>();
  return (schema: object): ValidateFunction => {
    let check = checks.get(schema);
    if (!check) {
      const closed = withClosedKeys(schema);
      check = ajv.compile(closed);
      // Ajv would keep it for as long as the process lives
      ajv.removeSchema(closed);
      checks.set(schema, check);
    }
    return check;
  };
}

/** Bodies with more members and items than this are checked up to their first fault. */
const MANY_MEMBERS = 10_000;

/** Whether a JSON value holds more than {@link MANY_MEMBERS} members and items. */
function holdsMany(value: unknown): boolean {
  let left = MANY_MEMBERS;
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    left -= members.length;
    if (left < 0) return true;
    for (const member of members) pending.push(member);
  }
  return false;
}

const everyFault = createChecks();
const firstFault = createChecks({ allErrors: false });

/** The check of bodies: describing a fault costs more than finding it, so bodies with very many members get only the first. */
function exact(schema: object): ValidateFunction {
  const all = everyFault(schema);
  const check = ((value: unknown) => {
    const chosen = holdsMany(value) ? firstFault(schema) : all;
    const fits = chosen(value);
    check.errors = chosen.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return check;
}

const fromText = createChecks({ coerceTypes: 'array' });

/** The compiler of these checks, which a part of the application with parsers of its own does not inherit. */
export function checkBySchema(app: App): void {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    validateWhenNeeded(() => (httpPart === 'body' ? exact : fromText)(schema as object)),
  );
}

function createAjv(more: Options = {}) {
  const ajv = new Ajv.default({ ...options, ...more });
  addFormats.default(ajv, { mode: 'full' });
  for (const name of ['date', 'date-time'] as const) {
    const { validate } = addFormats.default.get(name, 'full') as { validate: (text: string) => boolean };
    // the database has no year 0
    ajv.addFormat(name, (text) => !text.startsWith('0000') && validate(text));
  }
  return ajv;
}

/** The schema with every map refusing keys that its pattern does not match, which JSON Schema lets through unchecked. */
function withClosedKeys(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.patternProperties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}

/** A check of values that come with no request of their own, as strict as that of bodies; it fills in defaults. */
export function createBodyCheck(schema: object): (value: unknown) => FieldError[] {
  const validate = createAjv().compile(withClosedKeys(schema));
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? []));
}
