import Type from 'typebox';
import { AdrEntries } from '../../domain/governance/adr/adr.content.ts';
import { adrStatuses, MAX_ENTRIES, MAX_TEXT, MAX_TITLE } from '../../domain/governance/adr/adr.model.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { bodiesOf } from './common.ts';
import { IntegrityMember, RejectionMember, signedMembers } from './signatures.ts';

const Status = Type.Union(adrStatuses.map((status) => Type.Literal(status)));
const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE });
const Text = (description: string) => Nullable(Type.String({ maxLength: MAX_TEXT, description }));
const Texts = (description: string) => Type.Array(AdrEntries.items, { maxItems: MAX_ENTRIES, description });

const texts = {
  context: Text('Context and problem statement, in Markdown like all texts'),
  decision_drivers: Text('Forces and concerns'),
  alternatives_considered: Text('The considered options'),
  pros_and_cons: Text('What speaks for and against each option'),
  consequences: Text('Good and bad consequences'),
  confirmation: Text('How compliance with the decision is confirmed'),
  more_information: Text('Evidence, agreements, when to review it'),
  related_decisions: Texts('Numbers, ids or addresses of other decisions'),
  decision_makers: Texts('Who decided; those who sign are `signatories`'),
  consulted: Texts('Whose opinion was asked'),
  informed: Texts('Who is informed'),
};
const Decision = Text('The outcome: the chosen option and why');

const listed = {
  id: Uuid,
  reference_number: Type.String({
    pattern: '^ADR-\\d{3,}$',
    examples: ['ADR-007'],
    description: 'All revisions of a decision have the same',
  }),
  title: Type.String(),
  status: Status,
  decision: Decision,
  ...signedMembers,
  linked_cards: Type.Array(object({ id: Uuid, name: Type.String(), type: Type.String() }), {
    description: 'Those that the caller sees',
  }),
};
export const AdrSchema = component('Adr', {
  ...listed,
  ...texts,
  rejection: RejectionMember,
  integrity: IntegrityMember,
});
/** A decision in a list, cut to the members that were asked for. */
export const AdrItemSchema = itemComponent('AdrItem', listed);

const { related_decisions, decision_makers, consulted, informed, ...plain } = texts;
const bodies = bodiesOf(
  { title: Title },
  {
    ...plain,
    decision: Decision,
    related_decisions: Nullable(related_decisions),
    decision_makers: Nullable(decision_makers),
    consulted: Nullable(consulted),
    informed: Nullable(informed),
  },
);
export const AdrCreateBody = bodies.create;
export const AdrPatchBody = object({
  ...bodies.patch.properties,
  status: Type.Optional(
    Nullable(
      Type.String({ description: 'Refused with `use_operation` where it is another than the present one' }),
    ),
  ),
});
export const AdrCardBody = object({ card_id: Uuid });
