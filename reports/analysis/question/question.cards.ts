import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { embed, query } from '../../../platform/database.ts';
import type { CardMeaning, PersonMeaning, ValueMeaning } from './question.meanings.ts';
import { lookUp, part, type Vocabulary } from './question.vocabulary.ts';
import { wordsOf } from './question.words.ts';

/** Words of the longest name, and of the longest part of a name, that are looked up. */
const LONGEST_NAME = 10;
const LONGEST_PART = 3;
/** Texts that are looked up for one question. */
const MOST_TEXTS = 1_200;
const MOST_FOUND = 200;
/** Shorter parts of names are in too many of them. */
const SHORTEST_PART = 3;
/** With more unknown words, values of fields are not looked up. */
const MOST_VALUES = 3;
/** With more unknown words, a question is not understood by the names of cards. */
const MOST_UNKNOWN = 10;

/** A card's type and name. */
interface FoundCard {
  type: string;
  name: string;
}

/** A text field of a type in which some cards have a text. */
interface FoundValue {
  type: string;
  key: string;
  text: string;
}

/** Looks up names and texts of active cards, and people. */
export interface CardLookUp {
  /** Cards with one of the names, ignoring case. */
  named(names: readonly string[]): Promise<FoundCard[]>;
  /** For each text that is a word or words of a card's name: the types of such cards, with the text as `name`. */
  containing(texts: readonly string[]): Promise<FoundCard[]>;
  /** The text fields, of those given, with one of the texts as words of a value. */
  valued(fields: readonly { type: string; key: string }[], texts: readonly string[]): Promise<FoundValue[]>;
  /** People with one of the display names, ignoring case. */
  people(names: readonly string[]): Promise<{ name: string; email: string }[]>;
}

/** The texts of up to `most` consecutive words, as written; at least one of the words must be wanted. */
function phrasesOf(question: string, most: number, isWanted: (text: string) => boolean): string[] {
  const ends: { from: number; to: number; isWanted: boolean }[] = [];
  let from = 0;
  for (const { text } of wordsOf(question)) {
    from = question.indexOf(text, from);
    ends.push({ from, to: from + text.length, isWanted: isWanted(text) });
    from += text.length;
  }
  const phrases = new Set<string>();
  for (const [at, start] of ends.entries()) {
    for (const [more, end] of ends.slice(at, at + most).entries()) {
      if (ends.slice(at, at + more + 1).some((word) => word.isWanted))
        phrases.add(question.slice(start.from, end.to));
    }
  }
  return [...phrases].slice(0, MOST_TEXTS);
}

/** The cards whose names are in a question. */
export async function cardsIn(cards: CardLookUp, question: string): Promise<CardMeaning[]> {
  const found = await cards.named(phrasesOf(question, LONGEST_NAME, () => true));
  return found.map(({ type, name }) => ({ kind: 'card', type, name, partial: false, label: type }));
}

/** The cards with some of the unknown words in their names. */
export async function cardsWith(
  cards: CardLookUp,
  question: string,
  unknown: readonly string[],
): Promise<CardMeaning[]> {
  if (unknown.length > MOST_UNKNOWN) return [];
  const words = new Set(unknown);
  const texts = phrasesOf(question, LONGEST_PART, (text) => words.has(text));
  const found = await cards.containing(
    texts.filter((text) => text.length >= SHORTEST_PART && !/[%_\\]/.test(text)),
  );
  return found.map(({ type, name }) => ({ kind: 'card', type, name, partial: true, label: type }));
}

