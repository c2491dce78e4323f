import grammar from './question.grammar.json' with { type: 'json' };
import { lookUp, type Meaning, type Vocabulary } from './question.vocabulary.ts';

/** What a question is about. */
export interface Subject {
  types: string[];
  /** Where only cards of a subtype are meant. */
  filter?: string;
  label: string;
  /** The words that say so. */
  start: number;
  end: number;
}

export const isNeutral = (norm: string): boolean => grammar.neutralTypes.includes(norm);

/** The first card type or subtype that is named as what the question is about, with others that are joined to it. */
export function findSubject(vocabulary: Vocabulary, norms: readonly string[]): Subject | undefined {
  for (let at = 0; at < norms.length; ) {
    const found = lookUp(vocabulary, norms, at);
    const subject = found && !isElsewhere(norms, at) ? subjectOf(vocabulary, norms, at, found) : undefined;
    if (subject) return joined(vocabulary, norms, subject);
    at += found?.length ?? 1;
  }
  return undefined;
}

function isElsewhere(norms: readonly string[], at: number): boolean {
  const before = norms[at - 1] === 'a' || norms[at - 1] === 'an' ? norms[at - 2] : norms[at - 1];
  return before !== undefined && grammar.beforeOtherTypes.includes(before);
}

function subjectOf(
  vocabulary: Vocabulary,
  norms: readonly string[],
  at: number,
  { meanings, length }: { meanings: Meaning[]; length: number },
): Subject | undefined {
  const end = at + length;
  const type = meanings.find((meaning) => meaning.kind === 'type');
  if (type) return { types: [type.type], label: type.label, start: at, end };
  const subtypes = meanings.filter((meaning) => meaning.kind === 'subtype');
  const [first] = subtypes;
  if (first) {
    const types = [...new Set(subtypes.flatMap((subtype) => subtype.types))];
    const keys = [...new Set(subtypes.map(({ subtype }) => subtype))];
    const filter = keys.length > 1 ? `subtype in (${keys.join(', ')})` : `subtype = ${keys[0]}`;
    return { types, filter, label: first.label, start: at, end };
  }
  // "commercial applications" is the field Commercial Application, and names the type
  if (!meanings.some((meaning) => meaning.kind === 'field' && meaning.holds === 'boolean')) return undefined;
  for (let from = at + 1; from < end; from += 1) {
    const inner = lookUp(vocabulary, norms, from, (meaning) => meaning.kind === 'type');
    const named = inner?.meanings[0];
    if (named?.kind === 'type' && from + inner!.length === end) {
      // the words are left to be read as the condition that they are
      return { types: [named.type], label: named.label, start: -1, end: -1 };
    }
  }
  return undefined;
}

/** "applications and interfaces" is about both. */
function joined(vocabulary: Vocabulary, norms: readonly string[], subject: Subject): Subject {
  if (subject.filter !== undefined || subject.start < 0) return subject;
  let { types, label, end } = subject;
  while (norms[end] === 'and' || norms[end] === 'or' || norms[end] === ',') {
    const found = lookUp(vocabulary, norms, end + 1);
    const type = found?.meanings.find((meaning) => meaning.kind === 'type');
    if (!type) break;
    types = [...types, type.type];
    label = `${label}, ${type.label}`;
    end += 1 + found!.length;
  }
  return { ...subject, types, label, end };
}
