import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { FieldError } from '../../../platform/errors.ts';

const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/** Whether a value matches a schema, which is compiled once. */
function fits(schema: TSchema, value: unknown): boolean {
  let known = compiled.get(schema);
  if (!known) {
    known = Compile(schema);
    compiled.set(schema, known);
  }
  return known.Check(value);
}

/** Validates a value against a schema. @returns at most one error: the deepest one, by its path. */
export function shapeErrors(schema: TSchema, value: unknown, at = ''): FieldError[] {
  if (fits(schema, value)) return [];
  const depth = (path: string) => path.split('/').length;
  // the deepest error belongs to the alternative that the value was meant as; `schema is false` repeats another error
  const faults = Value.Errors(schema, value).filter(({ keyword }) => keyword !== 'boolean');
  const fault = faults.reduce(
    (deepest, one) => (depth(one.instancePath) > depth(deepest.instancePath) ? one : deepest),
    faults[0] ?? { keyword: '', instancePath: '', message: 'does not fit', params: {} },
  );
  const path = [at, ...fault.instancePath.split('/').slice(1)].filter(Boolean).join('.');
  if (fault.keyword === 'additionalProperties') {
    const [name = ''] = (fault.params as { additionalProperties?: string[] }).additionalProperties ?? [];
    const member = [path, name.slice(0, 100)].filter(Boolean).join('.');
    return [{ field: member, code: 'unknown_field', message: 'is not known' }];
  }
  return [{ field: path, code: 'wrong_type', message: fault.message }];
}