/** The text fields that have some of the unknown words in their values. */
export async function valuesWith(
  vocabulary: Vocabulary,
  cards: CardLookUp,
  question: string,
  unknown: readonly string[],
): Promise<ValueMeaning[]> {
  const { cardTypes } = vocabulary.metamodel;
  const fields = typesIn(vocabulary, question).flatMap((type) =>
    [...cardTypes.get(type)!.fields.values()]
      // names of products say what a card is, not what it has
      .filter((field) => field.type === 'text' && !/name$/i.test(field.key))
      .map(({ key }) => ({ type, key })),
  );
  if (unknown.length > MOST_VALUES || fields.length === 0) return [];
  const words = new Set(unknown);
  const texts = phrasesOf(question, LONGEST_PART, (text) => words.has(text)).filter(
    (text) => text.length >= SHORTEST_PART && !/[%_\\]/.test(text),
  );
  const found = await cards.valued(fields, texts);
  return found.map(({ type, key, text }) => ({
    kind: 'value',
    path: `attributes.${part(key)}`,
    text,
    types: [type],
    label: vocabulary.labels.cardTypes.get(type)!.fields.get(key)!.label,
  }));
}

/** The card types that a question names. */
function typesIn(vocabulary: Vocabulary, question: string): string[] {
  const norms = wordsOf(question).map(({ norm }) => norm);
  const named = norms.flatMap(
    (_, at) => lookUp(vocabulary, norms, at, ({ kind }) => kind === 'type')?.meanings ?? [],
  );
  return [...new Set(named.flatMap((meaning) => (meaning.kind === 'type' ? meaning.type : [])))];
}

/** The people whose names are in a question. */
export async function peopleIn(cards: CardLookUp, question: string): Promise<PersonMeaning[]> {
  const names = phrasesOf(question, LONGEST_PART, () => true).filter((text) => /\p{Lu}\S* \S/u.test(text));
  const found = names.length > 0 ? await cards.people(names) : [];
  return found.map(({ name, email }) => ({ kind: 'person', email, name, label: name }));
}

/** Looks up the cards that the caller sees. */
export function findCards(ctx: Ctx): CardLookUp {
  const visible = visibleCards(ctx);
  return {
    named: async (names) =>
      await query(ctx.db).rows<FoundCard>`select distinct c.type, c.name from cards c
         where c.name_key in (select fold(name) from unnest(${names}::text[]) as asked (name))
           and c.status = 'ACTIVE' and ${embed(visible)}
         order by c.type, c.name limit ${embed(MOST_FOUND)}`,
    containing: async (texts) =>
      texts.length === 0
        ? []
        : await query(ctx.db).rows<FoundCard>`select asked.text as name, c.type
             from unnest(${texts}::text[]) as asked (text)
             cross join lateral (
               select distinct c.type from cards c
               where search_text(c.name_key, c.alias, c.external_id) like '%' || fold(asked.text) || '%'
                 and ' ' || regexp_replace(c.name_key, '[^[:alnum:]]+', ' ', 'g') || ' '
                   like '% ' || regexp_replace(fold(asked.text), '[^[:alnum:]]+', ' ', 'g') || ' %'
                 and c.status = 'ACTIVE' and ${embed(visible)}
             ) c
             order by name, c.type limit ${embed(MOST_FOUND)}`,
    valued: async (fields, texts) =>
      texts.length === 0
        ? []
        : await query(ctx.db).rows<FoundValue>`with v as materialized (
               select distinct f.type, f.key, c.attributes ->> f.key as value
               from unnest(${fields.map(({ type }) => type)}::text[], ${fields.map(({ key }) => key)}::text[]) as f (type, key)
               join cards c on c.type = f.type and c.attributes ->> f.key is not null
               where c.status = 'ACTIVE' and ${embed(visible)}
             )
             select distinct v.type, v.key, asked.text from v join unnest(${texts}::text[]) as asked (text)
               on ' ' || regexp_replace(fold(v.value), '[^[:alnum:]]+', ' ', 'g') || ' '
                 like '% ' || regexp_replace(fold(asked.text), '[^[:alnum:]]+', ' ', 'g') || ' %'
             order by v.type, v.key, asked.text limit ${embed(MOST_FOUND)}`,
    people: async (names) =>
      may(ctx.caller, 'stakeholders.view')
        ? await query(ctx.db).rows<{
            name: string;
            email: string;
          }>`select display_name as name, email from users
             where fold(display_name) in (select fold(name) from unnest(${names}::text[]) as asked (name))
             order by email limit ${embed(MOST_FOUND)}`
        : [],
  };
}
