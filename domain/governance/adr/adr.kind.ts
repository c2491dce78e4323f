import Type from 'typebox';
import { embed, fragment } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { requireVisibleCard } from '../../collaboration/cards.access.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { checkLine, checkText } from '../../inventory/cards/rules/values.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { type EventDraft, rowEvent, type StoredRow } from '../../kernel/events/row-changes.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, type StaticOf, Timestamp, Uuid } from '../../kernel/shapes.ts';
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

export const adrStatuses = ['draft', 'in_review', 'signed'] as const;

/** What a decision says. */
export type AdrContent = { title: string } & Record<AdrText, string | null> & Record<AdrList, string[]>;

export const MAX_TITLE = 500;
/** Characters of one text. */
export const MAX_TEXT = 100_000;
/** Entries of a list, and characters of one. */
export const MAX_ENTRIES = 100;
const MAX_ENTRY = 500;
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

/** Users, or other decisions, that a decision references. */
export const AdrEntries = Type.Array(Type.String({ maxLength: MAX_ENTRY }), { maxItems: MAX_ENTRIES });

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

export const adrSorts: Record<string, SortField> = {
  created_at: { sql: 'a.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'a.updated_at', type: 'timestamptz', filled: true },
  signed_at: { sql: 'a.signed_at', type: 'timestamptz' },
  reference_number: { sql: 'a.number', type: 'bigint', filled: true },
  title: { sql: 'lower(a.title)', type: 'text', filled: true },
  status: { sql: 'a.status', type: 'text', filled: true },
  revision_number: { sql: 'a.revision_number', type: 'bigint', immutable: true },
};

const CardFilter = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));
const Day = (description: string) => Type.Optional(Type.String({ ...DateOnly, description }));
/** The filters of a card's decisions. */
export const cardAdrFilters = { status: Type.Optional(Choice(adrStatuses, 'Only those in this state')) };
export const adrFilters = {
  initiative_id: CardFilter('Only those linked to this initiative'),
  ...cardAdrFilters,
  card_id: CardFilter('Only those linked to this card'),
  card_type: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only those linked to a card of this type' }),
  ),
  date_from: Day('Created on this day (UTC) or later'),
  date_to: Day('Created on this day or earlier'),
  modified_from: Day('Changed on this day or later'),
  modified_to: Day('Changed on this day or earlier'),
  signed_from: Day('Signed on this day or later'),
  signed_to: Day('Signed on this day or earlier'),
};
type AdrFilter = StaticOf<typeof adrFilters>;

/** Decisions over the alias `a`; with `whole` also the texts that lists omit. */
function adrList(ctx: Ctx, whole: boolean): ListSpec {
  const visible = visibleCards(ctx);
  const texts = whole ? [...adrTexts, ...adrLists] : (['decision'] as const);
  return {
    name: 'adrs',
    from: 'adrs a left join users u on u.id = a.created_by',
    id: 'a.id',
    sorts: adrSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: `fold(concat_ws(' ', ${reference}, a.title, ${adrTexts.map((name) => `a.${name}`).join(', ')},
      ${adrLists.map((name) => `a.${name}::text`).join(', ')}))`,
    members: {
      id: 'a.id',
      reference_number: reference,
      title: 'a.title',
      status: 'a.status',
      ...Object.fromEntries(texts.map((name) => [name, `a.${name}`])),
      created_by: 'a.created_by',
      creator_name: 'u.display_name',
      ...signatureMembers('a', adrRights),
      ...(whole ? { rejection: rejectionMember('a') } : {}),
      revision_number: 'a.revision_number',
      parent_id: 'a.parent_id',
      linked_cards: fragment`(select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'type',
        c.type)
            order by c.name_key, c.id), '[]')
          from adr_cards k join cards c on c.id = k.card_id where k.adr_id = a.id and (${embed(visible)}))`,
      content_hash: 'a.content_hash',
      created_at: 'utc(a.created_at)',
      updated_at: 'utc(a.updated_at)',
    },
  };
}

function filterConditions(ctx: Ctx, filter: AdrFilter): Condition[] {
  const where: Condition[] = [];
  if (filter.status !== undefined) where.push(fragment`a.status = ${filter.status}`);
  const visible = visibleCards(ctx);
  // only links to cards that the caller sees
  const linked = (sql: string, value: string) =>
    where.push({
      sql: `exists (select from adr_cards k join cards c on c.id = k.card_id
        where k.adr_id = a.id and ${sql} and (${visible.sql}))`,
      bindings: [value, ...visible.bindings],
    });
  if (filter.initiative_id !== undefined) {
    linked(`c.type = 'Initiative' and c.id = ?::uuid`, filter.initiative_id);
  }
  if (filter.card_id !== undefined) linked('c.id = ?::uuid', filter.card_id);
  if (filter.card_type !== undefined) linked('c.type = ?', filter.card_type);
  const days = { date: 'a.created_at', modified: 'a.updated_at', signed: 'a.signed_at' } as const;
  for (const [name, column] of Object.entries(days)) {
    const from = filter[`${name}_from` as keyof AdrFilter];
    const to = filter[`${name}_to` as keyof AdrFilter];
    if (from !== undefined) {
      where.push(fragment`${embed(column)} >= (${from}::date)::timestamp at time zone 'UTC'`);
    }
    if (to !== undefined) {
      where.push(fragment`${embed(column)} < (${to}::date + 1)::timestamp at time zone 'UTC'`);
    }
  }
  return where;
}

/** Decisions, newest first. @throws EstateError `forbidden`. */
export async function listAdrs(ctx: Ctx, params: ListParams & AdrFilter): Promise<JsonText> {
  requirePermission(ctx.caller, 'adr.view');
  return await runList(ctx, adrList(ctx, false), filterConditions(ctx, params), params);
}

/** The decisions of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listCardAdrs(
  ctx: Ctx,
  cardId: string,
  params: ListParams & StaticOf<typeof cardAdrFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'adr.view');
  await requireVisibleCard(ctx.db, ctx, cardId);
  const where = filterConditions(ctx, { ...params, card_id: cardId });
  return await runList(ctx, adrList(ctx, false), where, params);
}

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
  event: adrEvent,
  list: adrList,
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
