import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { signedDocumentError } from './transfer.check.ts';
import { emitRows, type Page, RowRefused, readPage, type WrittenRow, writeRows } from './transfer.write.ts';

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
  const written = await writeRows(page, rows);
  await emitRows(page, written);
  const waitedFor = written
    .filter(({ after }) => after.status === 'in_review')
    .flatMap(({ after }) => (after.signatories as { user_id: string }[]).map(({ user_id }) => user_id));
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(waitedFor)]);
}

/** Writes stakeholders, who may approve the flows of processes. */
export async function writeStakeholders(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await emitRows(page, written);
  await followApprovers(page.work, idsOf(written, 'card_id'));
}

/** Writes flows of processes. Pending flows are assigned to users who may approve them here. */
export async function writeFlows(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await emitRows(page, written);
  await followApprovers(page.work, idsOf(written, 'process_id'));
}

/**
 * Writes to-dos. To-dos of the service are reassigned if their assignee lacks the rights, and stay open while their
 * object is pending.
 */
export async function writeTodos(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await emitRows(page, written);
  const asked = written.filter(({ after }) => after.is_system === true);
  const people = [
    ...idsOf(asked, 'assigned_to'),
    ...asked.map(({ before }) => before?.assigned_to as string),
  ];
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(people.filter(Boolean))]);
}

const idsOf = (written: readonly WrittenRow[], column: string): string[] => [
  ...new Set(written.flatMap(({ after }) => (after[column] as string | null) ?? [])),
];
