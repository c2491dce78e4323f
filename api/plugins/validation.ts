import Ajv, { type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FieldError } from '../../platform/errors.ts';
import type { App } from '../types.ts';
import { lazyValidator } from './compilers.ts';
import { registerStorable } from './storable.ts';
import { fieldErrors } from './validation-errors.ts';

const options: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  allowUnionTypes: true,
  // JSON numbers such as 1e999 are parsed as infinity
  strictNumbers: true,
  // compiles in half the time, and validates as fast
  code: { optimize: false },
  // the schemas themselves are validated with the OpenAPI document in tests, not at each start
  validateSchema: false,
};

/**
 * Validates requests: bodies without conversion; query and path values are converted from text. All errors are collected,
 * and a problem document lists the first hundred; of bodies with very many members only the first error is reported.
 */
export function registerValidation(app: App): void {
  registerStorable(app);
  checkBySchema(app);
}

/** Validators of one kind, cached by schema: most schemas are constants that all app instances share. */
function createChecks(more: Options = {}) {
  const ajv = createAjv(more);
  const checks = new WeakMap<object, ValidateFunction>();
  return (schema: object): ValidateFunction => {
    let check = checks.get(schema);
    if (!check) {
      const closed = withClosedKeys(schema);
      check = ajv.compile(closed);
      // Ajv would cache it for the lifetime of the process
      ajv.removeSchema(closed);
      checks.set(schema, check);
    }
    return check;
  };
}

/** Of bodies with more members and items than this only the first error is reported. */
const MANY_MEMBERS = 10_000;

/** Whether a JSON value has more than {@link MANY_MEMBERS} members and items. */
function hasManyMembers(value: unknown): boolean {
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

const everyError = createChecks();
const firstErrorCheck = createChecks({ allErrors: false });

/** The validator of bodies. For very many members it stops at the first error, since describing errors is expensive. */
function exactCheck(schema: object): ValidateFunction {
  const all = everyError(schema);
  const check = ((value: unknown) => {
    const chosen = hasManyMembers(value) ? firstErrorCheck(schema) : all;
    const fits = chosen(value);
    check.errors = chosen.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return check;
}

const fromText = createChecks({ coerceTypes: 'array' });

/** Sets the validator compiler, which an encapsulated plugin with its own parsers does not inherit. */
export function checkBySchema(app: App): void {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    lazyValidator(() => (httpPart === 'body' ? exactCheck : fromText)(schema as object)),
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

/** Makes maps refuse keys that do not match their pattern, which JSON Schema would accept unchecked. */
function withClosedKeys(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.patternProperties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}

/** A validator for values outside of request bodies, with the same rules; it fills in defaults. */
export function createBodyCheck(schema: object): (value: unknown) => FieldError[] {
  const validate = createAjv().compile(withClosedKeys(schema));
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? []));
}
