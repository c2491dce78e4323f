import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { FieldError } from '../../../platform/errors.ts';

const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/** Whether a value has a shape; compiled once, since archives hold many. */
function fits(schema: TSchema, value: unknown): boolean {
  let known = compiled.get(schema);
  if (!known) {
    known = Compile(schema);
    compiled.set(schema, known);
  }
  return known.Check(value);
}

/** What is wrong with the shape of a value, at most one fault: the one that lies deepest, by its path. */
export function shapeFaults(schema: TSchema, value: unknown, at = ''): FieldError[] {
  if (fits(schema, value)) return [];
  const depth = (path: string) => path.split('/').length;
  // of the alternatives of a value those are meant that go into it; `schema is false` is told with what has the member
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
