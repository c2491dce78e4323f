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
  pros_and_cons: Text('Pros and cons of each option'),
  consequences: Text('Good and bad consequences'),
  confirmation: Text('How compliance with the decision is confirmed'),
  more_information: Text('Evidence, agreements, and when to review it'),
  related_decisions: Texts('Numbers, ids or URLs of other decisions'),
  decision_makers: Texts('The people who decided; `signatories` sign it'),
  consulted: Texts('The people who were consulted'),
  informed: Texts('Who is informed'),
};
const Decision = Text('The outcome: the chosen option and why');

const listed = {
  id: Uuid,
  reference_number: Type.String({
    pattern: '^ADR-\\d{3,}$',
    examples: ['ADR-007'],
    description: 'The same for all revisions of a decision',
  }),
  title: Type.String(),
  status: Status,
  decision: Decision,
  ...signedMembers,
  linked_cards: Type.Array(object({ id: Uuid, name: Type.String(), type: Type.String() }), {
    description: 'Linked cards that the caller sees',
  }),
};
export const AdrSchema = component('Adr', {
  ...listed,
  ...texts,
  rejection: RejectionMember,
  integrity: IntegrityMember,
});
/** A decision in a list, with the requested members. */
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
    Nullable(Type.String({ description: 'Refused with `use_operation` if it differs from the current one' })),
  ),
});
export const AdrCardBody = object({ card_id: Uuid });
