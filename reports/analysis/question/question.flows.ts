import type { Condition } from './question.conditions.ts';
import type { QuestionCursor } from './question.cursor.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionNames } from './question.names.ts';
import { quoted } from './question.vocabulary.ts';

type Way = 'outgoing' | 'incoming' | 'either';

const flows = Object.entries(grammar.flows) as [Way, string[]][];
const verbs = Object.entries(grammar.flowVerbs) as [Way, string[]][];

/** From where the data of a card comes that the subject sends, and the other way round. */
const opposites = { outgoing: 'incoming', incoming: 'outgoing', either: 'either' } as const;

/** "send data to PolicyDesk", "to which applications does PolicyDesk send data": data flows, not relations. */
export const readFlow = (cursor: QuestionCursor, names: QuestionNames): Condition | undefined =>
  cursor.attempt(() => {
    const way = flows.find(([, phrases]) => cursor.takeAny(phrases))?.[0];
    return way && flowWith(way, takeCard(cursor, names), cursor, names);
  }) ?? cursor.attempt(() => inverted(cursor, names));

/** "does PolicyDesk send data to", in German "sendet PolicyDesk Daten". */
function inverted(cursor: QuestionCursor, names: QuestionNames): Condition | undefined {
  const leading = cursor.norms[1] === 'which' ? cursor.norms[0]! : '';
  const takeVerb = () => verbs.find(([, phrases]) => cursor.takeAny(phrases))?.[0];
  const asks = cursor.takeAny(['do', 'does', 'did']);
  const early = asks ? undefined : takeVerb();
  const card = asks || early ? takeCard(cursor, names) : undefined;
  const way = early ?? (card && takeVerb());
  if (!way || !card || !cursor.takePhrase('data')) return undefined;
  const joints = grammar.flowJoints[way];
  // "which data does PolicyDesk send" asks for something else
  if (!cursor.takeAny(joints) && !joints.includes(leading)) return undefined;
  return flowWith(opposites[way], card, cursor, names);
}

function flowWith(
  way: Way,
  card: { name: string; partial: boolean } | undefined,
  { texts }: QuestionCursor,
  names: QuestionNames,
): Condition | undefined {
  if (!card) return undefined;
  const path = names.pathOf(way === 'either' ? 'flow.card' : `flow.${way}.card`);
  return {
    filter: `${path}.name ${card.partial ? '~' : '='} ${quoted(card.name)}`,
    says: texts.say(way === 'either' ? 'question.exchanging' : `question.${way}`, {
      name: `"${card.name}"`,
    }),
  };
}

function takeCard(cursor: QuestionCursor, names: QuestionNames) {
  cursor.takePhrase('the');
  const found = names.see('card');
  const card = found?.meanings.toSorted((a, b) => Number(a.partial) - Number(b.partial))[0];
  if (card) cursor.at += found!.length;
  return card;
}
