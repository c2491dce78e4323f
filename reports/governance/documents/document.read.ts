import { recordText } from '../../../domain/governance/signatures/signatures.records.ts';
import { integrityOf } from '../../../domain/governance/signatures/signatures.rules.ts';
import type { SignedKind, SignedRow } from '../../../domain/governance/signatures/signatures.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { findRows } from '../../../domain/kernel/resources/rows.ts';
import type { PrintDocument } from '../../kernel/documents/document.types.ts';

/** A stored document and its JSON for the caller. */
export interface ReadDocument<Row extends SignedRow> {
  row: Row;
  text: Record<string, unknown>;
}

/** Reads a document for export; undefined if it does not exist. */
export async function readDocument<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<ReadDocument<Row> | undefined> {
  const [row] = await findRows(ctx.db, kind.model, (query) => query.where({ id }));
  return row && { row: row as Row, text: JSON.parse(await recordText(ctx.db, ctx, kind, id)) };
}

const statusNames = {
  draft: 'Draft',
  in_review: 'In review',
  approved: 'Approved',
  signed: 'Signed',
} as const;

/** Formats a time for a file, in UTC to the minute. */
const moment = (at: string): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The title lines, signatures and integrity note of a signed document's file. */
export function signedFacts<Row extends SignedRow>(
  kind: SignedKind<Row>,
  { row, text }: ReadDocument<Row>,
): Pick<PrintDocument, 'facts' | 'signatures' | 'notice' | 'written'> {
  const signatories = text.signatories as {
    display_name: string;
    signed_at: string | null;
    content_hash: string | null;
  }[];
  const author = text.creator_name as string | null;
  const facts: [string, string][] = [
    ['Status', statusNames[row.status]],
    ['Revision', String(row.revision_number)],
    ...(author ? [['Author', author] as [string, string]] : []),
    ['Last written', moment(String(row.updated_at))],
    ...(row.signed_at ? [['Signed', moment(row.signed_at)] as [string, string]] : []),
    ...(row.content_hash ? [['SHA-256', row.content_hash] as [string, string]] : []),
  ];
  const changed = integrityOf(kind.contentOf(row), row) === 'changed';
  const notice = changed
    ? 'The content differs from the signed content: it was changed outside the service.'
    : row.status === 'signed'
      ? null
      : 'Not signed yet.';
  return {
    facts,
    notice,
    written: String(row.signed_at ?? row.updated_at),
    signatures: signatories.map(({ display_name, signed_at, content_hash }) => ({
      name: display_name || 'Deleted user',
      when: signed_at ? moment(signed_at) : 'not yet',
      hash: content_hash,
    })),
  };
}
