import type {
  NamedSupplier,
  ResolvedName,
  ResolvedSupplier,
  SupplierKind,
} from '../../../domain/analysis/suppliers/suppliers.types.ts';
import { findDuplicatesInSteps } from '../matching/match.ts';
import type { MatchPair, Vocabulary } from '../matching/matching.types.ts';
import { ownWordsOf } from '../matching/own-words.ts';
import { attestedFirst, piecesIn } from './attested.ts';
import { withGroups } from './groups.ts';
import { initialsOf, isExtended, isMisspelling, type Spelling, spellingOf } from './spelling.ts';
import { type KnownSupplier, knownSuppliers } from './suppliers.lexicon.ts';

/** The names with one key. */
interface Entry {
  spelling: Spelling;
  /** Spellings with their numbers of supplied cards. */
  written: Map<string, number>;
  cards: string[];
  aliases: string[];
  hosts: Set<string>;
  kinds: SupplierKind[];
  supplied: number;
}

/** Evidence that two keys are names of one supplier. */
interface Tie {
  left: string;
  right: string;
  confidence: number;
  reason: string;
}

/** Minimum score, near zero: in short lists the matching learns little, so that misspellings have low scores. */
const LEAST_SCORE = 0;
/** Hosts that many companies share. */
const SHARED_HOSTS =
  /(?:^|\.)(?:github\.(?:com|io)|gitlab\.com|linkedin\.com|wikipedia\.org|google\.com|facebook\.com|sourceforge\.net|wordpress\.com|sharepoint\.com)$/;

let byKey: ReadonlyMap<string, KnownSupplier> | undefined;

/** The known suppliers by the keys of their names; created on first use. */
export function knownByKey(): ReadonlyMap<string, KnownSupplier> {
  byKey ??= new Map(
    knownSuppliers.flatMap((known) =>
      [known.name, ...(known.aliases ?? [])].flatMap((name) => {
        const key = spellingOf(name)?.key;
        return key ? [[key, known] as const] : [];
      }),
    ),
  );
  return byKey;
}

/**
 * Resolves names to suppliers, and finds the owners of suppliers. The result does not depend on the order of the names. It
 * yields about every 100 ms, so that the caller can do other work or cancel.
 * @param vocabulary names that are equal by its synonyms are of one supplier.
 */
