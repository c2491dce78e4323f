import Type from 'typebox';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { requireVisibleCard } from '../../collaboration/cards.access.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { checkLine, checkText } from '../../inventory/cards/rules/values.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { type EventDraft, rowChanges, rowEvent, type StoredRow } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnSorts } from '../../kernel/lists/lists.run.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, OptionalText, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { rejectionMember, signatureMembers } from '../signatures/signatures.records.ts';
import { type SignedKind, signedColumns } from '../signatures/signatures.types.ts';

const adrRights: SignedKind['rights'] = { view: 'adr.view', manage: 'adr.manage', sign: 'adr.sign' };

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

const adrStatuses = ['draft', 'in_review', 'signed'] as const;

/** What a decision says. */
export type AdrContent = { title: string } & Record<AdrText, string | null> & Record<AdrList, string[]>;

const MAX_TITLE = 500;
/** Characters of one text. */
const MAX_TEXT = 100_000;
/** Entries of a list, and characters of one. */
const MAX_ENTRIES = 100;
const MAX_ENTRY = 500;
/** Cards that one decision is linked to. */
export const MAX_LINKS = 1_000;

/** What a decision is known by, such as `ADR-007`; its revisions share it. */
export const referenceNumber = (number: number): string => `ADR-${String(number).padStart(3, '0')}`;

/** Users, or other decisions, that a decision references. */
export const AdrEntries = Type.Array(Type.String({ maxLength: MAX_ENTRY }), { maxItems: MAX_ENTRIES });

const Text = (description: string) => Nullable(Type.String({ maxLength: MAX_TEXT, description }));
const Texts = (description: string) => Type.Array(AdrEntries.items, { maxItems: MAX_ENTRIES, description });

/** A revision of an architecture decision record. Its texts are Markdown. */
export class Adr extends rowModel('adrs', {
  id: Uuid,
  /** The 7 of ADR-007; equal in all revisions of a decision. */
  number: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1, maxLength: MAX_TITLE }),
  context: Text('Context and problem statement, in Markdown like all texts'),
  decision_drivers: Text('Forces and concerns'),
  alternatives_considered: Text('The considered options'),
  pros_and_cons: Text('Pros and cons of each option'),
  decision: Text('The outcome: the chosen option and why'),
  consequences: Text('Good and bad consequences'),
  confirmation: Text('How compliance with the decision is confirmed'),
  more_information: Text('Evidence, agreements, and when to review it'),
  related_decisions: Texts('Numbers, ids or URLs of other decisions'),
  decision_makers: Texts('The people who decided; `signatories` sign it'),
  consulted: Texts('The people who were consulted'),
  informed: Texts('Who is informed'),
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

/** What a client sends of a decision's content. */
export type AdrInput = { title?: string | null } & {
  [Name in Exclude<keyof AdrContent, 'title'>]?: AdrContent[Name] | null;
};

/**
 * The input as it is stored: texts with plain line ends and no blanks around them, empty ones null; lists without blanks,
 * each entry once.
 * @param at a prefix for the names of fields, such as a file's.
 * @throws EstateError `validation_failed` naming all that does not fit.
 */
export function checkedContent(input: AdrInput, at = ''): Partial<AdrContent> {
  const { content, errors } = readContent(input, at);
  if (errors.length > 0) throw invalidFields(errors);
  return content;
}

/** The same with its errors, where they are gathered over several decisions. */
export function readContent(
  input: AdrInput,
  at = '',
): { content: Partial<AdrContent>; errors: FieldError[] } {
  const content: Partial<AdrContent> = {};
  const errors: FieldError[] = [];
  const note = (error: FieldError | undefined) => {
    if (error) errors.push({ ...error, field: at + error.field });
  };
  if (input.title !== undefined) {
    content.title = input.title?.trim() ?? '';
    if (content.title === '') note({ field: 'title', code: 'required', message: 'must not be blank' });
    else note(checkLine('title', content.title, MAX_TITLE));
  }
  for (const name of adrTexts) {
    const given = input[name];
    if (given === undefined) continue;
    const text = plainText(given ?? '');
    content[name] = text === '' ? null : text;
    note(checkText(name, text, MAX_TEXT));
  }
  for (const name of adrLists) {
    const given = input[name];
    if (given === undefined) continue;
    const entries = [...new Set((given ?? []).map((entry) => entry.trim()))].filter((entry) => entry !== '');
    content[name] = entries;
    if (entries.length > MAX_ENTRIES) {
      note({ field: name, code: 'too_many', message: `has more than ${MAX_ENTRIES} entries` });
    }
    for (const [n, entry] of entries.entries()) note(checkLine(`${name}.${n}`, entry, MAX_ENTRY));
  }
  return { content, errors };
}

