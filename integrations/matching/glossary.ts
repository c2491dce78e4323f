import vocabulary from './vocabulary.json' with { type: 'json' };
import { keyByWord } from './vocabulary.ts';

/** English words by those of other languages; a word that two languages use differently is left out. */
const ENGLISH = keyByWord(vocabulary.translations);
const KNOWN = new Set([...ENGLISH.keys(), ...Object.keys(vocabulary.translations)]);
const JOINTS = ['', 's', 'n', 'en', 'e'];
/** Letters of the shortest part of a compound. */
const SHORTEST = 4;

/** Endings of several of a thing. */
const PLURALS = ['s', 'es', 'n', 'en'];

/**
 * The English words that a folded word of a name stands for; itself where it is none of the glossary. Compounds of such words, `lagerverwaltung`
 * and `kundenportalsystem`, are taken apart.
 */
export function inEnglish(word: string): string[] {
  const known = knownAs(word) ?? singular(word);
  if (known) return [known];
  return (word.length >= 2 * SHORTEST && inParts(word, MOST_PARTS)) || [word];
}

/** Words that a compound is taken apart into at most. */
const MOST_PARTS = 3;

const knownAs = (word: string): string | undefined =>
  ENGLISH.get(word) ?? (KNOWN.has(word) ? word : undefined);

/** What several of a thing stand for; words that are English already stay as they are. */
function singular(word: string): string | undefined {
  for (const ending of PLURALS)
    if (word.endsWith(ending)) {
      const one = ENGLISH.get(word.slice(0, -ending.length));
      if (one) return one;
    }
  return undefined;
}

function inParts(word: string, most: number): string[] | undefined {
  for (let at = word.length - SHORTEST; at >= SHORTEST; at--) {
    const last = knownAs(word.slice(at));
    if (!last) continue;
    for (const joint of JOINTS) {
      const before = word.slice(0, at);
      if (!before.endsWith(joint)) continue;
      const first = before.slice(0, at - joint.length);
      const parts = knownAs(first) ?? (most > 2 ? inParts(first, most - 1) : undefined);
      if (parts) return [parts, last].flat();
    }
  }
  return undefined;
}
