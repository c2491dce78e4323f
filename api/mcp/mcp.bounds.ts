/** How much of an answer is given. */
export interface Bounds {
  /** Elements of each list. */
  items: number;
  /** Characters of each text. */
  text: number;
}

/** Where an answer was cut. */
export interface Cut {
  path: string;
  shown: number;
  of: number;
}

/** Whatever a tool answers is no longer than this, in characters of JSON. */
export const ANSWER_LIMIT = 200_000;

/** At most as many cuts are told. */
const TOLD = 50;

/** The value with long lists and texts cut, and where that was done: nothing is left out silently. */
export function bounded<T>(value: T, bounds: Bounds): { value: T; cuts: Cut[] } {
  const cuts: Cut[] = [];
  const note = (cut: Cut) => {
    if (cuts.length < TOLD) cuts.push(cut);
  };
  const visit = (part: unknown, path: string): unknown => {
    if (typeof part === 'string') {
      if (part.length <= bounds.text) return part;
      const shown = wholeCharacters(part, bounds.text);
      note({ path, shown: shown.length, of: part.length });
      return shown;
    }
    if (Array.isArray(part)) {
      if (part.length > bounds.items) note({ path, shown: bounds.items, of: part.length });
      return part.slice(0, bounds.items).map((item, at) => visit(item, `${path}[${at}]`));
    }
    if (part === null || typeof part !== 'object') return part;
    const members = Object.entries(part).map(([key, member]) => [
      key,
      visit(member, path === '' ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(members);
  };
  return { value: visit(value, '') as T, cuts };
}

/** The beginning of a text, without half of a surrogate pair at its end. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
