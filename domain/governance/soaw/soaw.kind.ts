import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { integrityOf } from '../signatures/signatures.hash.ts';
import type { SignedKind } from '../signatures/signatures.types.ts';
import { soawEvent } from './soaw.events.ts';
import { soawText } from './soaw.list.ts';
import { type SoawRow, soawRights } from './soaw.types.ts';

/** The content of a statement as a revision takes it over. */
export const copiedContent = (row: SoawRow): StoredRow => ({
  ...signedContent(row),
  initiative_id: row.initiative_id,
});

const signedContent = ({ name, document_info, version_history, sections }: SoawRow) => ({
  name,
  document_info,
  version_history,
  sections,
});

/** Statements of architecture work. */
export const soawKind: SignedKind<SoawRow> = {
  key: 'soaw',
  entity: 'statement of architecture work',
  table: 'soaws',
  page: '/soaw',
  rights: soawRights,
  nameOf: ({ name }) => name,
  // the initiative stands outside: a merge gives it another id, and the statement outlives it
  contentOf: (row) => ({ revision_number: row.revision_number, ...signedContent(row) }),
  event: (before, after, type, more) => {
    const id = (after?.initiative_id ?? before?.initiative_id) as string | null;
    return soawEvent(id === null ? null : { id }, before, after, type, more);
  },
  text: wholeText,
};

/** One statement with whether it is still what was signed. */
async function wholeText(sql: Sql, ctx: Ctx, id: string): Promise<string | undefined> {
  const text = await soawText(sql, ctx, id);
  if (text === undefined) return undefined;
  const { rows } = await sql.raw('select to_jsonb(w) as row from soaws w where w.id = ?::uuid', [id]);
  const row = rows[0].row as SoawRow;
  const integrity = integrityOf(soawKind.contentOf(row), row);
  return `${text.slice(0, -1)},"integrity":${JSON.stringify(integrity)}}`;
}
