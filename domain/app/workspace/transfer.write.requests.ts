import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { signedDocumentError } from './transfer.check.ts';
import { type Page, RowRefused, readPage, type WrittenRow, writePlain } from './transfer.write.ts';

/*
 * Signatures and approvals requested from users. Imported accounts are inactive, and other users may lack the rights
 * here: open requests to them are reassigned or closed in the transaction that writes them.
 */

/** Writes documents with signatures. @throws RowRefused if a document was signed here meanwhile. */
export async function writeSigned(page: Page): Promise<void> {
  const rows = await readPage(page);
  if (rows.some(({ before }) => before?.status === 'signed')) {
    throw new RowRefused([signedDocumentError]);
  }
  const requested = (await writePlain(page, rows))
    .filter(({ after }) => after.status === 'in_review')
    .flatMap(({ after }) => (after.signatories as { user_id: string }[]).map(({ user_id }) => user_id));
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(requested)]);
}

/** Writes rows of cards whose approvers may change with them; pending flows are assigned to users who may approve them. */
export const writeWithApprovers =
  (card: 'card_id' | 'process_id') =>
  async (page: Page): Promise<void> =>
    followApprovers(page.work, idsOf(await writePlain(page), card));

/**
 * Writes to-dos. To-dos of the service are reassigned if their assignee lacks the rights, and stay open while their
 * object is pending.
 */
export async function writeTodos(page: Page): Promise<void> {
  const requested = (await writePlain(page)).filter(({ after }) => after.is_system === true);
  const assignees = [
    ...idsOf(requested, 'assigned_to'),
    ...requested.map(({ before }) => before?.assigned_to as string),
  ];
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(assignees.filter(Boolean))]);
}

const idsOf = (written: readonly WrittenRow[], column: string): string[] => [
  ...new Set(written.flatMap(({ after }) => (after[column] as string | null) ?? [])),
];
