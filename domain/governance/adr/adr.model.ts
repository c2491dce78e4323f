import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { type SignedKind, signedColumns } from '../signatures/signatures.types.ts';

export const adrRights: SignedKind['rights'] = { view: 'adr.view', manage: 'adr.manage', sign: 'adr.sign' };

/** The texts of a decision, in Markdown, in the order in which a reader wants them. */
export const adrTexts = [
  'context',
  'decision_drivers',
  'alternatives_considered',
  'pros_and_cons',
  'decision',
  'consequences',
  'confirmation',
  'more_information',
] as const;
export type AdrText = (typeof adrTexts)[number];

/** Its lists of short texts. */
export const adrLists = ['related_decisions', 'decision_makers', 'consulted', 'informed'] as const;
export type AdrList = (typeof adrLists)[number];

export const adrStatuses = ['draft', 'in_review', 'signed'] as const;

/** What a decision says. */
export type AdrContent = { title: string } & Record<AdrText, string | null> & Record<AdrList, string[]>;

export const MAX_TITLE = 500;
/** Characters of one text. */
export const MAX_TEXT = 100_000;
/** Entries of a list, and characters of one. */
export const MAX_ENTRIES = 100;
export const MAX_ENTRY = 500;
/** Cards that one decision is linked to. */
export const MAX_LINKS = 1_000;

/** What a decision is known by, such as `ADR-007`; its revisions share it. */
export const referenceNumber = (number: number): string => `ADR-${String(number).padStart(3, '0')}`;

const Text = Nullable(Type.String());
const Texts = Type.Array(Type.String());

/** A revision of an architecture decision record. Its texts are Markdown. */
export class Adr extends rowModel('adrs', {
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
}) {}
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
