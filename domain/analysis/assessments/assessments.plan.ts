import Type, { type Static } from 'typebox';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { checkLine, MAX_NAME } from '../../inventory/cards/rules/values.ts';
import { DateOnly, Nullable, object, Uuid } from '../../kernel/shapes.ts';
import type { ProposedCard, ProposedRelation } from '../architect/architect.types.ts';

const ProposedId = Type.String({ minLength: 1, maxLength: 100 });
/** The request to commit a session. */
export const CommitBody = object({
  assessmentId: Uuid,
  initiativeName: Type.String({ minLength: 1, maxLength: 500 }),
  startDate: DateOnly,
  endDate: DateOnly,
  selectedCardIds: Type.Array(ProposedId, {
    maxItems: 300,
    description: 'Ids of cards in the `architecture` of the session',
  }),
  selectedRelationIndices: Type.Array(Type.Integer({ minimum: 0, maximum: 999 }), {
    maxItems: 1000,
    description: 'Indexes of relations in it, from 0',
  }),
  objectiveIds: Type.Optional(Nullable(Type.Array(Uuid, { maxItems: 50 }))),
  renamedCards: Type.Optional(
    Nullable(
      Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 500 }), {
        description: 'Other names for chosen new cards, by their ids',
      }),
    ),
  ),
});
export type CommitInput = Static<typeof CommitBody>;

/** A stored card of a session: a client may have omitted optional members. */
type StoredCard = Pick<ProposedCard, 'id' | 'change' | 'type' | 'name'> & Partial<ProposedCard>;
type StoredRelation = Pick<ProposedRelation, 'type' | 'source_id' | 'target_id'> & Partial<ProposedRelation>;

/** The selected parts of a session, each with its path in the request. */
export interface CommitPlan {
  name: string;
  made: { card: StoredCard; name: string; field: string }[];
  touched: { card: StoredCard; id: string; field: string }[];
  relations: { relation: StoredRelation; field: string }[];
}

/** Selects the chosen parts of the stored architecture. @throws EstateError naming each error. */
export function planCommit(input: CommitInput, session: Record<string, unknown>): CommitPlan {
  const stored = (session.architecture ?? {}) as { cards?: StoredCard[]; relations?: StoredRelation[] };
  const errors: FieldError[] = [];
  const addError = (field: string, code: string, message: string) =>
    void errors.push({ field, code, message });
  const name = input.initiativeName.trim();
  if (name === '') addError('initiativeName', 'required', 'must not be blank');
  if (input.endDate < input.startDate) addError('endDate', 'before_start', 'lies before startDate');

  const byId = new Map((stored.cards ?? []).map((card) => [card.id.toLowerCase(), card]));
  const plan: CommitPlan = { name, made: [], touched: [], relations: [] };
  const renamed = new Map(Object.entries(input.renamedCards ?? {}));
  const chosen = new Set<string>();
  for (const [n, given] of input.selectedCardIds.entries()) {
    const field = `selectedCardIds.${n}`;
    const id = given.toLowerCase();
    const card = byId.get(id);
    if (!card) addError(field, 'unknown_card', 'is no card of the architecture that the session keeps');
    else if (chosen.has(id)) addError(field, 'duplicate', 'is given twice');
    else if (card.change === 'new') {
      plan.made.push({ card, name: (renamed.get(card.id) ?? card.name).trim(), field });
    } else if (isUuid(id)) plan.touched.push({ card, id, field });
    else addError(field, 'unknown_card', 'is not the id of a stored card');
    chosen.add(id);
  }
  for (const [id, text] of renamed) {
    const field = `renamedCards.${id}`;
    const wrong = text.trim() === '' ? 'must not be blank' : checkLine(field, text, MAX_NAME)?.message;
    if (wrong) addError(field, 'bad_name', wrong);
    if (!plan.made.some(({ card }) => card.id === id)) addError(field, 'not_new', 'is no chosen new card');
  }
  for (const [n, index] of input.selectedRelationIndices.entries()) {
    const field = `selectedRelationIndices.${n}`;
    const relation = stored.relations?.[index];
    if (!relation) {
      addError(field, 'unknown_relation', 'is no relation of the architecture that the session keeps');
      continue;
    }
    const loose = [relation.source_id, relation.target_id].find(
      (id) => !isUuid(id) && !plan.made.some(({ card }) => card.id === id),
    );
    if (loose !== undefined)
      addError(field, 'end_not_chosen', `needs the card ${loose}, which is not chosen`);
    else plan.relations.push({ relation, field });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return plan;
}