/** A text with plain line ends, without blank lines before it and blanks behind it. */
export const plainText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();

const reference = `('ADR-' || lpad(a.number::text, greatest(3, length(a.number::text)), '0'))`;

const byDay = (column: string, description: string) =>
  ({
    from: [
      Type.String({ ...DateOnly, description: `${description} or later` }),
      `a.${column} >= (?::date)::timestamp at time zone 'UTC'`,
    ],
    to: [
      Type.String({ ...DateOnly, description: `${description.replace(' (UTC)', '')} or earlier` }),
      `a.${column} < (?::date + 1)::timestamp at time zone 'UTC'`,
    ],
  }) as const;
const createdOn = byDay('created_at', 'Created on this day (UTC)');
const changedOn = byDay('updated_at', 'Changed on this day');
const signedOn = byDay('signed_at', 'Signed on this day');
const ofCard = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));

/** The members of a decision with these texts, over the aliases `a`, and `u` of the author. */
const membersWith = (texts: readonly string[]) => ({
  id: 'a.id',
  reference_number: reference,
  title: 'a.title',
  status: 'a.status',
  ...Object.fromEntries(texts.map((name) => [name, `a.${name}`])),
  created_by: 'a.created_by',
  creator_name: 'u.display_name',
  ...signatureMembers('a', adrRights),
  revision_number: 'a.revision_number',
  parent_id: 'a.parent_id',
  linked_cards: (ctx: Ctx) => fragment`(select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name,
      'type', c.type) order by c.name_key, c.id), '[]')
    from adr_cards k join cards c on c.id = k.card_id where k.adr_id = a.id and (${embed(visibleCards(ctx))}))`,
  content_hash: 'a.content_hash',
  created_at: 'utc(a.created_at)',
  updated_at: 'utc(a.updated_at)',
});

/** Decisions, newest first. */
export const adrList = defineList({
  name: 'adrs',
  permission: 'adr.view',
  from: 'adrs a left join users u on u.id = a.created_by',
  id: 'a.id',
  sorts: {
    ...columnSorts('a', Adr, 'created_at', 'updated_at', 'signed_at'),
    reference_number: { sql: 'a.number', type: 'bigint', filled: true },
    title: { sql: 'lower(a.title)', type: 'text', filled: true },
    ...columnSorts('a', Adr, 'status', 'revision_number'),
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    initiative_id: ofCard('Only those linked to this initiative'),
    status: [Choice(adrStatuses, 'Only those in this state'), 'a.status = ?'],
    card_id: ofCard('Only those linked to this card'),
    card_type: OptionalText(100, 'Only those linked to a card of this type'),
    signatory_id: [
      Type.String({ ...Uuid, description: 'Only those that this user signs or has signed' }),
      `a.signatories @> jsonb_build_array(jsonb_build_object('user_id', lower(?)))`,
    ],
    date_from: createdOn.from,
    date_to: createdOn.to,
    modified_from: changedOn.from,
    modified_to: changedOn.to,
    signed_from: signedOn.from,
    signed_to: signedOn.to,
  },
  search: `fold(concat_ws(' ', ${reference}, a.title, ${adrTexts.map((name) => `a.${name}`).join(', ')},
    ${adrLists.map((name) => `a.${name}::text`).join(', ')}))`,
  members: membersWith(['decision']),
  where: (ctx, { initiative_id, card_id, card_type }) =>
    [
      initiative_id === undefined ? [] : fragment`c.type = 'Initiative' and c.id = ${initiative_id}::uuid`,
      card_id === undefined ? [] : fragment`c.id = ${card_id}::uuid`,
      card_type === undefined ? [] : fragment`c.type = ${card_type}`,
    ]
      .flat()
      .map((card) => linkedTo(ctx, card)),
});

