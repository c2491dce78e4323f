import type { Categorised } from '../../../domain/analysis/suppliers/suppliers.types.ts';
import { plainNameWords } from '../matching/names.ts';
import { knownByKey } from './resolve.ts';
import { shownName, spellingOf } from './spelling.ts';
import { lexicon, type SubCategory, UNCATEGORISED } from './suppliers.lexicon.ts';

/** The texts of a supplied card. */
export interface SuppliedText {
  name: string;
  description: string | null;
  subtype: string | null;
  /** Names of its technical categories. */
  categories: readonly string[];
}

/** Weight of each kind of evidence. The weight of cards is divided among all cards. */
const WEIGHTS = { known: 3, varied: 0.5, name: 2, description: 1.5, cards: 3 };
/** Weights within a card: name and technical categories, subtype, description. */
const PLACES = { name: 1, subtype: 0.75, description: 0.5 };
/** Maximum number of examples in a reason. */
const EXAMPLES = 3;

/** Phrases by their first word, as normalised words. */
const phrases = new Map<string, { words: string[]; sub: number }[]>();
for (const [sub, { words }] of lexicon.entries()) {
  for (const phrase of words) {
    const parts = plainNameWords(phrase);
    const known = phrases.get(parts[0]!) ?? [];
    if (known.some((other) => other.sub === sub && other.words.join(' ') === parts.join(' '))) continue;
    phrases.set(parts[0]!, [...known, { words: parts, sub }]);
  }
}
const bySubtype = new Map(
  lexicon.flatMap(({ subtypes = [] }, sub) => subtypes.map((subtype) => [subtype, sub] as const)),
);
const byName = new Map(lexicon.map(({ name }, sub) => [name, sub]));

/**
 * The sub-categories that a text indicates, each with its phrase. A phrase within a longer phrase does not count: `SQL Server`
 * is not a server.
 */
export function subCategoriesIn(text: string): Map<number, string> {
  const words = plainNameWords(text);
  const found = words.flatMap((word, from) =>
    (phrases.get(word) ?? [])
      .filter((phrase) => phrase.words.every((part, n) => words[from + n] === part))
      .map((phrase) => ({ ...phrase, from, to: from + phrase.words.length })),
  );
  const isWithin = (inner: (typeof found)[0], outer: (typeof found)[0]) =>
    outer.from <= inner.from && inner.to <= outer.to && outer.words.length > inner.words.length;
  const indicated = new Map<number, string>();
  for (const phrase of found) {
    if (indicated.has(phrase.sub) || found.some((outer) => isWithin(phrase, outer))) continue;
    indicated.set(phrase.sub, phrase.words.join(' '));
  }
  return indicated;
}

/** Evidence of cards about one supplier, aggregated card by card. */
export interface CardEvidence {
  cards: number;
  /** By index in the lexicon: sum of the weights, number of cards, and the first examples. */
  found: Map<number, { weight: number; cards: number; phrases: Set<string>; examples: string[] }>;
}

export const noEvidence = (): CardEvidence => ({ cards: 0, found: new Map() });

/** Adds the evidence of one card. */
export function addCard(
  evidence: CardEvidence,
  { name, description, subtype, categories }: SuppliedText,
): void {
  evidence.cards++;
  const said = new Map<number, { weight: number; phrase: string }>();
  const note = (sub: number, weight: number, phrase: string) => {
    if ((said.get(sub)?.weight ?? 0) < weight) said.set(sub, { weight, phrase });
  };
  for (const text of [name, ...categories]) {
    for (const [sub, phrase] of subCategoriesIn(text)) note(sub, PLACES.name, phrase);
  }
  const typed = subtype === null ? undefined : bySubtype.get(subtype);
  if (typed !== undefined) note(typed, PLACES.subtype, subtype!);
  for (const [sub, phrase] of subCategoriesIn(description ?? '')) note(sub, PLACES.description, phrase);
  for (const [sub, { weight, phrase }] of said) {
    let known = evidence.found.get(sub);
    if (!known) {
      known = { weight: 0, cards: 0, phrases: new Set(), examples: [] };
      evidence.found.set(sub, known);
    }
    known.weight += weight;
    known.cards++;
    if (known.phrases.size < EXAMPLES) known.phrases.add(phrase);
    if (known.examples.length < EXAMPLES) known.examples.push(shownName(name));
  }
}

/**
 * Categorises a supplier by weighted evidence: known vendors 3 (0.5 if they supply many other things), its name 2, its description 1.5, and all its cards together 3,
 * each by name or technical category (1), subtype (0.75) or description (0.5).
 */
export function categorise(
  names: readonly string[],
  descriptions: readonly string[],
  evidence: CardEvidence,
): Categorised {
  const scores = new Map<number, { score: number; reasons: string[] }>();
  const add = (sub: number, score: number, reason: string) => {
    const known = scores.get(sub) ?? { score: 0, reasons: [] };
    known.score += score;
    known.reasons.push(reason);
    scores.set(sub, known);
  };
  const known = names.map((name) => knownByKey().get(spellingOf(name)?.key ?? '')).find((found) => found);
  const knownFor = known?.supplies === undefined ? undefined : byName.get(known.supplies);
  if (knownFor !== undefined) {
    add(knownFor, known!.varied ? WEIGHTS.varied : WEIGHTS.known, `${known!.name} is known for it`);
  }
  for (const [sub, phrase] of subCategoriesIn(names.join(' · '))) {
    add(sub, WEIGHTS.name, `its name contains “${phrase}”`);
  }
  for (const [sub, phrase] of subCategoriesIn(descriptions.join(' · '))) {
    add(sub, WEIGHTS.description, `its description contains “${phrase}”`);
  }
  for (const [sub, { weight, cards, phrases: said, examples }] of evidence.found) {
    const quotes = [...said].map((phrase) => `“${phrase}”`).join(', ');
    add(
      sub,
      (WEIGHTS.cards * weight) / evidence.cards,
      `${cards} of ${evidence.cards} supplied cards contain ${quotes}, such as ${examples.join(', ')}`,
    );
  }
  const [best] = [...scores].sort(([a, one], [b, other]) => other.score - one.score || a - b);
  if (!best) {
    const reasoning = 'Neither its name nor the supplied cards indicate a category of the lexicon.';
    return { ...UNCATEGORISED, confidence: null, reasoning };
  }
  const [sub, { score, reasons }] = best;
  const total = [...scores.values()].reduce((sum, other) => sum + other.score, 0);
  const { category, name }: SubCategory = lexicon[sub]!;
  const confidence = Number((score / total).toFixed(3));
  return { category, sub_category: name, confidence, reasoning: sentence(reasons) };
}

const sentence = (parts: readonly string[]): string => {
  const text = parts.join('; ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
};
