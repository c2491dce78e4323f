/** The most JSON characters of one answer. */
export const ANSWER_LIMIT = 200_000;

/** A truncated list or text. */
interface Cut {
  path: string;
  shown: number;
  of: number;
}

/** The most truncations that one answer names. */
const MOST_CUTS = 50;

/**
 * The members of an answer with long lists and texts truncated, and `cuts`, which names where.
 * @param limits elements of each list, and characters of each text.
 */
export function bounded<T extends object>(members: T, limits: { items: number; text: number }) {
  const cuts: Cut[] = [];
  const note = (cut: Cut) => {
    if (cuts.length < MOST_CUTS) cuts.push(cut);
  };
  const visit = (part: unknown, path: string): unknown => {
    if (typeof part === 'string') {
      if (part.length <= limits.text) return part;
      const shown = part.slice(0, limits.text).replace(/[\ud800-\udbff]$/, '');
      note({ path, shown: shown.length, of: part.length });
      return shown;
    }
    if (Array.isArray(part)) {
      if (part.length > limits.items) note({ path, shown: limits.items, of: part.length });
      return part.slice(0, limits.items).map((item, at) => visit(item, `${path}[${at}]`));
    }
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, member]) => [key, visit(member, path === '' ? key : `${path}.${key}`)]),
    );
  };
  return { ...(visit(members, '') as T), cuts };
}
