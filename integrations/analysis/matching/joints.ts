/** Maximum number of words that are joined. */
const MOST_PARTS = 3;
/** Minimum letters of a word that can be split into several. */
const [SHORTEST, LONGEST] = [5, 24];

const isNumber = (word: string): boolean => /^\p{N}+$/u.test(word);

/** Whether a part is not a code, since codes are compared separately. */
const isPlain = (part: string): boolean => !/\p{N}/u.test(part) || /^\p{N}{1,6}$/u.test(part);

/** Sequences of words that another name may write as one word. */
function* runsIn(words: readonly string[]): Generator<readonly string[]> {
  for (const from of words.keys())
    for (let length = 2; length <= MOST_PARTS && from + length <= words.length; length++)
      yield words.slice(from, from + length);
}

/**
 * Words that some names join and others separate, as parts separated by a space: `sales force` if `salesforce` occurs too.
 */
export function findCompounds(names: readonly (readonly string[])[]): string[] {
  const single = new Set(names.flat());
  const joints = new Set<string>();
  for (const words of names)
    for (const parts of runsIn(words)) {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      if (length < SHORTEST || length > LONGEST || isNumber(parts[0]!) || !parts.every(isPlain)) continue;
      if (single.has(parts.join(''))) joints.add(parts.join(' '));
    }
  return [...joints].sort();
}

/** Normalises such words: joined, except for numbers, which remain separate. */
export function jointWriter(joints: readonly string[]): (words: readonly string[]) => readonly string[] {
  if (joints.length === 0) return (words) => words;
  const together = new Set<string>();
  const apart = new Map<string, string[]>();
  for (const joint of joints) {
    const parts = joint.split(' ');
    if (isNumber(parts.at(-1)!)) apart.set(parts.join(''), parts);
    else together.add(joint);
  }
  return (words) => {
    const written: string[] = [];
    for (let at = 0; at < words.length; ) {
      let length = Math.min(MOST_PARTS, words.length - at);
      while (length > 1 && !together.has(words.slice(at, at + length).join(' '))) length--;
      const word = words.slice(at, at + length).join('');
      written.push(...(apart.get(word) ?? [word]));
      at += length;
    }
    return written;
  };
}
