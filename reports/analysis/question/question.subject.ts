import grammar from './question.grammar.json' with { type: 'json' };
import type { Meaning } from './question.meanings.ts';
import { lookUp, quoted, type Vocabulary } from './question.vocabulary.ts';
import type { Word } from './question.words.ts';

/** The subject of a question. */
export interface Subject {
  types: string[];
  /** Condition of the subtype, if one is named. */
  filter?: string;
  label: string;
  /** Whether the subject is one card without its type. */
  isCard?: boolean;
  /** The words of the subject. */
  start: number;
  end: number;
  /** Whether one card is asked for: "which application". */
  isSingular: boolean;
}

type Draft = Omit<Subject, 'isSingular'>;

export const isNeutral = (norm: string): boolean => grammar.neutralTypes.includes(norm);

/**
 * The first card type or subtype that is named as the subject, with those joined to it by "and"; else a card that is named.
 * A type after "per" is the subject if there is no other one.
 */
export function findSubject(
  vocabulary: Vocabulary,
  words: readonly Word[],
  norms: readonly string[],
): Subject | undefined {
  const first = (read: (at: number, found: Found) => Draft | undefined): Draft | undefined => {
    for (let at = 0; at < norms.length; ) {
      const found = lookUp(vocabulary, norms, at);
      const subject = found && read(at, found);
      if (subject) return subject;
      at += found?.length ?? 1;
    }
    return undefined;
  };
  const typeOf = (at: number, found: Found) => subjectOf(vocabulary, norms, at, found);
  const subject =
    first((at, found) => (isElsewhere(norms, at) ? undefined : typeOf(at, found))) ??
    first((at, found) => cardSubject(norms, at, found)) ??
    first((at, found) => (grammar.perSubject.includes(norms[at - 1] ?? '') ? typeOf(at, found) : undefined));
  if (!subject) return undefined;
  const isSingular = subject.start >= 0 && words[subject.end - 1]?.isPlural !== true;
  return { ...named(vocabulary, norms, joined(vocabulary, norms, subject)), isSingular };
}

interface Found {
  meanings: Meaning[];
  length: number;
}

/** A card as the subject: "how much does PolicyDesk cost". Its successor is asked for by "the successor of Ledgerline". */
function cardSubject(norms: readonly string[], at: number, { meanings, length }: Found): Draft | undefined {
  const [card, ...others] = meanings;
  if (card?.kind !== 'card' || card.partial || others.length > 0) return undefined;
  const { type, name, label } = card;
  const { successors, predecessors } = grammar.succession;
  if (norms[at - 1] === 'of' && [...successors, ...predecessors].includes(norms[at - 2] ?? ''))
    return { types: [type], label, start: -1, end: -1 };
  const filter = `name = ${quoted(name)}`;
  return { types: [type], filter, label: `${label} "${name}"`, isCard: true, start: at, end: at + length };
}

/** "the initiative Horizon": a card of the type. */
function named(vocabulary: Vocabulary, norms: readonly string[], subject: Draft): Draft {
  const { types, end, start, filter } = subject;
  if (start < 0 || types.length !== 1 || filter !== undefined) return subject;
  const found = lookUp(
    vocabulary,
    norms,
    end,
    (meaning) => meaning.kind === 'card' && meaning.type === types[0],
  );
  const card = found?.meanings[0];
  if (card?.kind !== 'card' || card.partial) return subject;
  const label = `${subject.label} "${card.name}"`;
  return { ...subject, filter: `name = ${quoted(card.name)}`, label, end: end + found!.length };
}

function isElsewhere(norms: readonly string[], at: number): boolean {
  const before = norms[at - 1] === 'a' || norms[at - 1] === 'an' ? norms[at - 2] : norms[at - 1];
  return before !== undefined && grammar.beforeOtherTypes.includes(before);
}

function subjectOf(
  vocabulary: Vocabulary,
  norms: readonly string[],
  at: number,
  { meanings, length }: Found,
): Draft | undefined {
  const end = at + length;
  const type = meanings.find((meaning) => meaning.kind === 'type');
  if (type) return { types: [type.type], label: type.label, start: at, end };
  // a card that is named like a subtype is only found after its type
  const subtypes = meanings.filter((meaning) => meaning.kind === 'subtype');
  const [first] = subtypes;
  if (first && !namesOtherType(vocabulary, norms, end, first.types)) {
    const types = [...new Set(subtypes.flatMap((subtype) => subtype.types))];
    const keys = [...new Set(subtypes.map(({ subtype }) => subtype))];
    const filter = keys.length > 1 ? `subtype in (${keys.join(', ')})` : `subtype = ${keys[0]}`;
    return { types, filter, label: first.label, start: at, end };
  }
  // "commercial applications" is the field Commercial Application, and names the type
  if (!meanings.some((meaning) => meaning.kind === 'field' && meaning.valueType === 'boolean'))
    return undefined;
  for (let from = at + 1; from < end; from += 1) {
    const inner = lookUp(vocabulary, norms, from, (meaning) => meaning.kind === 'type');
    const named = inner?.meanings[0];
    if (named?.kind === 'type' && from + inner!.length === end) {
      // the words remain, to be parsed as a condition
      return { types: [named.type], label: named.label, start: -1, end: -1 };
    }
  }
  return undefined;
}

/** "SaaS applications" are not IT components of the subtype SaaS. */
function namesOtherType(
  vocabulary: Vocabulary,
  norms: readonly string[],
  at: number,
  types: readonly string[],
): boolean {
  const next = lookUp(vocabulary, norms, at, ({ kind }) => kind === 'type');
  return next?.meanings.some((meaning) => meaning.kind === 'type' && !types.includes(meaning.type)) ?? false;
}

/** "applications and interfaces": both types are the subject. */
function joined(vocabulary: Vocabulary, norms: readonly string[], subject: Draft): Draft {
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
