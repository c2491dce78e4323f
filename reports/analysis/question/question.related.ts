import type { Condition } from './question.conditions.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionNames } from './question.names.ts';
import { RelatedNames } from './question.related-names.ts';
import type { QuestionTexts } from './question.says.ts';
import { isSuccession, type RelationPath, stem, verbLength } from './question.verbs.ts';

/** How many related cards: none, each (a group), a number, or most. */
type Quantifier =
  | { kind: 'some' }
  | { kind: 'none' }
  | { kind: 'each' }
  | { kind: 'number'; op: '=' | '<' | '<=' | '>' | '>='; value: number }
  | { kind: 'most'; dir: 'asc' | 'desc' };

interface Objects {
  ways: readonly RelationPath[];
  isNegated: boolean;
  /** Whether a text in a name, instead of a whole name, can stand for the cards. */
  takesParts: boolean;
  /** Whether the type or subtype of the cards must be named. */
  needsNoun?: boolean;
  /** Whether a card must be named. */
  isNamed?: boolean;
  /** Consumes what follows the cards, such as the verb; false: these are not the cards. */
  after?: (way: RelationPath) => boolean;
}

const comparisons = Object.entries(grammar.comparisons).filter(([op]) => op !== '=') as [
  '<' | '<=' | '>' | '>=',
  string[],
][];

/** What cards of a type are called together. */
const massNouns: Readonly<Record<string, string[]>> = grammar.massNouns;

/** Reads what a question says about cards that are related to its subject. */
export class RelatedReader {
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #draft: QuestionDraft;
  readonly #texts: QuestionTexts;
  readonly #readCondition: () => Condition | undefined;
  readonly #isTranslated: boolean;
  readonly #cards: RelatedNames;

  /**
   * @param readCondition reads a condition on the cards in the scope of `names`.
   * @param isTranslated whether the order of subject and object is unknown, as in German.
   */
  constructor(
    cursor: QuestionCursor,
    names: QuestionNames,
    draft: QuestionDraft,
    readCondition: () => Condition | undefined,
    isTranslated: boolean,
  ) {
    this.#cursor = cursor;
    this.#names = names;
    this.#draft = draft;
    this.#texts = cursor.texts;
    this.#readCondition = readCondition;
    this.#isTranslated = isTranslated;
    this.#cards = new RelatedNames(cursor, names);
  }

