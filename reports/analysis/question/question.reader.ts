import type { LifecyclePhase } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { AmountReader, amountOf } from './question.amounts.ts';
import {
  type Condition,
  inPhase,
  phaseSays,
  readApproach,
  readDateFirst,
  readDateTest,
  readExistence,
  readOptions,
  readPeriod,
  readQuantity,
  readTest,
  readTextTest,
  readUnset,
  readValue,
} from './question.conditions.ts';
import { CostReader } from './question.costs.ts';
import type { QuestionCursor } from './question.cursor.ts';
import { QuestionDraft, type ReadQuestion, type UnreadQuestion } from './question.draft.ts';
import { readFlow } from './question.flows.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { GroupReader } from './question.groups.ts';
import type { Meaning } from './question.meanings.ts';
import { type FieldMeaning, QuestionNames } from './question.names.ts';
import { readPerson } from './question.people.ts';
import { RelatedReader } from './question.related.ts';
import type { QuestionTexts } from './question.says.ts';
import { findSubject, isNeutral } from './question.subject.ts';
import type { Vocabulary } from './question.vocabulary.ts';
import { asWritten, normalised, type Word } from './question.words.ts';

const ignored = new Set(grammar.ignored.map(normalised));

const grouping = new Set(grammar.grouping);

/** The unknown words without those that only introduce another one, such as "by". */
function tellingOf(unknown: string[], words: readonly Word[]): string[] {
  const introduces = (text: string) => words.some((word) => word.text === text && grouping.has(word.norm));
  const telling = unknown.filter((text) => !introduces(text));
  return telling.length > 0 ? telling : unknown;
}

