import type { FieldError } from '../../../platform/errors.ts';
import { today } from '../../kernel/dates.ts';
import type { Deprecation } from '../../kernel/metamodel/metamodel.types.ts';

/** How far ahead a removal may be: until then the former key of an alias stays taken. */
const MOST_YEARS = 5;

/** A deprecation of an input in its stored form. A removal that is set or changed lies in the next years. */
export function cleanDeprecation(
  given: Deprecation,
  stored: Deprecation | null | undefined,
  path: string,
  errors: FieldError[],
): Deprecation {
  const { since = stored?.since ?? today(), removal, note, successor } = given;
  const latest = `${Number(today().slice(0, 4)) + MOST_YEARS}${today().slice(4)}`;
  const error = (message: string) =>
    void errors.push({ field: `${path}.removal`, code: 'out_of_range', message });
  if (removal !== stored?.removal && removal <= today()) error('must be later than today');
  else if (removal !== stored?.removal && removal > latest) error(`must not be later than ${latest}`);
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
