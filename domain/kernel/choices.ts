import { editDistance } from '../../platform/edit-distance.ts';
import type { FieldError } from '../../platform/errors.ts';

/** The maximum length of a repeated value, and of the list of allowed ones. */
const LONGEST = 60;
const MOST_ALLOWED = 50;

/** The beginning of a refused value, for a message. */
export const shortened = (value: string): string =>
  value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;

/**
 * The error for a value that is none of the allowed ones, which are named nearest first, with the one that was probably meant.
 * @param labels names of the allowed values, which users may have given instead.
 */
export function unknownChoice(
  error: FieldError,
  value: string,
  allowed: Iterable<string>,
  labels?: ReadonlyMap<string, string>,
): FieldError {
  const { list, nearest } = ranked(value, [...allowed], labels);
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

/** The allowed value that is written most similarly to the given one. @param most how many letters may differ; default: a third. */
export const nearestOf = (value: string, allowed: readonly string[], most?: number): string | undefined =>
  ranked(value, allowed, undefined, most).nearest;

/** The allowed values, those first that are written or labelled similarly to the given one. */
function ranked(
  value: string,
  allowed: readonly string[],
  labels?: ReadonlyMap<string, string>,
  mostMeant?: number,
): { list: string[]; nearest: string | undefined } {
  const given = folded(value.slice(0, LONGEST));
  // a third of the letters may differ of what was meant, half of what is similar
  const meant = mostMeant ?? Math.max(1, Math.floor(given.length / 3));
  const most = Math.max(2, Math.floor(given.length / 2));
  const distanceOf = (key: string): number => {
    let best = most + 1;
    for (const text of [key, labels?.get(key)]) {
      if (text === undefined) continue;
      const other = folded(text);
      const distance = editDistance(given, other, best - 1);
      const contains =
        given.length > 2 && other.length > 2 && (other.includes(given) || given.includes(other));
      best = Math.min(best, contains ? Math.min(distance, Math.max(meant + 1, most)) : distance);
    }
    return best;
  };
  const distances = allowed.map((key) => ({ key, distance: distanceOf(key) }));
  distances.sort((a, b) => a.distance - b.distance);
  const [first] = distances;
  return {
    list: distances.map(({ key }) => key),
    nearest: first && first.distance <= meant ? first.key : undefined,
  };
}