/** The decisions of a card. */
export const cardAdrList = defineList({
  ...adrList,
  filters: { status: adrList.filters!.status },
  async where(ctx, _params, cardId) {
    await requireVisibleCard(ctx.db, ctx, cardId);
    return [linkedTo(ctx, fragment`c.id = ${cardId}::uuid`)];
  },
});

/** The decisions with links to such cards, as far as the caller sees the cards. */
function linkedTo(ctx: Ctx, card: Fragment): Condition {
  return fragment`exists (select from adr_cards k join cards c on c.id = k.card_id
    where k.adr_id = a.id and ${embed(card)} and (${embed(visibleCards(ctx))}))`;
}

/** The members of a whole decision. */
export const wholeMembers = {
  ...membersWith([...adrTexts, ...adrLists]),
  rejection: rejectionMember('a'),
};

/** The content of a decision: what is signed, copied and compared. */
const contentColumns = ['title', ...adrTexts, ...adrLists] as const;

/** The content of a decision for a copy or a revision. */
export const copiedContent = (row: AdrRow): StoredRow =>
  Object.fromEntries(contentColumns.map((column) => [column, row[column]]));

/** Architecture decision records. */
export const adrKind: SignedKind<AdrRow> = {
  key: 'adr',
  entity: 'architecture decision',
  model: Adr,
  page: '/adr',
  rights: adrRights,
  nameOf: ({ number, title }) => `${referenceNumber(number)} ${title}`,
  // links to cards are not signed: merges move them, and users link cards to signed decisions
  contentOf: (row) => ({
    reference_number: referenceNumber(row.number),
    revision_number: row.revision_number,
    ...copiedContent(row),
  }),
  copied: (row) => ({ ...copiedContent(row), number: row.number }),
  copyLinked: copyLinks,
  checked: (input) => checkedContent(input),
  settable: [],
  event: adrEvent,
  list: (ctx, isWhole) => listFor(ctx, isWhole ? { ...adrList, members: wholeMembers } : adrList),
};

function adrEvent(
  before: AdrRow | null,
  after: AdrRow | null,
  type?: EventType,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, number, title, status } = (after ?? before)!;
  const data = { id, reference_number: referenceNumber(number), title, status, ...more };
  return { ...rowEvent('adr', before, after, data), ...(type && { event_type: type }) };
}

/** Links a decision to locked cards to which it is not linked yet. */
export async function insertLinks(
  work: Work,
  ctx: Ctx,
  adr: AdrRow,
  cards: readonly { id: string; type: string }[],
): Promise<void> {
  const links = await query(work.sql).column<AdrCardRow>`insert into adr_cards as t (adr_id, card_id,
    created_by)
     select ${adr.id}::uuid, unnest(${cards.map((card) => card.id)}::uuid[]), ${ctx.caller.userId}::uuid
     returning to_jsonb(t) as row`;
  const byId = new Map(cards.map((card) => [card.id, card]));
  for (const row of links) work.emit(adrCardEvent(byId.get(row.card_id)!, adr, null, row));
}

/** Links a decision to the cards of another. */
export async function copyLinks(work: Work, ctx: Ctx, from: AdrRow, to: AdrRow): Promise<void> {
  const cards = await query(work.sql).rows<{ id: string; type: string }>`select c.id, c.type from adr_cards k
    join cards c on c.id = k.card_id
     where k.adr_id = ${from.id}::uuid order by c.id for key share of c`;
  if (cards.length > 0) await insertLinks(work, ctx, to, cards);
}

/** The event of a link that was added or removed, in the history of its card. */
export function adrCardEvent(
  card: { id: string; type: string },
  adr: { number: number; title: string } | null,
  before: AdrCardRow | null,
  after: AdrCardRow | null,
): EventDraft {
  const { id, adr_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'adr_card.created' : 'adr_card.deleted',
    card_id: card.id,
    card_type: card.type,
    data: {
      id,
      adr_id,
      ...(adr ? { reference_number: referenceNumber(adr.number), title: adr.title } : {}),
      changes: rowChanges(before, after),
    },
  };
}
