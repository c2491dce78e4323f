/** The letters and digits of a folded text. */
export const lettersAndDigits = (folded: string): string => folded.replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** Longer texts are not memoized. */
const LONGEST = 200;

/** Memoizes a function for up to `most` texts of at most 200 characters. */
export function memoized<T>(make: (text: string) => T, most: number): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text.length > LONGEST) return make(text);
    if (known.size >= most) known.clear();
    const made = make(text);
    known.set(text, made);
    return made;
  };
}
