import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { signedColumns } from '../signatures/signatures.types.ts';
import { adrStatuses, MAX_TITLE } from './adr.types.ts';

const Text = Nullable(Type.String());
const Texts = Type.Array(Type.String());

/** A revision of an architecture decision record. Its texts are Markdown. */
export class Adr extends rowModel(
  'adrs',
  {
    id: Uuid,
    /** The 7 of ADR-007; equal in all revisions of a decision. */
    number: Type.Integer(),
    title: Type.String({ minLength: 1, maxLength: MAX_TITLE }),
    context: Text,
    decision_drivers: Text,
    alternatives_considered: Text,
    pros_and_cons: Text,
    decision: Text,
    consequences: Text,
    confirmation: Text,
    more_information: Text,
    related_decisions: Texts,
    decision_makers: Texts,
    consulted: Texts,
    informed: Texts,
    status: Choice(adrStatuses),
    ...signedColumns,
  },
  ['related_decisions', 'decision_makers', 'consulted', 'informed', 'signatories', 'rejection'],
) {}
export type AdrRow = RowOf<typeof Adr>;

/** A link of a decision to a card. */
export class AdrCard extends rowModel('adr_cards', {
  id: Uuid,
  adr_id: Uuid,
  card_id: Uuid,
  created_by: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type AdrCardRow = RowOf<typeof AdrCard>;