  /** A verb with related cards: "support Billing", "used by more than 3 organizations", "does the provider Oracle offer". */
  clause(isNegated = false): boolean {
    if (this.#names.ways.length === 0) return false;
    return (
      this.#verbFirst(isNegated) ||
      this.#agentFirst(isNegated) ||
      this.#inverted(isNegated) ||
      this.#ofCard(isNegated)
    );
  }

  /**
   * Related cards without a verb, after "with" or "without".
   * @param takesNames whether a card can be named without its type.
   */
  objects(isNegated: boolean, takesNames = false): boolean {
    return this.#objects({ ways: this.#names.ways, isNegated, takesParts: false, needsNoun: !takesNames });
  }

  #verbFirst(isNegated: boolean): boolean {
    const cursor = this.#cursor;
    const { ways } = this.#names;
    const lengthOf = (way: RelationPath) => verbLength(this.#verbsOf(way), cursor.norms, cursor.at);
    const lengths = [...new Set(ways.map(lengthOf))].filter(Boolean).sort((a, b) => b - a);
    return cursor.attempt(() => {
      for (const length of lengths) {
        const found = ways.filter((way) => lengthOf(way) === length);
        const isRead = cursor.attempt(() => {
          cursor.at += length;
          const objects = { ways: found, isNegated, takesParts: true };
          // "offer both applications and IT components"
          const isBoth = !isNegated && cursor.takePhrase('both');
          if (!this.#objects(objects)) return false;
          return !isBoth || (cursor.takePhrase('and') && this.#objects(objects));
        });
        if (isRead) return true;
      }
      if (!cursor.takeAny(grammar.anyRelation)) return false;
      return this.#objects({ ways, isNegated, takesParts: false });
    });
  }

  /** In German "welche Anwendungen nutzt Billing" has the subject last. */
  #verbsOf({ path, verbs, reverseVerbs }: RelationPath): string[][] {
    return this.#isTranslated && !isSuccession(path.split('.')[1]!)
      ? [...verbs, ...reverseVerbs.filter((verb) => verb.at(-1) !== 'by')]
      : verbs;
  }

  /** "by no application supported". */
  #agentFirst(isNegated: boolean): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(['by', 'of', 'from'])) return false;
      const after = ({ verbs }: RelationPath) => {
        const passive = verbs.filter((verb) => verb.at(-1) === 'by').map((verb) => verb.slice(0, -1));
        return this.#takeVerb(passive);
      };
      return this.#objects({ ways: this.#names.ways, isNegated, takesParts: false, after });
    });
  }

  /** "does Claims Operations use". */
  #inverted(isNegated: boolean): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(['do', 'does', 'did'])) return false;
      const after = ({ reverseVerbs }: RelationPath) =>
        this.#takeVerb(reverseVerbs) || (cursor.takePhrase('have') && !isNegated);
      return this.#objects({ ways: this.#names.ways, isNegated, takesParts: false, after });
    });
  }

  #takeVerb(verbs: readonly string[][]): boolean {
    const cursor = this.#cursor;
    const verb = verbs.find((parts) =>
      parts.every((part, offset) => stem(cursor.norms[cursor.at + offset] ?? '') === part),
    );
    cursor.at += verb?.length ?? 0;
    return verb !== undefined;
  }

  /** The cards that a verb or preposition leads to; the type whose cards consume most words. */
  #objects(objects: Objects): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      const quantifier = this.#quantifier();
      cursor.takeAny(['the', 'our']);
      const types = [...new Set(objects.ways.map(({ type }) => type))];
      const read = (type: string) =>
        cursor.attempt(() => {
          const ways = objects.ways.filter(
            (way) => way.type === type && !isSuccession(way.path.split('.')[1]!),
          );
          return ways.length > 0 && this.#objectsOf(type, { ...objects, ways }, quantifier);
        });
      const start = cursor.at;
      const ends = types.map((type) => {
        const undo = cursor.mark();
        const end = read(type) ? cursor.at : 0;
        cursor.at = start;
        undo();
        return end;
      });
      const end = Math.max(0, ...ends);
      // "technical owner" is not something technical
      if (end > 0 && end - start < this.#names.longestHere()) return false;
      if (end === 0) return this.#successors(objects, quantifier);
      // equal names of several types are not guessed at
      if (ends.filter((other) => other === end).length > 1) return false;
      return read(types[ends.indexOf(end)]!);
    });
  }

  /** "no successor", "a predecessor". */
  #successors(objects: Objects, quantifier: Quantifier): boolean {
    const end = this.#cursor.takeAny(grammar.succession.successors)
      ? 'source'
      : this.#cursor.takeAny(grammar.succession.predecessors) && 'target';
    const ways = this.#names.ways.filter(
      ({ path }) => isSuccession(path.split('.')[1]!) && path.endsWith(`.${end}`),
    );
    if (ways.length === 0 || objects.isNamed) {
      // "replaces Ledgerline": the verb of a succession with a name
      const own = objects.ways.filter(({ path }) => isSuccession(path.split('.')[1]!));
      return (
        objects.takesParts &&
        own.length === 1 &&
        this.#objectsOf(own[0]!.type, { ...objects, ways: own }, quantifier)
      );
    }
    const label = this.#texts.say(end === 'source' ? 'question.successor' : 'question.predecessor');
    return this.#apply({ ...objects, ways }, quantifier, undefined, label);
  }

  #quantifier(): Quantifier {
    const cursor = this.#cursor;
    if (cursor.takeAny(grammar.none)) {
      cursor.takeAny(['a', 'an']);
      return { kind: 'none' };
    }
    if (cursor.takeAny(grammar.each)) return { kind: 'each' };
    if (cursor.takeAny(grammar.most.desc)) return { kind: 'most', dir: 'desc' };
    if (cursor.takeAny(grammar.most.asc)) return { kind: 'most', dir: 'asc' };
    if (cursor.takeAny(grammar.several)) return { kind: 'number', op: '>', value: 1 };
    const number = cursor.attempt((): Quantifier | undefined => {
      const op = cursor.takeAny(grammar.only) || cursor.takePhrase('exactly') ? '=' : comparisonAt(cursor);
      // "more than a provider"
      const value = cursor.takeNumber() ?? (op && cursor.takeAny(['a', 'an']) ? 1 : undefined);
      if (value === undefined || value < 0 || !Number.isInteger(value)) return undefined;
      if (cursor.takeAny(['or more'])) return op ? undefined : { kind: 'number', op: '>=', value };
      if (!op) return undefined;
      if (op === '>=' && value === 1) return { kind: 'some' };
      return { kind: 'number', op, value };
    });
    if (number) return number;
    cursor.takeAny(['a', 'an', 'any', 'some']);
    return { kind: 'some' };
  }

  /** Cards of one type: "confidential data objects", "IT components that are end of life", "the initiative Horizon". */
  #objectsOf(type: string, objects: Objects, quantifier: Quantifier): boolean {
    const cursor = this.#cursor;
    const [way] = objects.ways;
    const read = this.#names.within(type, way!.path, () => {
      // "Team North" is a name, even if teams are a subtype
      const isName = this.#cards.startsName(type);
      const before = isName ? undefined : cursor.attempt(() => this.#readCondition());
      const isNamed = !isName && this.#cards.takeNoun(type);
      const subtype = isNamed || isName ? undefined : this.#cards.takeSubtype(type);
      const hasOwnNoun = isNamed || subtype !== undefined;
      const named = this.#cards.takeNames(type, way!, hasOwnNoun || objects.takesParts, objects.isNegated);
      // "customer data"
      const isMass = !hasOwnNoun && (before ?? named) !== undefined && cursor.takeAny(massNouns[type] ?? []);
      const cards = isMass && named ? { ...named, filter: named.filter.replaceAll(' = "', ' ~ "') } : named;
      const hasNoun = hasOwnNoun || isMass;
      const after = hasNoun && !cards ? this.#readRelative(objects.isNegated) : undefined;
      if (after === null || !isEnough(objects, hasNoun, before, cards)) return undefined;
      const tests = [before, subtype, cards, after].filter((test) => test !== undefined);
      // two conditions could be met by different related cards
      if (tests.length > 1 || (tests.length === 0 && !hasNoun)) return undefined;
      return { test: tests[0] };
    });
    if (!read || (read.test && objects.ways.length > 1)) return false;
    if (objects.after && !objects.ways.every(objects.after)) return false;
    const label = this.#names.labelOf(type);
    cursor.takePhrase(',');
    return this.#apply(objects, quantifier, read.test, label);
  }

  /** "that are end of life", "with high strategic importance", "without an end of life"; null: not understood. */
  #readRelative(isNegated: boolean): Condition | undefined | null {
    const cursor = this.#cursor;
    if (cursor.ended || grammar.separators.some((word) => cursor.sees(word))) return undefined;
    let isLacking = cursor.takeAny(grammar.lacking);
    if (!isLacking) {
      if (!cursor.takeAny(grammar.relatives)) return this.#readAttached(isNegated);
      while (cursor.takeAny(grammar.linking));
      isLacking = cursor.takeAny(grammar.lacking);
    }
    cursor.takeAny(['a', 'an', 'any', 'the']);
    if (!isLacking) return cursor.attempt(() => this.#readCondition()) ?? null;
    const field = this.#names.takeDay() ?? this.#names.takeField(({ path }) => !path.endsWith('.phase'));
    return field
      ? { filter: `${field.path} is empty`, says: this.#texts.say('question.without', { what: field.label }) }
      : null;
  }

  /** "IT components ending in 2027"; null: it is unclear what it is said of. */
  #readAttached(isNegated: boolean): Condition | undefined | null {
    const cursor = this.#cursor;
    // "IT components of Oracle", "interfaces used by PolicyDesk"
    if (grammar.attached.some((word) => cursor.sees(word)) || /[^e]ed$/.test(cursor.norms[cursor.at]!)) {
      return cursor.attempt(() => this.#readCondition()) ?? null;
    }
    // "applications with interfaces end in 2027": a verb is said of the subject
    const phase = this.#names.see('phase');
    const isVerb = this.#isTranslated || !cursor.norms[cursor.at]!.endsWith('ing');
    if (phase?.meanings.some(({ isEvent }) => isEvent) && isVerb) return undefined;
    const own = cursor.attempt(() => this.#readCondition());
    // "without a provider ending in 2027" can be said of both
    if (own) return isNegated ? null : own;
    const start = cursor.at;
    const undo = cursor.mark();
    const other = this.#names.outside(() => this.#readCondition());
    cursor.at = start;
    undo();
    return other ? null : undefined;
  }

  /** "of Microsoft", "for Billing". */
  #ofCard(isNegated: boolean): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(['of', 'from', 'for'])) return false;
      return this.#objects({ ways: this.#names.ways, isNegated, takesParts: false, isNamed: true });
    });
  }

  #apply(objects: Objects, quantifier: Quantifier, test: Condition | undefined, label: string): boolean {
    const { ways, isNegated } = objects;
    const draft = this.#draft;
    const { path, label: verb } = ways[0]!;
    const texts = this.#texts;
    const says = test
      ? texts.say('question.relatedTest', { verb, label, test: test.says })
      : texts.say('question.related', { verb, label });
    if (quantifier.kind === 'some' || quantifier.kind === 'none') {
      const isAbsent = quantifier.kind === 'none';
      if (isAbsent && isNegated) return false;
      const filter = test?.filter ?? ways.map((way) => `${way.path} is not empty`).join(' or ');
      const isLacking = isAbsent || isNegated;
      const plain = ways.length > 1 ? `(${filter})` : filter;
      draft.addCondition({
        filter: isLacking ? `not (${filter})` : plain,
        says: isLacking ? texts.say('question.notRelated', { what: says }) : says,
      });
      return true;
    }
    if (isNegated || test || ways.length > 1) return false;
    const measure = { fn: 'count' as const, field: `${path}.name` };
    if (quantifier.kind === 'each') {
      draft.dimensions.push({ field: measure.field });
      draft.reading.push(texts.say('question.by', { label }));
    } else if (quantifier.kind === 'number') {
      draft.having.push({ measure, op: quantifier.op, value: quantifier.value });
      draft.reading.push(texts.say('question.numberOf', { verb, label, ...quantifier }));
    } else {
      if (draft.top || draft.measures.length > 0) return false;
      draft.measures.push(measure);
      draft.reading.push(texts.say('question.relatedNumber', { label, verb }));
      draft.takeFirst(quantifier.dir);
    }
    return true;
  }
}

const comparisonAt = (cursor: QuestionCursor) =>
  comparisons.find(([, phrases]) => cursor.takeAny(phrases))?.[0];

/** Whether what was read names the cards of a type clearly enough. */
function isEnough(
  objects: Objects,
  hasNoun: boolean,
  before: Condition | undefined,
  cards: Condition | undefined,
): boolean {
  if (objects.isNamed && (!cards || cards.filter.includes(' and '))) return false;
  if (hasNoun) return true;
  // "process personal data", but not "have a high risk": that could be said of cards of other types
  return !objects.needsNoun && (!before || (objects.takesParts && before.filter.endsWith(' = true')));
}
