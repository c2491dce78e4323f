import { editDistance } from '../../platform/edit-distance.ts';
import type { FieldError } from '../../platform/errors.ts';

/** The maximum length of a repeated value, and of the list of allowed ones. */
const LONGEST = 60;
const MOST_ALLOWED = 50;

/** The beginning of a refused value, for a message. */
export const shortened = (value: string): string =>
  value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;

/**
 * The error for a value that is none of the allowed ones, with the one that was probably meant.
 * @param labels names of the allowed values, which users may have given instead.
 */
export function unknownChoice(
  error: FieldError,
  value: string,
  allowed: Iterable<string>,
  labels?: ReadonlyMap<string, string>,
): FieldError {
  const list = [...allowed];
  const nearest = nearestOf(value, list, labels);
  return {
    ...error,
    value: shortened(value),
    allowed: list.slice(0, MOST_ALLOWED),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\s_-]/gu, '')
    .toLowerCase();

/** The allowed value that is written most similarly to the given one, or is labelled so. */
function nearestOf(
  value: string,
  allowed: string[],
  labels: ReadonlyMap<string, string> | undefined,
): string | undefined {
  const given = folded(value.slice(0, LONGEST));
  // a third of the letters may differ
  let most = Math.max(1, Math.floor(given.length / 3));
  let best: string | undefined;
  for (const key of allowed) {
    for (const text of [key, labels?.get(key)]) {
      if (text === undefined) continue;
      const distance = editDistance(given, folded(text), most);
      if (distance > most || (best !== undefined && distance === most)) continue;
      best = key;
      most = distance;
    }
  }
  return best;
}