/** Interprets the words of one question; see readQuestion. */
export class QuestionReader {
  readonly #draft: QuestionDraft;
  readonly #texts: QuestionTexts;
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #related: RelatedReader;
  readonly #amounts: AmountReader;
  readonly #costs: CostReader;
  readonly #groups: GroupReader;
  #subjectAt: { start: number; end: number } | undefined;
  /** Whether "how much" was asked. */
  #wantsAmount = false;
  /** Whether the question asks for a value: "what is", "who", "list". */
  #asksValue = false;
  /** Whether the question begins with "when". */
  #asksDay = false;
  /** Whether the last condition was only a field, which may be the requested value. */
  #bareField = false;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor, isTranslated: boolean) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#texts = cursor.texts;
    this.#draft = new QuestionDraft(cursor.texts);
    cursor.mark = () => this.#draft.mark();
    this.#names = new QuestionNames(vocabulary, cursor, this.#draft);
    this.#amounts = new AmountReader(vocabulary, cursor, this.#names, this.#draft);
    this.#costs = new CostReader(cursor, this.#names, this.#draft);
    this.#groups = new GroupReader(cursor, this.#names, this.#amounts, this.#costs, this.#draft);
    const condition = () => this.#readCondition(false);
    this.#related = new RelatedReader(cursor, this.#names, this.#draft, condition, isTranslated);
  }

  read(): ReadQuestion | UnreadQuestion {
    const draft = this.#draft;
    const cursor = this.#cursor;
    const subject = findSubject(this.#vocabulary, cursor.words, cursor.norms);
    if (subject) {
      draft.subject = subject.types;
      draft.reading.push(this.#texts.say('question.cards', { label: subject.label }));
      if (subject.filter !== undefined) draft.conditions.push(subject.filter);
      draft.isSingular = subject.isSingular;
      draft.subjectConditions = draft.conditions.length;
      draft.isCard = subject.isCard === true;
      this.#subjectAt = subject;
    }
    /** Parsers of the parts of a question; each consumes words or does not change the position. */
    const parts = [
      () => this.#amounts.spending() || cursor.takeAny(grammar.closings),
      () => this.#topLevel(),
      () => this.#amounts.order(),
      () => this.#opening(),
      () => this.#asOf(),
      () => this.#amounts.perCard(this.#subjectAt),
      () => this.#groups.read(),
      () => this.#costs.kind(),
      () => this.#amounts.measure(this.#subjectAt),
      () => this.#flow(),
      () => this.#person(),
      () => this.#related.clause(),
      () => this.#absence(),
      () => this.#presence(),
      () => this.#condition(),
      () => this.#costs.year(this.#subjectAt),
    ];
    while (!cursor.ended) {
      const { at } = cursor;
      const ambiguities = draft.ambiguous.length;
      if (at === this.#subjectAt?.start) cursor.at = this.#subjectAt.end;
      else if (!parts.some((part) => part())) {
        if (cursor.at === at) this.#skipWord();
        else if (draft.ambiguous.length === ambiguities) draft.unknown.push(cursor.textFrom(at));
      }
    }
    this.#costs.finish();
    const unknown = tellingOf([...new Set(draft.unknown)], cursor.words);
    const { ambiguous, conflict } = draft;
    if (conflict !== undefined && unknown.length + ambiguous.length === 0) {
      const text = asWritten(cursor.words);
      return { unknown, ambiguous: [{ text, meanings: [conflict] }] };
    }
    if (unknown.length + ambiguous.length > 0) return { unknown, ambiguous };
    return draft.finished() ?? { unknown: [...new Set(cursor.words.map(({ text }) => text))], ambiguous: [] };
  }

  /** Skips a stop word; records any other word as unknown. */
  #skipWord(): void {
    const cursor = this.#cursor;
    const word = cursor.words[cursor.at]!;
    // "show every application"
    if (grammar.each.includes(word.norm) && cursor.at + 1 === this.#subjectAt?.start) {
      cursor.at += 1;
      return;
    }
    if (word.norm === 'or') this.#draft.isAlternative = true;
    if (word.kind !== 'comma' && !ignored.has(word.norm) && !isNeutral(word.norm)) {
      this.#draft.unknown.push(word.text);
    }
    cursor.at += 1;
  }

  #opening(): boolean {
    const cursor = this.#cursor;
    if (this.#amounts.ofCounted()) return true;
    if (!this.#amounts.seesLongField() && cursor.takeAny(grammar.counting)) this.#draft.intent ??= 'count';
    else if (cursor.takeAny(grammar.listing)) {
      this.#asksValue = cursor.at === 1 && cursor.norms[0] !== 'which';
      this.#draft.intent ??= 'list';
    } else if (cursor.takePhrase('how much')) this.#wantsAmount = true;
    else if (cursor.at === 0 && cursor.takeAny(grammar.asking)) this.#asksValue = true;
    else if (cursor.at === 0 && cursor.takePhrase('when')) this.#asksDay = true;
    else return false;
    return true;
  }

  /** "as of 2026-01-01". */
  #asOf(): boolean {
    const cursor = this.#cursor;
    const span = cursor.attempt(() => (cursor.takePhrase('as of') ? cursor.takeSpan() : undefined));
    if (!span) return false;
    this.#draft.as_of = `${span.from}T00:00:00.000Z`;
    this.#draft.reading.push(this.#texts.say('question.asOf', { date: span.from }));
    return true;
  }

  /** "top-level capabilities". */
  #topLevel(): boolean {
    if (!this.#cursor.takeAny(grammar.topLevel)) return false;
    this.#draft.addCondition({ filter: 'parent is empty', says: this.#texts.say('question.topLevel') });
    return true;
  }

  #person(): boolean {
    const isAfterSubject = this.#cursor.at === this.#subjectAt?.end;
    const held = readPerson(this.#cursor, this.#names, isAfterSubject);
    if (held) this.#draft.addCondition(held);
    return held !== undefined;
  }

  #flow(): boolean {
    const flow = readFlow(this.#cursor, this.#names);
    if (flow) this.#draft.addCondition(flow);
    return flow !== undefined;
  }

  /** "without an end of life", "with no provider", "not approved". */
  #absence(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => this.#lacking()) || cursor.attempt(() => this.#negated());
  }

  #lacking(): boolean {
    const cursor = this.#cursor;
    if (!cursor.takeAny(grammar.lacking)) return false;
    cursor.takeAny(['a', 'an', 'any', 'the']);
    if (this.#related.objects(true)) return true;
    const found = cursor.attempt(() => readExistence(this.#names) ?? this.#readFlag());
    if (!found) return false;
    this.#draft.addCondition({
      filter: `not (${found.filter})`,
      says: this.#texts.say('question.without', { what: found.says }),
    });
    cursor.takeAny(grammar.maintained);
    return true;
  }

  #negated(): boolean {
    const cursor = this.#cursor;
    if (!cursor.takeAny(grammar.negating)) return false;
    while (cursor.takeAny(grammar.fillers));
    if (this.#related.clause(true)) {
      this.#draft.isNegated = true;
      return true;
    }
    const found = readPeriod(cursor, this.#names) ?? this.#readCondition(false);
    if (!found) return false;
    this.#draft.addCondition({
      filter: `not ${found.filter}`,
      says: this.#texts.say('question.not', { what: found.says }),
    });
    this.#draft.isNegated = true;
    return true;
  }

  /** A field that is yes or no. */
  #readFlag(): Condition | undefined {
    const field = this.#names.takeField(({ valueType }) => valueType === 'boolean');
    return field && { filter: `${field.path} = true`, says: field.label };
  }

  /** "with an end of life", "with interfaces"; followed by a test it is a condition. */
  #presence(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(grammar.having)) return false;
      const isHave = cursor.norms[cursor.at - 1] !== 'with';
      if (this.#amounts.mostOf()) return true;
      cursor.takeAny(['a', 'an', 'any', 'the', 'at least one']);
      if (cursor.attempt(() => this.#condition(false))) return true;
      if (this.#related.objects(false, isHave)) return true;
      const found = readExistence(this.#names);
      const says = found && this.#texts.say('question.with', { what: found.says });
      if (found) this.#draft.addCondition({ filter: found.filter, says: says! });
      return found !== undefined;
    });
  }

  #condition(bare = true): boolean {
    const condition = this.#readCondition(bare);
    if (condition) this.#draft.addCondition(condition);
    return condition !== undefined || this.#bareField;
  }

  /** @param bare whether a field without a test can be the requested value. */
  #readCondition(bare: boolean): Condition | undefined {
    const cursor = this.#cursor;
    this.#bareField = false;
    const named = cursor.attempt(() =>
      cursor.takeAny(['called', 'named'])
        ? readTextTest(cursor, { path: this.#names.pathOf('name'), label: this.#texts.say('column.name') })
        : undefined,
    );
    if (named) return named;
    const quantity =
      readFlow(cursor, this.#names) ??
      readQuantity(cursor, this.#names) ??
      readApproach(cursor, this.#names) ??
      readValue(cursor, this.#names) ??
      this.#verbOption();
    if (quantity) return quantity;
    const dated = readDateFirst(cursor, this.#names);
    if (dated) {
      this.#show(dated.path);
      return dated;
    }
    const phase = this.#names.see('phase');
    // a date of the card type itself, such as End Date, comes before the lifecycle
    const own = phase && this.#names.see('field')?.meanings.some(({ valueType }) => valueType === 'date');
    const options = phase && !own ? this.#optionOrPhase(phase.length) : readOptions(this.#names);
    if (options) {
      if (options.filter.startsWith('tags.')) cursor.takeAny(grammar.relevance);
      // in German the verb comes last
      if (cursor.at === cursor.words.length - 1) cursor.takeAny(grammar.optionVerbs);
      return options;
    }
    if (phase && !own) return this.#phaseCondition(phase, bare);
    const start = cursor.at;
    const field = this.#names.takeField();
    if (!field) return undefined;
    const absent = readUnset(cursor, field);
    if (absent) return absent;
    const tested = readTest(cursor, this.#names, field);
    if (tested) {
      if (field.valueType !== 'boolean') this.#show(field.path);
      return tested;
    }
    if (bare && field.valueType === 'number' && this.#amounts.extremeOf(field)) {
      this.#bareField = true;
      return undefined;
    }
    this.#bareField = bare && this.#asksFor(field);
    if (!this.#bareField) cursor.at = start;
    return undefined;
  }

  /** "phased out in 2027", "active": a phase with a day, or today. */
  #phaseCondition(
    phase: { length: number; meanings: Extract<Meaning, { kind: 'phase' }>[] },
    bare: boolean,
  ): Condition | undefined {
    const cursor = this.#cursor;
    cursor.at += phase.length;
    const { phase: key, label } = phase.meanings[0]!;
    const path = this.#names.pathOf(`lifecycle.${key}`);
    const { isEvent, isLasting } = phase.meanings[0]!;
    // "active in 2027" is not "going live in 2027"
    const tested = cursor.attempt(() => {
      const test = readDateTest(cursor, { path, label });
      return isLasting && !test?.filter.startsWith(`${path} >=`) ? undefined : test;
    });
    if (tested) this.#show(path);
    const asksDay = this.#asksDay || (this.#asksValue && (this.#draft.isCard || cursor.sees('of')));
    if (!tested && asksDay && bare) return this.#showDay(path, label);
    if (!tested && isEvent) {
      cursor.at -= phase.length;
      return undefined;
    }
    return tested ?? this.#phaseToday(key, path);
  }

  /** "what is the end of life of PolicyDesk": the day. */
  #showDay(field: string, label: string): undefined {
    this.#draft.intent = 'list';
    this.#show(field);
    this.#draft.reading.push(this.#texts.say('question.shows', { label }));
    this.#bareField = true;
  }

  #show(field: string): void {
    if (!this.#names.isRelated) this.#draft.shown.push({ field });
  }

  /** "hosted in the cloud", "run on premise". */
  #verbOption(): Condition | undefined {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(grammar.optionVerbs)) return undefined;
      while (cursor.takeAny(grammar.adverbs));
      const options = cursor.attempt(() => readOptions(this.#names));
      if (options) return options;
      return cursor.takeAny(grammar.optionParticles) ? readOptions(this.#names) : undefined;
    });
  }

  /** An option that is also named like a phase of the lifecycle is ambiguous, unless it is one of several. */
  #optionOrPhase(length: number): Condition | undefined {
    const cursor = this.#cursor;
    const start = cursor.at;
    const options = cursor.attempt(() => readOptions(this.#names));
    if (options && cursor.at === start + length) {
      const text = cursor.textFrom(start);
      this.#draft.ambiguous.push({
        text,
        meanings: [options.filter, this.#texts.say('question.named', { text })],
      });
    }
    return options;
  }

  /** Of related cards only the last phase can be tested: the other ones need several conditions on one card. */
  #phaseToday(phase: LifecyclePhase, path: string): Condition | undefined {
    const { today } = this.#cursor;
    if (!this.#names.isRelated) return inPhase(phase, this.#cursor);
    if (phase !== 'endOfLife') return undefined;
    return { filter: `${path} <= ${today}`, says: phaseSays(phase, today, this.#texts) };
  }

  /** A field without a test: an amount to sum, or a column of a list. */
  #asksFor(field: FieldMeaning): boolean {
    const { intent, top } = this.#draft;
    if (field.valueType === 'number' && intent !== 'list' && !top) {
      if (intent === 'count' && !this.#wantsAmount) return false;
      this.#amounts.measureOf(amountOf(field), field);
      return true;
    }
    if (!this.#asksValue && !this.#asksDay) return false;
    this.#draft.intent = 'list';
    this.#draft.shown.push({ field: field.path });
    this.#draft.reading.push(this.#texts.say('question.shows', { label: field.label }));
    return true;
  }
}
