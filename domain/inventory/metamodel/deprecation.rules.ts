import type { FieldError } from '../../../platform/errors.ts';
import { today } from '../../kernel/dates.ts';
import type { Deprecation } from '../../kernel/metamodel/metamodel.types.ts';

/** A deprecation of an input in its stored form. A removal that is set or changed lies in the future. */
export function cleanDeprecation(
  given: Deprecation,
  stored: Deprecation | null | undefined,
  path: string,
  errors: FieldError[],
): Deprecation {
  const { since = stored?.since ?? today(), removal, note, successor } = given;
  const error = (message: string) =>
    void errors.push({ field: `${path}.removal`, code: 'out_of_range', message });
  if (removal !== stored?.removal && removal <= today()) error('must be later than today');
  else if (removal < since) error('must not be before since');
  return {
    since,
    removal,
    ...(note === undefined ? {} : { note: note.trim() }),
    ...(successor === undefined ? {} : { successor: successor.trim() }),
  };
}

/** The deprecation of a field or an option, if any. */
export function deprecationIn(
  part: { deprecation?: Deprecation },
  stored: { deprecation?: Deprecation } | undefined,
  path: string,
  errors: FieldError[],
): { deprecation?: Deprecation } {
  if (part.deprecation === undefined) return {};
  const deprecation = cleanDeprecation(part.deprecation, stored?.deprecation, `${path}.deprecation`, errors);
  return { deprecation };
}
