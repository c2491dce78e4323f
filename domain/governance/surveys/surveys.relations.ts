import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { type BulkOperation, bulkRelationsWithin } from '../../inventory/relations/relations.bulk.ts';
import { attempt } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { Answer, ResponseRow, SurveyAction, SurveyField } from './surveys.model.ts';

const PREFIX = 'relations.';
/** Related cards in one answer. */
const MAX_CARDS = 500;

/** Whether a question is about the relations of a type, whose answers are ids of related cards. */
export const asksRelations = (key: string): boolean => key.startsWith(PREFIX);

/** A question about relations as the metamodel declares them now; undefined if the card type has none of the type. */
export function describeRelations(
  metamodel: Metamodel,
  { key: own }: CardType,
  { key, action }: { key: string; action: SurveyAction },
): SurveyField | undefined {
  const type = metamodel.relationTypes.get(key.slice(PREFIX.length));
  if (!type || !metamodel.visibleRelationTypes.includes(type.key)) return undefined;
  const isSource = type.source_type_key === own;
  if (!isSource && type.target_type_key !== own) return undefined;
  const member = isSource || type.reverse_label === null ? 'label' : 'reverse_label';
  const label = type.translations[member];
  return {
    key,
    label: type[member]!,
    type: 'relation',
    section: 'Relations',
    action,
    relation: {
      type: type.key,
      direction: isSource ? 'outgoing' : 'incoming',
      other_type_key: isSource ? type.target_type_key : type.source_type_key,
    },
    ...(label ? { translations: { label } } : {}),
  };
}

/** A card at the other end of a relation. */
interface RelatedCard {
  id: string;
  name: string;
}

/**
 * The active cards to which a card is related, as far as the caller sees them, by the keys of the questions about
 * relations; in the order of their ids.
 */
export async function relatedCards(
  sql: Sql,
  ctx: Ctx,
  cardId: string,
  fields: readonly SurveyField[],
): Promise<Map<string, RelatedCard[]>> {
  const asked = fields.flatMap(({ key, relation }) => (relation ? [{ key, ...relation }] : []));
  const found = new Map<string, RelatedCard[]>(asked.map(({ key }) => [key, []]));
  if (asked.length === 0) return found;
  const rows = await query(sql).rows<RelatedCard & { key: string }>`select a.key, c.id, c.name
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as a(key text, type text, direction text)
     join relations r on r.type = a.type
       and case a.direction when 'outgoing' then r.source_id else r.target_id end = ${cardId}::uuid
     join cards c on c.id = case a.direction when 'outgoing' then r.target_id else r.source_id end
     where c.status = 'ACTIVE' and (${embed(visibleCards(ctx))}) order by a.key, c.id`;
  for (const { key, id, name } of rows) found.get(key)!.push({ id, name });
  return found;
}

/** The questions that the caller may be asked: those about relations need `relations.view`. */
export const visibleQuestions = <F extends { key: string }>(ctx: Ctx, fields: readonly F[]): F[] =>
  fields.filter(({ key }) => !asksRelations(key) || may(ctx.caller, 'relations.view'));

/** An answer about relations in its stored form: ids in order, each once; other values as they are. */
export const storedIds = (value: unknown): unknown =>
  Array.isArray(value) && value.every((id) => typeof id === 'string')
    ? [...new Set(value.map((id) => id.toLowerCase()))].sort()
    : value;

/** Why a value is no answer about relations. */
export function idErrors(field: string, value: unknown): FieldError[] {
  if (!Array.isArray(value))
    return [{ field, code: 'wrong_type', message: 'must be a list of ids of cards' }];
  if (value.length > MAX_CARDS) {
    return [{ field, code: 'too_many', message: `has more than ${MAX_CARDS} cards` }];
  }
  return value.flatMap((id, n) =>
    typeof id === 'string' && isUuid(id)
      ? []
      : [{ field: `${field}.${n}`, code: 'format', message: 'is no id' }],
  );
}

/** The added cards of answers that are no active visible cards of the type at the other end. */
export async function unknownCardErrors(
  sql: Sql,
  ctx: Ctx,
  fields: readonly SurveyField[],
  answers: Record<string, Answer>,
): Promise<FieldError[]> {
  const added = fields.flatMap(({ key, relation }) =>
    relation && answers[key]
      ? addedTo(answers[key]).map((id) => ({ key, id, type: relation.other_type_key }))
      : [],
  );
  if (added.length === 0) return [];
  const rows = await query(sql).rows<{ key: string; id: string }>`select a.key, a.id
    from jsonb_to_recordset(${JSON.stringify(added)}::jsonb) as a(key text, id uuid, type text)
     where not exists (select from cards c where c.id = a.id and c.type = a.type and c.status = 'ACTIVE'
       and (${embed(visibleCards(ctx))}))`;
  return rows.map(({ key, id }) => ({
    field: `responses.${key}.new_value.${(answers[key]!.new_value as string[]).indexOf(id)}`,
    code: 'unknown_card',
    message: 'is no active card of the type at the other end',
  }));
}

const without = (ids: unknown, others: unknown): string[] =>
  (ids as string[]).filter((id) => !(others as string[]).includes(id));
const addedTo = ({ current_value, new_value }: Answer): string[] => without(new_value, current_value);

/**
 * Adds and removes the relations by which an answer differs from what it was given on, all or none of them; those that
 * are there, or gone, already are left.
 * @returns why they cannot be written.
 */
export async function applyRelations(
  work: Work,
  ctx: Ctx,
  { card_id, responses }: ResponseRow,
  fields: readonly SurveyField[],
): Promise<{ message: string; fields: string[] } | undefined> {
  const operations = fields.flatMap(({ key, relation }): (BulkOperation & { key: string })[] => {
    const answer = responses[key];
    if (!relation || !answer || answer.confirmed) return [];
    const operation = (action: BulkOperation['action']) => (id: string) => {
      const [source, target] = relation.direction === 'outgoing' ? [card_id, id] : [id, card_id];
      return {
        row_index: 0,
        key,
        action,
        type: relation.type,
        source: { id: source },
        target: { id: target },
      };
    };
    const removed = without(answer.current_value, answer.new_value);
    return [...removed.map(operation('delete')), ...addedTo(answer).map(operation('upsert'))];
  });
  if (operations.length === 0) return undefined;
  let failed = operations[0]!.key;
  const done = await attempt(work, async (inner) => {
    const rows = await bulkRelationsWithin(inner, ctx, operations);
    const n = rows.findIndex(({ status }) => status === 'failed');
    if (n < 0) return;
    failed = operations[n]!.key;
    throw new EstateError('conflict', rows[n]!.error!);
  });
  return done.ok ? undefined : { message: done.error.message, fields: [failed] };
}
