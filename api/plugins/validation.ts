import Ajv, { type Options } from 'ajv/dist/2020.js';
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
 * Every fault is reported, not only the first; the number of faults is bounded by the body's size limit.
 */
export function registerValidation(app: App): void {
  registerStorable(app);
  checkBySchema(app);
}

/** The compiler of these checks, which a part of the application with parsers of its own does not inherit. */
export function checkBySchema(app: App): void {
  const exact = new Ajv.default({ ...options });
  const fromText = new Ajv.default({ ...options, coerceTypes: 'array' });
  for (const ajv of [exact, fromText]) addFormats.default(ajv, { mode: 'full' });
  app.setValidatorCompiler(({ schema, httpPart }) =>
    validateWhenNeeded(() => (httpPart === 'body' ? exact : fromText).compile(schema as object)),
  );
}

/** A check of values that come with no request of their own, as strict as that of bodies; it fills in defaults. */
export function createBodyCheck(schema: object): (value: unknown) => FieldError[] {
  const ajv = new Ajv.default({ ...options });
  addFormats.default(ajv, { mode: 'full' });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? []));
}
