import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { integrityOf } from '../signatures/signatures.hash.ts';
import type { SignedKind } from '../signatures/signatures.types.ts';
import { adrText } from './adr.list.ts';
import { Adr, type AdrRow } from './adr.model.ts';
import { adrLists, adrRights, adrTexts, referenceNumber } from './adr.types.ts';

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
  text: wholeText,
};

function adrEvent(
  before: AdrRow | null,
  after: AdrRow | null,
  type?: EventType,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, number, title, status } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: type ?? `adr.${kind}`,
    data: {
      id,
      reference_number: referenceNumber(number),
      title,
      status,
      ...more,
      changes: rowChanges(before, after),
    },
  };
}

/** One decision, and whether it still equals what was signed. */
async function wholeText(sql: Sql, ctx: Ctx, id: string): Promise<string | undefined> {
  const text = await adrText(sql, ctx, id);
  if (text === undefined) return undefined;
  const [row] = await findRows(sql, Adr, (query) => query.where({ id }));
  const integrity = integrityOf(adrKind.contentOf(row!), row!);
  return `${text.slice(0, -1)},"integrity":${JSON.stringify(integrity)}}`;
}
