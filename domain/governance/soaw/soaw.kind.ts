import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { integrityOf } from '../signatures/signatures.hash.ts';
import type { SignedKind } from '../signatures/signatures.types.ts';
import { soawEvent } from './soaw.events.ts';
import { soawText } from './soaw.list.ts';
import { Soaw, type SoawRow } from './soaw.model.ts';
import { soawRights } from './soaw.types.ts';

/** The content of a statement for a revision. */
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
  model: Soaw,
  page: '/soaw',
  rights: soawRights,
  nameOf: ({ name }) => name,
  // the initiative is not signed: a merge changes its id, and its deletion does not delete the statement
  contentOf: (row) => ({ revision_number: row.revision_number, ...signedContent(row) }),
  event: (before, after, type, more) => {
    const id = after?.initiative_id ?? before?.initiative_id;
    return soawEvent(id ? { id } : null, before, after, type, more);
  },
  text: wholeText,
};

/** One statement, and whether it still equals what was signed. */
async function wholeText(sql: Sql, ctx: Ctx, id: string): Promise<string | undefined> {
  const text = await soawText(sql, ctx, id);
  if (text === undefined) return undefined;
  const [row] = await findRows(sql, Soaw, (query) => query.where({ id }));
  const integrity = integrityOf(soawKind.contentOf(row!), row!);
  return `${text.slice(0, -1)},"integrity":${JSON.stringify(integrity)}}`;
}
