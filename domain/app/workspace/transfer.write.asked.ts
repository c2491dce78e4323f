import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { signedHere } from './transfer.check.ts';
import { type Page, RowRefused, readPage, tellRows, type WrittenRow, writeRows } from './transfer.write.ts';

/*
 * What people are asked to sign or approve. Accounts that an archive brings are switched off, and others have lost their rights
 * meanwhile or never had them here: what comes waiting for such is seen to within the transaction that writes it.
 */

/** Writes documents that people sign: what somebody has signed here meanwhile stays as it is. */
export async function writeSigned(page: Page): Promise<void> {
  const rows = await readPage(page);
  if (rows.some(({ before }) => before?.status === 'signed')) {
    throw new RowRefused([signedHere]);
  }
  const written = await writeRows(page, rows);
  await tellRows(page, written);
  const waitedFor = written
    .filter(({ after }) => after.status === 'in_review')
    .flatMap(({ after }) => (after.signatories as { user_id: string }[]).map(({ user_id }) => user_id));
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(waitedFor)]);
}

/** Writes roles on cards: who holds one on a process may approve its flows. */
export async function writeStakeholders(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await tellRows(page, written);
  await followApprovers(page.work, idsOf(written, 'card_id'));
}

/** Writes flows of processes: those that wait are approved here, by whoever may. */
export async function writeFlows(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await tellRows(page, written);
  await followApprovers(page.work, idsOf(written, 'process_id'));
}

/** Writes to-dos: those of the service ask nobody who cannot do it, and are not closed by an archive where something waits. */
export async function writeTodos(page: Page): Promise<void> {
  const written = await writeRows(page, await readPage(page));
  await tellRows(page, written);
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
