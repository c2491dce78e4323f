/** Longer texts are not remembered. */
const LONGEST = 200;

/** Returns the same function with a memory of its results for `most` texts of at most 200 characters. */
export function remembered<T>(make: (text: string) => T, most: number): (text: string) => T {
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