export function* resolveSuppliers(
  named: readonly NamedSupplier[],
  vocabulary?: Vocabulary,
): Generator<number, ResolvedSupplier[]> {
  const entries = entriesOf(named);
  yield 0.1;
  const ties = [
    ...certainTies(entries),
    ...synonymTies(entries, vocabulary),
    ...(yield* likelyTies(entries, vocabulary)),
  ];
  const suppliers = suppliersOf(entries, ties);
  yield 0.95;
  return withGroups(suppliers);
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function entriesOf(named: readonly NamedSupplier[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { name, card, aliases, host, kind, supplied } of named) {
    const spelling = spellingOf(name);
    if (!spelling) continue;
    let entry = entries.get(spelling.key);
    if (!entry) {
      entry = {
        spelling,
        written: new Map(),
        cards: [],
        aliases: [],
        hosts: new Set(),
        kinds: [],
        supplied: 0,
      };
      entries.set(spelling.key, entry);
    }
    // spellings of cards take precedence over those of attributes, then the most frequent one
    const weight = supplied + (card ? 1e9 : 0);
    entry.written.set(spelling.name, (entry.written.get(spelling.name) ?? 0) + weight);
    if (card) {
      entry.cards.push(card);
      entry.kinds.push(kind);
    }
    entry.aliases.push(...aliases);
    if (host && !SHARED_HOSTS.test(host)) entry.hosts.add(host);
    entry.supplied += supplied;
  }
  return new Map([...entries].sort(([a], [b]) => text(a, b)));
}

function* certainTies(entries: ReadonlyMap<string, Entry>): Generator<Tie> {
  const byKnown = new Map<KnownSupplier, string>();
  const byHost = new Map<string, string>();
  for (const [key, { spelling, aliases, hosts }] of entries) {
    const known = knownByKey().get(key);
    if (known) {
      const first = byKnown.get(known);
      if (first === undefined) byKnown.set(known, key);
      else yield tie(first, key, 1, `“${spelling.name}” is known as a name of ${known.name}`);
    }
    for (const alias of aliases) {
      const other = spellingOf(alias);
      if (other && other.key !== key && other.key.length > 1 && entries.has(other.key)) {
        yield tie(key, other.key, 1, `the card “${spelling.name}” has the alias “${other.name}”`);
      }
    }
    for (const host of hosts) {
      const first = byHost.get(host);
      if (first === undefined) byHost.set(host, key);
      else yield tie(first, key, 0.95, `both have the website ${host}`);
    }
  }
  yield* initialTies(entries);
}

const tie = (left: string, right: string, confidence: number, reason: string): Tie => ({
  left,
  right,
  confidence,
  reason,
});

/** Abbreviations in capitals that are the initials of exactly one other name. */
function* initialTies(entries: ReadonlyMap<string, Entry>): Generator<Tie> {
  const byInitials = new Map<string, string[]>();
  for (const [key, { spelling }] of entries) {
    for (const initials of initialsOf(spelling)) {
      byInitials.set(initials, [...(byInitials.get(initials) ?? []), key]);
    }
  }
  for (const [key, { spelling, written }] of entries) {
    const full = byInitials.get(key);
    const isCapitals = [...written.keys()].some((name) => /^\p{Lu}{3,6}$/u.test(name.replace(/\s.*$/, '')));
    if (full?.length !== 1 || full[0] === key || !isCapitals || spelling.words.length !== 1) continue;
    const { name } = entries.get(full[0]!)!.spelling;
    yield tie(full[0]!, key, 0.9, `“${spelling.name}” are the initials of “${name}”`);
  }
}

/** Names that are the same with the synonyms of a vocabulary. */
function* synonymTies(
  entries: ReadonlyMap<string, Entry>,
  vocabulary: Vocabulary | undefined,
): Generator<Tie> {
  if (!vocabulary) return;
  const { synonyms } = ownWordsOf(vocabulary);
  const firsts = new Map<string, string>();
  for (const [key, { spelling }] of entries) {
    const written = spellingOf(synonyms.written(spelling.name))?.key ?? key;
    const first = firsts.get(written);
    if (first === undefined) firsts.set(written, key);
    else {
      const { name } = entries.get(first)!.spelling;
      yield tie(first, key, 1, `“${name}” and “${spelling.name}” are synonyms in the vocabulary`);
    }
  }
}

/** Similar names: found by the matching, and accepted if they only differ by misspellings or general words. */
function* likelyTies(
  entries: ReadonlyMap<string, Entry>,
  vocabulary: Vocabulary | undefined,
): Generator<number, Tie[]> {
  if (entries.size < 2) return [];
  const records = [...entries].map(([key, { spelling }]) => ({ id: key, values: { name: spelling.name } }));
  const thresholds = { match: 0.5, possible: LEAST_SCORE };
  const fields = [{ name: 'name', kind: 'name' }] as const;
  // of long lists nearly all pairs are of no interest
  const accepts = (left: string, right: string) => differenceOf(entries, left, right) !== undefined;
  const steps = findDuplicatesInSteps(() => records, { fields, thresholds, vocabulary }, accepts);
  let step = steps.next();
  for (; !step.done; step = steps.next()) yield 0.1 + 0.8 * step.value;
  return step.value.pairs.map((pair) => likelyTie(pair, entries));
}

/** By what two names differ that can be of one supplier. */
function differenceOf(entries: ReadonlyMap<string, Entry>, left: string, right: string): string | undefined {
  const [a, b] = [entries.get(left)!.spelling, entries.get(right)!.spelling];
  // two known companies are distinct, however similar their names are
  if (knownByKey().has(left) && knownByKey().has(right)) return undefined;
  if (a.region || b.region) return undefined;
  if (isMisspelling(a, b)) return 'misspellings';
  return isExtended(a, b) ? 'general words' : undefined;
}

function likelyTie({ left, right, score }: MatchPair, entries: ReadonlyMap<string, Entry>): Tie {
  const confidence = Number(Math.max(0.5, Math.min(0.99, score)).toFixed(3));
  const [a, b] = [entries.get(left)!.spelling.name, entries.get(right)!.spelling.name];
  const what = `“${a}” and “${b}” differ by ${differenceOf(entries, left, right)}`;
  const how = `by the matching ${Math.round(score * 100)} % likely to be the same`;
  return tie(left, right, confidence, `${what}; ${how}`);
}

/** Merges keys by their evidence, highest confidence first; two known companies are never merged. */
function suppliersOf(entries: ReadonlyMap<string, Entry>, ties: readonly Tie[]): ResolvedSupplier[] {
  const groups = new Map([...entries.keys()].map((key): [string, Group] => [key, groupOf(key)]));
  const order = ties.toSorted(
    (a, b) => b.confidence - a.confidence || text(a.left, b.left) || text(a.right, b.right),
  );
  for (const { left, right, confidence, reason } of order) {
    const [one, other] = [groups.get(left)!, groups.get(right)!];
    if (one === other || (one.known && other.known && one.known !== other.known)) continue;
    // a likely member of a group needs stronger evidence for every other member
    if (confidence < 0.9 && one.keys.length > 1 && other.keys.length > 1) continue;
    const reasons = new Map([...one.reasons, ...other.reasons]);
    const joined: Group = { keys: [...one.keys, ...other.keys], known: one.known ?? other.known, reasons };
    for (const key of [left, right]) {
      if (!joined.reasons.has(key)) joined.reasons.set(key, { confidence, reason });
    }
    for (const key of joined.keys) groups.set(key, joined);
  }
  const pieces = piecesIn(entries.keys());
  return [...new Set(groups.values())]
    .map((group) => supplierOf(group, entries, pieces))
    .sort((a, b) => text(a.names[0]!.key, b.names[0]!.key));
}

interface Group {
  keys: string[];
  known: KnownSupplier | undefined;
  reasons: Map<string, { confidence: number; reason: string }>;
}

const groupOf = (key: string): Group => ({
  keys: [key],
  known: knownByKey().get(key),
  reasons: new Map(),
});

function supplierOf(
  { keys, known, reasons }: Group,
  entries: ReadonlyMap<string, Entry>,
  pieces: ReadonlyMap<string, number>,
): ResolvedSupplier {
  const preferred = keys
    .map((key) => entries.get(key)!)
    .sort(
      (a, b) =>
        Math.sign(b.cards.length) - Math.sign(a.cards.length) ||
        b.supplied - a.supplied ||
        a.spelling.key.length - b.spelling.key.length ||
        text(a.spelling.key, b.spelling.key),
    );
  const members = attestedFirst(preferred, pieces);
  const names = members.flatMap(({ spelling: { key }, written, cards }) => {
    const { confidence, reason } = reasons.get(key) ?? { confidence: 1, reason: 'the only name' };
    const ways = [...written].sort(([a, first], [b, second]) => second - first || text(a, b));
    return ways.map(
      ([name], at): ResolvedName => ({
        name,
        key,
        cards: at === 0 ? [...cards].sort(text) : [],
        confidence,
        reason:
          at === 0 ? reason : `written like “${ways[0]![0]}” except for case, punctuation or legal form`,
      }),
    );
  });
  const kinds = members.flatMap((member) => member.kinds);
  const canonicalName = known?.name ?? names[0]!.name;
  return {
    canonicalName,
    kind: mostFrequent(kinds) ?? 'vendor',
    names,
    confidence: Math.min(...names.map((name) => name.confidence)),
    parent: null,
    parentReason: null,
    parentConfidence: null,
    group: canonicalName,
  };
}

function mostFrequent(kinds: readonly SupplierKind[]): SupplierKind | undefined {
  const counts = new Map<SupplierKind, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort(([a, first], [b, second]) => second - first || text(a, b))[0]?.[0];
}
